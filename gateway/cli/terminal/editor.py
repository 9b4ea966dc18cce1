"""A line while it is typed: what each key does to it, and how much of it fits on a row. Knows no terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from gateway.core.effects import escape

PASTE_ON: Final = "\x1b[?2004h"
PASTE_OFF: Final = "\x1b[?2004l"
"""Have the terminal say where a paste begins and ends, so that its line ends are not taken for the return key."""

_KEY: Final = re.compile(
    r"\x1b\[200~(?P<paste>.*?)\x1b\[201~|(?P<partial>\x1b(?:\[200~.*|\[[0-9;]*|O|\Z)\Z)|\x1b\[[0-9;]*[@-~]|\x1bO?.|.", re.DOTALL
)
_LINE_END: Final = re.compile(r"\r\n?")
_WORD_BACK: Final = re.compile(r"\S*\s*\Z")
_UNTYPED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, which nobody means to type."""


class LineState(Enum):
    """What became of the line."""

    GOES_ON = auto()
    SAID = auto()
    ENDED = auto()


class LineEditor:
    """One line, with those said before to go back to. `text` may hold line ends, from a paste."""

    def __init__(self, said: Sequence[str] = ()) -> None:
        self.text = ""
        self._cursor = 0
        self._versions = [*said, ""]
        self._place = len(said)

    def take(self, typed: str) -> tuple[LineState, str]:
        """Keys as the terminal sends them; what became of the line, and the keys that are left: those after its end, or the
        beginning of one that has not come whole."""
        for key in _KEY.finditer(typed):
            if key["partial"] is not None:
                return LineState.GOES_ON, key["partial"]
            state = self._press(key)
            if state is not LineState.GOES_ON:
                return state, typed[key.end() :]
        return LineState.GOES_ON, ""

    def show(self, width: int) -> tuple[str, str]:
        """What is seen before and after the cursor, in at most `width` columns."""
        cells = [_seen(character) for character in self.text]
        ahead = _fitting(cells[self._cursor :], width // 4)
        before = _fitting(cells[: self._cursor][::-1], width - columns_of("".join(ahead)))[::-1]
        after = _fitting(cells[self._cursor :], width - columns_of("".join(before)))
        return "".join(before), "".join(after)

    def whole(self) -> str:
        """All of it, as it is seen."""
        return "".join(map(_seen, self.text))

    def _press(self, key: re.Match[str]) -> LineState:
        pasted = key["paste"]
        if pasted is not None:
            self._insert(_UNTYPED.sub("", _LINE_END.sub("\n", pasted)))
            return LineState.GOES_ON
        match key[0]:
            case "\n" | "\r":
                return LineState.SAID
            case "\x04" | "\x00" if not self.text:
                # A Ctrl-D that was typed ahead of the prompt is a NUL by the time it is read.
                return LineState.ENDED
            case character if character in _ACTIONS:
                _ACTIONS[character](self)
            case character if not _UNTYPED.match(character):
                self._insert(character)
            case _:
                # A key that means nothing here.
                pass
        return LineState.GOES_ON

    def _insert(self, text: str) -> None:
        self._replace(self._cursor, self._cursor, text)

    def _replace(self, start: int, end: int, text: str) -> None:
        start = max(start, 0)
        self.text = self.text[:start] + text + self.text[end:]
        self._cursor = start + len(text)

    def _move(self, place: int) -> None:
        self._cursor = min(max(place, 0), len(self.text))

    def _turn_to(self, place: int) -> None:
        """Another of the lines; what was typed so far is kept in its place."""
        if 0 <= place < len(self._versions):
            self._versions[self._place] = self.text
            self._place = place
            self.text = self._versions[place]
            self._cursor = len(self.text)

    def left(self) -> None:
        """One character."""
        self._move(self._cursor - 1)

    def right(self) -> None:
        """One character."""
        self._move(self._cursor + 1)

    def to_start(self) -> None:
        """Of the line."""
        self._move(0)

    def to_end(self) -> None:
        """Of the line."""
        self._move(len(self.text))

    def rub_out(self) -> None:
        """The character before the cursor."""
        self._replace(self._cursor - 1, self._cursor, "")

    def delete(self) -> None:
        """The character at the cursor."""
        self._replace(self._cursor, self._cursor + 1, "")

    def rub_out_word(self) -> None:
        """The word before the cursor."""
        found = _WORD_BACK.search(self.text, 0, self._cursor)
        self._replace(found.start() if found else 0, self._cursor, "")

    def cut_start(self) -> None:
        """Everything before the cursor."""
        self._replace(0, self._cursor, "")

    def cut_end(self) -> None:
        """Everything from the cursor on."""
        self._replace(self._cursor, len(self.text), "")

    def older(self) -> None:
        """What was said before this."""
        self._turn_to(self._place - 1)

    def newer(self) -> None:
        """What was said after this, or what was begun."""
        self._turn_to(self._place + 1)


_ACTIONS: Final[Mapping[str, Callable[[LineEditor], None]]] = {
    key: action
    for action, keys in (
        (LineEditor.left, ("\x1b[D", "\x1bOD", "\x02")),
        (LineEditor.right, ("\x1b[C", "\x1bOC", "\x06")),
        (LineEditor.to_start, ("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~", "\x01")),
        (LineEditor.to_end, ("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~", "\x05")),
        (LineEditor.rub_out, ("\x7f", "\x08")),
        (LineEditor.delete, ("\x1b[3~", "\x04")),
        (LineEditor.rub_out_word, ("\x17", "\x1b\x7f")),
        (LineEditor.cut_start, ("\x15",)),
        (LineEditor.cut_end, ("\x0b",)),
        (LineEditor.older, ("\x1b[A", "\x1bOA", "\x10")),
        (LineEditor.newer, ("\x1b[B", "\x1bOB", "\x0e")),
    )
    for key in keys
}


def columns_of(text: str) -> int:
    """How many columns a text takes at most: characters of ambiguous width take two in some terminals."""
    return sum(2 if unicodedata.east_asian_width(character) in "WFA" else 1 for character in text)


def _seen(character: str) -> str:
    return character if character == "\\" else escape(character)


def _fitting(cells: Sequence[str], width: int) -> list[str]:
    fitting: list[str] = []
    for cell in cells:
        width -= columns_of(cell)
        if width < 0:
            break
        fitting.append(cell)
    return fitting
