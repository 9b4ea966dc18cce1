"""The gateway itself: when it started, and which policy it runs under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.canonical import canonical_bytes
from gateway.core.key_rotation import KeyRotation

__all__ = [
    "AuditKeyRotated",
    "ClockSetBack",
    "GatewayStarted",
    "LossReason",
    "PolicyLoaded",
    "RecordsLost",
]


@dataclass(frozen=True, slots=True)
class GatewayStarted:
    """The first entry of each run. `recovered` counts calls closed as unknown. `suspended` are the turns that lost their
    connection with the run before: their grace period counts from here, over further starts too, until they are bound again."""

    EVENT: ClassVar[str] = "gateway:started"

    at: int
    version: str
    policy_version: str
    recovered: int
    suspended: tuple[str, ...] = ()

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, None),
                "version": self.version,
                "policyVersion": self.policy_version,
                "recovered": self.recovered,
            }
        )


@dataclass(frozen=True, slots=True)
class PolicyLoaded:
    """Another policy is in force from here on. `documents` are its texts by file name, of which `version` is the digest, so that
    what was decided under it can be judged again; logs that are older than that have none."""

    EVENT: ClassVar[str] = "policy:loaded"

    at: int
    version: str
    documents: Mapping[str, str] = field(default_factory=dict[str, str])

    def leaf(self) -> Leaf:
        body = {**header(self.EVENT, self.at, None), "policyVersion": self.version}
        return Leaf(body, canonical_bytes({"documents": dict(self.documents)}) if self.documents else None)


@dataclass(frozen=True, slots=True)
class ClockSetBack:
    """The clock was found behind the newest record when the gateway started. What had run out by then would count again, so every
    session ends with it and every enrolment link that was open is void."""

    EVENT: ClassVar[str] = "clock:set-back"

    at: int
    newest: int

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, None), "newest": self.newest})


class LossReason(StrEnum):
    """How it came out that records were lost."""

    SHORTER = "shorter"
    """The log is shorter than its mark."""
    REPLACED = "replaced"
    """The log is another one than its mark, or another database."""
    UNMARKED = "unmarked"
    """There is no mark that could be read, so nobody can say."""
    ABSENT = "absent"
    """The database is gone, or was given up."""
    CHANGED = "changed"
    """Nothing is missing, but payloads were changed, and are erased now."""


@dataclass(frozen=True, slots=True)
class RecordsLost:
    """The operator went on after a loss. The records from this entry's own index to `until` (exclusive) had been there before,
    and `root` was the root of the log that had them; both None where nothing says so. Times are of the last record that is
    left, and of the last moment at which the lost ones were known to be there. `erased` counts payloads."""

    EVENT: ClassVar[str] = "records:lost"

    at: int
    reason: LossReason
    until: int | None
    root: str | None
    last_at: int | None
    marked_at: int | None
    erased: int

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, None),
                "reason": self.reason.value,
                "until": self.until,
                "root": self.root,
                "lastAt": self.last_at,
                "markedAt": self.marked_at,
                "erased": self.erased,
            }
        )


@dataclass(frozen=True, slots=True)
class AuditKeyRotated:
    """Another key signs the log from here on. Keys are public and signatures of a closed form: there is no text in it."""

    EVENT: ClassVar[str] = "audit-key:rotated"

    at: int
    rotation: KeyRotation

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, None), **self.rotation.members()})


OperationEntry = GatewayStarted | PolicyLoaded | ClockSetBack | RecordsLost | AuditKeyRotated
