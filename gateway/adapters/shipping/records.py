"""What is sent of a record, and what every sink can do with a few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.core.canonical import Json, canonical_bytes
from gateway.runtime.ports import AuditRow


class SinkDown(Exception):
    """The sink did not take what it was given. The message is a clause about why, without anything of the records."""


@dataclass(frozen=True, slots=True)
class ShippedRecord:
    """A record of the log. `key` is the same however often it is sent, so that whoever receives it twice can tell."""

    log: str
    row: AuditRow
    with_payload: bool

    @property
    def key(self) -> str:
        """The log's name and the record's place in it."""
        return f"{self.log}/{self.row.index}"

    @property
    def body(self) -> Mapping[str, Any]:
        """What the leaf says."""
        return self.row.body

    def line(self) -> bytes:
        """One JSON object, without a line break. Arguments and results are in the payload, which only goes along where the
        settings say so."""
        members: dict[str, Json] = {
            "key": self.key,
            "index": self.row.index,
            "hash": self.row.hash,
            "body": dict(self.row.body),
        }
        if self.with_payload and self.row.payload is not None:
            members["payload"] = dict(self.row.payload)
        return canonical_bytes(members)


class Sink(Protocol):
    """Takes records in their order."""

    def held(self) -> int:
        """How many records that were taken may reach nobody if this process ends now."""
        ...

    def take_back(self) -> int:
        """After a failure: how many records may be lost although they were taken. They are sent again, and counted once."""
        ...

    async def send(self, records: Sequence[ShippedRecord]) -> None:
        """All of them. Raises SinkDown, also where it took some."""
        ...

    async def close(self) -> None:
        """Let go of what is held open."""
        ...
