"""What a whole log is checked with keeps millions of keys in little memory, and takes none for another."""

from __future__ import annotations

import tracemalloc

import pytest

from gateway.core import digest_table
from gateway.core.digest_table import DigestTable, short_digest
from gateway.core.invariants import InvariantChecker

KEYS = 20_000


def test_each_key_has_the_number_that_it_was_given_last() -> None:
    table = DigestTable()
    assert [table.put(place % 7, "cnv_1", f"call-{place}") for place in range(KEYS)] == [None] * KEYS
    assert [table.get("cnv_1", f"call-{place}") for place in range(KEYS)] == [place % 7 for place in range(KEYS)]
    assert table.put(9, "cnv_1", "call-3") == 3
    assert table.get("cnv_1", "call-3") == 9


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("a", "b"), ("b", "a")), (("a,b",), ("a", "b")), (("5",), (5,)), (("\ud800",), ("\\ud800",))],
)
def test_keys_of_other_parts_are_other_keys(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    table = DigestTable("Q")
    table.put(short_digest(*one), *one)
    assert table.get(*other) is None
    assert table.get(*one) == short_digest(*one) != short_digest(*other)


def test_keys_that_share_the_first_half_of_their_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest_table, "_halves", lambda key: (7, 4_096 * int(key[0])))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    table = DigestTable()
    for place in range(3):
        assert table.put(place, str(place)) is None
    assert [table.get(str(place)) for place in range(4)] == [0, 1, 2, None]
    assert table.put(5, "1") == 1


def test_checking_a_log_takes_few_bytes_for_a_call_that_closed() -> None:
    checker = InvariantChecker(whole=True)
    # The first makes what is there for all of them.
    close(checker, range(50_000))
    tracemalloc.start()
    try:
        close(checker, range(50_000, 100_000))
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown / 50_000 < 120


def close(checker: InvariantChecker, calls: range) -> None:
    for number in calls:
        turn = {"conversationId": f"cnv_{number // 17:022}", "turnId": f"trn_{number:022}"}
        checker.check({"event": "turn:begun", **turn, "snapshotDigest": f"{number:064}"}, None)
        body = {"event": "call:closed", **turn, "callId": f"call_{number:022}", "outcome": "deniedByUser", "executed": False}
        assert checker.check(body, None) is None
