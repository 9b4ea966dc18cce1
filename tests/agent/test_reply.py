"""One reply of a model, read as far as it is wanted."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from gateway.agent.parse import MAX_REPLY
from gateway.agent.ports import ChatDelta, TextDelta, Usage
from gateway.agent.reply import ReplyEnd, ReplyReader, read_deltas

OBJECT = '{"answer":"x"}'


async def read(end: ReplyEnd, *deltas: ChatDelta) -> ReplyReader:
    async def chat() -> AsyncGenerator[ChatDelta]:
        for delta in deltas:
            yield delta

    reader = ReplyReader(end)
    async for _piece in read_deltas(chat(), reader):
        pass
    return reader


@pytest.mark.parametrize(
    ("end", "written"),
    [
        (ReplyEnd.OBJECT, f"<think>a</think>{OBJECT}"),
        (ReplyEnd.AFTER_OBJECT, f"<think>a</think>{OBJECT}\n And"),
        (ReplyEnd.STREAM, f"<think>a</think>{OBJECT}\n And so on"),
    ],
)
async def test_a_reply_is_read_as_far_as_it_is_wanted(end: ReplyEnd, written: str) -> None:
    pieces = ["<think>a</think>", '{"answer":', '"x"}', "\n", " And", " so on"]
    reader = await read(end, *map(TextDelta, pieces))
    assert (reader.written, reader.said) == (written, written.removeprefix("<think>a</think>"))


async def test_white_space_after_the_object_leaves_time_for_the_token_counts() -> None:
    reader = await read(ReplyEnd.AFTER_OBJECT, TextDelta(OBJECT), TextDelta("\n"), Usage(5, 3))
    assert (reader.usage, reader.is_over) == (Usage(5, 3), False)


async def test_a_piece_that_makes_the_reply_too_long_is_left_out() -> None:
    reader = await read(ReplyEnd.STREAM, TextDelta("a"), TextDelta("x" * MAX_REPLY), TextDelta("b"))
    assert (reader.written, reader.is_over) == ("a", True)


async def test_an_object_that_ends_in_such_a_piece_is_kept() -> None:
    reader = await read(ReplyEnd.OBJECT, TextDelta(OBJECT + "x" * MAX_REPLY))
    assert reader.said.startswith(OBJECT)
