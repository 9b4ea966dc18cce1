"""The real driver and its worker, at a server that wants a sign-in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from starlette.responses import Response

from gateway.adapters.tools.offer import SignInNeeded, SourceAway
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason
from tests.adapters.tools.mcp.conftest import Drive
from tests.adapters.tools.mcp.servers import Driven
from tests.harness.oauth_site import OAuthSite, leading_to, serve_oauth


@dataclass
class ScriptedTokens:
    """The access to one source: the token that it has, and the ones that it can still get."""

    token: str | None
    more: list[str] = field(default_factory=list[str])
    challenges: list[str] = field(default_factory=list[str])
    renewed: list[str] = field(default_factory=list[str])

    async def current(self) -> str | None:
        return self.token

    async def renew(self, refused: str) -> str:
        self.renewed.append(refused)
        if not self.more:
            raise SignInNeeded("the sign-in is over; sign in again")
        self.token = self.more.pop(0)
        return self.token

    def challenged(self, challenge: str) -> None:
        self.challenges.append(challenge)


@pytest.fixture
async def site() -> AsyncIterator[OAuthSite]:
    async with serve_oauth(OAuthSite(access={"token-good"})) as served:
        yield served


def drive_with(drive: Drive, site: OAuthSite, tokens: ScriptedTokens | None) -> Driven:
    return drive({"url": site.url}, tokens=tokens)


async def test_the_token_goes_with_every_request_and_stands_in_no_result(drive: Drive, site: OAuthSite) -> None:
    driven = drive_with(drive, site, ScriptedTokens("token-good"))
    await driven.open()
    assert (await driven.call("look")).text == "looked with Bearer [secret]"
    assert {asked.authorization for asked in site.of("/mcp")} == {"Bearer token-good"}


async def test_a_server_that_wants_a_sign_in_is_told_apart_from_one_that_is_away(drive: Drive, site: OAuthSite) -> None:
    tokens = ScriptedTokens(None)
    with pytest.raises(SignInNeeded, match="wants a person to sign in; press `Sign in` on the console, or run"):
        await drive_with(drive, site, tokens).open()
    assert "resource_metadata=" in tokens.challenges[0]
    assert tokens.renewed == []


async def test_a_server_with_a_key_of_the_operators_has_no_sign_in(drive: Drive, site: OAuthSite) -> None:
    driven = drive({"url": site.url, "headers": {"Authorization": "Bearer mine"}})
    with pytest.raises(SourceAway, match="does not accept these `headers`; it wants a sign-in") as caught:
        await driven.open()
    assert not isinstance(caught.value, SignInNeeded)


async def test_a_refused_token_is_renewed_once_and_the_call_asked_once_more(drive: Drive, site: OAuthSite) -> None:
    tokens = ScriptedTokens("token-good", ["token-next"])
    driven = drive_with(drive, site, tokens)
    await driven.open()
    site.access = {"token-next"}
    assert (await driven.call("look")).text == "looked with Bearer [secret]"
    assert tokens.renewed == ["token-good"]
    assert len(site.calls) == 1


async def test_a_token_that_ended_before_the_start_is_renewed_at_the_start(drive: Drive, site: OAuthSite) -> None:
    tokens = ScriptedTokens("token-old", ["token-good"])
    driven = drive_with(drive, site, tokens)
    await driven.open()
    assert tokens.renewed == ["token-old"]


async def test_a_server_that_refuses_every_token_is_not_asked_for_ever(drive: Drive, site: OAuthSite) -> None:
    tokens = ScriptedTokens("token-good", [f"token-{number}" for number in range(50)])
    driven = drive_with(drive, site, tokens)
    await driven.open()
    site.access.clear()
    with pytest.raises(SignInNeeded, match="refuses a sign-in that was renewed just now"):
        await driven.call("look")
    with pytest.raises(SignInNeeded, match="refuses a sign-in that was renewed just now"):
        await driven.open()
    assert len(tokens.renewed) == 2
    assert site.calls == []


async def test_a_token_that_is_replaced_in_time_reaches_the_worker_before_the_call(drive: Drive, site: OAuthSite) -> None:
    tokens = ScriptedTokens("token-good")
    driven = drive_with(drive, site, tokens)
    await driven.open()
    site.access, tokens.token = {"token-next"}, "token-next"
    given = await asyncio.gather(*(driven.call("look") for _ in range(5)))
    assert {each.text for each in given} == {"looked with Bearer [secret]"}
    assert tokens.renewed == []


async def test_a_call_that_needs_more_than_was_granted_fails_alone_and_says_what(drive: Drive, site: OAuthSite) -> None:
    tokens = ScriptedTokens("token-good", ["token-next"])
    driven = drive_with(drive, site, tokens)
    await driven.open()
    site.scope_wanted = "notes:write"
    with pytest.raises(ToolFailed, match=r"wants more than the sign-in allows \(\S+\); sign in again") as caught:
        await driven.call("look")
    assert caught.value.reason is Reason.SIGN_IN_NEEDED
    assert tokens.renewed == []
    assert "notes:write" in tokens.challenges[-1]
    assert driven.listener.losses == []


async def test_a_redirect_takes_no_token_elsewhere(drive: Drive, site: OAuthSite) -> None:
    async with serve_oauth(OAuthSite()) as other:
        site.answers["/mcp"] = leading_to(other.url)
        with pytest.raises(SourceAway):
            await drive_with(drive, site, ScriptedTokens("token-good")).open()
        assert other.asked == []


async def test_a_plain_no_is_no_sign_in(drive: Drive, site: OAuthSite) -> None:
    async def refuse(_: object) -> Response:
        return Response(status_code=403)

    site.answers["/mcp"] = refuse
    tokens = ScriptedTokens("token-good", ["token-next"])
    with pytest.raises(SourceAway, match="the server answers 403") as caught:
        await drive_with(drive, site, tokens).open()
    assert not isinstance(caught.value, SignInNeeded)
    assert tokens.renewed == []
