"""Turns and the snapshots of tools that were on offer in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.model import Snapshot

__all__ = [
    "QuestionsAllowed",
    "SnapshotIssued",
    "TurnBegun",
    "TurnEnded",
]


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """A turn opened under its first snapshot."""

    EVENT: ClassVar[str] = "turn:begun"

    at: int
    principal_id: str
    snapshot: Snapshot
    model_id: str | None

    def leaf(self) -> Leaf:
        return Leaf(
            {**header(self.EVENT, self.at, self.principal_id), **_describe_snapshot(self.snapshot), "modelId": self.model_id}
        )


@dataclass(frozen=True, slots=True)
class SnapshotIssued:
    """A further snapshot for the same turn: `refresh`, `rebind` after a reconnect."""

    EVENT: ClassVar[str] = "snapshot:issued"

    at: int
    principal_id: str
    snapshot: Snapshot
    cause: str

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **_describe_snapshot(self.snapshot), "cause": self.cause})


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """`ended`, `cancelled`, `superseded`, `sessionEnded` or `connectionLost`."""

    EVENT: ClassVar[str] = "turn:ended"

    at: int
    principal_id: str
    conversation_id: str
    turn_id: str
    reason: str
    usage: Mapping[str, Json] | None = None

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "conversationId": self.conversation_id,
                "turnId": self.turn_id,
                "reason": self.reason,
            },
            None if self.usage is None else canonical_bytes({"usage": self.usage}),
        )


@dataclass(frozen=True, slots=True)
class QuestionsAllowed:
    """A person who had turned down so much that they were asked nothing more lets the turn ask again."""

    EVENT: ClassVar[str] = "turn:questions-allowed"

    at: int
    principal_id: str
    conversation_id: str
    turn_id: str

    def leaf(self) -> Leaf:
        body = {"conversationId": self.conversation_id, "turnId": self.turn_id}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


TurnEntry = TurnBegun | SnapshotIssued | TurnEnded | QuestionsAllowed


def _describe_snapshot(snapshot: Snapshot) -> dict[str, Json]:
    return {
        "sessionId": snapshot.session_id,
        "conversationId": snapshot.conversation_id,
        "turnId": snapshot.turn_id,
        "turnIndex": snapshot.turn_index,
        "snapshotDigest": snapshot.digest,
        "policyVersion": snapshot.policy_version,
        "expiresAt": snapshot.expires_at,
    }
