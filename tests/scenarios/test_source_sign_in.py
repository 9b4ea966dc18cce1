"""Signing in to a remote MCP server on the running gateway, and what somebody does who wants the tokens or another's sign-in."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.harness.oauth_site import RESOURCE, OAuthSite, saying, serve_oauth
from tests.harness.person import Person
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene, make_gateway, text_of

PATIENCE = 60.0
"""Seconds for a worker to start on a busy machine; a bound, not a measurement."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    process = make_gateway(tmp_path_factory.mktemp("sign-in"))
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output
    # Whatever happened: no token and no code was written down.
    assert not any(word in process.output for word in ("access-", "refresh-", "code-"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[OAuthSite]:
    async with serve_oauth(OAuthSite()) as served:
        yield served


class Remote:
    """One source at the site, and the console that adds it and signs in."""

    def __init__(self, scene: Scene, site: OAuthSite, name: str) -> None:
        self.scene, self.site, self.name, self.console = scene, site, name, scene.console

    async def add(self) -> dict[str, Any]:
        await self.console.call("sources/add", {"name": self.name, "kind": "mcp", "settings": {"url": self.site.url}})
        return await self.console.call("sources/test", {"name": self.name}, patience=PATIENCE)

    async def begin(self) -> dict[str, Any]:
        return await self.console.call("sources/sign-in", {"name": self.name})

    async def come_back(self) -> dict[str, Any]:
        """Agree at the authorization server: what its redirect brings to the page of the callback."""
        back = await self.site.agree((await self.begin())["location"])
        assert back["callback"] == f"{self.scene.gateway.console_origin}/sources/{self.name}/callback"
        return {"name": self.name, "state": back["state"], "code": back["code"], "issuer": back["iss"]}

    async def finish(self, back: dict[str, Any], console: Socket | None = None) -> dict[str, Any]:
        return await (console or self.console).call("sources/finish-sign-in", back)

    async def refused(self, back: dict[str, Any], console: Socket | None = None) -> str:
        with pytest.raises(RpcError) as refused:
            await self.finish(back, console)
        return str(refused.value.error["data"]["code"])

    async def sign_in(self) -> None:
        back, before = await self.come_back(), self.site.lists
        await self.finish(back)
        tested = await self.console.call("sources/test", {"name": self.name}, patience=PATIENCE)
        assert tested["state"] == "ready", tested
        # Asked for by the new connection, by the test, and once more after it: what follows is not to fall into that.
        async with asyncio.timeout(PATIENCE):
            while self.site.lists < before + 3:
                await asyncio.sleep(0.02)
        (tool,) = (await self.console.call("sources/list-tools", {"name": self.name}))["tools"]
        decision = {"tool": "look", "pin": tool["pin"], "category": "network"}
        await self.console.call("sources/decide", {"name": self.name, "decisions": [decision]})

    async def look(self) -> dict[str, Any]:
        """What a call gives that a person allows."""
        turn = await self.scene.begin()
        waiting = await turn.start(f"{self.name}__look", {}, "c1")
        await self.scene.ada.answer(self.console, await self.scene.asked("c1"))
        return await waiting

    async def look_at_once(self) -> dict[str, Any]:
        """What a call gives that nobody is asked about."""
        turn = await self.scene.begin()
        return await asyncio.wait_for(turn.invoke(f"{self.name}__look", {}), 30)

    async def events(self) -> list[str]:
        entries = (await self.console.call("audit/list", {"limit": 200}))["entries"]
        return [each["body"]["event"] for each in reversed(entries) if each["body"].get("source") == self.name]


async def test_a_person_signs_in_and_the_tools_work_until_they_sign_out(scene: Scene, site: OAuthSite) -> None:
    remote = Remote(scene, site, "remote")
    added = await remote.add()
    assert (added["state"], added["signIn"]) == ("needsSignIn", {})
    assert "press `Sign in`" in added["why"]
    await remote.sign_in()
    (listed,) = (await scene.console.call("sources/list", {}))["sources"]
    assert listed["signIn"]["server"] == site.origin
    ran = await remote.look()
    assert (ran["outcome"], ran["content"], ran["trust"]) == ("ok", "looked with Bearer [secret]", "untrusted")
    refresh = next(iter(site.refresh))
    out = await scene.console.call("sources/sign-out", {"name": "remote"})
    assert (out["source"]["signIn"], out.get("why")) == ({}, None)
    assert [asked.fields["token"] for asked in site.of("/revoke")] == [refresh]
    code, output = await scene.gateway.run("sources", "list")
    assert (code, "needs a sign-in" in output or "connecting" in output) == (0, True)
    assert await remote.events() == [
        "source:added",
        "source-sign-in:started",
        "source:signed-in",
        "source-tools:seen",
        "source-tool:decided",
        "source:signed-out",
    ]


async def test_the_page_and_the_callback_are_named_on_the_command_line(scene: Scene, site: OAuthSite) -> None:
    await Remote(scene, site, "named").add()
    code, output = await scene.gateway.run("sources", "sign-in", "named")
    origin = scene.gateway.console_origin
    assert (code, f"Open {origin}/sources/named and press" in output) == (0, True)
    assert f"its redirect URI is {origin}/sources/named/callback" in output
    code, output = await scene.gateway.run("sources", "sign-out", "named")
    assert (code, output) == (0, "Nobody is signed in to named any more.\n")
    code, output = await scene.gateway.run("sources", "sign-in", "nobody")
    assert code != 0
    assert "there is no source `nobody`" in output


async def test_tokens_stand_nowhere_in_the_open(scene: Scene, site: OAuthSite) -> None:
    remote = Remote(scene, site, "sealed")
    await remote.add()
    await remote.sign_in()
    shown = text_of(await scene.console.call("sources/list", {}))
    shown += text_of(await scene.console.call("audit/list", {"limit": 200}))
    shown += text_of(await scene.console.call("secrets/list", {}))
    code, exported = await scene.gateway.run("sources", "export")
    assert code == 0
    secrets = (*site.access, *site.refresh)
    assert secrets
    with sqlite3.connect(f"file:{scene.gateway.state / 'ledger.db'}?mode=ro", uri=True) as database:
        stored = "\n".join(map(str, database.iterdump()))
    assert "source_sign_ins" in stored
    for place in (shown, exported, stored):
        assert not any(secret in place for secret in secrets)
    # A secret is put into settings by name; a sign-in has no name there.
    settings = {"url": site.url, "headers": {"X-Stolen": "${secret:sign-in to sealed at " + site.url + "}"}}
    with pytest.raises(RpcError):
        await scene.console.call("sources/add", {"name": "thief", "kind": "mcp", "settings": settings})


async def test_an_answer_is_good_once_and_only_where_it_was_asked_for(scene: Scene, site: OAuthSite) -> None:
    remote, other = Remote(scene, site, "once"), Remote(scene, site, "another")
    await remote.add()
    await other.add()
    back = await remote.come_back()
    asked = site.times("/token")
    assert await remote.refused({**back, "state": "guessed"}) == "unknownAttempt"
    # Another person's console, although it is an operator's, and another console session of the same person.
    eve = await scene.another("Eve", "operator")
    assert await remote.refused(back, await eve.console()) == "unknownAttempt"
    await eve.leave()
    assert site.times("/token") == asked
    # Whoever tried used it up.
    assert await remote.refused(back) == "unknownAttempt"
    back = await remote.come_back()
    assert await remote.refused({**back, "name": "another"}) == "unknownAttempt"
    assert await remote.refused(back) == "unknownAttempt"
    back = await remote.come_back()
    await remote.finish(back)
    assert await remote.refused(back) == "unknownAttempt"
    assert site.times("/token") == asked + 1


async def test_a_code_or_an_answer_of_others_is_refused_and_recorded(scene: Scene, site: OAuthSite) -> None:
    remote = Remote(scene, site, "mixed")
    await remote.add()
    back = await remote.come_back()
    stolen = (await remote.come_back())["code"]
    assert await remote.refused({**back, "code": stolen}) == "signInFailed"
    back = await remote.come_back()
    assert await remote.refused({**back, "issuer": "https://evil.example"}) == "signInFailed"
    back = await remote.come_back()
    assert await remote.refused({key: value for key, value in back.items() if key != "issuer"}) == "signInFailed"
    back = await remote.come_back()
    assert await remote.refused({"name": "mixed", "state": back["state"], "error": "access_denied", "issuer": site.origin})
    assert (await remote.events()).count("source-sign-in:failed") == 4
    assert "source:signed-in" not in await remote.events()
    (described,) = [each for each in (await scene.console.call("sources/list", {}))["sources"] if each["name"] == "mixed"]
    assert (described["signIn"], described["state"] in ("needsSignIn", "connecting")) == ({}, True)


async def test_neither_a_guest_nor_the_agents_tab_begins_or_ends_a_sign_in(scene: Scene, site: OAuthSite) -> None:
    await Remote(scene, site, "guarded").add()
    guest: Person = await scene.another("Gus", "guest")
    console = await guest.console()
    for method, params in (
        ("sources/sign-in", {"name": "guarded"}),
        ("sources/finish-sign-in", {"name": "guarded", "state": "a"}),
        ("sources/sign-out", {"name": "guarded"}),
    ):
        for socket in (console, scene.shell):
            with pytest.raises(RpcError):
                await socket.call(method, params)
    await guest.leave()
    assert await Remote(scene, site, "guarded").events() == ["source:added"]


async def test_a_source_that_points_inside_is_asked_nothing_there(scene: Scene) -> None:
    async with serve_oauth(OAuthSite()) as inner, serve_oauth(OAuthSite()) as site:
        remote = Remote(scene, site, "inward")
        await remote.add()
        for resource, server in (
            ({"authorization_servers": [inner.origin]}, {}),
            ({}, {"token_endpoint": f"{inner.origin}/token"}),
            ({}, {"registration_endpoint": f"{inner.origin}/register"}),
            ({}, {"issuer": inner.origin}),
            ({"resource": inner.url}, {}),
        ):
            site.resource, site.server = resource, server
            with pytest.raises(RpcError) as refused:
                await remote.begin()
            assert refused.value.error["data"]["code"] == "signInFailed"
        site.resource, site.server = {}, {}
        site.challenge = f'Bearer resource_metadata="{inner.origin}{RESOURCE}"'
        await scene.console.call("sources/test", {"name": "inward"}, patience=PATIENCE)
        with pytest.raises(RpcError):
            await remote.begin()
        assert inner.asked == []


async def test_a_call_after_the_sign_in_ended_says_so_at_once(scene: Scene) -> None:
    async with serve_oauth(OAuthSite()) as site:
        remote = Remote(scene, site, "ending")
        await remote.add()
        await remote.sign_in()
        site.access.clear()
        ran = await remote.look()
        assert ran["outcome"] == "ok", ran
        assert len(site.calls) == 1
        site.access.clear()
        site.refresh.clear()
        ended = await remote.look()
        assert (ended["outcome"], ended["reason"]) == ("executionError", "signInNeeded")
        assert "the sign-in is over: the token endpoint refused: invalid_grant" in ended["error"]
        again = await remote.look_at_once()
        assert (again["outcome"], again["reason"]) == ("executionError", "signInNeeded")
        assert len(site.calls) == 1
        events = await remote.events()
        assert events.count("source-tokens:renewed") == 1
        assert events[-1] == "source:signed-out"


async def test_a_server_that_refuses_every_token_is_left_alone(scene: Scene) -> None:
    async with serve_oauth(OAuthSite()) as site:
        remote = Remote(scene, site, "refusing")
        await remote.add()
        site.answers["/mcp"] = saying(401, {})
        view = await remote.finish(await remote.come_back())
        tested = await scene.console.call("sources/test", {"name": "refusing"}, patience=PATIENCE)
        assert view["name"] == "refusing"
        assert tested["state"] == "needsSignIn"
        asked = len(site.asked)
        # Nothing is tried by itself: a source that is away would be tried again after a second.
        await remote.look_at_once()
        assert len(site.asked) == asked
        assert asked < 30


async def test_a_sign_in_outlives_the_gateway_and_ends_with_its_source(
    scene: Scene, site: OAuthSite, gateway: GatewayProcess
) -> None:
    remote = Remote(scene, site, "lasting")
    await remote.add()
    await remote.sign_in()
    home = gateway.home
    with sqlite3.connect(home / "state/ledger.db") as database:
        rows = dict(database.execute("SELECT source, server FROM source_sign_ins").fetchall())
    assert rows["lasting"] == site.origin
    revoked = site.times("/revoke")
    await scene.console.call("sources/remove", {"name": "lasting"})
    assert site.times("/revoke") == revoked + 1
    added = await remote.add()
    assert (added["state"], added["signIn"]) == ("needsSignIn", {})


async def test_a_source_that_is_removed_while_its_sign_in_ends_does_not_come_back(scene: Scene) -> None:
    async with serve_oauth(OAuthSite()) as site:
        remote = Remote(scene, site, "vanishing")
        await remote.add()
        back = await remote.come_back()
        arrived, goes_on = asyncio.Event(), asyncio.Event()

        async def hold(_request: Request) -> Response:
            arrived.set()
            await goes_on.wait()
            return JSONResponse({"access_token": "access-late", "token_type": "Bearer"})

        site.answers["/token"] = hold
        finishing = asyncio.create_task(remote.refused(back))
        await asyncio.wait_for(arrived.wait(), PATIENCE)
        # On another connection: requests of one console are answered in order.
        other = await scene.ada.console()
        await other.call("sources/remove", {"name": "vanishing"})
        await other.close()
        goes_on.set()
        assert await finishing in ("changed", "not_found")
        listed = (await scene.console.call("sources/list", {}))["sources"]
        assert "vanishing" not in [each["name"] for each in listed]
        assert (await remote.events())[-1] == "source:removed"
