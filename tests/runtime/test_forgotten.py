"""The filter that says which call ids the database has to be asked about."""

from __future__ import annotations

from gateway.runtime.forgotten import ForgottenCalls


def test_no_id_that_was_added_is_ever_denied() -> None:
    ids = [f"call-{number}" for number in range(20_000)]
    forgotten = ForgottenCalls(ids)
    assert all(forgotten.may_hold(call_id) for call_id in ids)
    assert forgotten.count == len(ids)


def test_ids_that_were_never_added_are_nearly_always_denied() -> None:
    forgotten = ForgottenCalls(f"call-{number}" for number in range(5_000))
    taken_for_known = sum(forgotten.may_hold(f"new-{number}") for number in range(5_000))
    # With 5,000 ids 1 in 770 is expected; ten times as many would mean that the places are not spread.
    assert taken_for_known < 70


def test_one_that_holds_nothing_denies_everything() -> None:
    assert not ForgottenCalls().may_hold("call-1")
