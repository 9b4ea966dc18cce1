"""Attacks on sign-in and sessions, sent to the running gateway (docs/SECURITY.md cases 13, 38 and 41 to 46)."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.exceptions import InvalidStatus

from tests.harness.http import Browser
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def begin_login(browser: Browser, gateway: GatewayProcess) -> str:
    """The state that a browser takes from the shell to the console."""
    login = await browser.get(f"{gateway.agent_origin}/login")
    assert login.status in (302, 303)
    return parse_qs(urlsplit(login.headers["Location"]).query)["state"][0]


@pytest.mark.requirement("002-84", "cookies of an ended session open no socket")
async def test_case_41_no_cookie_from_before_a_sign_in_is_worth_anything_after_it(gateway: GatewayProcess, scene: Scene) -> None:
    ivan = await scene.another("Ivan", "operator")
    before = {host: dict(jar) for host, jar in ivan.browser.cookies.items()}
    assert (await ivan.sign_out()).status == 204
    assert (await ivan.sign_in()).status == 204
    await ivan.open_shell()
    for site, cookie in ((gateway.console_origin, "countersign_console"), (gateway.agent_origin, "countersign_agent")):
        host = str(urlsplit(site).hostname)
        assert ivan.browser.cookies[host][cookie] != before[host][cookie]
        thief = Browser(gateway.port, {host: before[host]})
        with pytest.raises(InvalidStatus) as refused:
            await Socket.open(thief, site)
        assert refused.value.response.status_code == 401
    await ivan.leave()


async def test_case_41_signing_in_again_changes_the_cookie_of_a_session_that_continues(
    scene: Scene, gateway: GatewayProcess
) -> None:
    ivy = await scene.another("Ivy", "operator")
    host = str(urlsplit(gateway.console_origin).hostname)
    before = dict(ivy.browser.cookies[host])
    assert (await ivy.sign_in()).status == 204
    assert ivy.browser.cookies[host]["countersign_console"] != before["countersign_console"]
    thief = Browser(gateway.port, {host: before})
    assert (await thief.post(f"{gateway.console_origin}/signout")).status == 401
    await ivy.leave()


async def test_case_41_signing_in_again_closes_the_sockets_of_the_old_cookie_and_keeps_the_shell(
    scene: Scene, gateway: GatewayProcess
) -> None:
    ilse = await scene.another("Ilse", "operator")
    console, shell = await ilse.console(), await ilse.agent()
    assert (await ilse.sign_in()).status == 204
    assert await console.notification("session/ended") == {"reason": "renewed"}
    assert await console.wait_closed() == (4403, "renewed")
    assert (await shell.call("session/describe"))["session"]["principalName"] == "Ilse"
    again = await ilse.console()
    assert (await again.call("session/describe"))["session"]["principalName"] == "Ilse"
    await ilse.leave()


async def test_case_41_a_cookie_planted_by_somebody_else_signs_nobody_in(gateway: GatewayProcess, scene: Scene) -> None:
    host = str(urlsplit(gateway.console_origin).hostname)
    mine = scene.ada.browser.cookies[host]["countersign_console"]
    for planted in ("", "ses_1", mine[:-1], mine + "x", mine.split(".")[0], "x." + mine.split(".", 1)[1]):
        victim = Browser(gateway.port, {host: {"countersign_console": planted}})
        assert (await victim.post(f"{gateway.console_origin}/signout")).status == 401
    # A cookie of one kind is none of another, though the same key signed it.
    agent_host = str(urlsplit(gateway.agent_origin).hostname)
    agents = scene.ada.browser.cookies[agent_host]["countersign_agent"]
    swapped = Browser(gateway.port, {host: {"countersign_console": agents}, agent_host: {"countersign_agent": mine}})
    assert (await swapped.post(f"{gateway.console_origin}/signout")).status == 401
    assert (await swapped.post(f"{gateway.agent_origin}/logout")).status == 401


@pytest.mark.requirement("002-84", "a request that changes state needs the exact origin and JSON")
async def test_case_42_nothing_changes_on_the_word_of_another_page(gateway: GatewayProcess, scene: Scene) -> None:
    agent, console = gateway.agent_origin, gateway.console_origin
    # What a form or a no-cors fetch can send: cookies, no JSON, and an Origin that browsers do not let pages choose.
    elsewhere = (None, "null", "http://evil.test", agent, console.replace("http:", "https:"), f"{console}.evil.test")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/signout", "/authorize", "/passkeys/options", "/signin/options", "/enrol/options"):
        for origin in elsewhere:
            reply = await scene.ada.browser.post(f"{console}{path}", {"state": "x", "token": "x"}, origin=origin)
            assert reply.status == 403, (path, origin, reply.status)
        simple = await scene.ada.browser.post(f"{console}{path}", raw=b"state=x", headers=form)
        assert simple.status in (400, 415), (path, simple.status)
    for origin in (None, "null", "http://evil.test", console):
        assert (await scene.ada.browser.post(f"{agent}/logout", {}, origin=origin)).status == 403
    assert (await scene.ada.browser.get(f"{agent}/logout")).status in (404, 405)
    assert (await scene.ada.browser.get(f"{console}/signout")).status in (404, 405)
    # Ada noticed nothing.
    assert (await scene.shell.call("session/describe"))["session"]["profile"] == "operator"


@pytest.mark.requirement("002-34a", "session cookies are HttpOnly and host-only")
async def test_case_43_cookies_stay_with_their_host_and_out_of_reach_of_scripts(gateway: GatewayProcess, scene: Scene) -> None:
    judy = await scene.another("Judy", "guest")
    judy.browser.cookies.clear()
    replies = [await judy.sign_in(), await judy.browser.get(f"{gateway.agent_origin}/login")]
    headers = [header for reply in replies for header in reply.set_cookies]
    assert len(headers) >= 2
    for header in headers:
        parsed: SimpleCookie = SimpleCookie()
        parsed.load(header)
        for name, morsel in parsed.items():
            assert morsel["httponly"], header
            assert morsel["path"] == "/", header
            assert morsel["domain"] == "", header
            assert morsel["samesite"].lower() == ("lax" if name == "countersign_login" else "strict"), header
    await judy.leave()


@pytest.mark.requirement("002-84", "a login code works once, in the browser that asked")
async def test_case_44_a_code_opens_one_shell_in_the_browser_that_asked_for_it(gateway: GatewayProcess, scene: Scene) -> None:
    victim, attacker = Browser(gateway.port), Browser(gateway.port)
    attacker.cookies = {host: dict(jar) for host, jar in scene.ada.browser.cookies.items()}
    state = await begin_login(attacker, gateway)
    lent = await attacker.post(f"{gateway.console_origin}/authorize", {"state": state})
    location = lent.json["location"]
    # Login CSRF: the attacker's callback in the victim's browser, with and without a login of its own under way.
    for prepare in (False, True):
        if prepare:
            await begin_login(victim, gateway)
        reply = await victim.get(location)
        assert reply.status in (400, 403), reply.status
        assert "countersign_agent" not in str(reply.set_cookies)
    # A code that somebody else has shown is worth nothing to the browser that asked for it either.
    assert (await attacker.get(location)).status in (400, 403)
    # The browser that asked gets in with a code that only it has seen, once.
    lent = await attacker.post(f"{gateway.console_origin}/authorize", {"state": await begin_login(attacker, gateway)})
    location = lent.json["location"]
    assert (await attacker.get(location)).status in (302, 303)
    assert (await attacker.get(location)).status in (400, 403)
    await begin_login(attacker, gateway)
    assert (await attacker.get(location)).status in (400, 403)
    assert (await attacker.post(f"{gateway.agent_origin}/logout")).status in (200, 204)


async def test_case_45_no_parameter_leads_anywhere_else(gateway: GatewayProcess, scene: Scene) -> None:
    agent, console = gateway.agent_origin, gateway.console_origin
    targets = ("//evil.test", "https://evil.test", "/\\evil.test", "javascript:alert(1)", "%2F%2Fevil.test", "http:evil.test")
    for name in ("next", "redirect", "redirect_uri", "return_to", "continue", "url"):
        for target in targets:
            reply = await scene.ada.browser.get(f"{agent}/login?{name}={target}")
            location = reply.headers.get("Location", console)
            assert location.startswith((f"{console}/", f"{agent}/")) or location == console, location
            assert "evil" not in location
    for path in ("//evil.test", "/%2e%2e//evil.test", "/\\evil.test", "/callback?code=x&state=x"):
        reply = await Browser(gateway.port).get(f"{agent}{path}")
        assert "evil" not in reply.headers.get("Location", "")
        assert reply.status in (200, 400, 403, 404), (path, reply.status)


@pytest.mark.requirement("002-10", "what the console lent to shells is revoked within a second")
@pytest.mark.requirement("002-32", "signing out closes its shells and voids their questions")
async def test_case_46_signing_out_closes_every_shell_it_issued_within_a_second_and_voids_what_waits(
    gateway: GatewayProcess, scene: Scene
) -> None:
    kim = await scene.another("Kim", "operator")
    # A second browser that was issued its session from the same sign-in: the code carried over, as when a person moves on.
    second = Person(gateway, Browser(gateway.port), kim.authenticator)
    state = await begin_login(second.browser, gateway)
    location = (await kim.browser.post(f"{gateway.console_origin}/authorize", {"state": state})).json["location"]
    assert (await second.browser.get(location)).status in (302, 303)
    third = Person(gateway, Browser(gateway.port), kim.authenticator)
    assert (await third.sign_in()).status == 204
    await third.open_shell()
    shells = [await kim.agent(), await second.agent()]
    others, console = await third.agent(), await kim.console()
    turn = await Turn.begin(shells[1])
    await turn.start("note", {"what": "milk"}, "c1")
    approval = (await shells[1].notification("approvals/requested"))["approval"]
    elsewhere = await third.console()
    opened = await elsewhere.call("approvals/get", {"approvalId": approval["id"]})
    assert (await kim.sign_out()).status == 204
    for socket in (*shells, console):
        code, _ = await socket.wait_closed(patience=1.0)
        assert code == 4403
    # The same person's other sign-in lives, and cannot wake what the first one asked for.
    with pytest.raises(RpcError):
        await elsewhere.call("approvals/decide", third.decision(opened))
    assert scene.effects(turn.conversation_id) == []
    assert (await others.call("session/describe"))["session"]["principalName"] == "Kim"
    for browser in (kim.browser, second.browser):
        with pytest.raises(InvalidStatus):
            await Socket.open(browser, gateway.agent_origin)
    for person in (kim, second, third):
        await person.leave()


async def test_leaving_one_shell_leaves_the_others_and_the_console(gateway: GatewayProcess, scene: Scene) -> None:
    leo = await scene.another("Leo", "operator")
    shell, console = await leo.agent(), await leo.console()
    assert (await leo.browser.post(f"{gateway.agent_origin}/logout")).status in (200, 204)
    assert (await shell.wait_closed(patience=1.0))[0] == 4403
    assert (await console.call("session/describe"))["session"]["principalName"] == "Leo"
    await leo.leave()


async def test_an_enrolment_link_is_used_once_and_enrols_nobody_else(gateway: GatewayProcess, scene: Scene) -> None:
    code, output = await gateway.run("enrol", "Nia", "--profile", "guest")
    assert code == 0, output
    found = re.search(r"#t=(\S+)", output)
    assert found is not None
    token = found.group(1)
    nia = await Person.at(gateway).arrive(token)
    thief = Person.at(gateway)
    for stolen in (token, token[:-1], token.swapcase(), ""):
        reply = await thief.browser.post(f"{gateway.console_origin}/enrol/options", {"token": stolen})
        assert reply.status in (400, 401, 403, 409, 410), (stolen, reply.status)
    described = await (await nia.console()).call("session/describe")
    assert (described["session"]["principalName"], described["session"]["profile"]) == ("Nia", "guest")
    filtered = (await scene.console.call("audit/list", {"filter": {"event": "principal:enrolled"}}))["entries"]
    assert [each["payload"]["name"] for each in filtered].count("Nia") == 1
    await nia.leave()


async def test_case_38_a_hijacked_console_session_registers_no_passkey_without_a_fresh_answer(
    gateway: GatewayProcess, scene: Scene
) -> None:
    # Fresh right after signing in; a restart forgets it, as five minutes do, and the cookie alone is not enough then.
    olga = await scene.another("Olga", "operator")
    reply = await olga.browser.post(f"{gateway.console_origin}/passkeys/options")
    assert reply.status == 200
    thief = Person(gateway, Browser(gateway.port), olga.authenticator)
    thief.browser.cookies = {host: dict(jar) for host, jar in scene.ada.browser.cookies.items()}
    credential = olga.authenticator.create(reply.json)
    stolen = await thief.browser.post(
        f"{gateway.console_origin}/passkeys/verify", {"credential": credential, "name": "a thief's"}
    )
    assert stolen.status in (401, 403, 409), "a challenge for one account answers no other"
    await olga.leave()


async def test_a_guest_sees_nothing_of_others_and_nothing_of_the_house(scene: Scene) -> None:
    pat = await scene.another("Pat", "guest")
    console = await pat.console()
    for method in ("policy/describe", "audit/verify"):
        with pytest.raises(RpcError) as refused:
            await console.call(method)
        assert refused.value.error["data"]["code"] == "operatorOnly"
    overview = await console.call("policy/overview")
    assert (overview["scope"], [row["profile"] for row in overview["rows"]]) == ("own", ["guest"])
    named = {each["mode"] for cell in overview["rows"][0]["cells"] for each in cell["exceptions"]}
    assert "forbidden" not in named, "a guest learns of no tool that is hidden from them"
    listed = await console.call("audit/list", {"filter": {"principalId": "usr_somebody"}, "limit": 200})
    assert {entry["body"]["principalId"] for entry in listed["entries"]} == {listed["entries"][0]["body"]["principalId"]}
    await pat.leave()
