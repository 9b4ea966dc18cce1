"""Rules and what they oblige to: loading them strictly.

Cedar evaluates more than it should be trusted with here. A `forbid` that fails while it is evaluated is skipped, so what
could fail is refused when the policy loads; annotations are not checked at all, so they are checked here; ids are
positions, so every rule must bring a name of its own, which is what audit log and approval page show.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import cedarpy
from cedarpy import pst
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gateway.adapters.policy.documents import SCHEMA, PolicyDocuments, explain
from gateway.core.approval import RuleReason
from gateway.core.errors import PolicyUnusable
from gateway.core.redaction import RedactionClass

NAMESPACE = "Countersign"

_MAY_FAIL = frozenset({"add", "sub", "mul", "neg", "offset", "duration_since", "to_date"})
"""Operators that overflow on some values, of integers, dates or durations."""


class _Annotations(BaseModel):
    """The annotations of a rule. Values arrive as text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$", max_length=64)]
    why: Annotated[str, Field(min_length=8, max_length=200)]
    approval_ttl_s: Annotated[int | None, Field(ge=10, le=3600)] = None
    result_cap: Annotated[int | None, Field(ge=256, le=1024 * 1024)] = None
    redact: Annotated[
        tuple[RedactionClass, ...], BeforeValidator(lambda text: [part.strip() for part in str(text).split(",")])
    ] = ()
    presence: Literal["required"] | None = None
    approvers: Literal["1"] | None = None
    requester_may_approve: Literal["true"] | None = None


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule. `ttl` in seconds, `result_cap` in bytes; None and empty mean that it asks for nothing."""

    reason: RuleReason
    ttl: int | None
    result_cap: int | None
    redact: tuple[RedactionClass, ...]
    presence: bool


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A checked set of rules. `rules` and `parsed` are keyed by Cedar's own positional ids, `named` are principals that rules
    name."""

    policies: cedarpy.PolicySet
    schema: cedarpy.Schema
    rules: Mapping[str, PolicyRule]
    parsed: Mapping[str, pst.Template]
    named: frozenset[str]


def compile_rules(documents: PolicyDocuments) -> RuleSet:
    """Check and parse all rules. Raises PolicyUnusable, naming file and rule."""
    try:
        schema = cedarpy.Schema.from_str(documents.schema)
    except ValueError as error:
        raise PolicyUnusable(f"`{SCHEMA}` does not load: {error}") from None
    seen: dict[str, str] = {}
    for name, text in documents.rules.items():
        for rule_id in _check_file(name, text, schema):
            if rule_id in seen:
                raise PolicyUnusable(f"`{name}`: rule `{rule_id}` exists already, in `{seen[rule_id]}`")
            seen[rule_id] = name
    if not seen:
        raise PolicyUnusable("the policy has no rule, so it would forbid everything")
    # Each file was parsed by itself above, so joining them cannot make a rule run on into the next file.
    policies = cedarpy.PolicySet.from_str("\n".join(documents.rules.values()))
    templates = policies.to_pst().static_policies
    return RuleSet(
        policies=policies,
        schema=schema,
        rules={position: _rule(_Annotations.model_validate(template.annotations)) for position, template in templates.items()},
        parsed=templates,
        named=frozenset(uid.id for uid in pst.entity_uids(templates) if str(uid.type) == f"{NAMESPACE}::Principal"),
    )


def _check_file(name: str, text: str, schema: cedarpy.Schema) -> list[str]:
    """The ids of the rules in one file, after every check."""
    try:
        parsed = cedarpy.PolicySet.from_str(text).to_pst()
        validation = cedarpy.validate_policies(text, schema)  # pyright: ignore[reportUnknownMemberType] (its stub has a bare dict)
    except ValueError as error:
        raise PolicyUnusable(f"`{name}` does not parse: {error}") from None
    for template in parsed.templates.values():
        raise PolicyUnusable(f"`{name}`: rule {_title(template)} has an open slot; nothing here would fill it")
    rule_ids = [_check_rule(name, template) for template in parsed.static_policies.values()]
    for fault in validation.errors:
        at = parsed.static_policies.get(fault.policy_id)
        raise PolicyUnusable(f"`{name}`: rule {_title(at) if at else 'unknown'}: {fault.error}")
    if not validation.validation_passed:
        raise PolicyUnusable(f"`{name}` does not fit `{SCHEMA}`")
    return rule_ids


_NOT_ENFORCED = {"approvers": "1", "requester_may_approve": "true"}
"""What a rule may say about who approves: only what holds for every approval anyway."""


def _check_rule(name: str, template: pst.Template) -> str:
    for annotation, allowed in _NOT_ENFORCED.items():
        if template.annotations.get(annotation, allowed) != allowed:
            raise PolicyUnusable(f"`{name}`: rule {_title(template)}: `@{annotation}` is not enforced yet; remove it")
    try:
        annotations = _Annotations.model_validate(template.annotations)
    except ValidationError as error:
        raise PolicyUnusable(f"`{name}`: rule {_title(template)}: annotation {explain(error)}") from None
    rule = _rule(annotations)
    if template.effect == "forbid" and (rule.ttl or rule.result_cap or rule.redact or rule.presence):
        raise PolicyUnusable(f"`{name}`: rule `{annotations.id}` forbids, so it cannot oblige; put that on the permit")
    for node in every_node(template.clauses):
        if isinstance(node, pst.BinaryOp | pst.UnaryOp) and node.op in _MAY_FAIL:
            raise PolicyUnusable(
                f"`{name}`: rule `{annotations.id}` calculates (`{node.op}`); a calculation can overflow, and then it is skipped"
            )
    if any(str(uid.type) == f"{NAMESPACE}::Principal" and not uid.id for uid in pst.entity_uids(template)):
        raise PolicyUnusable(f"`{name}`: rule `{annotations.id}` names a person with an empty id")
    return annotations.id


def _rule(annotations: _Annotations) -> PolicyRule:
    return PolicyRule(
        reason=RuleReason(annotations.id, annotations.why),
        ttl=annotations.approval_ttl_s,
        result_cap=annotations.result_cap,
        redact=annotations.redact,
        presence=annotations.presence is not None,
    )


def _title(template: pst.Template) -> str:
    """What people can find it by: its id, or its number in the file while it has none."""
    if rule_id := template.annotations.get("id"):
        return f"`{rule_id}`"
    return f"number {int(template.id.removeprefix('policy')) + 1}"


def every_node(root: object) -> Iterator[object]:
    """Every node of a rule at any depth, without recursion."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            stack.extend(cast("Mapping[str, Any]", node).values())
        elif isinstance(node, tuple):
            stack.extend(cast("tuple[Any, ...]", node))
        elif dataclasses.is_dataclass(node):
            yield node
            stack.extend(getattr(node, field.name) for field in dataclasses.fields(node))
