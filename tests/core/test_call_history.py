"""What the leaves of a log tell of its calls."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from gateway.core.call_history import OPEN, AuditedCall, CallTeller, Cell, HistoryLeaf, Told, read_rules, write_rules
from gateway.core.ledger import ApprovalResolved, CallFoundUnknown, Entry
from tests.fakes.history import OPERATOR, PASSKEY, WRITE, History
from tests.fakes.written import write


def leaves_of(submissions: Iterable[Iterable[Entry]]) -> list[HistoryLeaf]:
    log = write(tuple(map(tuple, submissions))).leaves
    return [HistoryLeaf(leaf.index, orjson.loads(leaf.body)) for leaf in log]


def tell(leaves: Iterable[HistoryLeaf], teller: CallTeller | None = None) -> Told:
    return (teller or CallTeller(lambda _digest: "builtin")).tell(leaves)


def by_id(told: Told) -> dict[str, AuditedCall]:
    """Each call by its id, the first of those that share one."""
    return {call.call_id: call for _, call in sorted(told.calls.items(), reverse=True)}


def test_every_call_of_a_log_is_one_row_with_how_it_came_and_ended() -> None:
    calls = by_id(tell(leaves_of(History().whole())))
    told = {name: (call.traits.tool, call.traits.outcome, call.traits.decision) for name, call in calls.items()}
    assert told == {
        "call-read": ("read_file", "ok", "auto"),
        "call-write": ("write_file", "ok", "consented"),
        "call-again": ("write_file", "ok", "consented"),
        "call-delete": ("delete_file", "ok", "step-up-succeeded"),
        "call-denied": ("write_file", "ok", "denied"),
        "call-stale": ("", "refusedByPolicy", "forbidden"),
        "call-lost": ("read_file", "executionError", "auto"),
    }
    assert calls["call-lost"].traits.reason == "outcomeUnknown"
    assert {name for name, call in calls.items() if not call.traits.ran} == {"call-denied", "call-stale"}
    assert calls["call-read"].traits.source == "builtin"
    assert read_rules(calls["call-read"].traits.rules) == ("policy.write",)
    assert {call.traits.principal_id for call in calls.values()} == {OPERATOR.id}
    assert {call.traits.model_id for call in calls.values() if call.traits.tool} == {"model-1"}


def test_a_question_leaves_who_answered_with_which_passkey_and_when() -> None:
    deleted = by_id(tell(leaves_of(History().whole())))["call-delete"]
    assert (deleted.approval_id, deleted.answer, deleted.approver_id) == ("apr_delete", "approved", OPERATOR.id)
    assert deleted.traits.approval_kind == "stepUp"
    assert deleted.credential_id is not None
    assert PASSKEY.id != deleted.credential_id
    assert deleted.asked_at is not None
    assert deleted.decided_at is not None
    assert deleted.closed_at is not None
    assert deleted.asked_at < deleted.decided_at < deleted.closed_at
    # The question, the answer that did not verify, the one that did, the intent and the end.
    assert len(deleted.leaves) == 5


def test_a_second_request_under_an_id_is_a_row_of_its_own_and_leaves_the_first_alone() -> None:
    told = tell(leaves_of(History().whole()))
    first, second = (call for _, call in sorted(told.calls.items()) if call.call_id == "call-read")
    assert (first.traits.decision, second.traits.decision) == ("auto", "")
    assert not second.is_open


def test_it_is_the_same_whether_leaves_are_read_at_once_or_one_by_one() -> None:
    leaves = leaves_of(History().whole())
    teller = CallTeller(lambda _digest: "builtin")
    calls: dict[int, AuditedCall] = {}
    counts: dict[Cell, int] = {}
    for leaf in leaves:
        told = tell([leaf], teller)
        calls.update(told.calls)
        for cell, count in told.counts.items():
            counts[cell] = counts.get(cell, 0) + count
    at_once = tell(leaves)
    assert calls == at_once.calls
    assert {cell: count for cell, count in counts.items() if count} == {
        cell: count for cell, count in at_once.counts.items() if count
    }
    assert sum(counts.values()) == len(calls)


def test_a_call_that_waits_is_open_and_is_told_on_from_there() -> None:
    history = History()
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    leaves = leaves_of([history.beginning(), (asked,), (history.answer(asked),)])
    (waiting,) = tell(leaves[:-1]).calls.values()
    assert (waiting.traits.outcome, waiting.is_open, waiting.answer) == (OPEN, True, None)
    # As after a restart, with what is kept.
    (answered,) = tell(leaves[-1:], CallTeller(lambda _digest: "", [waiting])).calls.values()
    assert (answered.position, answered.answer, answered.is_open) == (waiting.position, "approved", True)


def test_what_goes_on_without_its_beginning_is_no_call() -> None:
    events = {ApprovalResolved.EVENT, CallFoundUnknown.EVENT}
    leaves = [leaf for leaf in leaves_of(History().whole()) if leaf.body["event"] in events]
    assert len(leaves) == 4
    assert tell(leaves).calls == {}


def test_rules_are_read_back_as_they_were_written() -> None:
    assert write_rules(()) == ""
    for ids in ((), ("a.b",), ("a.b", "c d")):
        assert read_rules(write_rules(ids)) == ids
