"""One question, or a conversation at a prompt; and what Ctrl-C does to either."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from gateway.agent.events import TurnOutcome
from gateway.cli.terminal.agent import TerminalAgent
from gateway.cli.terminal.commands import describe_model
from gateway.cli.terminal.completer import Completer
from gateway.cli.terminal.history import PromptHistory
from gateway.cli.terminal.keyboard import Keyboard
from gateway.cli.terminal.piped_input import NAME, with_piped
from gateway.cli.terminal.prompt import Prompt
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.slash import PlainCommand, TypedMessage, read_typed
from gateway.cli.terminal.structured_answer import SchemaNotMet
from gateway.core.canonical import Json

WELCOME: Final = "Ctrl-C stops the agent; :quit or Ctrl-D leaves. /help shows more."

_Outcome = TypeVar("_Outcome")


class ExitCode(IntEnum):
    """Exit statuses for the shell that started this process."""

    ANSWERED = 0
    FAILED = 1
    UNANSWERED = 3
    """A call needed a person, and nobody was there."""

    INTERRUPTED = 130


class Dialogue:
    """Says things to the agent, one at a time."""

    def __init__(self, agent: TerminalAgent, screen: Screen, images: Sequence[Path] = (), piped: str | None = None) -> None:
        """`images` are attached before anything is said, and so is what was piped in beside a question."""
        self._agent = agent
        self._images = images
        self._piped = piped
        self._screen = screen
        self._leaving = asyncio.Event()
        self._is_busy = False
        self._interrupted = False
        self._stopping: asyncio.Task[None] | None = None
        self._prompt: Prompt | None = None

    async def ask(self, question: str, put: Callable[[Json], None]) -> ExitCode:
        """One turn, and where the answer has to fit a schema one more; `put` then gets the value."""
        return await self._until_left(self._ask(question, put))

    async def converse(self, lines: Keyboard, history: PromptHistory, completer: Completer) -> ExitCode:
        """Turns until `:quit` or the end of input. A turn that fails is reported, and the conversation continues."""
        self._prompt = Prompt(lines, self._screen, history, completer, self._agent.said)
        return await self._until_left(self._converse(lines, self._prompt, completer))

    async def _ask(self, question: str, put: Callable[[Json], None]) -> ExitCode:
        # A question about an image that the model is not shown would be answered by guessing.
        if not await self._attach():
            return ExitCode.FAILED
        if self._piped is not None:
            came_in = await self._busy(self._agent.commands.attach_text(NAME, self._piped))
            if came_in is False:
                return ExitCode.FAILED
            question = question if came_in else with_piped(question, self._piped)
        code = self._code_of(await self._turn(question))
        if self._agent.structured is not None and not self._interrupted:
            if code is ExitCode.FAILED:
                self._screen.say("There is no answer to put into JSON.")
            else:
                try:
                    put(await self._busy(self._agent.structured.write()))
                except SchemaNotMet as error:
                    self._screen.say(f"countersign: {error}")
                    code = ExitCode.FAILED
        return ExitCode.INTERRUPTED if self._interrupted else code

    async def _converse(self, lines: Keyboard, prompt: Prompt, completer: Completer) -> ExitCode:
        if lines.is_terminal:
            self._screen.say(describe_model(self._agent.commands.model), WELCOME)
        worst = ExitCode.ANSWERED if await self._attach() else ExitCode.FAILED
        while True:
            if lines.is_terminal:
                completer.tools = await self._agent.commands.tool_names()
                completer.models = await self._agent.commands.model_names()
            line = await prompt.read()
            typed = TypedMessage("") if line is None else read_typed(line)
            if line is None or typed == PlainCommand("exit"):
                # A person has read how each turn ended; a program that piped its questions in learns of the worst.
                return ExitCode.ANSWERED if lines.is_terminal else worst
            self._interrupted = False
            if not isinstance(typed, TypedMessage):
                await self._busy(self._agent.commands.run(typed, line.strip()))
            elif typed.text:
                code = self._code_of(await self._turn(typed.text))
                worst = worst if worst is ExitCode.FAILED else code

    async def _attach(self) -> bool:
        """Whether all images came in; after one that did not none is tried."""
        for image in self._images:
            if not await self._busy(self._agent.commands.attach(image)):
                return False
        return True

    def _code_of(self, ending: TurnOutcome | None) -> ExitCode:
        if ending is not TurnOutcome.ANSWERED:
            return ExitCode.FAILED
        return ExitCode.UNANSWERED if self._agent.unanswered.count else ExitCode.ANSWERED

    async def _turn(self, text: str) -> TurnOutcome | None:
        await self._agent.commands.name_after(text)
        return await self._busy(self._agent.runner.run(text, self._agent.commands.model))

    async def _busy(self, work: Awaitable[_Outcome]) -> _Outcome:
        self._is_busy = True
        try:
            return await work
        finally:
            self._is_busy = False
            # A turn that was stopped leaves its question open for a moment; the keyboard is the prompt's from here on.
            await self._agent.questions.close()

    async def _until_left(self, work: Coroutine[Any, Any, ExitCode]) -> ExitCode:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._leaving.set)
        working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else ExitCode.INTERRUPTED
        finally:
            working.cancel()
            leaving.cancel()
            await asyncio.gather(working, leaving, return_exceptions=True)

    def _interrupt(self) -> None:
        """The first Ctrl-C stops what is under way, the second leaves. Where a line was begun, it only clears that."""
        is_typing = self._prompt is not None and self._prompt.is_begun
        if self._interrupted and not is_typing:
            self._leaving.set()
            return
        self._interrupted = True
        if self._is_busy:
            self._screen.say("", "Stopping. Ctrl-C once more leaves.")
            if self._prompt is not None:
                self._prompt.drop_additions()
            self._stopping = asyncio.ensure_future(self._agent.stop())
        else:
            self._screen.say("", "Ctrl-C once more leaves, and so does :quit.")
            if self._prompt is not None:
                self._prompt.start_over()
