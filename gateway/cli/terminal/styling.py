"""Colours of the terminal, named by what they mean. Styles are put around text that was made safe before; nothing of a model or
a tool ever chooses one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum, auto
from typing import Final, TextIO


class Tone(StrEnum):
    """What a piece of text is to the reader."""

    PLAIN = auto()
    STRONG = auto()
    FAINT = auto()
    CODE = auto()
    ADDED = auto()
    REMOVED = auto()
    CAREFUL = auto()
    """Something that a person decides on, or should know."""

    GRAVE = auto()
    """Something that needs the passkey."""


_SGR: Final[Mapping[Tone, str]] = {
    Tone.PLAIN: "",
    Tone.STRONG: "1",
    Tone.FAINT: "2",
    Tone.CODE: "36",
    Tone.ADDED: "32",
    Tone.REMOVED: "31",
    Tone.CAREFUL: "1;33",
    Tone.GRAVE: "1;31",
}
"""ECMA-48 "select graphic rendition", in the colours that every terminal's own theme sets."""

RESET: Final = "\x1b[0m"


def begin(tone: Tone) -> str:
    """The sequence that a style begins with."""
    return f"\x1b[{_SGR[tone]}m" if _SGR[tone] else ""


def paint(text: str, tone: Tone) -> str:
    """The text in that style, and what follows in none."""
    return f"{begin(tone)}{text}{RESET}" if text and _SGR[tone] else text


def has_colours(stream: TextIO) -> bool:
    """Whether to use them there: a terminal that is able to (https://no-color.org has the variable)."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")


def tones_of_diff(lines: list[str]) -> list[Tone]:
    """One tone for each line of a text: what a unified diff adds and removes; all plain for any other text."""
    if not any(line.startswith("@@ -") for line in lines):
        return [Tone.PLAIN] * len(lines)
    return [tone_of_diff_line(line) for line in lines]


def tone_of_diff_line(line: str) -> Tone:
    """Of one line of a unified diff; its first character is enough."""
    match line[:1]:
        case "+":
            return Tone.ADDED
        case "-":
            return Tone.REMOVED
        case "@":
            return Tone.CODE
        case _:
            return Tone.PLAIN
