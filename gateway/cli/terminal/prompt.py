"""Where a person says the next thing: a line to edit, with what was said before, or lines as they come where that cannot be."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import termios
from collections.abc import Generator, Sequence
from typing import Final

from gateway.cli.terminal.completer import Completer
from gateway.cli.terminal.editor import PASTE_OFF, PASTE_ON, LineEditor, LineState
from gateway.cli.terminal.history import PromptHistory
from gateway.cli.terminal.keyboard import Keyboard
from gateway.cli.terminal.screen import Screen, visible
from gateway.cli.terminal.turn_display import PERSON as NAME

_OFFERED: Final = 20
"""Rows of what a word may become."""


class Prompt:
    """Asks. `said` is what was said in this conversation before; `history` what was said in others, and where it is kept."""

    def __init__(
        self, keyboard: Keyboard, screen: Screen, history: PromptHistory, completer: Completer, said: Sequence[str] = ()
    ) -> None:
        self._keyboard = keyboard
        self._screen = screen
        self._history = history
        self._completer = completer
        self._said = [*(history.read() if keyboard.is_terminal else ()), *said]
        self._line: LineEditor | None = None

    async def read(self) -> str | None:
        """What was said, None at the end of input."""
        if not self._keyboard.is_terminal:
            return await self._keyboard.read_line()
        # No step followed that could have taken them in.
        self._keyboard.put_back("".join(f"{each}\n" for each in self._keyboard.take_additions()))
        said = await self._edit() if self._screen.can_redraw else await self._take()
        if said is not None and said.strip() and self._said[-1:] != [said]:
            self._said.append(said)
            self._history.add(said)
        return said

    @property
    def is_begun(self) -> bool:
        """Whether something was typed and not said yet."""
        return self._line is not None and bool(self._line.text)

    def drop_additions(self) -> None:
        """Forget what was typed for the work under way, which is being stopped."""
        self._keyboard.take_additions()

    def start_over(self) -> None:
        """Forget what was typed and not said."""
        if self._line is not None:
            self._line = self._new_line()
            self._draw()
        elif self._keyboard.is_terminal:
            self._screen.prompt(NAME)

    async def _take(self) -> str | None:
        with self._keyboard.echoing():
            self._screen.prompt(NAME)
            said = await self._keyboard.read_line()
        if said is None:
            self._screen.prompt("\n")
        return said

    async def _edit(self) -> str | None:
        self._line = self._new_line()
        torn = ""
        try:
            with self._by_key():
                self._draw()
                while True:
                    keys = await self._keyboard.read_keys()
                    state, rest = self._line.take(torn + keys) if keys else (LineState.ENDED, "")
                    if state is LineState.GOES_ON:
                        torn = rest
                        self._show_offers(self._line.offers)
                        self._draw()
                        continue
                    # All of it stays on the screen, however many rows it takes.
                    self._screen.retype(f"{self._screen.strong(NAME)}{self._line.whole()}\n")
                    self._keyboard.put_back(rest)
                    return self._line.text if state is LineState.SAID else None
        finally:
            self._line = None

    def _new_line(self) -> LineEditor:
        return LineEditor(self._said, self._completer.offer)

    def _show_offers(self, offers: Sequence[str]) -> None:
        for offer in offers[:_OFFERED]:
            self._screen.row(offer)
        if len(offers) > _OFFERED:
            self._screen.say(f"  … {len(offers) - _OFFERED} more")

    def _draw(self) -> None:
        if self._line is not None:
            name = NAME if self._line.searched is None else f"search `{visible(self._line.searched)}`> "
            before, after = self._line.show(self._screen.room_beside(name))
            self._screen.retype(f"{self._screen.strong(name)}{before}", after)

    @contextlib.contextmanager
    def _by_key(self) -> Generator[None]:
        """Keys as they are pressed; but Ctrl-C, Ctrl-Z and Ctrl-\\ stay what they are."""
        loop, descriptor = asyncio.get_running_loop(), self._keyboard.descriptor
        before = termios.tcgetattr(descriptor)
        by_key = termios.tcgetattr(descriptor)
        by_key[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        by_key[6][termios.VMIN], by_key[6][termios.VTIME] = 1, 0

        def begin() -> None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(descriptor, termios.TCSADRAIN, by_key)
            self._screen.prompt(PASTE_ON)

        def go_on() -> None:
            begin()
            self._draw()

        begin()
        # After Ctrl-Z and `fg` the terminal is as the shell likes it.
        loop.add_signal_handler(signal.SIGCONT, go_on)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGCONT)
            self._screen.prompt(PASTE_OFF)
            # A terminal that was closed needs nothing back.
            with contextlib.suppress(termios.error):
                termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
