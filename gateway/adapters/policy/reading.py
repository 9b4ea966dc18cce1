"""What of a call's moment the rules of a policy look at, so that nobody gathers what no rule reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, cast

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
        kind = _kind_of(cast("type[Any]", type(node)))
        if kind.is_node:
            yield node, within
            stack.extend([(getattr(node, name), node) for name in kind.members])
        elif kind.is_list:
            stack.extend([(each, within) for each in node])
        elif kind.is_mapping:
            stack.extend([(each, within) for each in node.values()])


def entities_in(root: object) -> Iterator[pst.EntityUid]:
    """Every entity that is named below `root`, as often as it is."""
    return (node for node, _ in walk(root) if isinstance(node, pst.EntityUid))


class _Kind(NamedTuple):
    """What has to be known of a type to go on below its values."""

    is_node: bool
    is_list: bool
    is_mapping: bool
    members: tuple[str, ...]


@cache
def _kind_of(kind: type) -> _Kind:
    """Worked out once for each type: a policy of two thousand rules has some hundred thousand nodes."""
    is_list, is_mapping = issubclass(kind, tuple | list), issubclass(kind, Mapping)
    if not dataclasses.is_dataclass(kind):
        return _Kind(is_node=False, is_list=is_list, is_mapping=is_mapping, members=())
    return _Kind(is_node=True, is_list=False, is_mapping=False, members=tuple(field.name for field in dataclasses.fields(kind)))


def every_node(root: object) -> Iterator[object]:
    """Every node below `root` by itself."""
    return (node for node, _ in walk(root))
