"""What a sign-in gives, and the tokens of one source while the gateway runs: renewed in time, by one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.adapters.tools.oauth.challenge import Challenge, read_challenge
from gateway.adapters.tools.oauth.documents import OAuthRefusal
from gateway.adapters.tools.offer import SignInNeeded, SourceAway
from gateway.core.errors import LedgerUnavailable

AHEAD_SECONDS: Final = 60.0
"""How long before its end a token is renewed; a shorter-lived one after three quarters of its life."""

LONGEST_SECONDS: Final = 10 * 365 * 86_400.0

_Secret = Annotated[str, Field(repr=False)]
_MaybeSecret = Annotated[str | None, Field(repr=False)]


class Tokens(BaseModel):
    """The tokens of one sign-in with all that renewing and revoking them takes. Times are epoch milliseconds.

    `url` is the one address that they are sent to, beside the two endpoints. A client that registered itself has its secret
    here; one that the operator registered has it in the settings, by name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    resource: str
    issuer: str
    token_endpoint: str
    revocation_endpoint: str | None
    client_id: str
    client_secret: _MaybeSecret
    client_method: str
    access_token: _Secret
    refresh_token: _MaybeSecret
    scope: str
    renew_at: int | None
    expires_at: int | None

    def write(self) -> str:
        """As text, to be sealed."""
        return self.model_dump_json()


def read_tokens(text: str) -> Tokens | None:
    """What `write` wrote; None for what another version did."""
    try:
        return Tokens.model_validate_json(text)
    except ValidationError:
        return None


class SourceTokens:
    """The AccessTokens of one source. `kept` is None while nobody is signed in; `ask` asks the authorization server for new
    tokens and raises OAuthRefusal."""

    def __init__(
        self,
        ask: Callable[[Tokens], Awaitable[Tokens]],
        now: Callable[[], int],
        on_renewed: Callable[[Tokens], Awaitable[None]],
        on_refused: Callable[[], Awaitable[None]],
    ) -> None:
        self.kept: Tokens | None = None
        self.challenge: Challenge | None = None
        self._ask_server = ask
        self._now = now
        self._on_renewed = on_renewed
        self._on_refused = on_refused
        self._renewing: asyncio.Task[None] | None = None
        self._unrecorded: Tokens | None = None

    async def current(self) -> str | None:
        """See AccessTokens."""
        kept = self.kept
        if kept is None:
            return None
        if self._unrecorded is kept:
            # The authorization server has voided the ones before: unless these are kept, nobody is signed in after a restart.
            await self._join(lambda: self._record(kept))
        if kept.renew_at is None or self._now() < kept.renew_at:
            return kept.access_token
        try:
            return await self.renew(kept.access_token)
        except SignInNeeded:
            raise
        except SourceAway:
            # It still holds for a moment, and the authorization server may be back before it ends.
            if kept.expires_at is not None and self._now() < kept.expires_at:
                return kept.access_token
            raise

    async def renew(self, refused: str) -> str:
        """See AccessTokens. Whoever comes while a request is under way waits for that one."""
        if self.kept is not None and self.kept.access_token == refused:
            kept = self.kept
            await self._join(lambda: self._ask(kept))
        if self.kept is None:
            raise SignInNeeded("nobody is signed in any more; sign in again")
        return self.kept.access_token

    async def _join(self, begin: Callable[[], Coroutine[None, None, None]]) -> None:
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(begin())
            self._renewing.add_done_callback(_take_notice)
        # A caller that gives up must not cut off the answer: the old refresh token may be void by then.
        await asyncio.shield(self._renewing)

    def challenged(self, challenge: str) -> None:
        """See AccessTokens."""
        self.challenge = read_challenge(challenge) or self.challenge

    async def close(self) -> None:
        """Wait for the request that is under way."""
        if self._renewing is not None:
            await asyncio.wait((self._renewing,))

    async def _ask(self, kept: Tokens) -> None:
        try:
            renewed = await self._ask_server(kept)
        except OAuthRefusal as refusal:
            if not refusal.is_final:
                raise SourceAway(f"the sign-in cannot be renewed now: {refusal.message}") from None
            if self.kept is kept:
                # On record first: where that fails, the next use finds out the same once more.
                try:
                    await self._on_refused()
                except LedgerUnavailable as error:
                    raise SourceAway(f"the sign-in is over, and {error.message}") from None
                if self.kept is kept:
                    self.kept = None
            raise SignInNeeded(f"the sign-in is over: {refusal.message}; sign in again") from None
        # Somebody may have signed out or in meanwhile; what was renewed belongs to nobody then.
        if self.kept is kept:
            self.kept = renewed
            await self._record(renewed)

    async def _record(self, renewed: Tokens) -> None:
        self._unrecorded = renewed
        try:
            await self._on_renewed(renewed)
        except LedgerUnavailable as error:
            raise SourceAway(f"the sign-in was renewed, and {error.message}") from None
        if self._unrecorded is renewed:
            self._unrecorded = None


def _take_notice(task: asyncio.Task[None]) -> None:
    """Whoever waited may have left; what failed is told to whoever asks next."""
    if not task.cancelled():
        task.exception()
