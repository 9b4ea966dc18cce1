"""A result as the person is shown it in an answer: as it stands, whole or its beginning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.browser import SPACE, trim
from gateway.agent.budget import cut
from gateway.agent.limits import LIMITS
from gateway.agent.passages import lines_of

_MOST_LINES: Final = LIMITS.excerpt_lines
_MOST_CHARACTERS: Final = LIMITS.excerpt_characters
_TICKS: Final = re.compile("`{3,}")
_INLINE: Final = re.compile(f"[`{SPACE}]+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text to show, and how many of its lines are left out."""

    text: str
    left_out: int


def excerpt_of(text: str) -> Excerpt:
    """The text, or its first lines where it is long. A line that is too long by itself is cut, and says so."""
    lines = lines_of(text)
    kept = cut("\n".join(lines[:_MOST_LINES]), _MOST_CHARACTERS)
    return Excerpt(fenced(kept), max(0, len(lines) - _MOST_LINES))


def fenced(text: str) -> str:
    """The text as a block of Markdown that nothing in it can end."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def cited(name: str, lines: Sequence[int] = (), column: str = "") -> str:
    """Where something stands: "(`costs.csv`, lines 2–3, column `amount`)". `lines` count from 1 and are in order."""
    parts = [f"`{trim(_INLINE.sub(' ', name))}`"]
    if lines:
        parts.append(f"{'line' if len(lines) == 1 else 'lines'} {_ranges(lines)}")
    if column:
        parts.append(f"column `{trim(_INLINE.sub(' ', column))}`")
    return f"({', '.join(parts)})"


def _ranges(lines: Sequence[int]) -> str:
    """Numbers in order, those in a row as one range."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and ranges[-1][-1] == line - 1:
            ranges[-1].append(line)
        else:
            ranges.append([line])
    return ", ".join(f"{each[0]}–{each[-1]}" if len(each) > 1 else str(each[0]) for each in ranges)


def numbered(lines: Sequence[str], places: Sequence[int]) -> str:
    """Some lines of a text as a block, each after its number."""
    return fenced(cut("\n".join(f"{place}: {lines[place - 1]}" for place in places), _MOST_CHARACTERS))
