"""Signing in to sources: what the runtime asks of whoever speaks with authorization servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from gateway.core.sources import AddedSource


@dataclass(frozen=True, slots=True)
class PreparedSignIn:
    """A sign-in that a person is led to. `location` is an address of the authorization server `server` for the browser;
    `attempt` is the host's own, and secret."""

    location: str
    server: str
    attempt: object = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignInReply:
    """What the browser brought back from the authorization server, none of it checked: a code or an error, and who answers."""

    code: str | None = field(default=None, repr=False)
    error: str | None = None
    issuer: str | None = None


class SignInHost(Protocol):
    """Speaks with authorization servers. Tokens are text that the runtime keeps sealed and does not read."""

    def begin(self, on_renewed: Callable[[str, str], Awaitable[None]], on_refused: Callable[[str], Awaitable[None]]) -> None:
        """Say what is done with renewed tokens of a source, and when its tokens are renewed no more. Called once."""
        ...

    def address_of(self, source: AddedSource) -> str | None:
        """The address that a sign-in to this source is bound to; None where nobody can sign in."""
        ...

    async def prepare(self, source: AddedSource, callback: str, state: str) -> PreparedSignIn:
        """Find the authorization server and what it wants. Takes a bounded time. Raises Refused."""
        ...

    async def redeem(self, source: AddedSource, prepared: PreparedSignIn, answer: SignInReply) -> str:
        """Tokens for what was brought back. Takes a bounded time. Raises Refused."""
        ...

    def use(self, source: AddedSource, tokens: str | None) -> None:
        """Use these tokens for the source from now on, or none."""
        ...

    async def revoke(self, source: AddedSource, tokens: str) -> None:
        """Have the authorization server void them, where it does that. Takes a bounded time. Raises Refused."""
        ...

    async def close(self) -> None:
        """Wait for what is being renewed, so that no new token is lost."""
        ...
