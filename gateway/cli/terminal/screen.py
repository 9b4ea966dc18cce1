"""What the person sees, and what they type.

Everything that is shown comes from a model, a tool or a person nobody here knows, so nothing of it reaches the terminal as it
is: what would move the cursor, colour, ring or turn the writing direction is spelt out, and a value never leaves its place.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import sys
import termios
import unicodedata
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final, TextIO

import orjson

from gateway.core.effects import escape

_PIECE: Final = 65_536
_NARROWEST: Final = 24


def visible(text: str) -> str:
    """A text of several lines with everything else that draws nothing or moves anything spelt out."""
    return "".join(character if character in "\n\\" else escape(character) for character in text.replace("\t", "    "))


def within(text: str, width: int) -> Iterator[str]:
    """The text in pieces that take at most that many columns each, so that the terminal never breaks a line itself."""
    piece, taken = "", 0
    for character in text:
        columns = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken + columns > width and piece:
            yield piece
            piece, taken = "", 0
        piece += character
        taken += columns
    yield piece


class Screen:
    """Writes. Answers go to standard output; what is said about the work, and every question, to standard error.

    With `only_json`, standard output belongs to the event stream and answers are not written at all.
    """

    def __init__(self, out: TextIO, err: TextIO, *, only_json: bool = False) -> None:
        self._out = out
        self._err = err
        self._only_json = only_json
        self._pending = False

    def answer(self, text: str, *, name: str = "") -> None:
        """What the agent says, after its name if there is a conversation."""
        if not self._only_json:
            self.settle()
            _write(self._out, f"{name}{visible(text)}\n")

    def prompt(self, text: str) -> None:
        """Ask for a line."""
        self.settle()
        _write(self._err if self._only_json else self._out, text)

    def tell(self, line: Mapping[str, Any]) -> None:
        """One line of the event stream."""
        _write(self._out, f"{orjson.dumps(line).decode()}\n")

    def say(self, text: str) -> None:
        """A sentence beside the conversation."""
        self.settle()
        _write(self._err, f"{visible(text)}\n")

    def ask(self, text: str) -> None:
        """A question, with the cursor after it."""
        self.settle()
        _write(self._err, text)

    def block(self, text: str, margin: str = "  │ ") -> None:
        """Lines that cannot leave their place: each row of the terminal begins with the margin."""
        self.settle()
        width = max(_NARROWEST, _columns(self._err) - len(margin) - 1)
        for line in text.split("\n"):
            for piece in within(escape(line), width):
                _write(self._err, f"{margin}{piece}\n")

    def progress(self, text: str) -> None:
        """A line that the next one replaces, where that can be done."""
        if self._err.isatty():
            width = max(_NARROWEST, _columns(self._err) - 1)
            _write(self._err, f"\r\x1b[2K{next(within(escape(text), width))}")
            self._pending = True

    def settle(self) -> None:
        """Take the progress line away."""
        if self._pending:
            self._pending = False
            _write(self._err, "\r\x1b[2K")


def _write(stream: TextIO, text: str) -> None:
    # A reader that went away ends the command elsewhere; a terminal that knows fewer letters shows what it can.
    with contextlib.suppress(BrokenPipeError):
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


class Keyboard:
    """Reads lines from a terminal, a pipe or a file, without a thread that could keep the process alive."""

    def __init__(self, stream: TextIO) -> None:
        self._descriptor = stream.fileno()
        self.is_terminal = os.isatty(self._descriptor)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._lines: deque[str] = deque()
        self._ended = False

    async def read_line(self) -> str | None:
        """The next line without its end; None at the end of input. What is no UTF-8 is replaced."""
        while not self._lines and not self._ended:
            await self._wait()
            self._take(os.read(self._descriptor, _PIECE))
        return self._lines.popleft() if self._lines else None

    def forget(self) -> None:
        """Throw away what was typed ahead: a question is answered by what is typed after it, and by nothing pasted before."""
        self._lines.clear()
        self._rest = ""
        if self.is_terminal:
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, lambda: ready.done() or ready.set_result(None))
        except OSError:
            # A file, or a device like /dev/null: never waits.
            return
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)

    def _take(self, piece: bytes) -> None:
        self._ended = not piece and not self._rest
        *lines, self._rest = (self._rest + self._decoder.decode(piece, final=not piece)).split("\n")
        self._lines.extend(line.removesuffix("\r") for line in lines)
        if not piece and self._rest:
            # Ctrl-D after some letters, or a file without an end of line.
            self._lines.append(self._rest)
            self._rest = ""


def standard_screen(*, only_json: bool) -> Screen:
    """The process's own."""
    return Screen(sys.stdout, sys.stderr, only_json=only_json)
