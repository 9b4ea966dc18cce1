"""Programs of others that a person connected to their gateway: the tokens that they got, lost and were refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.canonical import canonical_bytes
from gateway.core.vocabulary import ClientRefusal

__all__ = [
    "ClientTokenMinted",
    "ClientTokenRefused",
    "ClientTokenRevoked",
]


@dataclass(frozen=True, slots=True)
class ClientTokenMinted:
    """A client got an access token for `/mcp`, bound to a person's session. `client` is what it calls itself: a claim."""

    EVENT: ClassVar[str] = "client-token:minted"

    at: int
    principal_id: str
    session_id: str
    grant_id: str
    client: str
    expires_at: int

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "sessionId": self.session_id,
                "grantId": self.grant_id,
                "expiresAt": self.expires_at,
            },
            canonical_bytes({"client": self.client}),
        )


@dataclass(frozen=True, slots=True)
class ClientTokenRefused:
    """A client got none, or one that it showed was not taken. `session_id` is None before there is a session."""

    EVENT: ClassVar[str] = "client-token:refused"

    at: int
    principal_id: str
    session_id: str | None
    reason: ClientRefusal

    def leaf(self) -> Leaf:
        body = {"sessionId": self.session_id, "reason": self.reason.value}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


@dataclass(frozen=True, slots=True)
class ClientTokenRevoked:
    """Every token of a client's grant is void."""

    EVENT: ClassVar[str] = "client-token:revoked"

    at: int
    principal_id: str
    session_id: str
    grant_id: str

    def leaf(self) -> Leaf:
        body = {"sessionId": self.session_id, "grantId": self.grant_id}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


ClientEntry = ClientTokenMinted | ClientTokenRefused | ClientTokenRevoked
