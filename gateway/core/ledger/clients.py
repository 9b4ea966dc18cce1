"""Programs of others that a person connected to their gateway: the tokens that they got, lost and were refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.canonical import canonical_bytes
from gateway.core.vocabulary import ClientEnding, ClientRefusal

__all__ = [
    "ClientGranted",
    "ClientTokenMinted",
    "ClientTokenRefused",
    "ClientTokenRevoked",
]


@dataclass(frozen=True, slots=True)
class ClientGranted:
    """A person let a client act for them, in a session of their own. `client` is what it calls itself: a claim.

    `code_hash` is of the code that became this grant, so that a second use of it is recognised after a restart too."""

    EVENT: ClassVar[str] = "client:granted"

    at: int
    principal_id: str
    session_id: str
    grant_id: str
    client_id: str
    client: str
    resource: str
    code_hash: str

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "sessionId": self.session_id,
                "grantId": self.grant_id,
                "resource": self.resource,
            },
            canonical_bytes({"client": self.client}),
        )


@dataclass(frozen=True, slots=True)
class ClientTokenMinted:
    """A client got an access token for `/mcp`, bound to a person's session, and the next refresh token.

    `spent_hash` is of the refresh token that this one takes the place of, empty for the first: the tables take no other."""

    EVENT: ClassVar[str] = "client-token:minted"

    at: int
    principal_id: str
    session_id: str
    grant_id: str
    client: str
    expires_at: int
    access_hash: str
    refresh_hash: str
    spent_hash: str = ""

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
    """Every token of a client's grant is void. `by` is who ended it, where somebody did on the console."""

    EVENT: ClassVar[str] = "client-token:revoked"

    at: int
    principal_id: str
    session_id: str
    grant_id: str
    reason: ClientEnding
    by: str | None = None

    def leaf(self) -> Leaf:
        body = {"sessionId": self.session_id, "grantId": self.grant_id, "reason": self.reason.value, "by": self.by}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


ClientEntry = ClientGranted | ClientTokenMinted | ClientTokenRefused | ClientTokenRevoked
