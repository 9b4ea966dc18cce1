"""How the texts of records are kept."""

from __future__ import annotations

import hashlib
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import select
from sqlalchemy.dialects import postgresql

from gateway.adapters.storage import record_texts
from gateway.adapters.storage import tables as t
from gateway.adapters.storage.inspection import examine, open_stored_log
from gateway.adapters.storage.record_texts import LONGEST_PACKED, UnpackedOctets, pack, unpack
from gateway.adapters.storage.sqlite import DATABASE, JsonMember, dispose, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.core.merkle import leaf_hash
from tests.fakes.signed_history import append_signed_history
from tests.harness.record_texts import UNPACK

ASKED = {"approval:requested", "approval:resolved", "call:intended", "call:closed"}


@pytest_asyncio.fixture
async def state(tmp_path: Path) -> Path:
    async with open_store(tmp_path, origin="gateway.example/audit") as store:
        await append_signed_history(store)
    return tmp_path


def kept(state: Path) -> list[tuple[int, bytes, Any]]:
    """Place, hash and body of each leaf, as they lie there."""
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
        return [(*row,) for row in connection.exec_driver_sql("SELECT position, hash, body FROM leaves ORDER BY position")]


def texts(state: Path) -> list[tuple[int, str]]:
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
        return [(*row,) for row in connection.execute(select(t.leaves.c.position, t.leaves.c.body).order_by(t.leaves.c.position))]


def test_the_records_of_calls_that_people_were_asked_about_are_packed(state: Path) -> None:
    events: dict[type[object], set[str]] = {bytes: set(), str: set()}
    for (_, noted, body), (_, text) in zip(kept(state), texts(state), strict=True):
        assert leaf_hash(text.encode()) == noted
        events[type(body)].add(text.partition('"event":"')[2].partition('"')[0])
        if isinstance(body, bytes):
            assert len(body) < len(text) / 2
    assert events[bytes] == ASKED
    # And those of a call about which nobody was.
    assert events[str] > {"call:intended", "call:closed", "turn:begun"}


def test_records_that_lie_there_as_text_are_read_alike(state: Path) -> None:
    before = texts(state)
    with open_stored_log(state) as stored:
        report = examine(stored)
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.begin() as connection:
        connection.exec_driver_sql(UNPACK)
    assert {type(body) for _, _, body in kept(state)} == {str}
    assert texts(state) == before
    with open_stored_log(state) as stored:
        assert examine(stored) == report
    assert report.fault is None


def test_case_323_whatever_bit_was_flipped_the_text_is_the_same_or_found_to_be_another(state: Path) -> None:
    for _, noted, body in kept(state):
        if not isinstance(body, bytes):
            continue
        whole, found = unpack(body), 0
        for bit in range(len(body) * 8):
            flipped = bytearray(body)
            flipped[bit // 8] ^= 1 << bit % 8
            # Nothing but a ValueError ends it.
            with suppress(ValueError):
                text = unpack(bytes(flipped))
                if text == whole:
                    continue
                assert leaf_hash(text) != noted
            found += 1
        # The rest are repetitions that are taken from another place, and bits behind the end.
        assert found > len(body) * 7


def test_case_323_no_more_is_made_of_what_is_packed_than_a_record_has() -> None:
    deflating = zlib.compressobj(9, wbits=-15)
    bomb = b"\x1f" + deflating.compress(bytes(64 << 20)) + deflating.flush()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="not one whole text"):
            unpack(bomb)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_text_that_is_long_or_does_not_get_shorter_stays_as_it_is() -> None:
    assert pack("") == ""
    assert pack("x" * (LONGEST_PACKED + 1)) == "x" * (LONGEST_PACKED + 1)
    longest = "ä" * (LONGEST_PACKED // 2)
    packed = pack(longest)
    assert isinstance(packed, bytes)
    assert unpack(packed).decode() == longest


def test_a_dictionary_stays_what_it_is() -> None:
    """What was written with it could not be read any more. For another one there is another number."""
    shapes = Path(record_texts.__file__).with_name("record_shapes_1.txt").read_bytes()
    assert hashlib.sha256(shapes).hexdigest() == "df83e386cb9e2c75c8babf5197980ca0523388fb9e86de4a1dfbfef156d31b44"


def test_another_database_has_texts_alone() -> None:
    body, octets = JsonMember(record_texts.UnpackedText(t.leaves.c.body), "event"), UnpackedOctets(t.leaves.c.body)
    said = str(select(t.leaves.c.body, body, octets).compile(dialect=postgresql.dialect()))
    assert "record_" not in said
    assert "CAST(leaves.body AS BYTEA)" in said
