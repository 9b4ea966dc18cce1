"""Ids come from the server that worked with them, are counted against its own figures, and go no further."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import orjson
import pytest

from gateway.adapters.inference.scripted import Reply, ScriptedBackend
from gateway.adapters.inference.tokens import CHAT, TokenKeeper
from gateway.agent.trajectory import TokenIds
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceStream

PROMPT = "<|im_start|>user\nhello<|im_end|>\n"
VERBOSE = {"prompt": PROMPT, "tokens": [7, 8, 9], "tokens_predicted": 3, "tokens_evaluated": 2}


class Answer:
    def __init__(self, status: int, content_type: str, body: bytes) -> None:
        self.status, self.content_type, self.body = status, content_type, body

    async def chunks(self) -> AsyncGenerator[bytes]:
        # In two pieces, as sockets give them.
        yield self.body[:7]
        yield self.body[7:]


class Server:
    """A scripted model whose whole answers carry `verbose`, and which knows the ids of one prompt."""

    def __init__(self, reply: Reply, verbose: object = VERBOSE, status: int = 200) -> None:
        self.scripted = ScriptedBackend(lambda request: reply)
        self.verbose = verbose
        self.status = status

    async def tokenise(self, prompt: str) -> tuple[int, ...]:
        assert prompt == PROMPT
        return (1, 2)

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        async with self.scripted.ask(path, body) as answer:
            whole = b"".join([chunk async for chunk in answer.chunks()])
            if answer.content_type == "application/json":
                whole = orjson.dumps(orjson.loads(whole) | {"__verbose": self.verbose, "timings": {"cache_n": 5}})
            yield Answer(self.status, answer.content_type, whole)


async def ask(keeper: TokenKeeper, server: Server, *, stream: bool = True) -> tuple[int, str, bytes]:
    body = {"messages": [{"role": "user", "content": "hello"}], "stream": stream, "stream_options": {"include_usage": True}}
    async with asyncio.timeout(10), keeper.ask(server, CHAT, orjson.dumps(body)) as answer:
        return answer.status, answer.content_type, b"".join([chunk async for chunk in answer.chunks()])


def events(stream: bytes) -> list[dict[str, Any]]:
    *lines, done = stream.decode().strip().split("\n\n")
    assert done == "data: [DONE]"
    return [orjson.loads(line.removeprefix("data: ")) for line in lines]


@pytest.mark.requirement("000-36", "the ids are those that the server says it fed and sampled")
async def test_a_stream_reads_as_ever_and_its_ids_can_be_taken_once() -> None:
    server = Server(Reply("It is done."))
    keeper = TokenKeeper()
    status, content_type, stream = await ask(keeper, server)
    assert (status, content_type) == (200, "text/event-stream")
    told = events(stream)
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in told if event["choices"]) == "It is done."
    assert [event["choices"][0]["finish_reason"] for event in told if event["choices"]] == [None, "stop"]
    assert told[-1]["usage"]["total_tokens"] == told[-1]["usage"]["prompt_tokens"] + 2
    assert told[-1]["timings"] == {"cache_n": 5}
    assert {event["model"] for event in told} == {"scripted:demonstration"}
    assert keeper.take() == TokenIds((1, 2), (7, 8, 9))
    assert keeper.take() is None


async def test_what_the_server_says_besides_goes_no_further() -> None:
    _, _, stream = await ask(TokenKeeper(), Server(Reply("x")))
    assert b"__verbose" not in stream
    assert b"im_start" not in stream


async def test_it_asks_for_a_whole_answer_with_ids() -> None:
    server = Server(Reply("x"))
    await ask(TokenKeeper(), server)
    (asked,) = server.scripted.asked
    assert (asked["stream"], asked["return_tokens"], asked["verbose"]) == (False, True, True)
    assert "stream_options" not in asked


async def test_calls_in_the_runtimes_own_form_stream_too() -> None:
    _, _, stream = await ask(TokenKeeper(), Server(Reply(calls=(("a", {}), ("b", {"x": 1})))))
    calls = [call for event in events(stream) for choice in event["choices"] for call in choice["delta"].get("tool_calls", ())]
    assert [(call["index"], call["function"]["name"]) for call in calls] == [(0, "a"), (1, "b")]


@pytest.mark.requirement("000-36", "ids that do not match the server's own counts are left out")
@pytest.mark.parametrize(
    "verbose",
    [
        None,
        {},
        {**VERBOSE, "tokens_predicted": 4},
        {**VERBOSE, "tokens_evaluated": 3},
        {**VERBOSE, "tokens": "789"},
        {**VERBOSE, "tokens": [7, 8, "9"]},
        {**VERBOSE, "prompt": None},
    ],
    ids=["none", "empty", "fewer-sampled", "fewer-fed", "text", "no-number", "no-prompt"],
)
async def test_ids_that_do_not_add_up_are_absent(verbose: object) -> None:
    keeper = TokenKeeper()
    assert (await ask(keeper, Server(Reply("x"), verbose)))[0] == 200
    assert keeper.take() is None


async def test_an_answer_that_failed_has_no_ids() -> None:
    keeper = TokenKeeper()
    assert (await ask(keeper, Server(Reply("x"), status=400)))[0] == 400
    assert keeper.take() is None


async def test_ids_of_another_answer_are_nobodys() -> None:
    server = Server(Reply("x"))
    keeper = TokenKeeper()
    await ask(keeper, server)
    await ask(keeper, server)
    assert keeper.take() is None
    await ask(keeper, server)
    assert keeper.take() is not None


async def test_whole_answers_are_passed_on_as_they_are() -> None:
    server = Server(Reply("x"))
    keeper = TokenKeeper()
    _, content_type, _ = await ask(keeper, server, stream=False)
    assert content_type == "application/json"
    assert "verbose" not in server.scripted.asked[0]
    assert keeper.take() is None


async def test_an_answer_that_does_not_read_is_an_error_in_words() -> None:
    class Broken(Server):
        @contextlib.asynccontextmanager
        async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
            yield Answer(200, "application/json", b'["never')

    with pytest.raises(ModelUnavailable, match="does not read"):
        await ask(TokenKeeper(), Broken(Reply("")))
