"""What the policy in force makes of each kind of action, for people who never read a rule.

Nothing here reads rules: each answer is the engine's verdict over a call of that kind about which its tool says nothing but
what the kind itself says, in a conversation that read nothing untrusted and holds nothing confidential.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from gateway.core.judgement import Question
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile
from gateway.runtime.policy_explanation import judge_question
from gateway.runtime.ports import PolicyEngine, PolicyVerdict

HOSTS_SHOWN: Final = 16
EXCEPTIONS_SHOWN: Final = 12
"""Of each cell. Both keep the answer within one message."""


class Circumstance(StrEnum):
    """What may change around a call while the call stays the same."""

    TAINT = "taint"
    LABEL = "label"
    ARGUMENTS = "argumentsFromUntrusted"


class Kind(NamedTuple):
    """A kind of action: the category of its tool, and for some the host that it reaches."""

    category: Category
    host: str | None = None


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """What the verdict would be instead. `value` is the taint (0 or 1), the label (0 to 3), or 1 for arguments that were taken
    from untrusted content and 0 for others."""

    circumstance: Circumstance
    value: int
    verdict: PolicyVerdict


@dataclass(frozen=True, slots=True)
class ToolVerdict:
    """A tool that is treated otherwise than its kind."""

    tool: str
    verdict: PolicyVerdict


@dataclass(frozen=True, slots=True)
class OverviewCell:
    """One kind of action for one profile. `exceptions` are the first of `exception_count`, by name."""

    kind: Kind
    verdict: PolicyVerdict
    changes: tuple[ChangedVerdict, ...]
    exceptions: tuple[ToolVerdict, ...]
    exception_count: int


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """What one profile may do. The cells of all rows have the same kinds in the same order."""

    profile: Profile
    cells: tuple[OverviewCell, ...]


def survey(policy: PolicyEngine, people: Sequence[Principal], tools: Sequence[ToolSpec]) -> tuple[OverviewRow, ...]:
    """A row for each of the people. A tool that a profile does not get to see is no exception in its row."""
    kinds = list_kinds(policy, [person.profile for person in people])
    ordered = sorted(tools, key=lambda spec: spec.name)
    return tuple(OverviewRow(each.profile, tuple(_judge_kind(policy, each, kind, ordered) for kind in kinds)) for each in people)


def list_kinds(policy: PolicyEngine, profiles: Sequence[Profile]) -> tuple[Kind, ...]:
    """Every category, and after `network` the hosts that one of the profiles names."""
    hosts = sorted({host for profile in profiles for host in policy.limits(profile).network_auto_hosts})[:HOSTS_SHOWN]
    named = tuple(Kind(Category.NETWORK, host) for host in hosts)
    return tuple(kind for category in Category for kind in (Kind(category), *(named if category is Category.NETWORK else ())))


def find_changes(policy: PolicyEngine, asked: Question) -> tuple[ChangedVerdict, ...]:
    """Every other taint, label and origin of the arguments under which the same call has another mode."""
    mode = judge_question(policy, asked).mode
    others = ((what, value, judge_question(policy, question)) for what, value, question in _neighbours(asked))
    return tuple(ChangedVerdict(what, value, verdict) for what, value, verdict in others if verdict.mode is not mode)


def _neighbours(asked: Question) -> Iterator[tuple[Circumstance, int, Question]]:
    for taint in (0, 1):
        if taint != asked.taint:
            yield Circumstance.TAINT, taint, asked._replace(taint=taint)
    for label in Label:
        if label != asked.label:
            yield Circumstance.LABEL, label, asked._replace(label=label)
    other = not asked.moment.arguments_from_untrusted
    # There is nothing untrusted to take them from in a conversation without taint.
    moment = asked.moment._replace(arguments_from_untrusted=other)
    yield Circumstance.ARGUMENTS, int(other), asked._replace(moment=moment, taint=max(asked.taint, int(other)))


def _judge_kind(policy: PolicyEngine, person: Principal, kind: Kind, tools: Sequence[ToolSpec]) -> OverviewCell:
    spec = ToolSpec("", "", "", "", {}, kind.category, "", network=kind.category is Category.NETWORK)
    asked = Question(person, spec, CallFacts(host=kind.host), 0, Label.PUBLIC)
    verdict = judge_question(policy, asked)
    alike = [tool for tool in tools if tool.category is kind.category]
    judged = ((tool.name, judge_question(policy, asked._replace(spec=tool))) for tool in alike)
    sees_forbidden = policy.limits(person.profile).shows_forbidden
    exceptions = tuple(
        ToolVerdict(name, found)
        for name, found in judged
        if _differs(found, verdict) and (sees_forbidden or found.mode is not PermissionMode.FORBIDDEN)
    )
    return OverviewCell(kind, verdict, find_changes(policy, asked), exceptions[:EXCEPTIONS_SHOWN], len(exceptions))


def _differs(one: PolicyVerdict, other: PolicyVerdict) -> bool:
    """Whether people would be told something else."""
    return replace(one, obligations=other.obligations) != other
