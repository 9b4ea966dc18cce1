"""Asking until a reply is usable, against the vectors that the browser's tests read too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from gateway.agent.parse import MAX_REPLY, AnswerChoice, Envelope, ToolChoice, parse_envelope
from gateway.agent.repair import (
    Accepted,
    ChatMessage,
    GaveUp,
    GenerateRequest,
    Repairing,
    ReplyPiece,
    TextGenerator,
    correction,
    pursue,
)
from gateway.agent.reply import MAX_PIECES
from gateway.core.errors import GeneratorUnusable
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("repair")
Told = ReplyPiece | Repairing | Accepted[Envelope] | GaveUp


class Stopped(Exception):
    """What a signal raises here."""


class Signal:
    def __init__(self) -> None:
        self.is_set = False

    def check(self) -> None:
        if self.is_set:
            raise Stopped


class Stream:
    """Pieces of a reply, which knows how many were taken and whether it was closed."""

    def __init__(self, pieces: Sequence[Any], before: Callable[[int], None] = lambda _: None) -> None:
        self.pieces = pieces
        self.before = before
        self.taken = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            for number, piece in enumerate(self.pieces):
                self.before(number)
                self.taken += 1
                yield piece
        finally:
            self.closed = True


def asked_of(generate: TextGenerator, **more: Any) -> AsyncGenerator[Told]:
    return pursue(generate, lambda closing: [{"role": "user", "content": "go"}, *closing], parse_envelope, **more)


async def play(case: dict[str, Any]) -> dict[str, Any]:
    """What a case comes to."""
    asked: list[list[ChatMessage]] = []
    taken: list[int] = []

    def generate(request: GenerateRequest) -> Any:
        asked.append(list(request.messages)[1:])
        reply = case["replies"][len(asked) - 1]
        if isinstance(reply, str):
            return reply
        stream = Stream(reply)
        streams.append(stream)
        return stream

    streams: list[Stream] = []
    progress = [written(told) async for told in asked_of(generate, max_repairs=case.get("maxRepairs", 2))]
    assert all(stream.closed for stream in streams)
    taken = [stream.taken for stream in streams]
    return {"progress": progress, "asked": asked, "taken": taken}


async def drain(progress: AsyncGenerator[Told]) -> list[Told]:
    return [told async for told in progress]


def written(told: Told) -> dict[str, Any]:
    match told:
        case ReplyPiece(attempt, thought, said):
            return {"kind": "heard", "attempt": attempt, "thought": thought, "said": said}
        case Repairing(attempt, reason):
            return {"kind": "repairing", "attempt": attempt, "reason": reason}
        case Accepted(attempts, value):
            return {"kind": "settled", "attempts": attempts, "value": envelope(value)}
        case GaveUp(attempts, reason):
            return {"kind": "gave-up", "attempts": attempts, "reason": reason}


def envelope(value: Envelope) -> dict[str, Any]:
    match value:
        case ToolChoice(tool, arguments):
            return {"kind": "call", "tool": tool, "arguments": arguments}
        case AnswerChoice(text):
            return {"kind": "answer", "text": text}


@pytest.mark.requirement("001-11", "the strict sentence is word for word")
@pytest.mark.parametrize("case", VECTORS["corrections"], ids=name_of)
def test_a_bad_reply_is_answered_with_one_strict_sentence(case: dict[str, Any]) -> None:
    assert correction(case["reason"]) == case["said"]


@pytest.mark.requirement("001-11", "a bad reply is corrected twice, then given up on")
@pytest.mark.requirement("000-05", "a stream is stopped at the piece that ends its first object")
@pytest.mark.requirement("001-15", "replies that are clean, fenced, in prose, mended and never mended")
@pytest.mark.parametrize("case", VECTORS["pursuits"], ids=name_of)
async def test_a_model_is_asked_until_its_reply_is_usable(case: dict[str, Any]) -> None:
    assert await play(case) == {key: case[key] for key in ("progress", "asked", "taken")}


@pytest.mark.requirement("001-04", "a function that gives text at once, later or in pieces is enough")
async def test_a_generator_may_give_its_text_at_once_later_or_as_a_stream_later() -> None:
    async def later(_: GenerateRequest) -> str:
        return '{"answer": "later"}'

    async def stream_later(_: GenerateRequest) -> Stream:
        return Stream(['{"answer": ', '"stream"}'])

    assert (await drain(asked_of(later)))[-1] == Accepted(1, AnswerChoice("later"))
    assert (await drain(asked_of(stream_later)))[-1] == Accepted(1, AnswerChoice("stream"))


@pytest.mark.requirement("001-04", "the function gets schema and signal")
async def test_the_schema_and_the_signal_reach_the_generator() -> None:
    seen: list[GenerateRequest] = []
    signal = Signal()

    def generate(request: GenerateRequest) -> str:
        seen.append(request)
        return '{"answer": "x"}'

    await drain(asked_of(generate, schema={"type": "object"}, signal=signal))
    assert seen == [GenerateRequest([{"role": "user", "content": "go"}], {"type": "object"}, signal)]


@pytest.mark.parametrize("made", [None, 7, b"{}", ["{}"]], ids=repr)
async def test_what_is_no_text_is_refused_by_name(made: Any) -> None:
    with pytest.raises(GeneratorUnusable, match=type(made).__name__):
        await anext(asked_of(lambda _: made))


async def test_a_piece_that_is_no_text_closes_the_stream() -> None:
    stream = Stream(["{", 7])
    with pytest.raises(GeneratorUnusable, match="int"):
        await drain(asked_of(lambda _: stream))
    assert stream.closed


async def test_what_the_runtime_raises_goes_through_and_is_no_bad_reply() -> None:
    def fail(number: int) -> None:
        if number == 1:
            raise ConnectionError("gone")

    stream = Stream(["{", "}"], fail)
    with pytest.raises(ConnectionError, match="gone"):
        await drain(asked_of(lambda _: stream))


async def test_a_signal_that_is_set_asks_nobody() -> None:
    signal = Signal()
    signal.is_set = True
    with pytest.raises(Stopped):
        await anext(asked_of(lambda _: pytest.fail("it was asked"), signal=signal))


async def test_a_signal_in_the_middle_of_a_stream_closes_it() -> None:
    signal = Signal()

    def stop(number: int) -> None:
        signal.is_set = number == 2

    stream = Stream(["a"] * 9, stop)
    with pytest.raises(Stopped):
        await drain(asked_of(lambda _: stream, signal=signal))
    assert (stream.taken, stream.closed) == (3, True)


async def test_a_signal_while_a_whole_reply_is_made_discards_it() -> None:
    signal = Signal()

    async def generate(_: GenerateRequest) -> str:
        signal.is_set = True
        return '{"answer": "x"}'

    with pytest.raises(Stopped):
        await anext(asked_of(generate, signal=signal))


async def test_a_cancelled_task_closes_the_stream_it_waits_for() -> None:
    waits, closed = asyncio.Event(), asyncio.Event()

    async def generate() -> AsyncIterator[str]:
        try:
            yield "{"
            waits.set()
            await asyncio.Event().wait()
        finally:
            closed.set()

    async def listen() -> None:
        async with aclosing(asked_of(lambda _: generate())) as progress:
            async for _ in progress:
                pass

    task = asyncio.create_task(listen())
    await asyncio.wait_for(waits.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


async def test_who_stops_listening_closes_the_stream() -> None:
    stream = Stream(["a"] * 9)
    async with aclosing(asked_of(lambda _: stream)) as progress:
        assert await anext(progress) == ReplyPiece(1, "", "a")
    assert (stream.taken, stream.closed) == (1, True)


async def test_an_iterator_that_cannot_be_closed_is_let_go() -> None:
    class Bare:
        def __aiter__(self) -> Bare:
            return self

        async def __anext__(self) -> str:
            return '{"answer": "x"}'

    assert (await drain(asked_of(lambda _: Bare())))[-1] == Accepted(1, AnswerChoice("x"))


@pytest.mark.parametrize("piece", ["", "x" * 1024], ids=["of nothing", "of prose"])
async def test_a_stream_without_end_comes_to_one(piece: str) -> None:
    async def generate() -> AsyncIterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield piece

    taken = 0
    told = await drain(asked_of(lambda _: generate(), max_repairs=0))
    assert told[-1] == GaveUp(1, "there is no JSON object")
    assert taken <= (MAX_REPLY / len(piece) if piece else MAX_PIECES) + 1
