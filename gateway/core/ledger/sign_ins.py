"""Sign-ins to sources that want one: begun and finished by a person, renewed by the gateway, ended by either.

`server` is the authorization server's issuer. Sealed tokens are only in the tables; the record says that they were there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.canonical import canonical_bytes
from gateway.core.vocabulary import SignInEnd

__all__ = [
    "SourceSignInFailed",
    "SourceSignInStarted",
    "SourceSignedIn",
    "SourceSignedOut",
    "SourceTokensRenewed",
]


@dataclass(frozen=True, slots=True)
class SourceSignInStarted:
    """A person is about to be led to an authorization server, where the gateway may register itself."""

    EVENT: ClassVar[str] = "source-sign-in:started"

    at: int
    principal_id: str | None
    source: str

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "source": self.source})


@dataclass(frozen=True, slots=True)
class SourceSignInFailed:
    """A person came back from the authorization server and got no sign-in. `why` holds words of others."""

    EVENT: ClassVar[str] = "source-sign-in:failed"

    at: int
    principal_id: str | None
    source: str
    why: str

    def leaf(self) -> Leaf:
        body = {**header(self.EVENT, self.at, self.principal_id), "source": self.source}
        return Leaf(body, canonical_bytes({"why": self.why}))


@dataclass(frozen=True, slots=True)
class SourceSignedIn:
    """The gateway has tokens of a person for a source, in the place of those it had."""

    EVENT: ClassVar[str] = "source:signed-in"

    at: int
    principal_id: str | None
    source: str
    server: str
    sealed: bytes

    def leaf(self) -> Leaf:
        body = {**header(self.EVENT, self.at, self.principal_id), "source": self.source}
        return Leaf(body, canonical_bytes({"server": self.server}))


@dataclass(frozen=True, slots=True)
class SourceTokensRenewed:
    """The authorization server gave new tokens for the old ones."""

    EVENT: ClassVar[str] = "source-tokens:renewed"

    at: int
    source: str
    sealed: bytes

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, None), "source": self.source})


@dataclass(frozen=True, slots=True)
class SourceSignedOut:
    """The gateway has no tokens for the source any more."""

    EVENT: ClassVar[str] = "source:signed-out"

    at: int
    principal_id: str | None
    source: str
    end: SignInEnd

    def leaf(self) -> Leaf:
        body = {"source": self.source, "end": self.end.value}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


SignInEntry = SourceSignInStarted | SourceSignInFailed | SourceSignedIn | SourceTokensRenewed | SourceSignedOut
