"""What a rehearsal and a comparison of policies read like on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.adapters.policy.domain import MOST_PER_RULE, DomainDifference
from gateway.cli.policy_arguments import SHORT
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.judgement import Question
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Label
from gateway.runtime.rehearsal import Changed, ModeChange, Rehearsal, Unjudged

NAMED: Final = 10
"""Calls that are listed for each kind of difference."""

CHANGES: Final = {
    ModeChange.NEWLY_ALLOWED: "newly allowed",
    ModeChange.QUESTION_REMOVED: "no longer asked about",
    ModeChange.PASSKEY_REMOVED: "a click instead of a passkey",
    ModeChange.APPROVERS_REMOVED: "fewer or other people to approve",
    ModeChange.QUESTION_ADDED: "newly asked about",
    ModeChange.PASSKEY_ADDED: "newly needing a passkey",
    ModeChange.APPROVERS_ADDED: "more people to approve",
    ModeChange.NEWLY_REFUSED: "newly refused",
}
"""How each kind of difference is told, after a number of calls."""

_WHY: Final = {
    Unjudged.NO_INPUTS: "their records do not say what the policy was asked",
    Unjudged.NO_DOCUMENTS: "the texts of their policy are not on record",
    Unjudged.UNUSABLE: "the policy of that time does not load in this version",
    Unjudged.NO_MOMENT: "the candidate looks at the time or at earlier calls, and their record does not say",
}


def describe_rehearsal(result: Rehearsal, version: str, names: Mapping[str, str], days: int) -> str:
    """The whole report, for people."""
    lines = [_reproduction(result, days)]
    lines += [f"  {count} could not be judged again: {_WHY[why]}" for why, count in sorted(result.unjudged.items())]
    lines += [f"  not as on record: {_call(each.at, each.conversation_id, each.call_id)}" for each in result.unlike[:NAMED]]
    if not result.reproduced:
        return "\n".join(lines)
    before, after = result.questions_before, result.questions_after
    lines.append(f"Under policy {version[:SHORT]}, people are asked {after} times instead of {before}.")
    for difference in ModeChange:
        if count := result.differences[difference]:
            lines += [f"{count} {CHANGES[difference]}:", *_examples(result.examples[difference], names)]
            if count > NAMED:
                lines.append(f"  and {count - NAMED} more")
            lines.append(f"  by tool: {_tally(result, difference)}")
    if not result.differences:
        lines.append("It decides every one of them as it was decided.")
    return "\n".join(lines)


def rehearsal_as_json(result: Rehearsal, version: str) -> dict[str, Json]:
    """The same for programs, with every example that was kept."""
    return {
        "policyVersion": version,
        "judged": result.judged,
        "reproduced": result.reproduced,
        "unjudged": {why.value: result.unjudged[why] for why in Unjudged},
        "unlike": [{"conversationId": each.conversation_id, "callId": each.call_id} for each in result.unlike],
        "questions": {"before": result.questions_before, "after": result.questions_after},
        "differences": {difference.value: result.differences[difference] for difference in ModeChange},
        "byTool": _nested(result.by_tool),
        "byPerson": _nested(result.by_person),
        "examples": {difference.value: [_example(each) for each in found] for difference, found in result.examples.items()},
    }


def describe_domain(compared: int, found: Sequence[DomainDifference], cut_short: Sequence[str]) -> str:
    """What differs over every kind of call, and which rules name too much for all of it to be tried."""
    told = _describe_differences(compared, found)
    if not cut_short:
        return told
    return f"{told}\nNot all was tried: of what {', '.join(cut_short)} compares with, the first {MOST_PER_RULE} combinations."


def _describe_differences(compared: int, found: Sequence[DomainDifference]) -> str:
    if not found:
        return f"Both policies decide alike over {compared} kinds of calls."
    loosened = sum(each.count for each in found if each.difference.loosens)
    tightened = sum(each.count for each in found) - loosened
    lines = [f"Of {compared} kinds of calls, {loosened} are loosened and {tightened} tightened."]
    for each in found:
        lines.append(f"{each.count} {CHANGES[each.difference]}: {each.profile}, category {each.category}")
        rules = ", ".join(each.rules) or "no rule permits it"
        lines.append(f"  such as {_kind(each.example)}: {each.before} -> {each.after} by {rules}")
    return "\n".join(lines)


def _reproduction(result: Rehearsal, days: int) -> str:
    if not result.judged:
        return f"No call of the last {days} days can be judged again."
    assert result.first_at is not None, "a call that was judged has a time"
    assert result.last_at is not None, "a call that was judged has a time"
    span = f"{rfc3339(result.first_at)} to {rfc3339(result.last_at)}"
    as_recorded = "all" if not result.unlike_count else f"{result.reproduced}"
    return f"{result.judged} calls of the last {days} days ({span}) judged again, {as_recorded} as on record."


def _examples(found: Sequence[Changed], names: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for each in found[:NAMED]:
        decision = each.decision
        person = escape(names.get(decision.principal_id, decision.principal_id))
        rules = ", ".join(each.rules) or "no rule permits it"
        where = _call(decision.at, decision.conversation_id, decision.call_id)
        lines.append(f"  {decision.tool} by {person}: {each.before} -> {each.after} by {rules}; {where}")
    return lines


def _tally(result: Rehearsal, difference: ModeChange) -> str:
    counts = [(tool, count) for (of, tool), count in result.by_tool.most_common() if of is difference]
    told = ", ".join(f"{tool} {count}" for tool, count in counts[:NAMED])
    return told if len(counts) <= NAMED else f"{told} and {len(counts) - NAMED} other tools"


def _call(at: int, conversation_id: str, call_id: str) -> str:
    return f"{rfc3339(at)}, {conversation_id}/{escape(call_id)}"


def _kind(question: Question) -> str:
    spec, facts = question.spec, question.facts
    reported = {"path": facts.path, "host": facts.host, "bytes": facts.bytes, "recursive": facts.recursive}
    parts = [
        f"tool {escape(spec.name)}",
        *(["with network"] if spec.network else []),
        f"label {Label(question.label).name.lower()}",
        *(["tainted"] if question.taint else []),
        *(f"{name} {escape(str(value))}" for name, value in reported.items() if value is not None),
    ]
    return ", ".join(parts)


def _nested(counts: Mapping[tuple[ModeChange, str], int]) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (difference, name), count in counts.items():
        nested.setdefault(difference.value, {})[name] = count
    return nested


def _example(each: Changed) -> dict[str, Json]:
    return {
        "at": each.decision.at,
        "index": each.decision.index,
        "conversationId": each.decision.conversation_id,
        "callId": each.decision.call_id,
        "tool": each.decision.tool,
        "principalId": each.decision.principal_id,
        "before": each.before.value,
        "after": each.after.value,
        "rules": list(each.rules),
    }
