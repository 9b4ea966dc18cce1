"""Logs that are whole and signed, and still violate an invariant (docs/SECURITY.md promises 3, 4 and 5)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from gateway.core import ledger as steps
from gateway.core.approval import Grant
from gateway.core.canonical import Json, parse, parse_canonical
from gateway.core.invariants import InvariantChecker
from gateway.core.ledger import Entry
from gateway.core.patterns import Pattern
from gateway.core.verification import Flaw, SnapshotRecord
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, PatternKind, PermissionMode
from tests.fakes.history import DELETE, OPERATOR, READ, WRITE, History, assertion_over
from tests.fakes.written import Submissions, fault_of, write

CONSENTED, STEPPED = Decision.CONSENTED, Decision.STEP_UP_SUCCEEDED
Scenario = Callable[[History], Submissions]

IMPOSSIBLE: list[Scenario] = []


def impossible(scenario: Scenario) -> Scenario:
    """A history whose last entry contradicts what went before."""
    IMPOSSIBLE.append(scenario)
    return scenario


@impossible
def ran_without_intent(history: History) -> Submissions:
    return [history.beginning(), (history.close(history.request("call-1")),)]


@impossible
def ran_while_waiting(history: History) -> Submissions:
    request = history.request("call-1", WRITE)
    return [history.beginning(), (history.ask(request, "apr_1"),), (history.close(request),)]


@impossible
def closed_twice(history: History) -> Submissions:
    request = history.request("call-1")
    close = history.close(request)
    return [history.beginning(), (history.intend(request),), (close,), (replace(close, executed=False),)]


@impossible
def intended_twice(history: History) -> Submissions:
    intent = history.intend(history.request("call-1"))
    return [history.beginning(), (intent,), (intent,)]


@impossible
def intended_after_closing(history: History) -> Submissions:
    request = history.request("call-1")
    return [history.beginning(), (history.refuse(request),), (history.intend(request),)]


@impossible
def never_closed(history: History) -> Submissions:
    intent = history.intend(history.request("call-1"))
    started = steps.GatewayStarted(history.tick(), "0.1.0", "a" * 64, 0)
    return [history.beginning(), (intent,), (started,), (history.intend(history.request("call-2")),)]


@impossible
def never_closed_and_then_silence(history: History) -> Submissions:
    intent = history.intend(history.request("call-1"))
    return [history.beginning(), (intent,), (steps.GatewayStarted(history.tick(), "0.1.0", "a" * 64, 0),)]


@impossible
def auto_where_consent_was_due(history: History) -> Submissions:
    return [history.beginning(), (history.intend(history.request("call-1", WRITE)),)]


@impossible
def consent_where_step_up_was_due(history: History) -> Submissions:
    request = history.request("call-1", DELETE)
    asked = history.ask(request, "apr_1")
    intent = history.intend(request, CONSENTED, approval_id="apr_1")
    return [history.beginning(), (asked,), (history.answer(asked), intent)]


@impossible
def consented_without_an_approval(history: History) -> Submissions:
    return [history.beginning(), (history.intend(history.request("call-1", WRITE), CONSENTED),)]


@impossible
def denied_and_run(history: History) -> Submissions:
    return [history.beginning(), (history.intend(history.request("call-1", WRITE), Decision.DENIED),)]


@impossible
def approval_never_given(history: History) -> Submissions:
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    return [history.beginning(), (asked,), (history.intend(request, CONSENTED, approval_id="apr_1"),)]


@impossible
def approval_denied(history: History) -> Submissions:
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    denied = history.answer(asked, ApprovalStatus.DENIED)
    return [history.beginning(), (asked,), (denied, history.intend(request, CONSENTED, approval_id="apr_1"))]


@impossible
def approval_given_twice(history: History) -> Submissions:
    asked = history.ask(history.request("call-1", WRITE), "apr_1")
    return [history.beginning(), (asked,), (history.answer(asked, ApprovalStatus.DENIED),), (history.answer(asked),)]


@impossible
def approval_given_too_late(history: History) -> Submissions:
    asked = history.ask(history.request("call-1", WRITE), "apr_1", expires_at=history.now + 2)
    history.tick()
    return [history.beginning(), (asked,), (history.answer(asked),)]


@impossible
def approval_given_by_nobody(history: History) -> Submissions:
    asked = history.ask(history.request("call-1", WRITE), "apr_1")
    return [history.beginning(), (asked,), (replace(history.answer(asked), approver_id=None),)]


@impossible
def approval_of_another_call(history: History) -> Submissions:
    request, other = history.request("call-1", WRITE), history.request("call-2", WRITE)
    asked = history.ask(request, "apr_1")
    intent = history.intend(other, CONSENTED, approval_id="apr_1")
    return [history.beginning(), (asked,), (history.answer(asked), intent)]


@impossible
def approval_of_another_definition(history: History) -> Submissions:
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    intent = replace(history.intend(request, CONSENTED, approval_id="apr_1"), descriptor_digest="0" * 64)
    return [history.beginning(), (asked,), (history.answer(asked), intent)]


@impossible
def approval_of_other_arguments(history: History) -> Submissions:
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    changed = replace(request, arguments=b'{"path":"elsewhere"}')
    intent = history.intend(changed, CONSENTED, approval_id="apr_1")
    return [history.beginning(), (asked,), (history.answer(asked), intent)]


@impossible
def statement_about_something_else(history: History) -> Submissions:
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    return [history.beginning(), (replace(asked, request=replace(request, arguments=b'{"path":"elsewhere"}')),)]


@impossible
def statement_with_another_digest(history: History) -> Submissions:
    asked = history.ask(history.request("call-1", WRITE), "apr_1")
    return [history.beginning(), (replace(asked, approval=replace(asked.approval, statement_digest="0" * 64)),)]


@impossible
def step_up_without_passkey(history: History) -> Submissions:
    asked = history.ask(history.request("call-1", DELETE), "apr_1", ApprovalKind.STEP_UP)
    return [history.beginning(), (asked,), (replace(history.answer(asked), credential_id=None),)]


@impossible
def step_up_over_other_bytes(history: History) -> Submissions:
    asked = history.ask(history.request("call-1", DELETE), "apr_1", ApprovalKind.STEP_UP)
    answer = replace(history.answer(asked), assertion=assertion_over("0" * 64))
    return [history.beginning(), (asked,), (answer,)]


@impossible
def step_up_with_a_broken_assertion(history: History) -> Submissions:
    asked = history.ask(history.request("call-1", DELETE), "apr_1", ApprovalKind.STEP_UP)
    answer = replace(history.answer(asked), assertion={"response": {"clientDataJSON": "!"}})
    return [history.beginning(), (asked,), (answer,)]


SHOWN: dict[str, Json] = {"path": "a", "note": "n"}


def granted(
    history: History,
    change: Callable[[Grant], Grant] = lambda grant: grant,
    shown: dict[str, Json] = SHOWN,
    **grant: Json,
) -> list[Sequence[Entry]]:
    asked = history.ask(history.request("call-0", WRITE, shown), "apr_1")
    issued = steps.GrantIssued(history.tick(), change(history.grant(asked, "grt_1", **grant)))
    return [history.beginning(), (asked,), (history.answer(asked), issued)]


def on_grant(history: History, number: int, arguments: dict[str, Json] | None = None) -> Sequence[Entry]:
    request = history.request(f"call-{number}", WRITE, SHOWN if arguments is None else arguments)
    return (history.intend(request, CONSENTED, grant_id="grt_1"),)


@impossible
def grant_used_too_often(history: History) -> Submissions:
    return [*granted(history, max_uses=1), on_grant(history, 1), on_grant(history, 2)]


@impossible
def grant_after_revocation(history: History) -> Submissions:
    revoked = steps.GrantRevoked(history.tick(), "grt_1", OPERATOR.id, "person")
    return [*granted(history), (revoked,), on_grant(history, 1)]


@impossible
def grant_after_expiry(history: History) -> Submissions:
    return [*granted(history, lambda grant: replace(grant, expires_at=grant.issued_at)), on_grant(history, 1)]


@impossible
def grant_for_other_arguments(history: History) -> Submissions:
    return [*granted(history), on_grant(history, 1, {"path": "b", "note": "n"})]


@impossible
def grant_for_a_further_argument(history: History) -> Submissions:
    return [*granted(history), on_grant(history, 1, {"path": "a", "note": "n", "force": True})]


@impossible
def grant_that_covers_more_than_was_shown(history: History) -> Submissions:
    return granted(history, lambda grant: replace(grant, freed=("force",)))


def within_folder(history: History, folder: str, path: str) -> Submissions:
    """A grant that lets the shown path vary within a folder, and a call under it."""
    pattern = Pattern("path", PatternKind.FOLDER, folder)
    shown: dict[str, Json] = {"path": "notes/deep/a", "note": "n"}
    before = granted(history, lambda grant: replace(grant, within=pattern), shown=shown, freed=("path",))
    return [*before, on_grant(history, 1, {"path": path, "note": "n"})]


@impossible
def grant_outside_its_folder(history: History) -> Submissions:
    return within_folder(history, "notes/deep", "notes/b")


@impossible
def grant_within_a_wider_folder_than_was_shown(history: History) -> Submissions:
    return within_folder(history, "notes", "notes/b")[:-1]


@impossible
def grant_for_another_tool(history: History) -> Submissions:
    return granted(history, lambda grant: replace(grant, tool="delete_file"))


@impossible
def grant_of_one_turn_in_another(history: History) -> Submissions:
    before = granted(history)
    return [*before, next_turn(history), on_grant(history, 1)]


@impossible
def grant_without_consent(history: History) -> Submissions:
    asked = history.ask(history.request("call-0", WRITE), "apr_1")
    return [history.beginning(), (asked,), (steps.GrantIssued(history.tick(), history.grant(asked, "grt_1")),)]


@impossible
def snapshot_that_never_was(history: History) -> Submissions:
    request = replace(history.request("call-1"), snapshot_digest="0" * 64)
    return [history.beginning(), (history.intend(request),)]


def next_turn(history: History) -> Sequence[Entry]:
    history.turn_id = "trn_2"
    return (steps.TurnBegun(history.tick(), OPERATOR.id, history.snapshot, "model-1"),)


@impossible
def snapshot_of_another_turn(history: History) -> Submissions:
    before = [history.beginning(), next_turn(history)]
    request = replace(history.request("call-1"), turn_id="trn_1")
    return [*before, (history.intend(request),)]


@pytest.mark.requirement("002-74", "a log in which a call could not have happened as told is not sound")
@pytest.mark.parametrize("scenario", IMPOSSIBLE, ids=lambda scenario: scenario.__name__)
def test_a_log_of_what_cannot_have_happened_is_not_sound(scenario: Callable[[History], Submissions]) -> None:
    written = write(scenario(History()))
    assert fault_of(written.check()) == (Flaw.INVARIANT, len(written.leaves) - 1)


def test_a_grant_that_frees_an_argument_covers_that_one() -> None:
    history = History()
    before = granted(history, freed=("note",))
    assert write([*before, on_grant(history, 1, {"path": "a", "note": "other"})]).check().sound
    assert not write([*before, on_grant(history, 2, {"path": "b", "note": "n"})]).check().sound


def test_a_grant_within_a_folder_covers_what_is_in_it() -> None:
    assert write(within_folder(History(), "notes/deep", "notes/deep/b")).check().sound


def test_a_tool_that_the_snapshot_did_not_offer_is_found_where_the_snapshot_is_at_hand() -> None:
    history = History()
    fewer = replace(history.snapshot, tools=history.snapshot.tools[1:])
    begun = (*history.beginning()[:-1], steps.TurnBegun(history.tick(), OPERATOR.id, fewer, None))
    request = replace(history.request("call-1", READ), snapshot_digest=fewer.digest)
    written = write([begun, (history.intend(request),)])
    assert written.check().sound
    report = written.check(snapshots=[SnapshotRecord(fewer.digest, fewer.described())])
    assert fault_of(report) == (Flaw.INVARIANT, len(written.leaves) - 1)


def test_a_call_that_is_not_as_its_snapshot_offered_it_is_found() -> None:
    history = History()
    offered, beginning = history.snapshot, history.beginning()
    as_offered = history.intend(history.request("call-1", READ))
    milder = replace(offered, tools=tuple(replace(tool, permission=PermissionMode.AUTO) for tool in offered.tools))
    redefined = replace(as_offered, descriptor_digest="0" * 64)
    without_asking = replace(history.intend(history.request("call-1", WRITE)), snapshot=milder)
    for intent, sound in ((as_offered, True), (redefined, False), (without_asking, False)):
        report = write([beginning, (intent,)]).check(snapshots=[SnapshotRecord(offered.digest, offered.described())])
        assert report.sound is sound


def test_calls_of_the_last_run_may_be_under_way() -> None:
    history = History()
    asked = history.ask(history.request("call-2", WRITE), "apr_1")
    report = write([history.beginning(), (history.intend(history.request("call-1")),), (asked,)]).check()
    assert (report.sound, report.open_calls) == (True, 2)


def test_a_call_that_waited_across_a_restart_may_run() -> None:
    history = History()
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    bare = replace(history.snapshot, tools=())
    intent = replace(history.intend(request, CONSENTED, approval_id="apr_1"), snapshot=bare)
    started = steps.GatewayStarted(history.tick(), "0.1.0", "a" * 64, 0)
    written = write([history.beginning(), (asked,), (started,), (history.answer(asked), intent), (history.close(request),)])
    snapshot = history.snapshot
    report = written.check(snapshots=[SnapshotRecord(snapshot.digest, snapshot.described())])
    assert (report.fault, report.executed) == (None, 1)


def test_policy_may_ask_for_more_at_use_than_the_snapshot_said() -> None:
    history = History()
    assert history.snapshot.by_name["read_file"].permission is PermissionMode.AUTO
    request = history.request("call-1", READ)
    asked = history.ask(request, "apr_1", ApprovalKind.STEP_UP)
    intent = history.intend(request, STEPPED, approval_id="apr_1")
    assert write([history.beginning(), (asked,), (history.answer(asked), intent)]).check().sound


def test_a_question_may_end_after_its_call() -> None:
    history = History()
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    closed, expired = (history.refuse(request),), (history.answer(asked, ApprovalStatus.EXPIRED),)
    assert write([history.beginning(), (asked,), closed, expired]).check().sound
    assert fault_of(write([history.beginning(), (asked,), closed, expired, expired]).check())[0] is Flaw.INVARIANT


def test_a_log_of_many_calls_is_checked_in_the_memory_that_their_ids_take() -> None:
    """In years they are tens of millions, and what is known of an open question takes some kilobytes."""
    history, calls = History(), 2_000
    submissions: list[Sequence[Entry]] = [history.beginning()]
    for number in range(calls):
        request = history.request(f"call-{number}", WRITE)
        asked = history.ask(request, f"apr_{number}")
        if number % 2:
            submissions += [[asked], [history.answer(asked, ApprovalStatus.DENIED)], [history.refuse(request)]]
        else:
            intent = history.intend(request, CONSENTED, approval_id=f"apr_{number}")
            submissions += [[asked], [history.answer(asked), intent], [history.close(request)]]
    records = [
        (parse_canonical(leaf.body), None if leaf.payload is None else parse(leaf.payload)) for leaf in write(submissions).leaves
    ]
    checker = InvariantChecker(whole=True)
    tracemalloc.start()
    try:
        for body, payload in records:
            assert checker.check(body, payload) is None
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (checker.calls, checker.open_calls) == (calls, 0)
    assert kept / calls < 300
