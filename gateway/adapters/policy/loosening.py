"""Whether a policy asks for less than another: over every kind of call that they can tell apart, and over what profiles may use.

The comparison stops after so many kinds of calls; then nobody can say that nothing was loosened, and it says that. Time is no
bound: what counts as a loosening must not depend on how busy the machine is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.domain import questions, rules_cut_short
from gateway.adapters.policy.profiles import ProfileRules
from gateway.adapters.policy.touching import RuleChange
from gateway.core.effects import escape
from gateway.core.judgement import Question
from gateway.core.model import Principal
from gateway.core.obligations import merge
from gateway.core.vocabulary import ACTING, Category, Label, PermissionMode, Profile
from gateway.runtime.ports import PolicyComparison, PolicyDifference, PolicySubject, PolicyVerdict
from gateway.runtime.rehearsal import ModeChange, compare_verdicts, effective

MOST_KINDS: Final = 20_000
"""Some ten seconds of a processor, at half a millisecond each; the shipped policy has two thousand."""

_UP: Final = (
    "calls_per_turn",
    "calls_per_session",
    "calls_per_principal_per_day",
    "pending_approvals",
    "stored_megabytes_per_session",
    "tokens_per_session",
    "session_seconds",
)
"""Limits of a profile; a higher one asks for less."""


def find_loosening(before: CedarPolicy, after: CedarPolicy) -> PolicyComparison:
    """How `after` differs from `before`, loosened first."""
    found: dict[tuple[ModeChange, Profile, Category], PolicyDifference] = {}
    loosened = dict.fromkeys((*_of_profiles(before, after), *_of_models(before, after)))
    # What a long list says of its last members may loosen unseen, so nobody can say that it does not.
    compared, complete = 0, not rules_cut_short(before, after)
    difference = RuleChange(before, after)
    for question in questions((before, after)):
        if compared >= MOST_KINDS:
            complete = False
            break
        compared += 1
        if not difference.may_touch(question):
            continue
        was, now = effective(before, question), effective(after, question)
        change = compare_verdicts(was, now)
        if change is None:
            if now.mode is not PermissionMode.FORBIDDEN:
                loosened |= dict.fromkeys(_of_obligations(_ask(before, question), _ask(after, question), question))
            continue
        key = (change, question.principal.profile, question.spec.category)
        known = found.get(key)
        found[key] = (
            PolicyDifference(change.value, change.loosens, *key[1:], 1, was.mode, now.mode, now.rules, describe_kind(question))
            if known is None
            else dataclasses.replace(known, count=known.count + 1)
        )
    order = [change.value for change in ModeChange]
    listed = sorted(found.values(), key=lambda each: (order.index(each.change), -each.count))
    return PolicyComparison(compared, complete, tuple(listed), tuple(loosened))


def describe_kind(question: Question) -> str:
    """A kind of call in words."""
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


def _ask(policy: CedarPolicy, question: Question) -> PolicyVerdict:
    subject = PolicySubject(question.principal, question.label)
    return policy.judge(subject, question.spec, question.facts, taint=question.taint, label=question.label)


def _of_obligations(was: PolicyVerdict, now: PolicyVerdict, question: Question) -> Iterator[str]:
    """What rules oblige to less, of calls that both allow in the same way: what merging the two would make stricter again."""
    strictest = merge((was.obligations, now.obligations))
    for field in dataclasses.fields(strictest):
        if getattr(strictest, field.name) != getattr(now.obligations, field.name):
            yield f"`{field.name}` obliges to less: {question.principal.profile}, category {question.spec.category}"


def _of_profiles(before: CedarPolicy, after: CedarPolicy) -> Iterator[str]:
    for profile in ACTING:
        was, now = before.profiles[profile], after.profiles[profile]
        for limit in _UP:
            if getattr(now, limit) > getattr(was, limit):
                yield f"{profile}: `{limit}` rises from {getattr(was, limit)} to {getattr(now, limit)}"
        yield from _of_sets(profile, was, now)


def _of_sets(profile: Profile, was: ProfileRules, now: ProfileRules) -> Iterator[str]:
    if shown := set(was.suppressed_tools) - set(now.suppressed_tools):
        yield f"{profile}: no longer suppressed: {', '.join(sorted(shown))}"
    if now.shows_forbidden and not was.shows_forbidden:
        yield f"{profile}: forbidden tools are shown"


def _of_models(before: CedarPolicy, after: CedarPolicy) -> Iterator[str]:
    for profile in ACTING:
        for local in (True, False):
            for label in Label:
                subject = PolicySubject(Principal("", "", profile), label)
                was, now = (each.may_infer(subject, local=local, label=label).mode for each in (before, after))
                if now.strictness < was.strictness:
                    yield f"{profile}: {'local' if local else 'remote'} models may read what is {label.name.lower()}"
