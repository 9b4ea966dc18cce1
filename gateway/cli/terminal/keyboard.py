"""What a person types."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import fcntl
import os
import re
import select
import termios
from collections import deque
from collections.abc import Callable, Generator
from typing import Final, TextIO

_PIECE: Final = 65_536
_NOTHING_TO_READ: Final = bytes(4)

_ADDITION: Final = re.compile(r"\s*(?:and\s+)?also\b", re.IGNORECASE)
"""How a line begins that is meant for the work under way, and not for the time after it."""


class Keyboard:
    """Reads lines from a terminal, a pipe or a file, without a thread that could keep the process alive."""

    def __init__(self, stream: TextIO) -> None:
        self.descriptor = stream.fileno()
        self.is_terminal = os.isatty(self.descriptor)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._lines: deque[str] = deque()
        self._additions: list[str] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._ended = False

    @contextlib.contextmanager
    def quiet(self) -> Generator[None]:
        """Keys that are pressed in between leave no trace on the screen; they are read when something is asked for."""
        with self._with_modes(lambda modes: modes & ~(termios.ECHO | termios.ECHONL)):
            yield

    @contextlib.contextmanager
    def echoing(self) -> Generator[None]:
        """A line that is asked for is shown while it is typed."""
        with self._with_modes(lambda modes: modes | termios.ECHO):
            yield

    @contextlib.contextmanager
    def _with_modes(self, change: Callable[[int], int]) -> Generator[None]:
        """The terminal's local modes changed, and given back as they were."""
        if not self.is_terminal or not self._is_ours():
            yield
            return
        before = termios.tcgetattr(self.descriptor)
        changed = termios.tcgetattr(self.descriptor)
        changed[3] = change(changed[3])
        # A terminal that was closed needs nothing back.
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.descriptor, termios.TCSADRAIN, changed)
        try:
            yield
        finally:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.descriptor, termios.TCSADRAIN, before)

    def _is_ours(self) -> bool:
        """A process in the background that changed the terminal would be stopped for it."""
        try:
            return os.tcgetpgrp(self.descriptor) == os.getpgrp()
        except OSError:
            return False

    async def read_line(self) -> str | None:
        """The next line without its end; None at the end of input. What is no UTF-8 is replaced."""
        while not self._lines and not self._ended:
            self._take(await self._read())
        return self._lines.popleft() if self._lines else None

    async def read_keys(self) -> str:
        """What was typed, as far as it has come; empty at the end of input."""
        text = "".join(f"{line}\n" for line in self._lines) + self._rest
        self._lines.clear()
        self._rest = ""
        while not text and not self._ended:
            piece = await self._read()
            self._ended = not piece
            text = self._decoder.decode(piece, final=not piece)
        return text

    def put_back(self, text: str) -> None:
        """To be read, or forgotten, later."""
        *lines, self._rest = (text + self._rest).split("\n")
        self._lines.extendleft(reversed(lines))

    def take_additions(self) -> list[str]:
        """Whole lines typed ahead that are meant for the work under way; each is given once. All others stay for the prompt."""
        self._set_additions_apart()
        taken, self._additions = self._additions, []
        return taken

    def forget(self) -> None:
        """Throw away what was typed ahead: a question is answered by what is typed after it, and by nothing pasted before.
        Additions answer nothing, and wait for the next step."""
        self._set_additions_apart()
        self._lines.clear()
        self._rest = ""
        if self.is_terminal:
            # A terminal that was closed holds nothing, and says so when it is read.
            with contextlib.suppress(termios.error):
                termios.tcflush(self.descriptor, termios.TCIFLUSH)

    def _set_additions_apart(self) -> None:
        while self._has_line():
            self._take(os.read(self.descriptor, _PIECE))
        lines, self._lines = self._lines, deque()
        for line in lines:
            (self._additions if _ADDITION.match(line) else self._lines).append(line)

    def _has_line(self) -> bool:
        """Whether a terminal holds a whole line. One that was closed does not, nor does one with a Ctrl-D alone, which stays."""
        if not self.is_terminal or not select.select([self.descriptor], [], [], 0)[0]:
            return False
        with contextlib.suppress(OSError):
            return fcntl.ioctl(self.descriptor, termios.FIONREAD, _NOTHING_TO_READ) != _NOTHING_TO_READ
        return False

    async def _read(self) -> bytes:
        await self._wait()
        try:
            return os.read(self.descriptor, _PIECE)
        except OSError:
            # A terminal that was closed, or a descriptor that is only for writing: nobody types there.
            return b""

    async def _wait(self) -> None:
        """Until something was typed. Of several that wait, the one that came last gets it: the end of a question that was
        cancelled may come after the prompt that follows it, and must leave the prompt its reader."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self.descriptor, self._wake)
        except OSError:
            # A file, or a device like /dev/null: never waits.
            return
        self._waiting.append(ready)
        try:
            await ready
        finally:
            self._waiting.remove(ready)
            if not self._waiting:
                loop.remove_reader(self.descriptor)

    def _wake(self) -> None:
        latest = self._waiting[-1]
        if not latest.done():
            latest.set_result(None)

    def _take(self, piece: bytes) -> None:
        self._ended = not piece and not self._rest
        *lines, self._rest = (self._rest + self._decoder.decode(piece, final=not piece)).split("\n")
        self._lines.extend(line.removesuffix("\r") for line in lines)
        if not piece and self._rest:
            # Ctrl-D after some letters, or a file without an end of line.
            self._lines.append(self._rest)
            self._rest = ""
