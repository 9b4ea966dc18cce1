"""Files of calls as Parquet, read back by the library of whoever gets them."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from importlib import import_module
from typing import Any

import pytest

from gateway.core.call_files import CallFormat, writer_of
from gateway.core.call_files.described import MEMBERS
from gateway.core.call_files.parquet import GROUP
from gateway.core.errors import Misconfigured
from gateway.core.times import rfc3339
from tests.core.test_call_files import CALL, HOSTILE, NAMED, REFUSED, written

# It brings no types.
arrow: Any = import_module("pyarrow")
parquet: Any = import_module("pyarrow.parquet")


def test_a_parquet_file_says_the_same_with_types() -> None:
    calls = [CALL, REFUSED, HOSTILE]
    table = parquet.read_table(arrow.BufferReader(written(CallFormat.PARQUET, *calls)))
    lines = [json.loads(line) for line in written(CallFormat.JSONL, *calls).splitlines()]
    assert table.schema.names == list(MEMBERS)
    for name in ("at", "askedAt", "decidedAt", "startedAt", "closedAt"):
        assert table.schema.field(name).type == arrow.timestamp("ms", tz="UTC")
    for row, line in zip(table.to_pylist(), lines, strict=True):
        for name in MEMBERS:
            value = row[name]
            told = rfc3339(round(value.timestamp() * 1000)) if isinstance(value, datetime) else value
            assert told == line.get(name), name
    assert table.schema.metadata == {b"log": b"gateway.example/audit", b"program": b"Countersign 1.2.3"}


def test_a_long_parquet_file_is_handed_on_group_by_group() -> None:
    writer = writer_of(CallFormat.PARQUET, NAMED)
    pieces = [writer.head()]
    calls = [CALL._replace(position=number) for number in range(2 * GROUP + 500)]
    pieces += [writer.lines(calls[start : start + 500]) for start in range(0, len(calls), 500)]
    pieces.append(writer.tail())
    assert sum(map(bool, pieces)) == 4
    read = parquet.ParquetFile(arrow.BufferReader(b"".join(pieces)))
    assert [read.metadata.row_group(number).num_rows for number in range(read.num_row_groups)] == [GROUP, GROUP, 500]
    assert read.read(["position"]).column(0).to_pylist() == [*range(2 * GROUP + 500)]


def test_a_parquet_file_of_no_call_is_one() -> None:
    assert parquet.read_table(arrow.BufferReader(written(CallFormat.PARQUET))).num_rows == 0


def test_a_parquet_file_that_was_cut_off_is_none() -> None:
    raw = written(CallFormat.PARQUET, CALL, REFUSED)
    for end in (4, len(raw) // 2, len(raw) - 1):
        with pytest.raises(arrow.ArrowInvalid):
            parquet.read_table(arrow.BufferReader(raw[:end]))


def test_without_what_writes_parquet_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(Misconfigured, match=r"pip install 'countersign\[parquet\]'"):
        writer_of(CallFormat.PARQUET, NAMED)
