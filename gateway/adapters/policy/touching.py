"""Which kinds of calls a change of policy can touch: the others get the same verdict from both, and need not be asked about.

Cedar looks at a rule's conditions only where its scope fits, from the first on, and only until one is false. So a rule that is in
one policy and not as it stands in the other is without consequence, and cannot fail either, where its scope does not fit, or
where its first conditions are about closed words (category, profile, network, taint, label) and one of them is false. What is
not understood here counts as touched.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from cedarpy import pst

from gateway.adapters.policy.cedar import PROFILE_GROUPS, CedarPolicy
from gateway.adapters.policy.documents import SCHEMA
from gateway.adapters.policy.rules import NAMESPACE
from gateway.core.judgement import Question
from gateway.core.vocabulary import Category, Profile

MOST_LOOKED_AT: Final = 100
"""Changed rules that are looked at one by one. Where there are more, asking about every kind takes less time."""

_COMPARING: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "eq": operator.eq,
    "not_eq": operator.ne,
    "less": operator.lt,
    "less_eq": operator.le,
    "greater": operator.gt,
    "greater_eq": operator.ge,
}
_CONTEXT: Final = pst.Var("context")
_PRINCIPAL: Final = pst.Var("principal")
_RESOURCE: Final = pst.Var("resource")
_NETWORK: Final = pst.GetAttr(_RESOURCE, "network")
_NUMBERS: Final = ("label", "taint")
_PROFILE: Final = f"{NAMESPACE}::Profile"
_NO_PROFILE: Final = ""
"""Stands for the group of who is in none, so that it is known that they are in no other."""


class _Kind(NamedTuple):
    """What of a question scopes and first conditions are about."""

    profile: Profile
    person: str
    category: Category
    tool: str
    network: bool
    label: int
    taint: int

    @property
    def people(self) -> frozenset[tuple[str, str]]:
        """What its person is, or is in, by kind and id."""
        groups = ((_PROFILE, group) for group in PROFILE_GROUPS[self.profile])
        return frozenset({(f"{NAMESPACE}::Principal", self.person), (_PROFILE, _NO_PROFILE), *groups})

    @property
    def tools(self) -> frozenset[tuple[str, str]]:
        """What its tool is, or is in, by kind and id."""
        return frozenset({(f"{NAMESPACE}::Tool", self.tool), (f"{NAMESPACE}::Category", self.category.value)})


class RuleChange:
    """What differs between two policies, as far as it can matter to a call."""

    def __init__(self, before: CedarPolicy, after: CedarPolicy) -> None:
        self._profiles = {profile for profile in Profile if before.profiles[profile] != after.profiles[profile]}
        self._rules = [rule for rule in _changed(before, after) if _may_judge_calls(rule.action)]
        self._everything = (
            before.generation != after.generation
            or before.documents[SCHEMA] != after.documents[SCHEMA]
            or len(self._rules) > MOST_LOOKED_AT
        )
        self._remember = cache(self._find)

    def may_touch(self, question: Question) -> bool:
        """Whether the two policies may answer this question differently."""
        principal, spec = question.principal, question.spec
        if self._everything or principal.profile in self._profiles:
            return True
        return self._remember(
            _Kind(principal.profile, principal.id, spec.category, spec.name, spec.network, question.label, question.taint)
        )

    def _find(self, kind: _Kind) -> bool:
        people, tools = kind.people, kind.tools
        return any(
            _fits(rule.principal, people) and _fits(rule.resource, tools) and not _stops(rule, kind) for rule in self._rules
        )


def changed_ids(before: CedarPolicy, after: CedarPolicy) -> set[str]:
    """Ids of the rules that are not in both as they stand. Where they stand does not matter."""
    old, new = rules_by_id(before), rules_by_id(after)
    return {id_ for id_ in {*old, *new} if old.get(id_) != new.get(id_)}


def rules_by_id(policy: CedarPolicy) -> dict[str, pst.Template]:
    """The rules under their own ids, without the numbers that Cedar gives them."""
    return {str(rule.annotations["id"]): dataclasses.replace(rule, id="") for rule in policy.rule_set.parsed.values()}


def _changed(before: CedarPolicy, after: CedarPolicy) -> Iterator[pst.Template]:
    changed = changed_ids(before, after)
    for policy in (before, after):
        yield from (rule for id_, rule in rules_by_id(policy).items() if id_ in changed)


def _may_judge_calls(constraint: pst.ActionConstraint) -> bool:
    match constraint:
        case pst.ActionEq(entity=entity):
            return not _is_infer(entity)
        case pst.ActionIn(entities=entities):
            return not all(map(_is_infer, entities))
        case _:
            return True


def _is_infer(action: pst.EntityUid) -> bool:
    return str(action.type) == f"{NAMESPACE}::Action" and action.id == "infer"


def _fits(constraint: pst.PrincipalOrResourceConstraint, having: frozenset[tuple[str, str]]) -> bool:
    """Whether a scope may hold what is one of these, by kind and id."""
    match constraint:
        case pst.ScopeEq(entity=entity) | pst.ScopeIn(entity=entity) | pst.ScopeIsIn(entity=entity):
            return not isinstance(entity, pst.EntityUid) or _is_one_of(entity, having) is not False
        case _:
            return True


def _is_one_of(entity: pst.EntityUid, having: frozenset[tuple[str, str]]) -> bool | None:
    """Whether an entity is one of these; None for one of another kind."""
    kind = str(entity.type)
    return (kind, entity.id) in having if any(kind == known for known, _ in having) else None


def _stops(rule: pst.Template, kind: _Kind) -> bool:
    """Whether one of a rule's first conditions is false, and all before it are known."""
    for clause in rule.clauses:
        holds = _holds(clause.expr, kind)
        if holds is None:
            return False
        if holds is not isinstance(clause, pst.When):
            return True
    return False


def _holds(condition: object, kind: _Kind) -> bool | None:
    """Whether a condition holds; None where that is not known, or where it might fail."""
    match condition:
        case pst.UnaryOp(op="not", arg=negated):
            holds = _holds(negated, kind)
            return None if holds is None else not holds
        case pst.BinaryOp(op="and" | "or" as op, left=left, right=right):
            holds = _holds(left, kind)
            # Cedar looks at the right side only where the left one leaves it open.
            return _holds(right, kind) if holds is (op == "and") else holds
        case pst.BinaryOp(op=op, left=pst.GetAttr(base=base, attr=attr), right=pst.LongLit(value=number)) if (
            op in _COMPARING and base == _CONTEXT and attr in _NUMBERS
        ):
            return _COMPARING[op](kind.label if attr == "label" else kind.taint, number)
        case pst.BinaryOp(op="in", left=left, right=pst.EntityLit(value=entity)) if left in (_PRINCIPAL, _RESOURCE):
            return _is_one_of(entity, kind.people if left == _PRINCIPAL else kind.tools)
        case pst.BoolLit(value=value):
            return value
        case _ if condition == _NETWORK:
            return kind.network
        case _:
            return None
