"""Why the policy says what it says about one call, and what would change that: for the command line and the console alike.

Everything is asked of the engine. The call is judged as it is, and then with one thing about it changed at a time: the person's
profile, taint, label, and each value that some rule compares a fact or the moment of a call with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gateway.core.canonical import Json
from gateway.core.judgement import Question
from gateway.core.moment import MomentFact
from gateway.core.vocabulary import ACTING, Label, PermissionMode
from gateway.runtime.ports import PolicyDraft, PolicySubject, PolicyVerdict, RuleReading, RuleSource
from gateway.runtime.rehearsal import Judge

MOST_VALUES: Final = 64
"""Values of one kind that are tried. Of those that change the call in the same way one is told."""

_FACTS: Final = ("path", "host", "bytes", "recursive")


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """A rule that takes part, and where it stands; None for what no rule says, such as that one failed."""

    id: str
    why: str
    source: RuleSource | None


@dataclass(frozen=True, slots=True)
class ExplainedChange:
    """What the verdict would be with one thing changed. `what` is `profile`, `taint`, `label`, a fact or a part of the moment."""

    what: str
    value: Json
    verdict: PolicyVerdict


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict over a call, the rules that take part, and what would change it."""

    version: str
    asked: Question
    verdict: PolicyVerdict
    rules: tuple[ExplainedRule, ...]
    changes: tuple[ExplainedChange, ...]


def explain_call(policy: PolicyDraft, reading: RuleReading, asked: Question) -> Explanation:
    """Why, and what would change it."""
    verdict = judge_question(policy, asked)
    rules = tuple(ExplainedRule(each.id, each.why, reading.find_rule(each.id)) for each in verdict.because)
    return Explanation(policy.version, asked, verdict, rules, tuple(_find_changes(policy, reading, asked, verdict.mode)))


def judge_question(policy: Judge, asked: Question) -> PolicyVerdict:
    """What a policy says to it."""
    subject = PolicySubject(asked.principal, asked.label, asked.moment)
    return policy.judge(subject, asked.spec, asked.facts, taint=asked.taint, label=asked.label)


def _find_changes(policy: PolicyDraft, reading: RuleReading, asked: Question, mode: PermissionMode) -> Iterator[ExplainedChange]:
    told: set[tuple[str, PermissionMode]] = set()
    for what, value, question in _neighbours(policy, reading, asked):
        verdict = judge_question(policy, question)
        # Of the values of a fact one of each outcome is enough; of the few words every one is told.
        key = (f"{what} {value}" if what in ("profile", "taint", "label") else what, verdict.mode)
        if verdict.mode is not mode and key not in told:
            told.add(key)
            yield ExplainedChange(what, value, verdict)


def _neighbours(policy: PolicyDraft, reading: RuleReading, asked: Question) -> Iterator[tuple[str, Json, Question]]:
    for profile in ACTING:
        if profile is not asked.principal.profile:
            yield "profile", profile.value, asked._replace(principal=replace(asked.principal, profile=profile))
    yield "taint", 1 - asked.taint, asked._replace(taint=1 - asked.taint)
    for label in Label:
        if label != asked.label:
            yield "label", label.name.lower(), asked._replace(label=label)
    compared = reading.compared_values()
    for name in _FACTS:
        for value in compared.get(name, ())[:MOST_VALUES]:
            yield name, value, asked._replace(facts=replace(asked.facts, **{name: value}, second_path=None))
    for part, member in _MOMENT.items():
        for value in compared.get(part, ())[:MOST_VALUES] if part in policy.reads else ():
            given = frozenset({value}) if part is MomentFact.TOOLS_USED else value
            yield part.value, value, asked._replace(moment=asked.moment._replace(**{member: given}))


_MOMENT: Final = {
    MomentFact.CALLS_IN_TURN: "calls_in_turn",
    MomentFact.CALLS_IN_SESSION: "calls_in_session",
    MomentFact.TOOLS_USED: "tools_used",
    MomentFact.MINUTE_OF_DAY: "minute_of_day",
    MomentFact.WEEKDAY: "weekday",
    MomentFact.ARGUMENTS_FROM_UNTRUSTED: "arguments_from_untrusted",
}
