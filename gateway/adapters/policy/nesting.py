"""How deeply the expressions of a policy are nested, counted before Cedar reads them.

Cedar's parser goes down one call for each level and has no limit of its own that comes before its stack ends, and with the stack
ends the process. This counts at least as many levels as Cedar has, from brackets and operators alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gateway.adapters.policy.positions import describe_position
from gateway.core.errors import PolicyUnusable

DEEPEST: Final = 500
"""Levels of one rule. The smallest text that ended a process had some 1,000."""

CEDARS_DEEPEST: Final = 100
"""Levels that Cedar's binding takes of an expression once it is read; brackets are none any more by then."""

TOO_DEEP: Final = "expressions are nested too deeply here; split the rule into several"

_TOKEN: Final = re.compile(
    r'//[^\n]*|"(?:\\.|[^"\\])*"|(?P<open>[([{])|(?P<close>[)\]}])|(?P<end>;)|(?P<member>\.)'
    r"|(?P<operator>&&|\|\||[+*!-]|\bif\b)"
)
_BRACKET: Final = 2
"""A pair of brackets takes about as much of the stack as two operators."""


@dataclass(slots=True)
class _Level:
    """What stands between two brackets: operators and members in a row so far, and the deepest of what is inside it."""

    operators: int = 0
    members: int = 0
    inside: int = 0

    @property
    def depth(self) -> int:
        return self.operators + max(self.members, self.inside)


def find_too_deep(text: str, deepest: int = DEEPEST) -> int | None:
    """The offset at which a rule is nested too deeply, None where none is."""
    open_levels = [_Level()]
    for token in _TOKEN.finditer(text):
        level = open_levels[-1]
        match token.lastgroup:
            case "open":
                open_levels.append(_Level())
            case "close" if len(open_levels) > 1:
                open_levels.pop()
                # A member of what was in brackets goes on from there.
                open_levels[-1].inside = max(open_levels[-1].inside, level.depth + _BRACKET + open_levels[-1].members)
            case "operator":
                level.operators += 1
                level.inside, level.members = max(level.inside, level.members), 0
            case "member":
                level.members += 1
            case "end":
                open_levels = [_Level()]
            case _:
                pass
        if len(open_levels) * _BRACKET > deepest or open_levels[-1].depth > deepest:
            return token.start()
    return None


def find_too_deep_type(schema: str) -> int | None:
    """The same for the types of a schema."""
    return find_too_deep(schema.replace("<", "(").replace(">", ")"))


def refuse_too_deep(name: str, text: str) -> None:
    """Raise PolicyUnusable for a rule that is nested too deeply to be read."""
    if (offset := find_too_deep(text)) is not None:
        raise PolicyUnusable(f"`{name}` {describe_position(text, offset)}: {TOO_DEEP}")
