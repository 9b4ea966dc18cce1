"""Plans: the bytes that are signed for a list, which list a record counts for, and the order on record."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.canonical import digest, parse
from gateway.core.invariants import Invariant, InvariantChecker
from gateway.core.plans import PLAN_STEPS, PlanAnswer, compose_plan, signed_digest

digests = st.integers(0, 1 << 64).map(lambda seed: hashlib.sha256(str(seed).encode()).hexdigest())
lists = st.lists(digests, min_size=2, max_size=PLAN_STEPS, unique=True)


def test_what_is_signed_says_that_it_is_a_plan() -> None:
    assert compose_plan(["aa", "bb"]) == b'{"statements":["aa","bb"],"type":"countersign.plan","v":1}'


@given(statements=lists, index=st.integers(0, PLAN_STEPS - 1), asked=digests)
def test_a_plans_signature_counts_for_what_was_in_its_list_in_that_place_and_for_nothing_else(
    statements: list[str], index: int, asked: str
) -> None:
    index %= len(statements)
    payload = {"plan": PlanAnswer(tuple(statements), index).described()}
    signed = bytes.fromhex(digest(parse(compose_plan(statements))))
    assert signed_digest(payload, statements[index]) == signed
    for other in {*statements, asked} - {statements[index]}:
        assert signed_digest(payload, other) == b""
    for changed in (statements[::-1], statements[1:], [*statements, asked]):
        assert (
            changed == statements or signed_digest({"plan": {"statements": changed, "index": index}}, statements[index]) != signed
        )


@pytest.mark.parametrize(
    "plan",
    [
        {"statements": ["aa"], "index": 0},
        {"statements": ["aa", "aa"], "index": 0},
        {"statements": ["aa", "bb"], "index": -2},
        {"statements": ["aa", "bb"], "index": 2},
        {"statements": ["aa", *map(str, range(PLAN_STEPS))], "index": 0},
    ],
)
def test_a_list_that_is_no_plan_proves_nothing(plan: dict[str, Any]) -> None:
    assert signed_digest({"plan": plan}, "aa") == b""


def test_an_answer_without_a_plan_is_over_its_own_statement() -> None:
    assert signed_digest({"assertion": None}, "aa") == b"\xaa"


@pytest.mark.parametrize(
    ("earlier", "sound"),
    [("ok", True), ("deniedByUser", True), ("executionError", False), ("cancelled", False), (None, False)],
)
def test_a_log_in_which_a_step_ran_after_one_that_did_not_go_well_is_not_sound(earlier: str | None, sound: bool) -> None:
    checker = InvariantChecker(whole=True)
    about = {"conversationId": "cnv_1", "turnId": "trn_1", "sessionId": "ses_1", "snapshotDigest": "aa", "tool": "look"}
    records: list[dict[str, Any]] = [{"event": "turn:begun", **about}]
    if earlier is not None:
        closed = {"event": "call:closed", "callId": "one", "outcome": earlier, "executed": False}
        records.append({**closed, **about})
    for record in records:
        assert checker.check(record, None) is None
    intent = {"event": "call:intended", "callId": "two", "after": "one", "decision": "auto", "permission": "auto"}
    found = checker.check({**intent, **about, "approvalId": None, "grantId": None, "at": 1}, None)
    assert (found is None) is sound
    assert sound or (found is not None and found.invariant is Invariant.IN_ORDER)
