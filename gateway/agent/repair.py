"""Asking a model until it says something usable: at most so many times, and telling it each time what was wrong.

A generator is all that is needed, of whatever runtime. It is stopped at the first complete object, and closed whenever it is
not read to its end: by that, by the signal, by an error, or because nobody listens any more.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, cast

from gateway.agent.browser import trim
from gateway.agent.budget import cut
from gateway.agent.limits import LIMITS
from gateway.agent.mistakes import MISTAKES
from gateway.agent.nudges import MAX_NUDGES, nudge
from gateway.agent.parse import ParseFailure
from gateway.agent.ports import ChatDelta, TextDelta
from gateway.agent.provenance import neutralise
from gateway.agent.render import fill
from gateway.agent.reply import ReplyEnd, ReplyReader, read_deltas
from gateway.core.errors import GeneratorUnusable

MAX_REPAIRS: Final = LIMITS.repairs
"""Requirement 001-05."""

MAX_QUOTED: Final = LIMITS.quoted_reply_characters
"""How much of a bad reply its writer sees again, in characters."""

ChatMessage: TypeAlias = dict[str, str]
"""`role` (system, user or assistant) and `content`."""

T = TypeVar("T")


class StopCheck(Protocol):
    """Says whether to stop. `gateway.agent.ports.Stop` is one; cancelling the task works as well, and at once."""

    def check(self) -> None:
        """Raises when it is time to."""
        ...


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """What a generator is asked. `schema` is for runtimes that constrain decoding; others ignore it."""

    messages: Sequence[ChatMessage]
    schema: Mapping[str, Any] | None = None
    signal: StopCheck | None = None


Generated: TypeAlias = str | AsyncIterable[str]
TextGenerator: TypeAlias = Callable[[GenerateRequest], Generated | Awaitable[Generated]]
"""Gives the whole text, or its pieces as they come. What it raises goes through to the caller, who knows the runtime."""


@dataclass(frozen=True, slots=True)
class ReplyPiece:
    """A piece of a reply, thinking parted from what is said. `attempt` counts from 1."""

    attempt: int
    thought: str
    said: str


@dataclass(frozen=True, slots=True)
class Repairing:
    """An attempt failed, and there is another. `attempt` is the failed one."""

    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class Accepted(Generic[T]):
    """The last thing said when an attempt succeeded."""

    attempts: int
    value: T


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The last thing said when none did."""

    attempts: int
    reason: str


def correction(reason: str) -> str:
    """Requirement 001-11, word for word."""
    return fill(MISTAKES.correction, {"reason": reason}.get)


def quote(text: str) -> ChatMessage:
    """A bad reply as its writer sees it again."""
    return {"role": "assistant", "content": neutralise(cut(text, MAX_QUOTED)) if trim(text) else MISTAKES.nothing}


class RepairDialogue:
    """The turns that a model is told after replies that could not be used, each kind at most so many times.

    Both lanes and the planner decide by it whether to ask again, and what to say. `turns` belong at the end of the prompt.
    """

    def __init__(self, max_repairs: int = MAX_REPAIRS) -> None:
        self.turns: list[ChatMessage] = []
        self._repairs_left = max_repairs
        self._nudges = 0

    def repair(self, reply: str, told: str) -> bool:
        """Say what was wrong with a reply. False when that was said often enough, and nothing is added."""
        if self._repairs_left == 0:
            return False
        self._repairs_left -= 1
        self.turns += quote(reply), {"role": "user", "content": told}
        return True

    def nudge(self, reply: str, words: Mapping[str, Any]) -> bool:
        """Ask for the step that a reply only announced; the same. `words` is prompts.json."""
        if self._nudges == MAX_NUDGES:
            return False
        self._nudges += 1
        self.turns += quote(reply), nudge(self._nudges, words)
        return True


async def pursue(
    generate: TextGenerator,
    compose: Callable[[Sequence[ChatMessage]], Sequence[ChatMessage]],
    read: Callable[[str], T | ParseFailure],
    *,
    schema: Mapping[str, Any] | None = None,
    max_repairs: int = MAX_REPAIRS,
    signal: StopCheck | None = None,
) -> AsyncGenerator[ReplyPiece | Repairing | Accepted[T] | GaveUp]:
    """Ask, read, and ask again; the last thing said is `Accepted` or `GaveUp`.

    `compose` makes the prompt around the repair turns so far, which belong at its end. `read` gives a value or the reason why
    there is none. Close what this returns (`contextlib.aclosing`) when it is not read to its end.
    """
    dialogue = RepairDialogue(max_repairs)
    attempt = 0
    while True:
        attempt += 1
        reader = ReplyReader(ReplyEnd.OBJECT)
        pieces = _pieces(generate, GenerateRequest(compose(dialogue.turns), schema, signal))
        async with aclosing(read_deltas(pieces, reader)) as reply:
            async for heard in reply:
                if heard.thought or heard.said:
                    yield ReplyPiece(attempt, heard.thought, heard.said)
        value = read(reader.said)
        if not isinstance(value, ParseFailure):
            yield Accepted(attempt, value)
            return
        if not dialogue.repair(reader.written, correction(value.reason)):
            yield GaveUp(attempt, value.reason)
            return
        yield Repairing(attempt, value.reason)


async def _pieces(generate: TextGenerator, request: GenerateRequest) -> AsyncGenerator[ChatDelta]:
    """What a generator gives, as a chat gives it: in pieces, and stopped by its signal."""
    _check(request.signal)
    made: object = generate(request)
    if not isinstance(made, AsyncIterable) and isinstance(made, Awaitable):
        made = await cast("Awaitable[object]", made)
    if not isinstance(made, AsyncIterable):
        _check(request.signal)
        yield TextDelta(_text(made))
        return
    pieces: AsyncIterator[object] = aiter(cast("AsyncIterable[object]", made))
    try:
        async for piece in pieces:
            _check(request.signal)
            yield TextDelta(_text(piece))
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


def _check(signal: StopCheck | None) -> None:
    if signal is not None:
        signal.check()


def _text(piece: object) -> str:
    if isinstance(piece, str):
        return piece
    raise GeneratorUnusable(f"the text generator gave a `{type(piece).__name__}` where text belongs")
