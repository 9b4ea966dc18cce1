"""Apache Parquet, with the types that its readers work with: times as times in UTC, numbers as numbers, rules as a list.

It is written by Apache Arrow, which only the extra `countersign[parquet]` brings. Rows are gathered to groups, and a group is
handed on as soon as it is full, so that a long export takes no more memory than a short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from gateway.core.call_files.described import MEMBERS, Named, describe_call
from gateway.core.call_history import AuditedCall
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured

GROUP: Final = 10_000
"""Calls in a row group: some megabytes while they are gathered."""

_TIMES: Final = {
    "at": "at",
    "askedAt": "asked_at",
    "decidedAt": "decided_at",
    "startedAt": "started_at",
    "closedAt": "closed_at",
}
_NUMBERS: Final = ("position", "turnIndex", "durationMs")
_ALWAYS: Final = frozenset(("position", "at", "principalId", "principalName", "conversationId", "callId", "outcome"))
"""Members that no call lacks."""


def require_parquet() -> Any:
    """What writes Parquet. Raises Misconfigured where it is not installed."""
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        raise Misconfigured(
            "Parquet needs Apache Arrow, which is not installed: run `pip install 'countersign[parquet]'`, or take another format"
        ) from None


class ParquetWriter:
    """Writes row groups, and at the end where they are: a file that was cut off has no end, and no reader takes it."""

    def __init__(self, named: Named) -> None:
        """Raises Misconfigured where what writes Parquet is not installed."""
        parquet = require_parquet()
        self._arrow: Any = import_module("pyarrow")
        self._named = named
        self._schema: Any = self._arrow.schema(
            [self._arrow.field(name, self._type(name), nullable=name not in _ALWAYS) for name in MEMBERS],
            metadata={"log": named.log, "program": f"Countersign {named.version}"},
        )
        self._sink = _Sink()
        self._writer: Any = parquet.ParquetWriter(self._sink, self._schema, compression="zstd")
        self._rows: list[AuditedCall] = []

    def head(self) -> bytes:
        """The four letters that a Parquet file begins with."""
        return self._sink.take()

    def lines(self, calls: Sequence[AuditedCall]) -> bytes:
        """A group where it is full; until then nothing."""
        self._rows += calls
        while len(self._rows) >= GROUP:
            self._write_group(self._rows[:GROUP])
            del self._rows[:GROUP]
        return self._sink.take()

    def tail(self) -> bytes:
        """The last group, and where all are."""
        if self._rows:
            self._write_group(self._rows)
            self._rows = []
        self._writer.close()
        return self._sink.take()

    def _write_group(self, calls: Sequence[AuditedCall]) -> None:
        columns: dict[str, list[Json]] = {name: [] for name in MEMBERS}
        for call in calls:
            for name, value in describe_call(call, self._named).items():
                columns[name].append(getattr(call, _TIMES[name]) if name in _TIMES else value)
        arrays = [self._arrow.array(columns[name], type=self._type(name)) for name in MEMBERS]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema), row_group_size=len(calls))

    def _type(self, name: str) -> Any:
        arrow = self._arrow
        if name in _TIMES:
            return arrow.timestamp("ms", tz="UTC")
        if name in _NUMBERS:
            return arrow.int64()
        return arrow.list_(arrow.string()) if name == "rules" else arrow.string()


class _Sink:
    """What Arrow writes to: a file that is taken away piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._place = 0

    def write(self, piece: bytes) -> int:
        raw = bytes(piece)
        self._pieces.append(raw)
        self._place += len(raw)
        return len(raw)

    def tell(self) -> int:
        return self._place

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """What was written stays to be taken."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def take(self) -> bytes:
        """What was written since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken
