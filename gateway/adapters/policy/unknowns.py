"""What rules name and nothing has: such a rule loads, and is never about anything.

Cedar's validator knows neither tools nor sources, and takes `has` for an attribute that the schema lacks as plainly false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import cedarpy
from cedarpy import pst

from gateway.adapters.policy.breaks import find_literal, find_name, place_of
from gateway.adapters.policy.cases import parse_cases
from gateway.adapters.policy.documents import PROFILES, SCHEMA
from gateway.adapters.policy.likeness import matches
from gateway.adapters.policy.naming import SchemaNames, find_nearest, read_schema_names, suggest
from gateway.adapters.policy.positions import find_positions
from gateway.adapters.policy.profiles import read_profiles
from gateway.adapters.policy.reading import walk
from gateway.adapters.policy.rules import NAMESPACE
from gateway.adapters.policy.toml_places import find_places
from gateway.runtime.ports import FaultSeverity, PolicyFault

_COMPARING: Final = frozenset({"eq", "not_eq", "contains", "contains_all", "contains_any"})
_NAME: Final = pst.GetAttr(pst.Var("resource"), "name")
_USED: Final = pst.GetAttr(pst.Var("context"), "toolsUsed")

_A_SLIP: Final = 0.8


@dataclass(slots=True)
class _Named:
    """What one rule names: tools, patterns of tools' names, and attributes that it asks for."""

    tools: dict[str, None] = field(default_factory=dict[str, None])
    patterns: list[tuple[pst.PatternElem, ...]] = field(default_factory=list[tuple[pst.PatternElem, ...]])
    attributes: dict[str, None] = field(default_factory=dict[str, None])


def find_unknown(documents: Mapping[str, str], cases: Mapping[str, str], tools: frozenset[str]) -> Iterator[PolicyFault]:
    """A warning for each name that nothing has, in texts that load."""
    schema = read_schema_names(documents[SCHEMA])
    for name, text in documents.items():
        if name == PROFILES:
            yield from _find_in_profiles(text, tools)
        elif name != SCHEMA:
            yield from _find_in_rules(name, text, schema, tools)
    for name, text in cases.items():
        yield from _find_in_cases(name, text, tools)


def _find_in_rules(name: str, text: str, schema: SchemaNames, tools: frozenset[str]) -> Iterator[PolicyFault]:
    rules = cedarpy.PolicySet.from_str(text).to_pst().static_policies.values()
    positions = find_positions(text)
    ends = [position.start for position in positions[1:]] + [len(text)]
    # A text of comments alone has an end and no rule.
    for rule, position, end in zip(rules, positions, ends[: len(positions)], strict=True):
        statement, named = text[position.start : end], _read_named(rule)
        found = [(find_literal(statement, tool), _no_tool(tool, tools)) for tool in named.tools if tool not in tools]
        for pattern in named.patterns:
            if not any(matches(pattern, tool) for tool in tools):
                written = "".join(each.value.replace("*", r"\*") if isinstance(each, pst.Char) else "*" for each in pattern)
                message = f"no tool has a name like `{written}` now, so what is said of it here has no effect"
                found.append((find_literal(statement, written), message))
        for attribute in named.attributes:
            if attribute not in schema.attributes:
                message = f"there is no attribute `{attribute}`, so `has` is never true{suggest(attribute, schema.attributes)}"
                found.append((find_name(statement, attribute), message))
        for offset, message in sorted(found):
            yield _warning(name, text, position.start + offset, message)


def _find_in_cases(name: str, text: str, tools: frozenset[str]) -> Iterator[PolicyFault]:
    # Only what looks like a slip: a case may ask about a tool that stands for many.
    places = find_places(text)
    for number, case in enumerate(parse_cases({name: text})):
        used = [(("case", number, "tools_used", at), tool) for at, tool in enumerate(case.tools_used)]
        asked = [(("case", number, "tool", "name"), case.tool.name)] if case.tool else []
        for path, tool in (*asked, *used):
            if tool not in tools and path in places and find_nearest(tool, tools, cutoff=_A_SLIP) is not None:
                yield _warning(name, text, places[path].value, _no_tool(tool, tools))


def _find_in_profiles(text: str, tools: frozenset[str]) -> Iterator[PolicyFault]:
    # Only what looks like a slip: the profiles that come with the gateway name tools of its own, which it may be without.
    suppressed = dict.fromkeys(tool for rules in read_profiles(text).values() for tool in rules.suppressed_tools)
    for tool in suppressed:
        if tool not in tools and find_nearest(tool, tools, cutoff=_A_SLIP) is not None:
            yield _warning(PROFILES, text, find_literal(text, tool), _no_tool(tool, tools))


def _read_named(rule: pst.Template) -> _Named:
    named = _Named()
    for node, _ in walk(rule):
        match node:
            case pst.EntityUid() if str(node.type) == f"{NAMESPACE}::Tool":
                named.tools[node.id] = None
            case pst.BinaryOp(op=op, left=left, right=right) if op in _COMPARING:
                for one, other in ((left, right), (right, left)):
                    if one in (_NAME, _USED):
                        named.tools |= dict.fromkeys(_texts_of(other))
            case pst.Like(base=base, pattern=pattern) if base == _NAME:
                named.patterns.append(pattern)
            case pst.HasAttr(attrs=attrs):
                named.attributes |= dict.fromkeys(attrs)
            case _:
                pass
    return named


def _texts_of(node: object) -> Iterable[str]:
    elements = node.elements if isinstance(node, pst.Set) else (node,)
    return [each.value for each in elements if isinstance(each, pst.StringLit)]


def _no_tool(tool: str, tools: frozenset[str]) -> str:
    return f"no tool is called `{tool}` now, so what is said of it here has no effect{suggest(tool, tools)}"


def _warning(file: str, text: str, offset: int, message: str) -> PolicyFault:
    place = place_of(text, offset)
    return PolicyFault(FaultSeverity.WARNING, file, place.line, place.column, message)
