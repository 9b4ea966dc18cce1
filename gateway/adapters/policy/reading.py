"""What of a call's moment the rules of a policy look at, so that nobody gathers what no rule reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from cedarpy import pst

from gateway.core.moment import Moment, MomentFact

_CONTEXT: Final = pst.Var("context")
_CONTAINING: Final = frozenset({"contains", "contains_any", "contains_all"})


class MomentReading:
    """What the rules of one policy read of a moment."""

    def __init__(self, rules: Iterable[pst.Template]) -> None:
        self._tools: set[str] = set()
        self._every_tool = False
        reads: set[MomentFact] = set()
        for node, within in walk([rule.clauses for rule in rules]):
            if node == _CONTEXT and not isinstance(within, pst.GetAttr | pst.HasAttr):
                # The context as a whole: who knows what of it.
                reads.update(MomentFact)
                self._every_tool = True
            elif isinstance(node, pst.GetAttr) and node.base == _CONTEXT and node.attr in tuple(MomentFact):
                reads.add(MomentFact(node.attr))
                if node.attr == MomentFact.TOOLS_USED:
                    self._note_tools(within)
        self.facts = frozenset(reads)

    def reduce(self, moment: Moment) -> Moment:
        """The moment with only those tools that a rule asks for by name, where rules ask in no other way: the same verdict, for
        far fewer different questions."""
        if self._every_tool or not moment.tools_used:
            return moment
        return moment._replace(tools_used=moment.tools_used & self._tools)

    def _note_tools(self, within: object) -> None:
        match within:
            case pst.BinaryOp(op=op, right=pst.StringLit(value=name)) if op in _CONTAINING:
                self._tools.add(name)
            case pst.BinaryOp(op=op, right=pst.Set(elements=names)) if op in _CONTAINING and all(
                isinstance(each, pst.StringLit) for each in names
            ):
                self._tools.update(cast("pst.StringLit", each).value for each in names)
            case _:
                self._every_tool = True


def walk(root: object) -> Iterator[tuple[object, object]]:
    """Every node below `root` with the one that it is directly a part of, at any depth, without recursion."""
    stack: list[tuple[Any, object]] = [(root, None)]
    while stack:
        node, within = stack.pop()
        if isinstance(node, Mapping):
            stack.extend((each, within) for each in cast("Mapping[str, Any]", node).values())
        elif isinstance(node, tuple | list):
            stack.extend((each, within) for each in cast("tuple[Any, ...]", node))
        elif dataclasses.is_dataclass(node):
            yield node, within
            stack.extend((getattr(node, field.name), node) for field in dataclasses.fields(node))
