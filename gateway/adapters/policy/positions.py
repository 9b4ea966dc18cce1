"""Where rules and their annotations stand in a file, so that a fault can be found by line and column.

Cedar's own parser keeps no places. This reads only as much of the syntax as it takes to find them: comments, texts, the `@` of
annotations and the `;` that ends a rule. It is used for messages about texts that the parser has already accepted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_TOKEN: Final = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|@\s*(?P<annotation>[A-Za-z_]\w*)|(?P<end>;)|(?P<other>[^\s"@;])')


@dataclass(slots=True)
class RulePosition:
    """The offset at which one rule begins, and those of its annotations by name."""

    start: int
    annotations: dict[str, int] = field(default_factory=dict[str, int])


def find_positions(text: str) -> list[RulePosition]:
    """The rules of one file in their order."""
    found: list[RulePosition] = []
    current: RulePosition | None = None
    for token in _TOKEN.finditer(text):
        if token.lastgroup is None:
            continue
        if token["end"]:
            current = None
            continue
        if current is None:
            current = RulePosition(token.start())
            found.append(current)
        if token["annotation"]:
            current.annotations.setdefault(token["annotation"], token.start())
    return found


def describe_position(text: str, offset: int) -> str:
    """`line 12, column 3`, both counted from 1."""
    line, line_start = text.count("\n", 0, offset) + 1, text.rfind("\n", 0, offset)
    return f"line {line}, column {offset - line_start}"
