"""Where in a document a fault stands: Cedar's parser for Python says what is wrong with a text, and not where.

A text is cut after ever more of its tokens until the parser complains of something else than that it ends: the token that was
added last is where it went wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r'//[^\n]*|\s+|"(?:\\.|[^"\\])*"|[A-Za-z_][A-Za-z0-9_]*|[0-9]+|::|==|!=|<=|>=|&&|\|\||.', re.DOTALL)
_ENDS: Final = "unexpected end of input"
_IN_TOML: Final = re.compile(r" ?\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Line and column, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class RuleText:
    """One rule of a file with its annotations: its text, and the offset of its first character."""

    text: str
    start: int


START: Final = TextPlace(1, 1)


def place_of(text: str, offset: int) -> TextPlace:
    """The place of a character."""
    before = text[:offset]
    return TextPlace(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def split_statements(text: str) -> list[RuleText]:
    """Every rule of a file, ended by its semicolon; a last one may have none."""
    found: list[RuleText] = []
    start: int | None = None
    for token in _TOKEN.finditer(text):
        if start is None and not _is_blank(token[0]):
            start = token.start()
        if token[0] == ";" and start is not None:
            found.append(RuleText(text[start : token.end()], start))
            start = None
    if start is not None:
        found.append(RuleText(text[start:], start))
    return found


def find_break(text: str, parse: Callable[[str], object]) -> int:
    """The offset of the token at which a text stops being what it should be. `parse` raises ValueError."""
    tokens = [token for token in _TOKEN.finditer(text) if not _is_blank(token[0])]
    least, most = 0, len(tokens)
    while least < most:
        middle = (least + most) // 2
        if _goes_wrong(text[: tokens[middle].end()], parse):
            most = middle
        else:
            least = middle + 1
    return tokens[least].start() if least < len(tokens) else len(text.rstrip())


def find_word(text: str, words: Sequence[str]) -> int:
    """The offset of the first of these words that the text holds; 0 where it holds none."""
    return next((text.find(word) for word in words if word and word in text), 0)


def find_literal(text: str, value: str) -> int:
    """The offset of a text in quotation marks with this value; 0 where there is none."""
    return _find_token(text, f'"{value}"')


def find_name(text: str, name: str) -> int:
    """The offset of a name by itself or in quotation marks; 0 where there is none."""
    return _find_token(text, name) or _find_token(text, f'"{name}"')


def read_toml_place(message: str) -> tuple[str, TextPlace]:
    """What a TOML parser said without the place, and the place."""
    found = _IN_TOML.search(message)
    if found is None:
        return message, START
    return message.replace(found[0], ""), TextPlace(int(found[1]), int(found[2]))


def _goes_wrong(text: str, parse: Callable[[str], object]) -> bool:
    try:
        parse(text)
    except ValueError as error:
        return _ENDS not in str(error)
    return False


def _find_token(text: str, wanted: str) -> int:
    return next((token.start() for token in _TOKEN.finditer(text) if token[0] == wanted), 0)


def _is_blank(token: str) -> bool:
    return token.isspace() or token.startswith("//")
