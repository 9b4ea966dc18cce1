"""The calls of the log as wire types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import Any, NamedTuple

from gateway.core.call_history import AuditedCall, read_rules
from gateway.core.canonical import Json
from gateway.core.ledger import Passkey
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ApprovalKind
from gateway.protocol import audit_methods as wire
from gateway.runtime.ports import AuditRow, CallCounts, ModelTotals, PersonTasks, QuestionLoad
from gateway.server.methods.views import LABEL_NAMES


def view_audited_call(call: AuditedCall, names: Mapping[str, str], passkey: Passkey | None = None) -> wire.WireAuditedCall:
    """A call with the names of its people."""
    traits = call.traits
    return wire.WireAuditedCall(
        position=call.position,
        conversation_id=call.conversation_id,
        call_id=call.call_id,
        turn_id=call.turn_id,
        turn_index=call.turn_index,
        at=rfc3339(call.at),
        principal_id=traits.principal_id,
        principal_name=names.get(traits.principal_id, traits.principal_id),
        tool=traits.tool or None,
        source=traits.source or None,
        outcome=traits.outcome,
        reason=traits.reason or None,
        decision=traits.decision or None,
        model_id=traits.model_id or None,
        label=LABEL_NAMES.get(traits.label),
        rules=read_rules(traits.rules),
        policy_version=traits.policy_version or None,
        approval_kind=ApprovalKind(traits.approval_kind) if traits.approval_kind else None,
        approval_id=call.approval_id,
        asked_at=_time(call.asked_at),
        decided_at=_time(call.decided_at),
        answer=call.answer,
        approver_id=call.approver_id,
        approver_name=None if call.approver_id is None else names.get(call.approver_id),
        credential_id=call.credential_id,
        passkey_name=None if passkey is None else passkey.name,
        grant_id=call.grant_id,
        started_at=_time(call.started_at),
        closed_at=_time(call.closed_at),
        duration_ms=call.duration_ms,
    )


class SinkState(NamedTuple):
    """How far a sink is, as it keeps it itself: the next record that it is to be sent."""

    name: str
    kind: str
    next: int
    sent_at: int | None
    fault: str


class AnchorState(NamedTuple):
    """What an anchor has, as the gateway noted it: over how many records."""

    name: str
    kind: str
    size: int
    at: int | None
    fault: str


def view_anchor(state: AnchorState, size: int) -> wire.AuditAnchor:
    """An anchor of a log of so many records."""
    return wire.AuditAnchor(
        name=state.name,
        kind=state.kind,
        size=state.size,
        unanchored=max(size - state.size, 0),
        anchored_at=_time(state.at),
        fault=state.fault or None,
    )


def view_sink(state: SinkState, size: int) -> wire.AuditSink:
    """A sink of a log of so many records."""
    return wire.AuditSink(
        name=state.name,
        kind=state.kind,
        sent=state.next,
        behind=max(size - state.next, 0),
        sent_at=_time(state.sent_at),
        fault=state.fault or None,
    )


def view_counts(counts: CallCounts, unread: int) -> wire.CallCount:
    """Counts, with the time that they are over."""
    return wire.CallCount(
        since=rfc3339(counts.since),
        until=rfc3339(counts.until),
        step_ms=counts.step_ms,
        total=counts.total,
        outcomes=_outcomes(counts.outcomes),
        buckets=tuple(wire.CallBucket(at=rfc3339(at), outcomes=_outcomes(outcomes)) for at, outcomes in counts.buckets),
        unread=unread,
    )


def view_rules(call: AuditedCall, words: Mapping[str, str]) -> tuple[wire.RuleWords, ...]:
    """The rules that decided, in today's words."""
    return tuple(wire.RuleWords(id=rule, why=words.get(rule)) for rule in read_rules(call.traits.rules))


def find_definition(snapshot: Mapping[str, Json] | None, rows: Sequence[AuditRow]) -> dict[str, Json] | None:
    """The tool's definition as it was on offer; None where nothing of that digest was."""
    digests = {row.body["descriptorDigest"] for row in rows if row.body.get("descriptorDigest")}
    return next((tool for tool in _tools(snapshot) if tool["digest"] in digests), None)


def view_offered(snapshot: Mapping[str, Json] | None) -> tuple[wire.VisibleTool, ...] | None:
    """All tools of a snapshot, by name."""
    if snapshot is None:
        return None
    offered = (
        wire.VisibleTool(name=str(tool.get("name", "")), permission=str(tool["permission"]), digest=tool["digest"])
        for tool in _tools(snapshot)
    )
    return tuple(sorted(offered, key=lambda each: each.name))


def view_load(
    span: tuple[int, int], questions: Sequence[QuestionLoad], tasks: Sequence[PersonTasks], names: Mapping[str, str], unread: int
) -> wire.AuditLoad:
    """What people were asked, in all and by tool."""
    turns = {each.principal_id: each.turns for each in tasks}
    people = dict.fromkeys((*(each.principal_id for each in questions), *turns))
    loads = [
        _view_person(id_, names, turns.get(id_, 0), [each for each in questions if each.principal_id == id_]) for id_ in people
    ]
    return wire.AuditLoad(
        since=rfc3339(span[0]),
        until=rfc3339(span[1]),
        people=tuple(sorted(loads, key=lambda each: (-each.asked, each.principal_name))),
        tools=tuple(_view_questions(each, names) for each in questions),
        unread=unread,
    )


def view_model(totals: ModelTotals) -> wire.ModelUseView:
    """The use of one model."""
    return wire.ModelUseView(
        model_id=totals.model_id or None,
        turns=totals.turns,
        requests=totals.requests,
        failures=totals.failures,
        prompt_tokens=totals.prompt_tokens,
        completion_tokens=totals.completion_tokens,
        seconds=totals.milliseconds / 1000,
        calls=totals.calls,
        calls_ran=totals.calls_ran,
        # Those of no model are what people typed and what tabs proposed by models of their own, in turns of any model.
        calls_per_turn=totals.calls / totals.turns if totals.turns and totals.model_id else None,
    )


def _view_person(id_: str, names: Mapping[str, str], turns: int, questions: Sequence[QuestionLoad]) -> wire.PersonLoad:
    asked = sum(each.asked for each in questions)
    waits = [wait for each in questions for wait in each.waits]
    return wire.PersonLoad(
        principal_id=id_,
        principal_name=names.get(id_, id_),
        turns=turns,
        asked=asked,
        denied=sum(each.denied for each in questions),
        expired=sum(each.expired for each in questions),
        repeated=sum(each.repeated for each in questions),
        questions_per_turn=asked / turns if turns else None,
        median_wait_ms=median_low(waits) if waits else None,
    )


def _view_questions(load: QuestionLoad, names: Mapping[str, str]) -> wire.ToolLoad:
    return wire.ToolLoad(
        principal_id=load.principal_id,
        principal_name=names.get(load.principal_id, load.principal_id),
        tool=load.tool,
        asked=load.asked,
        approved=load.approved,
        denied=load.denied,
        expired=load.expired,
        cancelled=load.cancelled,
        repeated=load.repeated,
        median_wait_ms=median_low(load.waits) if load.waits else None,
        longest_wait_ms=load.waits[-1] if load.waits else None,
    )


def _tools(snapshot: Mapping[str, Json] | None) -> Sequence[dict[str, Any]]:
    return [] if snapshot is None else snapshot["tools"]


def _outcomes(counts: Mapping[str, int]) -> tuple[wire.OutcomeCount, ...]:
    return tuple(wire.OutcomeCount(outcome=outcome, calls=calls) for outcome, calls in sorted(counts.items()) if calls)


def _time(at: int | None) -> str | None:
    return None if at is None else rfc3339(at)
