"""A candidate policy put to the calls on record: what it would have decided otherwise.

First each call is judged again under the version that judged it, which must give what is on record; what cannot be judged
again is counted with the reason. Only then does what the candidate says mean anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from gateway.core.approval import RULE_FAILED
from gateway.core.judgement import Judgement, Question
from gateway.core.model import CallFacts, ToolSpec
from gateway.core.moment import MomentFact
from gateway.core.quorum import Needs
from gateway.core.vocabulary import PermissionMode, stricter
from gateway.runtime.ports import PolicySubject, PolicyVerdict, RecordedDecision

DAY_MS: Final = 24 * 60 * 60 * 1000

EXAMPLES: Final = 200
"""Calls that are named for each kind of difference; every further one is only counted."""

_ASKS: Final = frozenset({PermissionMode.CONSENT, PermissionMode.STEP_UP})


class Judge(Protocol):
    """The part of a policy that answers about calls."""

    @property
    def reads(self) -> frozenset[MomentFact]: ...
    def judge(
        self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int
    ) -> PolicyVerdict: ...


class ModeChange(StrEnum):
    """What a candidate would do to a call. The first four loosen, the last four tighten."""

    NEWLY_ALLOWED = "newlyAllowed"
    """It was forbidden."""
    QUESTION_REMOVED = "questionRemoved"
    """A person was to be asked."""
    PASSKEY_REMOVED = "passkeyRemoved"
    """It needed a passkey, and would need a click."""
    APPROVERS_REMOVED = "approversRemoved"
    """More people had to approve it, or other people, or nobody could alone."""
    QUESTION_ADDED = "questionAdded"
    """It ran without asking."""
    PASSKEY_ADDED = "passkeyAdded"
    """It needed less than a passkey."""
    APPROVERS_ADDED = "approversAdded"
    """Fewer people had to approve it, or more could."""
    NEWLY_REFUSED = "newlyRefused"
    """It was allowed or asked about."""

    @property
    def loosens(self) -> bool:
        """Whether the candidate asks for less."""
        return self in _LOOSEN


_LOOSEN: Final = frozenset(
    {ModeChange.NEWLY_ALLOWED, ModeChange.QUESTION_REMOVED, ModeChange.PASSKEY_REMOVED, ModeChange.APPROVERS_REMOVED}
)


class EffectiveVerdict(NamedTuple):
    """What a policy makes of a call, with the rules that gave the mode and what it takes to approve, if it is asked about."""

    mode: PermissionMode
    rules: tuple[str, ...]
    needs: Needs


class Unjudged(StrEnum):
    """Why a call on record could not be judged again."""

    NO_INPUTS = "noInputs"
    """Its record does not hold what the policy was asked: it is older than that, or its content was erased."""
    NO_DOCUMENTS = "noDocuments"
    """The texts of its policy version are not on record."""
    UNUSABLE = "unusable"
    """The texts of its policy version do not load in this version of the program."""
    NO_MOMENT = "noMoment"
    """The candidate looks at the time or at earlier calls, and the record does not say: no rule looked at them then."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A call that the candidate decides otherwise, with the rules that the candidate names."""

    decision: RecordedDecision
    before: PermissionMode
    after: PermissionMode
    rules: tuple[str, ...]


@dataclass(slots=True)
class Rehearsal:
    """What came out, so far. `unlike` are calls whose own version gives another answer than is on record: a fault."""

    first_at: int | None = None
    last_at: int | None = None
    judged: int = 0
    unjudged: Counter[Unjudged] = field(default_factory=Counter[Unjudged])
    unlike: list[RecordedDecision] = field(default_factory=list[RecordedDecision])
    unlike_count: int = 0
    differences: Counter[ModeChange] = field(default_factory=Counter[ModeChange])
    by_tool: Counter[tuple[ModeChange, str]] = field(default_factory=Counter[tuple[ModeChange, str]])
    by_person: Counter[tuple[ModeChange, str]] = field(default_factory=Counter[tuple[ModeChange, str]])
    questions_before: int = 0
    questions_after: int = 0
    examples: dict[ModeChange, list[Changed]] = field(default_factory=dict[ModeChange, list[Changed]])

    @property
    def reproduced(self) -> int:
        """Calls that their own version judges as it did."""
        return self.judged - self.unlike_count

    @property
    def days(self) -> float:
        """The time between the first and the last call, in days."""
        if self.first_at is None or self.last_at is None:
            return 0.0
        return (self.last_at - self.first_at) / DAY_MS


Version = Judge | Unjudged


class Versions(Protocol):
    """The policies that were in force."""

    def __call__(self, version: str | None, /) -> Version:
        """The policy of a version, or why there is none."""
        ...


def rehearse(
    decisions: Iterable[RecordedDecision], versions: Versions, candidate: Judge | None, so_far: Rehearsal | None = None
) -> Rehearsal:
    """Judge every decision again under its own version, and under the candidate if there is one. Reads `decisions` once and
    keeps no more of them than the examples. What comes out is added to what came out `so_far`."""
    result = so_far or Rehearsal()
    for decision in decisions:
        _note_time(result, decision.at)
        if decision.judgement is None:
            result.unjudged[Unjudged.NO_INPUTS] += 1
            continue
        own = versions(decision.version)
        if isinstance(own, Unjudged):
            result.unjudged[own] += 1
            continue
        if candidate is not None and not candidate.reads <= _known(decision.judgement.question):
            result.unjudged[Unjudged.NO_MOMENT] += 1
            continue
        result.judged += 1
        if not reproduces(own, decision.judgement):
            result.unlike_count += 1
            if len(result.unlike) < EXAMPLES:
                result.unlike.append(decision)
            continue
        if candidate is not None:
            _compare(result, decision, decision.judgement.question, own, candidate)
    return result


def find_difference(before: PermissionMode, after: PermissionMode) -> ModeChange | None:
    """How two modes for the same call differ; None if they are the same."""
    if before is after:
        return None
    if before is PermissionMode.FORBIDDEN:
        return ModeChange.NEWLY_ALLOWED
    if after is PermissionMode.FORBIDDEN:
        return ModeChange.NEWLY_REFUSED
    if after is PermissionMode.AUTO:
        return ModeChange.QUESTION_REMOVED
    if after is PermissionMode.STEP_UP:
        return ModeChange.PASSKEY_ADDED
    return ModeChange.QUESTION_ADDED if before is PermissionMode.AUTO else ModeChange.PASSKEY_REMOVED


def compare_verdicts(before: EffectiveVerdict, after: EffectiveVerdict) -> ModeChange | None:
    """How two verdicts on the same call differ, in their modes and in who has to approve; None if in neither. Where one is
    stricter and the other less so, what is less strict counts."""
    change = find_difference(before.mode, after.mode)
    if not {before.mode, after.mode} <= _ASKS or (change is not None and change.loosens):
        return change
    if before.needs.exceed_people_of(after.needs):
        return ModeChange.APPROVERS_REMOVED
    if change is None and after.needs.exceed_people_of(before.needs):
        return ModeChange.APPROVERS_ADDED
    return change


def effective(policy: Judge, question: Question) -> EffectiveVerdict:
    """The mode that a call gets: never below what the tool was published with."""
    call, published = _ask(policy, question), _ask(policy, question, publishing=True)
    mode = stricter(call.mode, published.mode)
    verdict = call if call.mode is mode else published
    return EffectiveVerdict(mode, tuple(rule.id for rule in verdict.because), call.needs)


def reproduces(own: Judge, judgement: Judgement) -> bool:
    """Whether a policy gives the answer that is on record. Rules of the program itself, which a policy does not have, may have
    made the answer stricter."""
    verdict = _ask(own, judgement.question)
    rules = tuple(rule.id for rule in verdict.because)
    if (verdict.mode, rules) == (judgement.mode, judgement.rules):
        return True
    if judgement.rules == (RULE_FAILED,) == rules[:1]:
        # Records of earlier versions say that a rule failed, and not which.
        return verdict.mode is judgement.mode
    return judgement.rules[: len(rules)] == rules and stricter(verdict.mode, judgement.mode) is judgement.mode != verdict.mode


def _compare(result: Rehearsal, decision: RecordedDecision, question: Question, own: Judge, candidate: Judge) -> None:
    was, now = effective(own, question), effective(candidate, question)
    difference, before, after = compare_verdicts(was, now), was.mode, now.mode
    result.questions_before += decision.asked
    # A grant answered what would have been a question: it answers it still, unless a passkey is needed now.
    answered_by_grant = before is PermissionMode.CONSENT and decision.ran and not decision.asked
    still = after is PermissionMode.CONSENT and not now.needs.each_time
    result.questions_after += after in _ASKS and not (answered_by_grant and still)
    if difference is None:
        return
    result.differences[difference] += 1
    result.by_tool[difference, question.spec.name] += 1
    result.by_person[difference, question.principal.id] += 1
    named = result.examples.setdefault(difference, [])
    if len(named) < EXAMPLES:
        named.append(Changed(decision, before, after, now.rules))


def _known(question: Question) -> frozenset[str]:
    """What its record says of the moment, told or not: without taint there was nothing that arguments could have come from."""
    told = frozenset(question.moment.told())
    return told if question.taint else told | {MomentFact.ARGUMENTS_FROM_UNTRUSTED}


def _ask(policy: Judge, question: Question, *, publishing: bool = False) -> PolicyVerdict:
    subject = PolicySubject(question.principal, question.label, question.moment)
    facts = None if publishing else question.facts
    return policy.judge(subject, question.spec, facts, taint=question.taint, label=question.label)


def _note_time(result: Rehearsal, at: int) -> None:
    result.first_at = at if result.first_at is None else min(result.first_at, at)
    result.last_at = at if result.last_at is None else max(result.last_at, at)
