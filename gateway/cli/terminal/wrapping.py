"""An answer broken between its words, as it is written: a terminal breaks a line wherever it is full, in the middle of a word.

A word is held until it is whole, for what stands on the screen cannot be taken back. Blocks of code and rows of tables stay as
they are: their lines mean something, and are copied. So does a word that no row has room for, such as a link.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_PART: Final = re.compile(r"(?P<style>\x1b\[[0-9;]*m)|(?P<end>\n)|(?P<gap> +)|(?P<word>[^ \n\x1b]+|\x1b)")
_LED: Final = re.compile(r" {0,8}(?:[-*+•] +|\d{1,3}[.)] +)?")
"""What the further rows of a list's item are indented by."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_TABLE: Final = re.compile(r" {0,3}\|")
_BEGINNING: Final = 80
"""Characters of a line that are looked at to tell what it is."""

_NARROWEST: Final = 20
"""Columns; in fewer, broken words waste less room than whole ones."""


class WordWrap:
    """Takes styled text in pieces and gives what to write. `end` gives what was held back."""

    def __init__(self, before: str) -> None:
        """`before` stands in the first row already."""
        self._width = _NARROWEST
        self._column = sum(map(_columns, before))
        self._gap = 0
        """Spaces before the word that is held."""
        self._word: list[str] = []
        self._columns = 0
        """How many the word takes."""
        self._is_flowing = False
        """Whether the word has no room in any row, so that the terminal breaks it."""
        self._is_row_empty = True
        self._line = ""
        """How the line began, without styles."""
        self._fence = ""
        """The marks that the block of code under way began with."""

    def feed(self, piece: str, width: int) -> str:
        """What can be written now, with so many columns for each row."""
        self._width = width
        written: list[str] = []
        for part in _PART.finditer(piece):
            text = part[0]
            match part.lastgroup:
                case "style":
                    self._word.append(text)
                case "end":
                    written += (self.end(), text)
                    self._end_line()
                case "gap":
                    written.append(self.end())
                    self._is_flowing = False
                    self._gap += len(text)
                    self._remember(text)
                case _:
                    written += map(self._take, text)
        return "".join(written)

    def end(self) -> str:
        """The word that was held."""
        if not self._word:
            return ""
        before = " " * self._gap if self._stays() else self._next_row()
        written = f"{before}{''.join(self._word)}"
        self._column = (self._column + len(before.removeprefix("\n")) + self._columns) % (self._width + 1)
        self._is_row_empty = self._is_row_empty and self._columns == 0
        self._word.clear()
        self._gap = self._columns = 0
        return written

    def _take(self, character: str) -> str:
        """One more character of a word. Wide ones are words by themselves: their writing has no spaces."""
        columns = _columns(character)
        is_wide = columns > 1
        written = self.end() if is_wide or self._columns >= self._width else ""
        self._is_flowing = not is_wide and (self._is_flowing or (written != "" and self._column >= self._width))
        self._word.append(character)
        self._columns += columns
        self._remember(character)
        return written + (self.end() if is_wide else "")

    def _stays(self) -> bool:
        """Whether the word goes into this row."""
        return (
            self._is_row_empty
            or self._is_flowing
            or self._column + self._gap + self._columns <= self._width
            or self._columns == 0
            or self._fence != ""
            or self._width < _NARROWEST
            or (_FENCE.match(self._line) or _TABLE.match(self._line)) is not None
        )

    def _next_row(self) -> str:
        led = _LED.match(self._line)
        self._column, self._is_row_empty = 0, True
        return "\n" + " " * (0 if led is None else len(led[0]))

    def _remember(self, text: str) -> None:
        self._line = f"{self._line}{text}"[:_BEGINNING]

    def _end_line(self) -> None:
        fence = _FENCE.match(self._line)
        if fence is not None and not self._fence:
            self._fence = fence[1]
        elif fence is not None and self._line.strip(" ") == fence[1] and fence[1].startswith(self._fence):
            self._fence = ""
        self._line, self._column, self._gap, self._is_row_empty, self._is_flowing = "", 0, 0, True, False


def _columns(character: str) -> int:
    """As most terminals have it; what is ambiguous takes one. Where that is too few the terminal breaks one row more, which does
    no harm here; `columns_of` is for rows that must not leave their place."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
