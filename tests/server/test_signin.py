"""Sign-in over real HTTP with a software passkey, and the attacks on it."""

from __future__ import annotations

from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.core.ledger import PasskeyAdded, SignInRefused
from gateway.core.vocabulary import Profile
from tests.authenticator import Authenticator, Forgery
from tests.server.conftest import Running, headers_of, serve


@pytest.mark.requirement("002-32", "after each logout the cookie is invalid")
async def test_a_person_enrols_signs_out_signs_in_opens_the_shell_and_logs_out(running: Running) -> None:
    """docs/PROTOCOL.md section 1: the whole sequence of requests of a browser."""
    assert (await running.enrol()).status == 204
    assert (await running.browser.post(f"{running.console}/signout")).status == 204
    assert (await running.browser.post(f"{running.console}/signout")).status == 401
    assert (await running.sign_in()).status == 204
    assert (await running.open_shell()).headers["Location"] == "/"
    assert (await running.browser.post(f"{running.agent}/logout")).status == 204
    assert (await running.browser.post(f"{running.agent}/logout")).status == 401
    assert (await running.browser.post(f"{running.console}/signout")).status == 204


async def test_signing_out_on_the_console_ends_the_shells_session(running: Running) -> None:
    await running.arrive()
    assert (await running.browser.post(f"{running.console}/signout")).status == 204
    assert (await running.browser.post(f"{running.agent}/logout")).status == 401


async def test_a_further_passkey_is_added_after_a_fresh_sign_in_only(running: Running) -> None:
    """docs/SECURITY.md case 38."""
    await running.enrol()
    running.clock.advance(301)
    refused = await running.browser.post(f"{running.console}/passkeys/options")
    assert (refused.status, refused.json["error"]["reason"]) == (403, "stepUpRequired")
    assert (await running.sign_in()).status == 204
    options = await running.browser.post(f"{running.console}/passkeys/options")
    body = {"credential": running.authenticator.create(options.json), "name": "phone"}
    assert (await running.browser.post(f"{running.console}/passkeys/verify", body)).status == 204
    assert running.ledger.entries[-1] == next(entry for entry in running.ledger.entries if isinstance(entry, PasskeyAdded))


async def test_the_session_id_is_new_at_every_sign_in_and_the_old_one_is_invalid(running: Running) -> None:
    """docs/SECURITY.md case 41: a cookie from before a sign-in is invalid after it."""
    await running.enrol()
    before = dict(running.browser.cookies["console.localhost"])
    assert (await running.sign_in()).status == 204
    after = running.browser.cookies["console.localhost"]
    assert after["countersign_console"] != before["countersign_console"]
    thief = running.another_browser()
    thief.cookies["console.localhost"] = before
    assert (await thief.post(f"{running.console}/authorize", {"state": "s"})).status == 401


async def test_a_cookie_planted_before_sign_in_does_not_become_the_session(running: Running) -> None:
    await running.enrol()
    await running.browser.post(f"{running.console}/signout")
    running.browser.cookies["console.localhost"]["countersign_console"] = "planted"
    assert (await running.sign_in()).status == 204
    assert running.browser.cookies["console.localhost"]["countersign_console"] != "planted"


async def test_two_cookies_of_one_name_are_no_session(running: Running) -> None:
    """A sibling host can set a second cookie of the same name; neither may be used."""
    await running.enrol()
    value = running.browser.cookies["console.localhost"]["countersign_console"]
    twice = {"Cookie": f"countersign_console={value}; countersign_console={value}"}
    reply = await running.another_browser().post(f"{running.console}/authorize", {"state": "s"}, headers=twice)
    assert reply.status == 401


async def test_cookies_are_host_only_http_only_and_strict(running: Running) -> None:
    """docs/SECURITY.md case 43."""
    enrolled = await running.enrol()
    console = _cookie(enrolled.set_cookies, "countersign_console")
    assert (console["httponly"], console["samesite"], console["path"], console["domain"]) == (True, "strict", "/", "")
    login = _cookie((await running.browser.get(f"{running.agent}/login")).set_cookies, "countersign_login")
    assert (login["httponly"], login["samesite"], login["domain"], login["max-age"]) == (True, "lax", "", "600")
    agent = _cookie((await running.open_shell()).set_cookies, "countersign_agent")
    assert (agent["httponly"], agent["samesite"], agent["path"], agent["domain"]) == (True, "strict", "/", "")
    assert not agent["secure"]


async def test_on_https_every_cookie_is_secure_and_has_the_host_prefix(tmp_path: Path) -> None:
    async with serve(tmp_path, scheme="https") as running:
        for reply in (await running.enrol(), await running.open_shell(), await running.browser.get(f"{running.agent}/login")):
            assert reply.set_cookies
            for header in reply.set_cookies:
                assert header.startswith("__Host-countersign_")
                assert "; Secure" in header
                assert "Domain" not in header
        headers = headers_of(await running.browser.get(f"{running.console}/"))
        assert headers["strict-transport-security"] == "max-age=31536000"


# ── assertions ──

VECTORS = {
    "other origin": (Forgery(origin="http://agent.localhost:8765"), "origin"),
    "other port": (Forgery(origin="http://console.localhost:1"), "origin"),
    "cross-origin frame": (Forgery(cross_origin=True), "crossOrigin"),
    "top origin": (Forgery(top_origin="https://evil.test"), "crossOrigin"),
    "other relying party": (Forgery(rp_id="localhost"), "rpId"),
    "nobody present": (Forgery(user_present=False), "userPresence"),
    "user not verified": (Forgery(user_verified=False), "userVerification"),
    "bad signature": (Forgery(corrupt_signature=True), "signature"),
    "signed by another key": (Forgery(key=ec.generate_private_key(ec.SECP256R1())), "signature"),
    "counter that went back": (Forgery(sign_count=0), "counter"),
    "became backup eligible": (Forgery(backup_eligible=True), "backupEligibility"),
    "backed up but not eligible": (Forgery(backed_up=True), "backupEligibility"),
    "answer to another challenge": (Forgery(challenge=bytes(32)), "challenge"),
    "registration played as an assertion": (Forgery(type="webauthn.create"), "malformed"),
    "somebody else's user handle": (Forgery(user_handle=b"eve"), "credential"),
    "no user handle": (Forgery(omit_user_handle=True), "credential"),
    "a passkey that is not registered": (Forgery(credential_id=b"unknown"), "credential"),
    "client data that is no JSON": (Forgery(client_data=b"\x00"), "malformed"),
}


@pytest.mark.parametrize(("forgery", "reason"), VECTORS.values(), ids=VECTORS.keys())
async def test_a_forged_assertion_is_refused(running: Running, forgery: Forgery, reason: str) -> None:
    """docs/SECURITY.md case 37, through the running server."""
    await running.enrol()
    await running.sign_in()
    await running.browser.post(f"{running.console}/signout")
    reply = await running.sign_in(forgery)
    assert reply.status in (400, 403)
    assert reply.json["error"]["reason"] == reason
    assert not any("countersign_console=" in header for header in reply.set_cookies)
    refused = [entry for entry in running.ledger.entries if isinstance(entry, SignInRefused)]
    assert [entry.reason for entry in refused] == [reason]


async def test_an_assertion_is_accepted_once(running: Running) -> None:
    await running.enrol()
    options = await running.browser.post(f"{running.console}/signin/options")
    body = {"credential": running.authenticator.get(options.json)}
    cookies = dict(running.browser.cookies["console.localhost"])
    assert (await running.browser.post(f"{running.console}/signin/verify", body)).status == 204
    running.browser.cookies["console.localhost"] = cookies
    replayed = await running.browser.post(f"{running.console}/signin/verify", body)
    assert (replayed.status, replayed.json["error"]["reason"]) == (403, "challenge")


async def test_an_assertion_of_one_browser_is_refused_in_another(running: Running) -> None:
    await running.enrol()
    options = await running.browser.post(f"{running.console}/signin/options")
    body = {"credential": running.authenticator.get(options.json)}
    thief = running.another_browser()
    await thief.post(f"{running.console}/signin/options")
    reply = await thief.post(f"{running.console}/signin/verify", body)
    assert (reply.status, reply.json["error"]["reason"]) == (403, "challenge")


async def test_five_wrong_assertions_end_the_ceremony(running: Running) -> None:
    await running.enrol()
    for _ in range(4):
        assert (await running.sign_in(Forgery(corrupt_signature=True))).status == 403
    reply = await running.sign_in(Forgery(corrupt_signature=True))
    assert (reply.status, reply.json["error"]["reason"]) == (429, "tooManyFailures")
    assert "countersign_browser" not in running.browser.cookies["console.localhost"]
    assert (await running.sign_in()).status == 204


async def test_a_used_enrolment_link_is_refused_with_its_reason(running: Running) -> None:
    token = await running.passkeys.offer("Ada", Profile.OPERATOR)
    options = await running.browser.post(f"{running.console}/enrol/options", {"token": token})
    body = {"token": token, "credential": running.authenticator.create(options.json)}
    assert (await running.browser.post(f"{running.console}/enrol/verify", body)).status == 204
    again = await running.another_browser().post(f"{running.console}/enrol/options", {"token": token})
    assert (again.status, again.json["error"]["reason"]) == (410, "enrolment")


@pytest.mark.parametrize("credential", [{}, {"id": "A" * 20_000, "rawId": "A" * 20_000}, {"id": 1}, {"response": []}])
async def test_a_malformed_assertion_is_refused_with_a_message(running: Running, credential: dict[str, object]) -> None:
    await running.browser.post(f"{running.console}/signin/options")
    reply = await running.browser.post(f"{running.console}/signin/verify", {"credential": credential})
    assert (reply.status, reply.json["error"]["reason"]) == (400, "malformed")


# ── sign-in of a shell ──


async def test_a_code_opens_one_shell(running: Running) -> None:
    """docs/SECURITY.md case 44, for our own code."""
    await running.enrol()
    location = await running.authorize(await running.start_login())
    cookies = dict(running.browser.cookies["agent.localhost"])
    assert (await running.browser.get(location)).status == 303
    running.browser.cookies["agent.localhost"] = cookies
    replayed = await running.browser.get(location)
    assert (replayed.status, replayed.json["error"]["reason"]) == (403, "code")
    assert not any("countersign_agent=" in header for header in replayed.set_cookies)


async def test_a_code_is_refused_in_another_browser(running: Running) -> None:
    await running.enrol()
    location = await running.authorize(await running.start_login())
    thief = running.another_browser()
    assert (await thief.get(location)).json["error"]["reason"] == "state"
    await thief.get(f"{running.agent}/login")
    assert (await thief.get(location)).json["error"]["reason"] == "state"
    assert "countersign_agent" not in thief.cookies["agent.localhost"]


async def test_a_code_is_refused_with_another_state(running: Running) -> None:
    """Login CSRF: a victim's browser, with its own state, sent to a callback with the attacker's code."""
    await running.enrol()
    attackers = await running.authorize(await running.start_login())
    code = parse_qs(urlsplit(attackers).query)["code"][0]
    victim = running.another_browser()
    sent = await victim.get(f"{running.agent}/login")
    state = parse_qs(urlsplit(sent.headers["Location"]).query)["state"][0]
    reply = await victim.get(f"{running.agent}/callback?code={code}&state={state}")
    assert (reply.status, reply.json["error"]["reason"]) == (403, "code")
    assert "countersign_agent" not in victim.cookies["agent.localhost"]


async def test_a_code_expires_within_a_minute(running: Running) -> None:
    await running.enrol()
    location = await running.authorize(await running.start_login())
    running.clock.advance(60)
    assert (await running.browser.get(location)).json["error"]["reason"] == "code"


@pytest.mark.parametrize(
    "query", ["", "?code=a", "?state=a", "?code=&state=", "?code=a&code=b&state=c", "?code=%00&state=%ff", "?code=a&state=é"]
)
async def test_a_callback_without_its_two_parts_is_refused(running: Running, query: str) -> None:
    reply = await running.browser.get(f"{running.agent}/callback{query}")
    assert reply.status in (400, 403)
    assert reply.json["error"]["code"] == "refused"


async def test_a_refused_callback_shows_a_page_and_issues_no_session(running: Running) -> None:
    await running.enrol()
    location = await running.authorize(await running.start_login())
    running.clock.advance(60)
    reply = await running.browser.get(location, headers={"Accept": "text/html,*/*;q=0.8"})
    assert (reply.status, reply.headers["Content-Type"]) == (403, "text/html; charset=utf-8")
    assert not any("countersign_agent=" in header for header in reply.set_cookies)


async def test_every_redirect_goes_to_a_configured_origin(running: Running) -> None:
    """docs/SECURITY.md case 45: nothing in a request names where it ends."""
    await running.enrol()
    evil = "next=https://evil.test&return_to=//evil.test&redirect_uri=https://evil.test"
    login = await running.browser.get(f"{running.agent}/login?{evil}", headers={"X-Forwarded-Host": "evil.test"})
    assert login.headers["Location"].startswith(f"{running.console}/authorize?state=")
    assert "evil" not in login.headers["Location"]
    location = await running.authorize("//evil.test/\\?x=https://evil.test&y#z")
    assert location.startswith(f"{running.agent}/callback?code=")
    assert urlsplit(location).netloc == urlsplit(running.agent).netloc
    opened = await running.browser.get(f"{await running.authorize(await running.start_login())}&{evil}")
    assert opened.headers["Location"] == "/"


async def test_a_guest_is_issued_a_guests_session(running: Running) -> None:
    await running.enrol()
    running.browser = running.another_browser()
    running.authenticator = Authenticator(origin=running.console)
    await running.enrol("Bob", Profile.GUEST)
    assert (await running.open_shell()).status == 303
    assert running.session().principal.profile is Profile.GUEST


def _cookie(headers: tuple[str, ...], name: str) -> dict[str, object]:
    for header in headers:
        parsed: SimpleCookie = SimpleCookie(header)
        if name in parsed:
            return {**parsed[name], "samesite": parsed[name]["samesite"].lower()}
    raise AssertionError(f"no cookie {name} in {headers}")
