"""Which tools no rule tells apart, so that one of them can be judged for all.

A rule reaches a tool's name, source and interface in few ways that matter: compared with a text, looked for among texts,
matched with a pattern, or named as an entity. Tools for which each of these comes out the same get the same verdict. Where a
rule does anything else with one of the three, nothing is assumed about it, and tools that differ in it are told apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias, cast

from cedarpy import pst

from gateway.adapters.policy.reading import walk

Names: TypeAlias = tuple[str, str, str]
"""A tool's name, source and interface: all of it that is free text."""

_ATTRIBUTES: Final = ("name", "source", "interface")
_NO_TEXT: Final = frozenset({"network", "local", "trust"})
"""Judged as they are for every tool, and an attribute of models only."""

_TEXTS_OF_PROFILES: Final = frozenset({"suppressedTools", "autoHosts"})
_EQUALITY: Final = frozenset({"eq", "not_eq"})
_RESOURCE: Final = pst.Var("resource")
_PRINCIPAL: Final = pst.Var("principal")

_REMEMBERED: Final = 8192
"""Tools whose representative is kept, and representatives."""


class Likeness:
    """Gives for each tool the one that stands for all that are like it."""

    def __init__(self, rules: Mapping[str, pst.Template], profiles: Iterable[Sequence[str]]) -> None:
        """`profiles` are the lists of texts that rules reach through the person that is judged."""
        self._told_apart: set[str] = set()
        self._texts: defaultdict[str, set[str]] = defaultdict(set)
        self._patterns: defaultdict[str, set[tuple[pst.PatternElem, ...]]] = defaultdict(set)
        self._of_profiles = [text for texts in profiles for text in texts]
        self._texts["name"] |= {uid.id for uid in pst.entity_uids(rules) if uid.type.basename == "Tool"}
        for node, within in walk([rule.clauses for rule in rules.values()]):
            if node == _RESOURCE:
                self._note_tool(within)
            elif isinstance(node, pst.GetAttr) and node.base == _RESOURCE:
                self._note_attribute(node, within)
        self._standing: dict[tuple[object, ...], Names] = {}
        self._remember = lru_cache(_REMEMBERED)(self._find)

    def representative(self, names: Names) -> Names:
        """The name, source and interface of a tool that every rule treats as it treats this one."""
        return self._remember(names)

    def _find(self, names: Names) -> Names:
        seen = tuple(self._see(attribute, text) for attribute, text in zip(_ATTRIBUTES, names, strict=True))
        if len(self._standing) >= _REMEMBERED:
            self._standing.clear()
        return self._standing.setdefault(seen, names)

    def _see(self, attribute: str, text: str) -> object:
        if attribute in self._told_apart or text in self._texts[attribute]:
            return text
        return tuple(_matches(pattern, text) for pattern in self._patterns[attribute])

    def _note_tool(self, within: object) -> None:
        """Note how the tool itself is used; that of its attributes is noted with them."""
        match within:
            case pst.GetAttr() | pst.HasAttr() | pst.Is(in_expr=None):
                return
            # Entities that are written out were noted by their ids.
            case pst.Is(in_expr=other) if _is_of(other, pst.EntityLit):
                return
            case pst.BinaryOp(op="in", left=left, right=other) if left == _RESOURCE and _is_of(other, pst.EntityLit):
                return
            case pst.BinaryOp(op=op, left=left, right=right) if op in _EQUALITY and (
                isinstance(left, pst.EntityLit) or isinstance(right, pst.EntityLit)
            ):
                return
            case _:
                self._told_apart |= set(_ATTRIBUTES)

    def _note_attribute(self, node: pst.GetAttr, within: object) -> None:
        if node.attr in _NO_TEXT:
            return
        texts, patterns = self._texts[node.attr], self._patterns[node.attr]
        match within:
            case pst.BinaryOp(op=op, left=pst.StringLit(text)) | pst.BinaryOp(op=op, right=pst.StringLit(text)) if (
                op in _EQUALITY
            ):
                texts.add(text)
            case pst.BinaryOp(op="contains", left=pst.Set() as found, right=right) if right == node and _is_of(
                found, pst.StringLit
            ):
                texts.update(cast("pst.StringLit", each).value for each in found.elements)
            case pst.BinaryOp(op="contains", left=pst.GetAttr(base=base, attr=attr), right=right) if (
                right == node and base == _PRINCIPAL and attr in _TEXTS_OF_PROFILES
            ):
                texts.update(self._of_profiles)
            case pst.Like(pattern=pattern):
                patterns.add(pattern)
            case _:
                self._told_apart |= {node.attr} if node.attr in _ATTRIBUTES else set(_ATTRIBUTES)


def _is_of(node: object, kind: type) -> bool:
    """Whether it is a value of that kind, or a set of nothing else, written out."""
    return isinstance(node, kind) or (isinstance(node, pst.Set) and all(isinstance(each, kind) for each in node.elements))


def _matches(pattern: Sequence[pst.PatternElem], text: str) -> bool:
    """What Cedar's `like` says. Takes no more steps than pattern and text have characters, multiplied: both may be hostile."""
    place, star, after = 0, -1, 0
    at = 0
    while at < len(text):
        element = pattern[place] if place < len(pattern) else None
        if isinstance(element, pst.Wildcard):
            star, after = place, at
            place += 1
        elif isinstance(element, pst.Char) and element.value == text[at]:
            place, at = place + 1, at + 1
        elif star >= 0:
            # The last wildcard takes one more character; what comes before it need not be tried again.
            after += 1
            place, at = star + 1, after
        else:
            return False
    return all(isinstance(element, pst.Wildcard) for element in pattern[place:])
