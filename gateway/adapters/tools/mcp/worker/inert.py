"""Text of others without what acts on a screen or hides: escape sequences, controls, characters that turn writing around.

What describes a tool loses such characters, since nobody needs them. What a tool answers keeps them visibly, as `\\u202e`,
because an answer should not be changed silently.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, cast

_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]")
"""ECMA-48: control sequences (CSI), operating system commands (OSC), and the other two-character ones."""

_ACTING: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Controls but tab and line ends, marks of direction, what has no width, and tags."""

_LINES: Final = re.compile(r"\n{3,}")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_CUT: Final = "… [cut]"


def inert_description(text: str, longest: int) -> str:
    """A description on its lines, of visible characters only, at most `longest` of them."""
    # Four times as much is looked at as is kept, whatever the length of the text.
    text = _SEQUENCE.sub("", text[: 4 * longest].replace("\r\n", "\n").replace("\r", "\n").replace("\t", " "))
    if not text.isascii() or not text.replace("\n", "").isprintable():
        text = "".join(map(_visible, text))
    text = _LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()
    return text if len(text) <= longest else text[: longest - len(_CUT)].rstrip() + _CUT


def inert_line(text: str, longest: int) -> str:
    """The same on one line."""
    return " ".join(inert_description(text, longest).split())


def show_acting(text: str) -> str:
    """The text with each character that acts instead of showing written as its number."""
    return _ACTING.sub(lambda found: _number(found.group()), text)


def show_acting_within(value: Any) -> Any:
    """The same for every string and name of a JSON value."""
    match value:
        case str():
            return show_acting(value)
        case list():
            return [show_acting_within(each) for each in cast("list[Any]", value)]
        case dict():
            members = cast("dict[str, Any]", value)
            return {show_acting(name): show_acting_within(each) for name, each in members.items()}
        case _:
            return value


def hides_something(text: str) -> bool:
    """Whether a character of it cannot be seen or acts; a line end does not count."""
    return _ACTING.search(text) is not None


def _visible(character: str) -> str:
    if character == "\n" or " " <= character <= "~":
        return character
    category = unicodedata.category(character)
    if category in ("Zl", "Zp"):
        return "\n"
    if category == "Zs":
        return " "
    return "" if category in _HIDDEN else character


def _number(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
