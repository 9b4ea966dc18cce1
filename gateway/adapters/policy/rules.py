"""Rules and what they oblige to: loading them strictly.

Cedar evaluates more than it should be trusted with here. A `forbid` that fails while it is evaluated is skipped, so what
could fail is refused when the policy loads; annotations are not checked at all, so they are checked here; ids are
positions, so every rule must bring a name of its own, which is what audit log and approval page show.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import cedarpy
from cedarpy import pst

from gateway.adapters.policy.annotations import AnnotationRefused, PolicyRule, read_annotations
from gateway.adapters.policy.clauses import Excess, find_long_rule
from gateway.adapters.policy.documents import SCHEMA, PolicyDocuments
from gateway.adapters.policy.nesting import CEDARS_DEEPEST, TOO_DEEP, find_too_deep, find_too_deep_type, refuse_too_deep
from gateway.adapters.policy.positions import RulePosition, describe_position, find_positions
from gateway.adapters.policy.reading import entities_in, walk
from gateway.core.errors import PolicyUnusable
from gateway.core.obligations import NOTHING

NAMESPACE = "Countersign"

ACTIONS = ("invoke", "invoke_with_consent", "invoke_with_step_up", "infer")
"""What the gateway asks for: a call, by what it takes, and a model."""

MOST_RULES = 2_000
"""Every rule may have a say in every call that was not judged before, and is looked at while somebody writes in the editor."""

_MAY_FAIL = frozenset({"add", "sub", "mul", "neg", "offset", "duration_since", "to_date"})
"""Operators that overflow on some values, of integers, dates or durations."""

_DEEP = "nesting exceeds"
"""How Cedar's binding says that a rule has more levels than it takes."""

_NUMBERED = re.compile(r"for policy `policy\d+`[,:] ")
"""How Cedar begins what it says of a rule: with its number."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A checked set of rules. `rules` and `parsed` are keyed by Cedar's own positional ids, `named` are principals that rules
    name. `policies` has, by the name of an action that the gateway asks for, every rule that can have a say about it."""

    policies: Mapping[str, cedarpy.PolicySet]
    schema: cedarpy.Schema
    rules: Mapping[str, PolicyRule]
    parsed: Mapping[str, pst.Template]
    named: frozenset[str]


def compile_rules(documents: PolicyDocuments, *, limited: bool = True) -> RuleSet:
    """Check and parse all rules, of which there may be `MOST_RULES` where they are `limited`. Raises PolicyUnusable, naming file
    and rule."""
    if find_too_deep_type(documents.schema) is not None:
        raise PolicyUnusable(f"`{SCHEMA}`: {TOO_DEEP}")
    try:
        schema = cedarpy.Schema.from_str(documents.schema)
    except ValueError as error:
        raise PolicyUnusable(f"`{SCHEMA}` does not load: {error}") from None
    if limited and (excess := find_excess(documents.rules)) is not None:
        where = describe_position(documents.rules[excess.file], excess.offset)
        raise PolicyUnusable(f"`{excess.file}` {where}: {excess.message}")
    seen: dict[str, str] = {}
    for name, text in documents.rules.items():
        for rule_id in check_file(name, text, schema):
            if rule_id in seen:
                raise PolicyUnusable(f"`{name}`: rule `{rule_id}` exists already, in `{seen[rule_id]}`")
            seen[rule_id] = name
    if not seen:
        raise PolicyUnusable("the policy has no rule, so it would forbid everything")
    # Each file was parsed by itself above, so joining them cannot make a rule run on into the next file.
    policies = cedarpy.PolicySet.from_str("\n".join(documents.rules.values()))
    whole = policies.to_pst()
    templates = whole.static_policies
    return RuleSet(
        policies={action: _select_rules(whole, action) for action in ACTIONS},
        schema=schema,
        rules={position: read_annotations(template.annotations) for position, template in templates.items()},
        parsed=templates,
        named=frozenset(uid.id for uid in entities_in(templates) if str(uid.type) == f"{NAMESPACE}::Principal"),
    )


def find_excess(rules: Mapping[str, str]) -> Excess | None:
    """The first rule that is one too many, or the first clause of a rule that is; None where all of them may be."""
    found = [(name, position.start) for name, text in rules.items() for position in find_positions(text)]
    if len(found) <= MOST_RULES:
        return find_long_rule(rules)
    advice = 'one rule can hold for many names: `["a", "b"].contains(…)`, or a pattern with `like`'
    message = f"a policy may have at most {MOST_RULES:,} rules, and this one has {len(found):,}; {advice}"
    return Excess(*found[MOST_RULES], message)


def _select_rules(whole: pst.PolicySet, action: str) -> cedarpy.PolicySet:
    """All rules but those for exactly one other action, which Cedar would look at and never apply. A rule for a group of actions
    stays, whoever is in the group. Rules keep their ids."""
    kept = {at: rule for at, rule in whole.static_policies.items() if _may_apply(rule.action, action)}
    return cedarpy.PolicySet.from_pst(dataclasses.replace(whole, static_policies=kept))


def _may_apply(constraint: pst.ActionConstraint, action: str) -> bool:
    if not isinstance(constraint, pst.ActionEq):
        return True
    return str(constraint.entity.type) != f"{NAMESPACE}::Action" or constraint.entity.id == action


def check_file(name: str, text: str, schema: cedarpy.Schema) -> list[str]:
    """The ids of the rules in one file, after every check."""
    refuse_too_deep(name, text)
    try:
        parsed = cedarpy.PolicySet.from_str(text).to_pst()
        validation = cedarpy.validate_policies(text, schema)  # pyright: ignore[reportUnknownMemberType] (its stub has a bare dict)
    except ValueError as error:
        raise PolicyUnusable(f"`{name}` {_find_unreadable(text, error)}") from None
    for template in parsed.templates.values():
        raise PolicyUnusable(f"`{name}`: rule {_title(template)} has an open slot; nothing here would fill it")
    places = dict(zip(parsed.static_policies, find_positions(text), strict=True))
    rule_ids = [_check_rule(_Place(name, text, places[at], template)) for at, template in parsed.static_policies.items()]
    for fault in validation.errors:
        at = parsed.static_policies.get(fault.policy_id)
        message = _NUMBERED.sub("", fault.error)
        raise _Place(name, text, places[fault.policy_id], at).refuse(message) if at else PolicyUnusable(f"`{name}`: {message}")
    if not validation.validation_passed:
        raise PolicyUnusable(f"`{name}` does not fit `{SCHEMA}`")
    return rule_ids


def _find_unreadable(text: str, whole: ValueError) -> str:
    """Where the first rule stands that does not parse by itself, and why; only why where each of them does."""
    starts = [position.start for position in find_positions(text)]
    for start, end in pairwise([*starts, len(text)]):
        try:
            cedarpy.PolicySet.from_str(text[start:end]).to_pst()
        except ValueError as error:
            if _DEEP in str(error):
                deep = find_too_deep(text[start:end], CEDARS_DEEPEST) or 0
                return f"{describe_position(text, start + deep)}: {TOO_DEEP}"
            return f"{describe_position(text, start)}: the rule there does not parse: {whole}"
    return f"does not parse: {whole}"


@dataclass(frozen=True, slots=True)
class _Place:
    """A rule of a file with where it stands there."""

    file: str
    text: str
    position: RulePosition
    template: pst.Template

    def refuse(self, why: str, annotation: str | None = None) -> PolicyUnusable:
        """The refusal of this rule, at one of its annotations or at its beginning."""
        offset = self.position.start if annotation is None else self.position.annotations.get(annotation, self.position.start)
        where = describe_position(self.text, offset)
        return PolicyUnusable(f"`{self.file}` {where}: rule {_title(self.template)}: {why}")


def _check_rule(place: _Place) -> str:
    template = place.template
    try:
        rule = read_annotations(template.annotations)
    except AnnotationRefused as refusal:
        raise place.refuse(refusal.message, refusal.name) from None
    if template.effect == "forbid" and rule.obligations != NOTHING:
        raise place.refuse("it forbids, so it cannot oblige; put that on the permit")
    if rule.obligations.asks_others and _permits_unasked(template):
        raise place.refuse("it lets calls run without asking, so nobody could approve them; permit another action")
    for node, _ in walk(template):
        if isinstance(node, pst.BinaryOp | pst.UnaryOp) and node.op in _MAY_FAIL:
            raise place.refuse(f"it calculates (`{node.op}`); a calculation can overflow, and then it is skipped")
        if isinstance(node, pst.EntityUid) and not node.id and str(node.type) == f"{NAMESPACE}::Principal":
            raise place.refuse("it names a person with an empty id")
    return rule.reason.id


_ASKING = frozenset({"invoke_with_consent", "invoke_with_step_up"})
"""The actions that put a question to people."""


def _permits_unasked(template: pst.Template) -> bool:
    """Whether a rule covers an action that asks nobody."""
    named = {uid.id for uid in entities_in(template.action) if str(uid.type) == f"{NAMESPACE}::Action"}
    return not named or not named <= _ASKING


def _title(template: pst.Template) -> str:
    """What people can find it by: its id, or its number in the file while it has none."""
    if rule_id := template.annotations.get("id"):
        return f"`{rule_id}`"
    return f"number {int(template.id.removeprefix('policy')) + 1}"
