"""The InferenceBackend port, over every adapter of it: the scripted one, a remote server, a supervised sidecar."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from gateway.adapters.inference.factory import ManagedBackend, ModelChoice, build_backend
from gateway.adapters.inference.local import LocalBackend
from gateway.adapters.inference.scripted import Reply, ScriptedBackend
from gateway.core.errors import GatewayError, NotFound
from gateway.runtime.ports import InferenceBackend, ModelPhase
from tests.fakes.clock import FakeClock
from tests.fakes.openai_server import openai_app, serving

from .conftest import gguf

FAKE_SERVER = Path(__file__).with_name("fake_server.py")
CHAT = "/v1/chat/completions"
QUESTION = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 8}


def scripted() -> ScriptedBackend:
    return ScriptedBackend(lambda request: Reply("A scripted answer."))


@pytest.fixture(params=["scripted", "remote", "sidecar"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[InferenceBackend]:
    async with contextlib.AsyncExitStack() as stack:
        built: ManagedBackend = scripted()
        match request.param:
            case "remote":
                url = await stack.enter_async_context(serving(openai_app(scripted(), key="k")))
                built = build_backend(ModelChoice("", tmp_path, tmp_path, url=url, url_key="k"), FakeClock())
            case "sidecar":
                (tmp_path / "m.gguf").write_bytes(gguf())
                binary = tmp_path / "llama-server"
                binary.write_text(f"#!{sys.executable} -I\n" + FAKE_SERVER.read_text(encoding="utf-8"))
                binary.chmod(0o755)
                choice = ModelChoice(str(tmp_path / "m.gguf"), tmp_path, tmp_path / "s", llama_server=str(binary), sandbox=None)
                built = build_backend(choice, FakeClock())
            case _:
                pass
        await built.start()
        stack.push_async_callback(built.stop)
        if isinstance(built, LocalBackend):
            async with asyncio.timeout(30):
                await built.settle()
        yield built


async def test_there_is_a_model_with_an_id_that_says_which(backend: InferenceBackend) -> None:
    (model,) = await backend.models()
    assert ":" in model.id
    assert 0 < model.output_tokens <= model.context_tokens
    assert await backend.models() == (model,)


async def test_it_is_ready(backend: InferenceBackend) -> None:
    assert backend.state().phase is ModelPhase.READY


@pytest.mark.requirement("002-06", "a script, a remote server and a local one answer in the same form")
@pytest.mark.requirement("002-45", "every backend streams its answer")
async def test_a_streamed_answer_is_an_event_stream_that_says_when_it_is_done(backend: InferenceBackend) -> None:
    async with asyncio.timeout(20), backend.ask(CHAT, orjson.dumps({**QUESTION, "stream": True})) as answer:
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        body = b"".join([chunk async for chunk in answer.chunks()])
    assert body.startswith(b"data: {")
    assert body.endswith(b"data: [DONE]\n\n")


@pytest.mark.requirement("002-45", "an answer can be left at any time at every backend")
async def test_an_answer_may_be_left_at_any_time_and_the_next_one_asked(backend: InferenceBackend) -> None:
    async with asyncio.timeout(20):
        for _ in range(3):
            async with backend.ask(CHAT, orjson.dumps({**QUESTION, "stream": True})) as answer:
                assert await anext(answer.chunks())
            async with backend.ask(CHAT, orjson.dumps({**QUESTION, "stream": True})):
                pass


async def test_a_cancelled_reader_leaves_the_backend_usable(backend: InferenceBackend) -> None:
    async def read_for_ever() -> None:
        while True:
            async with backend.ask(CHAT, orjson.dumps({**QUESTION, "stream": True})) as answer:
                async for _ in answer.chunks():
                    pass

    async with asyncio.timeout(20):
        reader = asyncio.ensure_future(read_for_ever())
        await asyncio.wait({reader}, timeout=0.05)
        reader.cancel()
        await asyncio.wait({reader})
        async with backend.ask(CHAT, orjson.dumps({**QUESTION, "stream": True})) as answer:
            assert answer.status == 200


async def test_another_path_is_refused_with_an_error_of_the_tree(backend: InferenceBackend) -> None:
    with pytest.raises(GatewayError) as caught:
        async with backend.ask("/v1/../props", b"{}"):
            pass
    assert isinstance(caught.value, NotFound)
