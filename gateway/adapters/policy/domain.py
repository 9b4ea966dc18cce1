"""Every kind of call that two policies can tell apart, and how they differ over it.

Rules look at a closed set of words (profile, category, label, taint) and compare the rest with constants. So calls whose names,
paths, hosts and sizes are the constants of the rules, their neighbours, and one value that no rule names, stand for all others.
Combinations are built rule by rule: what takes two rules with constants of their own to be told apart may be missed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from cedarpy import pst

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.reading import every_node
from gateway.adapters.policy.rules import NAMESPACE
from gateway.adapters.policy.touching import RuleChange, changed_ids, rules_by_id
from gateway.core.judgement import Question
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import Moment, MomentFact
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Trust
from gateway.runtime.rehearsal import ModeChange, compare_verdicts, effective

MOST_PER_RULE: Final = 64
"""Combinations of one rule's constants. A rule with more has a long list: its first members are tried, and that is said."""

_OTHER: Final = "another"
"""A name that no rule compares with."""

_TEXTS: Final = frozenset({"name", "source", "interface", "path", "host", "trust", "toolsUsed"})
_NUMBERS: Final = frozenset({"bytes", "callsInTurn", "callsInSession", "minuteOfDay", "weekday"})
_FACTS: Final = frozenset({"path", "host", "bytes", "recursive"})

_FLAGS: Final = frozenset({"recursive", "argumentsFromUntrusted"})

_JOINING: Final = frozenset({"and", "or"})

_Values = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class DomainDifference:
    """A kind of call over which two policies differ: who, what kind of tool, how often, and one example."""

    difference: ModeChange
    profile: Profile
    category: Category
    count: int
    example: Question
    before: PermissionMode
    after: PermissionMode
    rules: tuple[str, ...]


def compare(before: CedarPolicy, after: CedarPolicy) -> tuple[int, list[DomainDifference]]:
    """How many kinds of calls were compared, and what differs, loosened first. The example is the first of its kind."""
    found: dict[tuple[ModeChange, Profile, Category], DomainDifference] = {}
    compared = 0
    change = RuleChange(before, after)
    for question in questions((before, after)):
        compared += 1
        if not change.may_touch(question):
            continue
        was, now = effective(before, question), effective(after, question)
        difference = compare_verdicts(was, now)
        if difference is None:
            continue
        key = (difference, question.principal.profile, question.spec.category)
        known = found.get(key)
        found[key] = (
            DomainDifference(*key, 1, question, was.mode, now.mode, now.rules)
            if known is None
            else dataclasses.replace(known, count=known.count + 1)
        )
    order = list(ModeChange)
    return compared, sorted(found.values(), key=lambda each: (order.index(each.difference), -each.count))


def rules_cut_short(before: CedarPolicy, after: CedarPolicy) -> tuple[str, ...]:
    """Ids of the rules that are not in both as they stand, and of whose constants not every combination is tried."""
    old, new = rules_by_id(before), rules_by_id(after)
    cut = (id_ for id_ in changed_ids(before, after) if any(id_ in rules and _is_cut(rules[id_]) for rules in (old, new)))
    return tuple(sorted(cut))


def _is_cut(rule: pst.Template) -> bool:
    return math.prod(len(set(given)) + 1 for given in constants_of(rule).values()) > MOST_PER_RULE


def questions(policies: Iterable[CedarPolicy]) -> Iterator[Question]:
    """One call for every combination of words, and of constants of each rule."""
    policies = tuple(policies)
    people = sorted({person for policy in policies for person in policy.rule_set.named})
    variations = _variations(policies)
    for profile, person in product(Profile, (_OTHER, *people)):
        principal = Principal(person, person, profile)
        for category, network, values in product(Category, (False, True), variations):
            spec = _tool(category, network or category is Category.NETWORK, values)
            facts = CallFacts(**{name: value for name, value in values.items() if name in _FACTS})
            moment = _moment(values)
            for label, taint in product(Label, (0, 1)):
                yield Question(principal, spec, facts, taint, int(label), moment)


def _tool(category: Category, network: bool, values: Mapping[str, Any]) -> ToolSpec:
    name = str(values.get("name", _OTHER))
    return ToolSpec(
        name=name,
        description="",
        interface_id=str(values.get("interface", _OTHER)),
        method_name=name,
        param_schema={},
        category=category,
        source=str(values.get("source", _OTHER)),
        network=network,
        trust=Trust.TRUSTED if values.get("trust") == Trust.TRUSTED else Trust.UNTRUSTED,
    )


def _moment(values: Mapping[str, Any]) -> Moment:
    """What the values say of the moment. What they leave open is as at the first call of a session."""
    tool = values.get(MomentFact.TOOLS_USED)
    return Moment(
        calls_in_turn=values.get(MomentFact.CALLS_IN_TURN, 1),
        calls_in_session=values.get(MomentFact.CALLS_IN_SESSION, 1),
        tools_used=frozenset() if tool is None else frozenset({tool}),
        minute_of_day=values.get(MomentFact.MINUTE_OF_DAY, 0),
        weekday=values.get(MomentFact.WEEKDAY, 1),
        arguments_from_untrusted=values.get(MomentFact.ARGUMENTS_FROM_UNTRUSTED, False),
    )


def _variations(policies: Iterable[CedarPolicy]) -> list[Mapping[str, Any]]:
    """What is not a closed word, as members by name; none of a rule's own first."""
    found: dict[tuple[tuple[str, Any], ...], Mapping[str, Any]] = {(): {}}
    for policy in policies:
        listed: _Values = {
            "host": [host for rules in policy.profiles.values() for host in rules.network_auto_hosts],
            "name": [name for rules in policy.profiles.values() for name in rules.suppressed_tools],
        }
        constants = [constants_of(rule) for rule in policy.rule_set.parsed.values()]
        for values in (*({name: each} for name, each in listed.items()), *constants):
            _combine(values, found)
    return list(found.values())


def _combine(values: _Values, found: dict[tuple[tuple[str, Any], ...], Mapping[str, Any]]) -> None:
    """Every combination of the values of one rule, each of which may also be absent."""
    choices = [[(name, value) for value in dict.fromkeys(given)] + [None] for name, given in sorted(values.items())]
    for number, chosen in enumerate(product(*choices)):
        if number >= MOST_PER_RULE:
            break
        members = tuple(member for member in chosen if member is not None)
        found.setdefault(members, dict(members))


def constants_of(rule: pst.Template) -> _Values:
    """The values that a rule compares each attribute with, by its name in rules."""
    values: _Values = {}
    for node in every_node(rule):
        if isinstance(node, pst.EntityUid) and str(node.type) == f"{NAMESPACE}::Tool":
            values.setdefault("name", []).append(node.id)
    for node in every_node(rule.clauses):
        if isinstance(node, pst.Like) or (isinstance(node, pst.BinaryOp) and node.op not in _JOINING):
            _note_comparison(node, values)
        elif isinstance(node, pst.GetAttr) and node.attr in _FLAGS:
            values[node.attr] = [True, False]
    return values


def _note_comparison(comparison: object, values: _Values) -> None:
    """What one comparison sets side by side: attributes and constants, in whichever order."""
    nodes = list(every_node(comparison))
    attributes = {node.attr for node in nodes if isinstance(node, pst.GetAttr)}
    texts = [text for node in nodes for text in _texts(node)]
    numbers = [near for node in nodes if isinstance(node, pst.LongLit) for near in (node.value - 1, node.value, node.value + 1)]
    for name in attributes & _TEXTS:
        values.setdefault(name, []).extend(texts)
    for name in attributes & _NUMBERS:
        values.setdefault(name, []).extend(number for number in numbers if number >= 0)


def _texts(node: object) -> tuple[str, ...]:
    match node:
        case pst.StringLit(value=value):
            return (value,)
        case pst.Like(pattern=pattern):
            # What the pattern fits, and what it nearly fits.
            fitting = "".join("x" if isinstance(part, pst.Wildcard) else part.value for part in pattern)
            return fitting, f"not-{fitting}"
        case _:
            return ()
