"""A site that wants a sign-in, and the sign-ins of one source to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from gateway.adapters.tools.oauth.host import OAuthSignIns
from gateway.adapters.tools.oauth.tokens import SourceTokens, Tokens, read_tokens
from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.sources import AddedSource, SourceKind, fill_secrets
from gateway.runtime.ports import PreparedSignIn, SignInReply
from tests.fakes.clock import FakeClock
from tests.harness.oauth_site import OAuthSite, serve_oauth

CALLBACK = "http://console.localhost:8765/sources/remote/callback"


@dataclass
class Signing:
    """One source's sign-ins, without a gateway around them."""

    site: OAuthSite
    clock: FakeClock = field(default_factory=FakeClock)
    secrets: dict[str, str] = field(default_factory=dict[str, str])
    settings: dict[str, Json] = field(default_factory=dict[str, Json])
    url: str = ""
    renewed: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.host = OAuthSignIns(lambda text: fill_secrets(text, self.secrets), self.clock.now)
        self.host.begin(self._keep, self._note)

    async def _keep(self, _source: str, tokens: str) -> None:
        self.renewed.append(tokens)

    async def _note(self, source: str) -> None:
        self.refused.append(source)

    @property
    def source(self) -> AddedSource:
        oauth = {"oauth": self.settings} if self.settings else {}
        return AddedSource("remote", SourceKind.MCP, {"url": self.url or self.site.url, **oauth})

    @property
    def tokens(self) -> SourceTokens:
        found = self.host.tokens(self.source)
        assert isinstance(found, SourceTokens)
        return found

    async def prepare(self, state: str = "state-1") -> PreparedSignIn:
        return await self.host.prepare(self.source, CALLBACK, state)

    async def answer(self, prepared: PreparedSignIn, **changed: str | None) -> Tokens:
        """Go to the authorization server and redeem what came back, or something else."""
        back = await self.site.agree(prepared.location)
        given = {"code": back.get("code"), "issuer": back.get("iss"), "error": None, **changed}
        kept = read_tokens(await self.host.redeem(self.source, prepared, SignInReply(**given)))
        assert kept is not None
        return kept

    async def sign_in(self) -> Tokens:
        kept = await self.answer(await self.prepare())
        self.host.use(self.source, kept.write())
        return kept

    async def refusal(self) -> str:
        """Why a sign-in cannot even begin."""
        with pytest.raises(Refused) as refused:
            await self.prepare()
        assert refused.value.reason == "signInFailed"
        return refused.value.message


@pytest.fixture
async def site() -> AsyncIterator[OAuthSite]:
    async with serve_oauth(OAuthSite()) as served:
        yield served


@pytest.fixture
async def signing(site: OAuthSite) -> AsyncIterator[Signing]:
    scene = Signing(site)
    yield scene
    await scene.host.close()
