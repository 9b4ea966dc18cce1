"""The scripted model: same answers every time, in the shapes that real servers use."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from gateway.adapters.inference.scripted import Reply, ScriptedBackend, in_order
from gateway.core.errors import MalformedJson, ModelUnavailable, NotFound

CHAT = "/v1/chat/completions"


async def ask(backend: ScriptedBackend, **body: object) -> bytes:
    async with asyncio.timeout(10), backend.ask(CHAT, orjson.dumps(body)) as answer:
        return b"".join([chunk async for chunk in answer.chunks()])


def events(stream: bytes) -> list[dict[str, Any]]:
    *lines, done = stream.decode().strip().split("\n\n")
    assert done == "data: [DONE]"
    return [orjson.loads(line.removeprefix("data: ")) for line in lines]


async def test_a_whole_answer_has_text_and_usage() -> None:
    backend = ScriptedBackend(in_order(Reply("It is done.")))
    answer = orjson.loads(await ask(backend, messages=[{"role": "user", "content": "do it now"}]))
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "It is done."}
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"] == {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4}


async def test_a_streamed_answer_comes_in_pieces_and_ends_with_usage() -> None:
    stream = events(await ask(ScriptedBackend(in_order(Reply("It is done."))), stream=True))
    pieces = [event["choices"][0]["delta"].get("content", "") for event in stream if event["choices"]]
    assert pieces == ["", "It i", "s do", "ne.", ""]
    assert stream[-2]["choices"][0]["finish_reason"] == "stop"
    assert stream[-1]["usage"]["completion_tokens"] == 2


@pytest.mark.requirement("002-79", "a scripted reply proposes a call in the shape of real servers, streamed or whole")
@pytest.mark.parametrize("stream", [True, False])
async def test_a_call_has_the_shape_of_a_tool_call(stream: bool) -> None:
    raw = await ask(ScriptedBackend(in_order(Reply(calls=(("read_file", {"path": "a"}),)))), stream=stream)
    bodies = events(raw) if stream else [orjson.loads(raw)]
    choices: list[dict[str, Any]] = [body["choices"][0] for body in bodies if body["choices"]]
    messages: list[dict[str, Any]] = [choice["delta" if stream else "message"] for choice in choices]
    functions: list[dict[str, str]] = [call["function"] for message in messages for call in message.get("tool_calls", [])]
    assert [(each["name"], orjson.loads(each["arguments"])) for each in functions] == [("read_file", {"path": "a"})]
    assert choices[-1]["finish_reason"] == "tool_calls"


@pytest.mark.requirement("002-79", "a script gives the same replies in the same order")
async def test_replies_come_in_order_and_then_no_more() -> None:
    backend = ScriptedBackend(in_order(Reply("one"), Reply("two")))
    assert b"one" in await ask(backend)
    assert b"two" in await ask(backend)
    with pytest.raises(ModelUnavailable, match="no more replies"):
        await ask(backend)
    assert len(backend.asked) == 3


async def test_a_script_may_look_at_the_question() -> None:
    def echo(request: Any) -> Reply:
        return Reply(request["messages"][-1]["content"])

    assert b"hello" in await ask(ScriptedBackend(echo), messages=[{"role": "user", "content": "hello"}])


async def test_a_stalling_reply_waits_to_be_given_up() -> None:
    backend = ScriptedBackend(in_order(Reply("never finished", stalls_after=1)))
    async with backend.ask(CHAT, b'{"stream": true}') as answer:
        chunks = answer.chunks()
        assert await anext(chunks)
        rest = asyncio.ensure_future(anext(chunks))
        done, _ = await asyncio.wait({rest}, timeout=0.05)
        assert not done
        assert backend.open_streams == 1
        rest.cancel()
        await asyncio.wait({rest})
    assert backend.open_streams == 0


async def test_what_a_server_would_refuse_is_refused() -> None:
    backend = ScriptedBackend(in_order())
    with pytest.raises(NotFound):
        async with backend.ask("/v1/embeddings", b"{}"):
            pass
    with pytest.raises(MalformedJson):
        async with backend.ask(CHAT, b"{"):
            pass
