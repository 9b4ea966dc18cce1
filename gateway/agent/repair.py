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
from gateway.agent.budget import cut, length_of
from gateway.agent.parse import MAX_REPLY, Fault, ObjectScanner, ThoughtFilter
from gateway.agent.provenance import neutralise
from gateway.core.errors import GeneratorUnusable

MAX_REPAIRS: Final = 2
"""Requirement 001-05."""

MAX_QUOTED: Final = 1_000
"""How much of a bad reply its writer sees again, in characters."""

MAX_PIECES: Final = 32_768
"""Most pieces of one reply that are read, so that a generator which gives nothing without end keeps nobody waiting."""

ChatMessage: TypeAlias = dict[str, str]
"""`role` (system, user or assistant) and `content`."""

T = TypeVar("T")


class Signal(Protocol):
    """Says whether to stop. `gateway.agent.ports.Stop` is one; cancelling the task works as well, and at once."""

    def check(self) -> None:
        """Raises when it is time to."""
        ...


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """What a generator is asked. `schema` is for runtimes that constrain decoding; others ignore it."""

    messages: Sequence[ChatMessage]
    schema: Mapping[str, Any] | None = None
    signal: Signal | None = None


Generated: TypeAlias = str | AsyncIterable[str]
TextGenerator: TypeAlias = Callable[[GenerateRequest], Generated | Awaitable[Generated]]
"""Gives the whole text, or its pieces as they come. What it raises goes through to the caller, who knows the runtime."""


@dataclass(frozen=True, slots=True)
class Heard:
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
class Settled(Generic[T]):
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
    return f"Your last reply was not a valid action: {reason}. Reply with ONLY one JSON action, no prose."


def repair_turns(text: str, reason: str) -> list[ChatMessage]:
    """The bad reply, as far as its writer needs it, and the correction."""
    return [quote(text), {"role": "user", "content": correction(reason)}]


def quote(text: str) -> ChatMessage:
    """A bad reply as its writer sees it again."""
    return {"role": "assistant", "content": neutralise(cut(text, MAX_QUOTED)) if trim(text) else "(nothing)"}


async def pursue(
    generate: TextGenerator,
    compose: Callable[[Sequence[ChatMessage]], Sequence[ChatMessage]],
    read: Callable[[str], T | Fault],
    *,
    schema: Mapping[str, Any] | None = None,
    max_repairs: int = MAX_REPAIRS,
    signal: Signal | None = None,
) -> AsyncGenerator[Heard | Repairing | Settled[T] | GaveUp]:
    """Ask, read, and ask again; the last thing said is `Settled` or `GaveUp`.

    `compose` makes the prompt around the repair turns so far, which belong at its end. `read` gives a value or the reason why
    there is none. Close what this returns (`contextlib.aclosing`) when it is not read to its end.
    """
    closing: list[ChatMessage] = []
    attempt = 0
    while True:
        attempt += 1
        reply = _Reply(attempt)
        async with aclosing(_pieces(generate, GenerateRequest(compose(closing), schema, signal))) as pieces:
            async for piece in pieces:
                heard = reply.take(piece)
                if heard.thought or heard.said:
                    yield heard
                if reply.is_over:
                    break
        rest = reply.finish()
        if rest.thought or rest.said:
            yield rest
        value = read(reply.text)
        if not isinstance(value, Fault):
            yield Settled(attempt, value)
            return
        if attempt > max_repairs:
            yield GaveUp(attempt, value.reason)
            return
        yield Repairing(attempt, value.reason)
        closing += repair_turns(reply.text, value.reason)


class _Reply:
    """One reply while it is being read."""

    def __init__(self, attempt: int) -> None:
        self._attempt = attempt
        self._pieces: list[str] = []
        self._taken = 0
        self._thoughts = ThoughtFilter()
        self._scanner = ObjectScanner()
        self.is_over = False

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def take(self, piece: str) -> Heard:
        self._pieces.append(piece)
        self._taken += length_of(piece)
        is_full = self._taken > MAX_REPLY or len(self._pieces) > MAX_PIECES
        self.is_over = self._scanner.feed(piece) is not None or is_full
        return Heard(self._attempt, *self._thoughts.feed(piece))

    def finish(self) -> Heard:
        return Heard(self._attempt, *self._thoughts.finish())


async def _pieces(generate: TextGenerator, request: GenerateRequest) -> AsyncGenerator[str]:
    """What a generator gives, in pieces, however it gives it."""
    _check(request.signal)
    made: object = generate(request)
    if not isinstance(made, AsyncIterable) and isinstance(made, Awaitable):
        made = await cast("Awaitable[object]", made)
    if not isinstance(made, AsyncIterable):
        _check(request.signal)
        yield _text(made)
        return
    pieces: AsyncIterator[object] = aiter(cast("AsyncIterable[object]", made))
    try:
        async for piece in pieces:
            _check(request.signal)
            yield _text(piece)
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


def _check(signal: Signal | None) -> None:
    if signal is not None:
        signal.check()


def _text(piece: object) -> str:
    if isinstance(piece, str):
        return piece
    raise GeneratorUnusable(f"the text generator gave a `{type(piece).__name__}` where text belongs")
