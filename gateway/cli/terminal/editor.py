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
_WORD_ON: Final = re.compile(r"\s*\S*")
_NOTHING: Final = ("", ())
_UNTYPED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, which nobody means to type."""


class LineState(Enum):
    """What became of the line."""

    GOES_ON = auto()
    SAID = auto()
    ENDED = auto()


class LineEditor:
    """One line, with those said before to go back to. `text` may hold line ends, from a paste or Alt-Return.

    `offer` takes what stands before the cursor, and gives its last word and what that word may become.
    """

    def __init__(self, said: Sequence[str] = (), offer: Callable[[str], tuple[str, Sequence[str]]] = lambda _: _NOTHING) -> None:
        self.text = ""
        self.searched: str | None = None
        """What is searched for in the lines said before; None while nothing is."""
        self.offers: Sequence[str] = ()
        """What the word before the cursor may become, where the last key asked for it and it is not decided."""
        self._offer = offer
        self._cursor = 0
        self._versions = [*said, ""]
        self._place = len(said)
        self._cut = ""

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
        self.offers = ()
        if self.searched is not None and self._search_on(self.searched, key[0]):
            return LineState.GOES_ON
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

    def _search_on(self, searched: str, key: str) -> bool:
        """Whether the key belongs to the search. Any other key takes what was found, and does what it always does."""
        match key:
            case "\x12":
                self._find(searched, self._place - 1)
            case "\x07":
                self._turn_to(len(self._versions) - 1)
                self.searched = None
            case "\x7f" | "\x08":
                self.searched = searched[:-1]
                self._find(self.searched, len(self._versions) - 2)
            case _ if len(key) == 1 and not _UNTYPED.match(key) and key not in "\t\n":
                self.searched = searched + key
                self._find(self.searched, self._place)
            case _:
                self.searched = None
                return False
        return True

    def _find(self, searched: str, newest: int) -> None:
        """The line said last, at `newest` or before it, that holds the words; where none does, all stays as it is."""
        for place in range(min(newest, len(self._versions) - 2), -1, -1):
            if searched and searched in self._versions[place]:
                self._turn_to(place)
                return

    def search(self) -> None:
        """Begin to search backwards in what was said."""
        self.searched = ""

    def complete(self) -> None:
        """The word before the cursor, as far as there is only one way to go on."""
        word, names = self._offer(self.text[: self._cursor])
        if not names:
            return
        common = _common_beginning(names)
        is_whole = len(names) == 1 and not common.endswith("/")
        self._replace(self._cursor - len(word), self._cursor, common + (" " if is_whole else ""))
        self.offers = names if len(names) > 1 and common == word else ()

    def left(self) -> None:
        """One character, with the marks upon it."""
        self._move(self._before(self._cursor))

    def right(self) -> None:
        """One character, with the marks upon it."""
        self._move(self._after(self._cursor))

    def _before(self, place: int) -> int:
        place -= 1
        while place > 0 and unicodedata.combining(self.text[place]):
            place -= 1
        return place

    def _after(self, place: int) -> int:
        place += 1
        while place < len(self.text) and unicodedata.combining(self.text[place]):
            place += 1
        return place

    def left_word(self) -> None:
        """To the beginning of a word."""
        self._move(self._word_back())

    def right_word(self) -> None:
        """To the end of a word."""
        self._move(self._word_on())

    def _word_back(self) -> int:
        found = _WORD_BACK.search(self.text, 0, self._cursor)
        return found.start() if found else 0

    def _word_on(self) -> int:
        found = _WORD_ON.match(self.text, self._cursor)
        return found.end() if found else len(self.text)

    def break_line(self) -> None:
        """A line end within what is said."""
        self._insert("\n")

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
        """The character at the cursor, with the marks upon it."""
        self._replace(self._cursor, self._after(self._cursor), "")

    def rub_out_word(self) -> None:
        """The word before the cursor."""
        self._take_out(self._word_back(), self._cursor)

    def delete_word(self) -> None:
        """The word after the cursor."""
        self._take_out(self._cursor, self._word_on())

    def cut_start(self) -> None:
        """Everything before the cursor."""
        self._take_out(0, self._cursor)

    def cut_end(self) -> None:
        """Everything from the cursor on."""
        self._take_out(self._cursor, len(self.text))

    def put_cut(self) -> None:
        """What was cut last."""
        self._insert(self._cut)

    def _take_out(self, start: int, end: int) -> None:
        self._cut = self.text[start:end] or self._cut
        self._replace(start, end, "")

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
        (LineEditor.left_word, ("\x1bb", "\x1b[1;5D", "\x1b[1;3D")),
        (LineEditor.right_word, ("\x1bf", "\x1b[1;5C", "\x1b[1;3C")),
        (LineEditor.rub_out_word, ("\x17", "\x1b\x7f")),
        (LineEditor.delete_word, ("\x1bd", "\x1b[3;5~")),
        (LineEditor.cut_start, ("\x15",)),
        (LineEditor.cut_end, ("\x0b",)),
        (LineEditor.put_cut, ("\x19",)),
        (LineEditor.break_line, ("\x1b\n", "\x1b\r")),
        (LineEditor.complete, ("\t",)),
        (LineEditor.search, ("\x12",)),
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


def _common_beginning(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    alike = next((place for place, character in enumerate(first) if last[place : place + 1] != character), len(first))
    return first[:alike]


def _fitting(cells: Sequence[str], width: int) -> list[str]:
    fitting: list[str] = []
    for cell in cells:
        width -= columns_of(cell)
        if width < 0:
            break
        fitting.append(cell)
    return fitting
