"""The access that a person gave to one server: which token its worker has, and what is done when the server refuses it.

Only access tokens get to the worker, which reads what a hostile server sends. What renews them stays with the gateway.
"""

from __future__ import annotations

from gateway.adapters.tools.mcp.connection import WorkerConnection
from gateway.adapters.tools.oauth.challenge import read_challenge
from gateway.adapters.tools.offer import AccessTokens, SignInNeeded, SourceAway
from gateway.core.effects import show
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason


class Unauthorized(Exception):
    """The server wants a sign-in for a request, and ran nothing of it. `bearer` is the token that it refused, if it got one."""

    def __init__(self, challenge: str, bearer: str | None) -> None:
        super().__init__("the server wants a sign-in")
        self.challenge = challenge
        self.bearer = bearer


class ServerAccess:
    """`tokens` is None for a server that nobody can sign in to."""

    def __init__(self, source: str, tokens: AccessTokens | None) -> None:
        self._source = source
        self._tokens = tokens
        self.bearer: str | None = None
        """What the worker sends now."""

    async def take(self) -> str | None:
        """The token for a new worker; None where there is none. Raises SourceAway."""
        self.bearer = None if self._tokens is None else await self._tokens.current()
        return self.bearer

    async def refresh(self, connection: WorkerConnection) -> None:
        """Give the worker another token where the one it has is about to end. Raises SourceAway."""
        before = self.bearer
        if await self.take() not in (None, before):
            connection.tell({"do": "bearer", "token": self.bearer})

    async def renew(self, refused: Unauthorized) -> None:
        """Have another token made for one that was refused. Raises SignInNeeded where only a person can help."""
        if self._tokens is None:
            raise SourceAway("the server does not accept these `headers`; it wants a sign-in")
        self._tokens.challenged(refused.challenge)
        if refused.bearer is None:
            raise SignInNeeded(
                f"the server wants a person to sign in; press `Sign in` on the console, or run "
                f"`countersign sources sign-in {self._source}`"
            )
        challenge = read_challenge(refused.challenge)
        if challenge is not None and challenge.wants_more:
            raise SignInNeeded(f"{_word_more(challenge.scope)}; sign in again")
        await self._tokens.renew(refused.bearer)

    def require_enough(self, refused: Unauthorized) -> None:
        """Raises ToolFailed where the sign-in is good and does not allow this call: others may go on."""
        challenge = read_challenge(refused.challenge)
        if challenge is not None and challenge.wants_more and self._tokens is not None and refused.bearer is not None:
            self._tokens.challenged(refused.challenge)
            raise ToolFailed(
                f"`{self._source}` needs a sign-in: {_word_more(challenge.scope)}; sign in again", Reason.SIGN_IN_NEEDED
            )


def _word_more(scope: str) -> str:
    return "the server wants more than the sign-in allows" + (f" ({show(scope[:200])})" if scope else "")
