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
from gateway.adapters.storage.commits import Committer, Prepared
from gateway.adapters.storage.inspection import examine, open_stored_log
from gateway.adapters.storage.record_texts import (
    LONGEST_PACKED,
    AskedCall,
    QuestionText,
    UnpackedOctets,
    find_question,
    pack,
    unpack,
)
from gateway.adapters.storage.sqlite import DATABASE, JsonMember, dispose, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.core.merkle import Frontier, leaf_hash
from tests.fakes.ledger import ENGINE, EPOCH, KEY, STATEMENTS
from tests.fakes.signed_history import append_signed_history, signed_history
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


def questions(state: Path) -> dict[int, bytes]:
    """What is kept of the question of each record that was packed with one, by the place of the record."""
    rows = kept(state)
    found = {place: find_question(body, place) for place, _, body in rows if isinstance(body, bytes)}
    return {place: rows[question][2] for place, question in found.items() if question is not None}


def test_later_records_of_a_call_are_packed_with_its_question(state: Path) -> None:
    asked, rows = questions(state), kept(state)
    for place, _, body in rows:
        if isinstance(body, bytes):
            alone = pack(unpack(body, asked.get(place)).decode())
            assert len(body) < len(alone) if place in asked else body == alone
    names = {
        unpack(rows[place][2], question).partition(b'"event":"')[2].partition(b'"')[0].decode()
        for place, question in asked.items()
    }
    assert names == ASKED - {"approval:requested"}
    assert all(b'"event":"approval:requested"' in unpack(question) for question in asked.values())


def test_records_that_were_packed_alone_by_an_earlier_version_are_read() -> None:
    shapes = Path(record_texts.__file__).with_name("record_shapes_1.txt").read_bytes()
    text = b'{"approvalId":"apr_1","at":1795000000004,"callId":"call-1","event":"approval:resolved","status":"approved","v":1}'
    deflating = zlib.compressobj(6, zlib.DEFLATED, -13, 6, zlib.Z_DEFAULT_STRATEGY, shapes)
    earlier = b"\x1f" + deflating.compress(text) + deflating.flush()
    assert unpack(earlier) == text
    # Whatever form their question has.
    packed = pack(text.decode(), 7, QuestionText(5, text))
    assert isinstance(packed, bytes)
    assert find_question(packed, 7) == 5
    assert unpack(packed, earlier) == unpack(packed, text) == text


@pytest.mark.asyncio
async def test_a_gateway_that_was_started_anew_packs_without_the_questions_of_before(tmp_path: Path) -> None:
    async with open_store(tmp_path, origin="gateway.example/audit"):
        pass
    for submission in signed_history():
        async with open_store(tmp_path, origin="gateway.example/audit") as store:
            await store.ledger.append(*submission)
    assert not questions(tmp_path)
    with open_stored_log(tmp_path) as stored:
        assert examine(stored).fault is None


def test_a_question_that_nothing_is_packed_with_is_not_remembered() -> None:
    committer = Committer(ENGINE, KEY, Frontier(), EPOCH, STATEMENTS)
    with ENGINE.connect() as connection:
        tracemalloc.start()
        try:
            for number in range(100):
                asked = AskedCall("cnv_1", f"call-{number}", is_question=True)
                entry = Prepared((), bytes(32), f"{number:030000}", asked=asked)
                assert committer.commit(connection, [[entry]]) == [(number,)]
            now, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert now < 1_000_000


def test_case_338_a_question_that_was_changed_is_named_first_and_nothing_is_made_of_what_rests_on_it(state: Path) -> None:
    place, question = next((find_question(body, place), body) for place, _, body in kept(state) if place in questions(state))
    assert place is not None
    for changed in (
        None,
        b"",
        b"\x2f",
        b"\x2f\x01" + kept(state)[place][2][2:],
        bytes(64 << 10),
        b"{" + bytes(64 << 10),
        question,
    ):
        with pytest.raises(ValueError, match=r"."):
            unpack(question, changed)
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.begin() as connection:
        connection.exec_driver_sql("UPDATE leaves SET body = ? WHERE position = ?", (b"\x2f\x00changed", place))
    with open_stored_log(state) as stored:
        fault = examine(stored).fault
    assert fault is not None
    assert fault.index == place


def test_case_323_whatever_bit_was_flipped_the_text_is_the_same_or_found_to_be_another(state: Path) -> None:
    asked = questions(state)
    for place, noted, body in kept(state):
        if not isinstance(body, bytes):
            continue
        whole, found = unpack(body, asked.get(place)), 0
        for bit in range(len(body) * 8):
            flipped = bytearray(body)
            flipped[bit // 8] ^= 1 << bit % 8
            # Nothing but a ValueError ends it.
            with suppress(ValueError):
                text = unpack(bytes(flipped), asked.get(place))
                if text == whole:
                    continue
                assert leaf_hash(text) != noted
            found += 1
        # The rest are repetitions that are taken from another place, and bits behind the end.
        assert found > len(body) * 7


def test_case_323_no_more_is_made_of_what_is_packed_than_a_record_has() -> None:
    deflating = zlib.compressobj(9, wbits=-15)
    bomb = deflating.compress(bytes(64 << 20)) + deflating.flush()
    many = zlib.compressobj(9, wbits=-13)
    digests = b"\x2f\x00" + many.compress(b"\x01" * LONGEST_PACKED) + many.flush() + bytes(32 * LONGEST_PACKED)
    tracemalloc.start()
    try:
        for made in (b"\x1f" + bomb, b"\x2f\x00" + bomb, digests):
            with pytest.raises(ValueError, match="not one whole text"):
                unpack(made)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_text_that_is_long_or_does_not_get_shorter_stays_as_it_is() -> None:
    assert pack("") == ""
    assert pack("x" * (LONGEST_PACKED + 1)) == "x" * (LONGEST_PACKED + 1)
    longest = "ä" * (LONGEST_PACKED // 2)
    packed = pack(longest)
    assert isinstance(packed, bytes)
    assert unpack(packed).decode() == longest


@pytest.mark.parametrize(
    ("number", "digest"),
    [
        (1, "df83e386cb9e2c75c8babf5197980ca0523388fb9e86de4a1dfbfef156d31b44"),
        (2, "333504f9ef71f0fffa53ae2a6294723f633c0dbb687295589a5917495162ef81"),
    ],
)
def test_a_dictionary_stays_what_it_is(number: int, digest: str) -> None:
    """What was written with it could not be read any more. For another one there is another number."""
    shapes = Path(record_texts.__file__).with_name(f"record_shapes_{number}.txt").read_bytes()
    assert hashlib.sha256(shapes).hexdigest() == digest


def test_another_database_has_texts_alone() -> None:
    body, octets = JsonMember(record_texts.UnpackedText(t.leaves.c.body), "event"), UnpackedOctets(t.leaves.c.body)
    said = str(select(t.leaves.c.body, body, octets).compile(dialect=postgresql.dialect()))
    assert "record_" not in said
    assert "CAST(leaves.body AS BYTEA)" in said
