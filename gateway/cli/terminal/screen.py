"""What the person sees.

Everything that is shown comes from a model, a tool or an unknown person, so it is escaped before it reaches the terminal:
characters that would move the cursor, set a colour, ring or change the writing direction. A value never leaves its place.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TextIO

import orjson

from gateway.cli.terminal.editor import columns_of
from gateway.cli.terminal.markdown import MarkdownStream
from gateway.cli.terminal.styling import Tone, has_colours, paint, tones_of_diff
from gateway.cli.terminal.wrapping import WordWrap
from gateway.core.canonical import Json
from gateway.core.effects import escape

MARGIN: Final = "  │ "
NEW_LINE: Final = "\\n"
"""A line end in a text that is one line."""

_NARROWEST: Final = 8
_CONTROL: Final = re.compile(r"(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: str) -> str:
    """A text of several lines with everything else that draws nothing or moves anything spelt out."""
    return "".join(character if character in "\n\\" else escape(character) for character in text.replace("\t", "    "))


def storable(text: str) -> str:
    """The text as a file or another program gets it: tabs, joined emoji, line ends and all, and only control characters spelt
    out, for the next program may pass them on to a terminal."""
    return _CONTROL.sub(lambda character: escape(character[0]), text)


def one_line(text: str) -> str:
    """The same of a text that is one line."""
    return visible(text).replace("\n", NEW_LINE)


def within(text: str, width: int, *, by_words: bool = False) -> Iterator[str]:
    """The text in pieces that take at most that many columns each, so that the terminal never breaks a line itself. `by_words`
    breaks it at a space where a piece has one after its first word, and leaves that space away."""
    piece, taken = "", 0
    for character in text:
        columns = columns_of(character)
        if taken + columns > width and piece:
            head, _, tail = f"{piece}{character}".rpartition(" ")
            is_word = by_words and head.strip() != ""
            yield head if is_word else piece
            piece = tail if is_word else character
            taken = columns_of(piece)
        else:
            piece += character
            taken += columns
    yield piece


class Screen:
    """Writes. Answers go to standard output; what is said about the work, and every question, to standard error.

    With `only_json`, standard output belongs to the event stream and answers are not written at all. `fault` says why standard
    output could not be written; the conversation continues without it.
    """

    def __init__(self, out: TextIO, err: TextIO, *, only_json: bool = False) -> None:
        self._out = out
        self._err = err
        self._only_json = only_json
        self._pending = False
        self._is_mid_answer = False
        self._answer = MarkdownStream()
        self._wrap = WordWrap("")
        self._paints_out = has_colours(out)
        self._paints_err = has_colours(err)
        self.fault: str | None = None

    def answer(self, text: str, *, name: str = "") -> None:
        """What the agent says, after its name if there is a conversation."""
        if self.shows_pieces:
            self.settle()
            self.answer_piece(text, name=name)
            self.settle()
        elif not self._only_json:
            self._write(self._out, f"{name}{storable(text)}\n")

    @property
    def shows_pieces(self) -> bool:
        """Whether a person sees answers come. What goes elsewhere is written once it is whole, for it cannot be taken back."""
        return self._out.isatty() and not self._only_json

    def answer_piece(self, text: str, *, name: str = "") -> None:
        """A piece of an answer, right after the one before; `name` goes before the first."""
        self._take_progress_away()
        if not self._is_mid_answer:
            self._is_mid_answer = True
            self._answer, self._wrap = MarkdownStream(), WordWrap(name)
            self._write(self._out, paint(name, Tone.STRONG) if self._paints_out else name)
        self._write(self._out, self._wrapped(self._answer.feed(visible(text)) if self._paints_out else visible(text)))

    def answer_end(self, text: str = "") -> None:
        """The last piece. The sign that an answer was broken off stands by itself nowhere."""
        if text and (self._is_mid_answer or text.strip(" …")):
            self.answer_piece(text)
        self.settle()

    def prompt(self, text: str) -> None:
        """Ask for a line."""
        self.settle()
        self._write(self._asked_on, text)

    def retype(self, text: str, after: str = "") -> None:
        """The row that is being typed, anew, with the cursor before `after`: the terminal goes there by itself, for how wide its
        letters are only it knows."""
        self.settle()
        self._write(self._asked_on, f"\r\x1b[K{text}{after}\r{text}" if after else f"\r\x1b[K{text}")
        self._pending = not text.endswith("\n")

    def strong(self, text: str) -> str:
        """The text for `prompt` and `retype` as it stands out, where there are colours."""
        return paint(text, Tone.STRONG) if has_colours(self._asked_on) else text

    @property
    def can_redraw(self) -> bool:
        """Whether the terminal knows how to write over a row."""
        return self._asked_on.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def room_beside(self, text: str) -> int:
        """How many columns are left in its row."""
        return max(_NARROWEST, _columns(self._asked_on) - len(text) - 1)

    @property
    def _asked_on(self) -> TextIO:
        return self._err if self._only_json or not self._out.isatty() else self._out

    def stream(self, line: Mapping[str, Any] | Json) -> None:
        """A value, or an event, as one line of JSON; where letters are missing, with JSON's own escapes for them."""
        self.settle()
        has_all = codecs.lookup(self._out.encoding or "utf-8").name == "utf-8"
        self._write(self._out, f"{orjson.dumps(line).decode() if has_all else json.dumps(line, separators=(',', ':'))}\n")

    def say(self, *lines: str, tone: Tone = Tone.PLAIN) -> None:
        """Lines beside the conversation: as many as there are arguments, whatever they contain."""
        self.settle()
        for line in lines:
            self._write(self._err, f"{self._painted(one_line(line), tone)}\n")

    def ask(self, text: str) -> None:
        """A question, with the cursor after it."""
        self.settle()
        self._write(self._err, self._painted(text, Tone.STRONG))

    def block(self, text: str, rows: int | None = None) -> int:
        """Lines that cannot leave their place: each row of the terminal begins with the margin. How many rows more than `rows`
        there would have been."""
        pieces = [piece for line in text.split("\n") for piece in self._cut(line, MARGIN)]
        self._place(pieces[:rows], MARGIN)
        return len(pieces) - len(pieces[:rows])

    def row(self, text: str, margin: str = MARGIN) -> None:
        """The same of one line, which stays one, and is broken between words."""
        self._place(self._cut(text, margin, by_words=True), margin)

    def cut(self, text: str, margin: str = MARGIN, tone: Tone = Tone.PLAIN, *, by_words: bool = False) -> list[str]:
        """What `block` would write of one line, row by row of the terminal; what `row` would, where it is broken `by_words`."""
        return [f"{margin}{self._painted(piece, tone)}" for piece in self._cut(text, margin, by_words=by_words)]

    def put(self, rows: Iterable[str]) -> None:
        """Rows that `cut` gave."""
        self._place(rows, "")

    def progress(self, text: str) -> None:
        """A line that the next one replaces, where that can be done."""
        if self._err.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not self._is_mid_answer:
            width = max(_NARROWEST, _columns(self._err) - 1)
            self._write(self._err, f"\r\x1b[2K{next(within(escape(text), width))}")
            self._pending = True

    def _cut(self, text: str, margin: str, *, by_words: bool = False) -> Iterator[str]:
        # Values arrive escaped already, with backslashes doubled where needed; escaping them again would mislead.
        return within(one_line(text), max(_NARROWEST, _columns(self._err) - len(margin) - 2), by_words=by_words)

    def _place(self, pieces: Iterable[str], margin: str) -> None:
        self.settle()
        for piece in pieces:
            self._write(self._err, f"{margin}{piece}\n")

    def excerpt(self, text: str, head: int, tail: int, whole: str) -> None:
        """A long text in part: its first rows and its last, and between them how many are left out, and `whole`: how all of it
        is seen. A diff is shown as one."""
        lines = text.split("\n")
        tones = tones_of_diff(lines)
        rows = [piece for line, tone in zip(lines, tones, strict=True) for piece in self.cut(line, MARGIN, tone, by_words=True)]
        more = len(rows) - head - tail
        if more <= 1:
            self.put(rows)
            return
        self.put(rows[:head])
        self.say(f"  … {more} more lines{whole}", tone=Tone.FAINT)
        self.put(rows[-tail:])

    def _painted(self, text: str, tone: Tone) -> str:
        return paint(text, tone) if self._paints_err else text

    def settle(self) -> None:
        """Go to the beginning of an empty row: end the answer that is being shown, take the progress line away."""
        if self._is_mid_answer:
            self._is_mid_answer = False
            self._write(self._out, f"{self._wrapped(self._answer.end())}{self._wrap.end()}\n")
        self._take_progress_away()

    def _wrapped(self, text: str) -> str:
        # One column is left free: some terminals go to the next row as soon as one is full.
        return self._wrap.feed(text, _columns(self._out) - 1)

    def _take_progress_away(self) -> None:
        if self._pending:
            self._pending = False
            self._write(self._err, "\r\x1b[2K")

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            # A terminal that knows fewer letters shows what it can.
            encoding = stream.encoding or "utf-8"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except OSError as error:
            if stream is self._out:
                self.fault = self.fault or f"standard output cannot be written: {error.strerror}"
            _give_up(stream)


def _give_up(stream: TextIO) -> None:
    """Let what a full disk, a reader that left or a closed terminal did not take, and all that follows, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        # What is in the stream's buffer already would fail once more at the end of the process, and then with a traceback.
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def standard_screen(*, only_json: bool) -> Screen:
    """The process's own."""
    return Screen(sys.stdout, sys.stderr, only_json=only_json)
