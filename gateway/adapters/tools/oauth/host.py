"""The SignInHost: the sign-ins to all sources that take one. The HTTP client is imported by the first sign-in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar, cast

from pydantic import ValidationError

from gateway.adapters.tools.builtin.egress import Lookup
from gateway.adapters.tools.oauth.documents import OAuthRefusal
from gateway.adapters.tools.oauth.places import SignInPlaces, read_origin
from gateway.adapters.tools.oauth.settings import SignInSettings
from gateway.adapters.tools.oauth.tokens import SourceTokens, Tokens, read_tokens
from gateway.adapters.tools.offer import AccessTokens
from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.sources import AddedSource, SourceKind
from gateway.runtime.ports import PreparedSignIn, SignInReply

if TYPE_CHECKING:
    from gateway.adapters.tools.oauth.flow import Attempt, SignInFlow

Value = TypeVar("Value")

SETTING: Final = "oauth"
"""The setting of a source that holds SignInSettings."""

STEP_SECONDS: Final = 45.0
"""For all requests of one step together."""


class OAuthSignIns:
    """`fill` puts secrets in their places; `now` is in epoch milliseconds. `lookup` is only for tests, which have no name
    server of their own."""

    def __init__(self, fill: Callable[[str], str], now: Callable[[], int], lookup: Lookup | None = None) -> None:
        self._fill = fill
        self._now = now
        self._lookup = lookup
        self._sources: dict[str, AddedSource] = {}
        self._tokens: dict[str, SourceTokens] = {}
        self._on_renewed: Callable[[str, str], Awaitable[None]] = _forget
        self._on_refused: Callable[[str], Awaitable[None]] = _forget

    def begin(self, on_renewed: Callable[[str, str], Awaitable[None]], on_refused: Callable[[str], Awaitable[None]]) -> None:
        """See SignInHost."""
        self._on_renewed, self._on_refused = on_renewed, on_refused

    def tokens(self, source: AddedSource) -> AccessTokens | None:
        """What the driver of this source gets; None for a source that nobody can sign in to."""
        return None if self.address_of(source) is None else self._tokens_of(source)

    def address_of(self, source: AddedSource) -> str | None:
        """See SignInHost: a server with an address, and without a header of the operator's in the token's place."""
        if source.kind is not SourceKind.MCP:
            return None
        url, headers = source.settings.get("url"), cast("Mapping[str, Json]", source.settings.get("headers") or {})
        if not url or any(name.lower() == "authorization" for name in headers):
            return None
        return str(url)

    async def prepare(self, source: AddedSource, callback: str, state: str) -> PreparedSignIn:
        """See SignInHost."""

        async def begin() -> PreparedSignIn:
            location, attempt = await self._flow(source).begin(callback, state, self._tokens_of(source).challenge)
            return PreparedSignIn(location, attempt.server.issuer, attempt)

        return await _in_time(begin())

    async def redeem(self, source: AddedSource, prepared: PreparedSignIn, answer: SignInReply) -> str:
        """See SignInHost."""

        async def redeem() -> str:
            return (await self._flow(source).redeem(cast("Attempt", prepared.attempt), answer)).write()

        return await _in_time(redeem())

    def use(self, source: AddedSource, tokens: str | None) -> None:
        """See SignInHost. Tokens that were made for another address are as good as none."""
        kept = None if tokens is None else read_tokens(tokens)
        issuer = self._settings(source).issuer
        if kept is not None and (kept.url != self.address_of(source) or issuer not in ("", kept.issuer)):
            kept = None
        self._tokens_of(source).kept = kept

    async def revoke(self, source: AddedSource, tokens: str) -> None:
        """See SignInHost."""

        async def revoke() -> None:
            if (kept := read_tokens(tokens)) is not None:
                await self._flow(source, kept.url).revoke(kept)

        await _in_time(revoke())

    async def close(self) -> None:
        """See SignInHost."""
        await asyncio.gather(*(tokens.close() for tokens in self._tokens.values()))

    # ── inside ──

    def _tokens_of(self, source: AddedSource) -> SourceTokens:
        """Those of its name; `source` is how it is described now, and what later requests go by."""
        name = source.name
        self._sources[name] = source
        if name not in self._tokens:

            async def renew(kept: Tokens) -> Tokens:
                return await self._flow(self._sources[name], kept.url).renew(kept)

            async def renewed(kept: Tokens) -> None:
                await self._on_renewed(name, kept.write())

            async def refused() -> None:
                await self._on_refused(name)

            self._tokens[name] = SourceTokens(renew, self._now, renewed, refused)
        return self._tokens[name]

    def _flow(self, source: AddedSource, url: str | None = None) -> SignInFlow:
        from gateway.adapters.tools.oauth.flow import SignInFlow

        settings, address = self._settings(source), url or self.address_of(source) or ""
        origin = read_origin(address.partition("?")[0], "the source")
        issuer = read_origin(settings.issuer, "`issuer`") if settings.issuer else None
        private = source.settings.get("allow_private") is True
        places = SignInPlaces(origin, issuer, self._lookup, private=private)
        return SignInFlow(address, settings, places, self._fill, self._now)

    def _settings(self, source: AddedSource) -> SignInSettings:
        try:
            return SignInSettings.model_validate(source.settings.get(SETTING) or {})
        except ValidationError:
            # What is declared in the settings file may be wrong; the source itself says so.
            return SignInSettings()


async def _in_time(step: Awaitable[Value]) -> Value:
    try:
        async with asyncio.timeout(STEP_SECONDS):
            return await step
    except OAuthRefusal as refusal:
        raise Refused("signInFailed", refusal.message, 409) from None
    except TimeoutError:
        raise Refused("signInFailed", f"the authorization server took longer than {STEP_SECONDS:g} seconds", 409) from None


async def _forget(*_: object) -> None:
    """Until somebody says what is done."""
