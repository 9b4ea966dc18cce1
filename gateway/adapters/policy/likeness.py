"""Which calls no rule tells apart, so that one of them can be judged for all.

A rule reaches the texts of a call (its tool's name, source and interface, the path and host that it is about) in few ways that
matter: compared with a text, looked for among texts, matched with a pattern, or, of tools, named as an entity. Calls for which
each of these comes out the same get the same verdict. Where a rule does anything else with one of the texts, nothing is assumed
about it, and calls that differ in it are told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final, TypeAlias, cast

from cedarpy import pst

from gateway.adapters.policy.reading import entities_in, walk
from gateway.core.model import CallFacts

Names: TypeAlias = tuple[str, str, str]
"""A tool's name, source and interface: all of it that is free text."""

_TOOL_TEXTS: Final = ("name", "source", "interface")
_FACT_TEXTS: Final = ("path", "host")
_NO_TEXT: Final = frozenset({"network", "local", "trust"})
"""Judged as they are for every tool, and an attribute of models only."""

_TEXTS_OF_PROFILES: Final = frozenset({"suppressedTools", "autoHosts"})
_EQUALITY: Final = frozenset({"eq", "not_eq"})
_RESOURCE: Final = pst.Var("resource")
_PRINCIPAL: Final = pst.Var("principal")
_CONTEXT: Final = pst.Var("context")
_FACTS: Final = pst.GetAttr(_CONTEXT, "facts")

_REMEMBERED: Final = 8192
"""Tools and facts whose representative is kept, and representatives."""


class _TextUses:
    """How the rules of a policy use one text of a call."""

    def __init__(self) -> None:
        self.is_told_apart = False
        self.texts: set[str] = set()
        self._patterns: dict[tuple[pst.PatternElem, ...], str] = {}

    def note(self, node: pst.GetAttr, within: object, of_profiles: Iterable[str]) -> None:
        """One use: `node` is the text, `within` what it is a part of, `of_profiles` the texts of the person's profile."""
        match within:
            case pst.BinaryOp(op=op, left=pst.StringLit(text)) | pst.BinaryOp(op=op, right=pst.StringLit(text)) if (
                op in _EQUALITY
            ):
                self.texts.add(text)
            case pst.BinaryOp(op="contains", left=pst.Set() as found, right=right) if right == node and _is_of(
                found, pst.StringLit
            ):
                self.texts.update(cast("pst.StringLit", each).value for each in found.elements)
            case pst.BinaryOp(op="contains", left=pst.GetAttr(base=base, attr=attr), right=right) if (
                right == node and base == _PRINCIPAL and attr in _TEXTS_OF_PROFILES
            ):
                self.texts.update(of_profiles)
            case pst.Like(pattern=pattern):
                self._patterns[pattern] = _beginning(pattern)
            case _:
                self.is_told_apart = True

    def see(self, text: str) -> object:
        """What the rules see of a text: the same for texts that none of them tells apart."""
        if self.is_told_apart or text in self.texts:
            return text
        return tuple(text.startswith(first) and matches(pattern, text) for pattern, first in self._patterns.items())


class Likeness:
    """Gives for each call's tool and facts those that stand for all that are like them."""

    def __init__(self, rules: Mapping[str, pst.Template], profiles: Iterable[Sequence[str]]) -> None:
        """`profiles` are the lists of texts that rules reach through the person that is judged."""
        self._uses = {name: _TextUses() for name in (*_TOOL_TEXTS, *_FACT_TEXTS)}
        self._reads_bytes = False
        of_profiles = [text for texts in profiles for text in texts]
        self._uses["name"].texts |= {uid.id for uid in entities_in(rules) if uid.type.basename == "Tool"}
        for node, within in walk([rule.clauses for rule in rules.values()]):
            if node == _RESOURCE:
                self._note_tool(within)
            elif node in (_CONTEXT, _FACTS):
                self._note_facts(within)
            elif isinstance(node, pst.GetAttr) and node.base == _RESOURCE:
                self._note_attribute(node, within, of_profiles)
            elif isinstance(node, pst.GetAttr) and node.base == _FACTS:
                self._note_fact(node, within, of_profiles)
        self._standing: dict[tuple[object, ...], Names] = {}
        self._standing_facts: dict[tuple[object, ...], CallFacts] = {}
        self._remember = lru_cache(_REMEMBERED)(self._find)
        self._remember_facts = lru_cache(_REMEMBERED)(self._find_facts)

    def representative(self, names: Names) -> Names:
        """The name, source and interface of a tool that every rule treats as it treats this one."""
        return self._remember(names)

    def representative_facts(self, facts: CallFacts) -> CallFacts:
        """Facts that every rule treats as it treats these. They are kept: the caller bounds how long their texts are."""
        return self._remember_facts(facts)

    def _find(self, names: Names) -> Names:
        seen = tuple(self._uses[name].see(text) for name, text in zip(_TOOL_TEXTS, names, strict=True))
        if len(self._standing) >= _REMEMBERED:
            self._standing.clear()
        return self._standing.setdefault(seen, names)

    def _find_facts(self, facts: CallFacts) -> CallFacts:
        path = None if facts.path is None else self._uses["path"].see(facts.path)
        host = None if facts.host is None else self._uses["host"].see(facts.host)
        size = facts.bytes if self._reads_bytes or facts.bytes is None else 0
        if len(self._standing_facts) >= _REMEMBERED:
            self._standing_facts.clear()
        seen = facts.path is None, path, facts.host is None, host, size, facts.recursive, facts.second_path
        return self._standing_facts.setdefault(seen, facts)

    def _tell_apart(self, names: Iterable[str]) -> None:
        for name in names:
            self._uses[name].is_told_apart = True

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
                self._tell_apart(_TOOL_TEXTS)

    def _note_attribute(self, node: pst.GetAttr, within: object, of_profiles: Iterable[str]) -> None:
        if node.attr in _NO_TEXT:
            return
        if node.attr in _TOOL_TEXTS:
            self._uses[node.attr].note(node, within, of_profiles)
        else:
            self._tell_apart(_TOOL_TEXTS)

    def _note_facts(self, within: object) -> None:
        """Note a use of the context or its facts. Asking for one member is noted with that member; that one is there, or is not,
        is the same for whatever stands in its place."""
        if not isinstance(within, pst.GetAttr | pst.HasAttr):
            self._tell_apart(_FACT_TEXTS)
            self._reads_bytes = True

    def _note_fact(self, node: pst.GetAttr, within: object, of_profiles: Iterable[str]) -> None:
        match node.attr:
            case "path" | "host":
                self._uses[node.attr].note(node, within, of_profiles)
            case "bytes":
                self._reads_bytes = True
            case "recursive":
                # Judged as it is.
                return
            case _:
                self._note_facts(None)


def _is_of(node: object, kind: type) -> bool:
    """Whether it is a value of that kind, or a set of nothing else, written out."""
    return isinstance(node, kind) or (isinstance(node, pst.Set) and all(isinstance(each, kind) for each in node.elements))


def _beginning(pattern: Sequence[pst.PatternElem]) -> str:
    """The characters before the first wildcard, with which every text begins that matches."""
    return "".join(
        each.value for each in takewhile(lambda each: isinstance(each, pst.Char), pattern) if isinstance(each, pst.Char)
    )


def matches(pattern: Sequence[pst.PatternElem], text: str) -> bool:
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
