"""The real server with the real default model: what the fakes are trusted for holds there too."""

# pyright: reportPrivateUsage=false
# These tests stand in for an intruder beside the gateway, and need what it holds to show that it holds it back.

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import psutil
import pytest
import pytest_asyncio

from gateway.adapters.inference.engine import WheelEngine, default_threads
from gateway.adapters.inference.local import FOLDER, LocalBackend
from gateway.adapters.inference.openai_api import Upstream
from gateway.adapters.inference.sidecar import CONFINED_FOLDER, Sidecar
from gateway.adapters.inference.sidecar_plan import SidecarPlan
from gateway.adapters.system.clock import SystemClock
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import ModelPhase
from gateway.sandbox.job import SandboxPreference
from tests.harness.processes import running_below

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="module")]

CHAT = "/v1/chat/completions"
PATIENT = 120.0

SYSTEM = """You are a helper with tools. Answer with JSON: call one tool, or answer in words.
Tools:
read_file(path) - Read a text file.
delete_file(path) - Delete a file."""

SHOTS = (
    ("show me letters/anna.txt", {"tool": "read_file", "arguments": {"path": "letters/anna.txt"}}),
    ("hi there!", {"answer": "Hello! What can I do for you?"}),
    ("remove drafts/page2.md", {"tool": "delete_file", "arguments": {"path": "drafts/page2.md"}}),
    ("thanks, that was good", {"answer": "You are welcome!"}),
    ("I would like to see budget.csv", {"tool": "read_file", "arguments": {"path": "budget.csv"}}),
)


def an_object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


STEP = {
    "oneOf": [
        *(an_object(tool={"const": name}, arguments=an_object(path={"type": "string"})) for name in ("read_file", "delete_file")),
        an_object(answer={"type": "string", "maxLength": 200}),
    ]
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(real_models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalBackend]:
    backend = LocalBackend(
        "default",
        models=real_models,
        state=tmp_path_factory.mktemp("state"),
        context_tokens=4096,
        threads=None,
        llama_server="",
        origins=("http://agent.localhost:8765",),
        clock=SystemClock(),
        sandbox=SandboxPreference.AUTO,
    )
    await backend.start()
    try:
        async with asyncio.timeout(PATIENT):
            assert (await backend.settle()).phase is ModelPhase.READY
        yield backend
    finally:
        await backend.stop()


@pytest.fixture
def server(backend: LocalBackend) -> psutil.Process:
    """The process of the model server."""
    # What builds the sandbox has the same words on its command line, and a child.
    (server,) = [each for each in running_below(None, "xllama_launcher") if not each.children()]
    return server


@pytest.fixture
def upstream(backend: LocalBackend) -> Upstream:
    """The sidecar's own endpoint, with its key."""
    assert backend._sidecar is not None
    return backend._sidecar._ready()


def prompt(question: str) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": SYSTEM}]
    for asked, answer in SHOTS:
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": orjson.dumps(answer).decode()}]
    return [*messages, {"role": "user", "content": question}]


async def decide(backend: LocalBackend, question: str) -> dict[str, Any]:
    """The model's step, streamed under the schema."""
    schema = {"name": "step", "strict": True, "schema": STEP}
    body = {
        "messages": prompt(question),
        "stream": True,
        "temperature": 0,
        "max_tokens": 128,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
    async with asyncio.timeout(PATIENT), backend.ask(CHAT, orjson.dumps(body)) as answer:
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        stream = b"".join([chunk async for chunk in answer.chunks()])
    lines = [line.removeprefix(b"data: ") for line in stream.split(b"\n\n") if line.startswith(b"data: {")]
    events = [orjson.loads(line) for line in lines]
    # Who reads this in a browser learns which model it is, and no path of this machine.
    (model,) = await backend.models()
    assert {event["model"] for event in events} == {model.id}
    pieces = [event["choices"][0]["delta"].get("content") or "" for event in events if event["choices"]]
    assert len(pieces) > 3
    step: dict[str, Any] = orjson.loads("".join(pieces))
    return step


@pytest.mark.requirement("002-80", "the default model chooses the right tool with its arguments")
@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("delete notes/old.txt", {"tool": "delete_file", "arguments": {"path": "notes/old.txt"}}),
        ("read notes/todo.txt", {"tool": "read_file", "arguments": {"path": "notes/todo.txt"}}),
    ],
)
async def test_the_default_model_chooses_a_tool_under_a_schema(
    backend: LocalBackend, question: str, step: dict[str, Any]
) -> None:
    assert await decide(backend, question) == step


async def test_the_default_model_answers_small_talk_in_words(backend: LocalBackend) -> None:
    assert set(await decide(backend, "hello")) == {"answer"}


async def predicted_tokens(upstream: Upstream) -> int:
    assert upstream._session is not None
    async with upstream._session.get("http://sidecar/metrics", headers=upstream._headers) as response:
        found = re.search(r"^llamacpp:tokens_predicted_total (\d+)", await response.text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


async def is_busy(upstream: Upstream) -> bool:
    slots: list[dict[str, Any]] = await upstream.read_json("/slots", seconds=20)
    return any(slot["is_processing"] for slot in slots)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENT):
        while not await condition():
            # Slower than the server's own once-a-second look at its clients, which each other answer puts off.
            await asyncio.sleep(1.5)


@pytest.mark.requirement("002-45", "leaving an answer stops the real model server's decoding")
async def test_leaving_an_answer_stops_the_decoding(backend: LocalBackend, upstream: Upstream) -> None:
    before = await predicted_tokens(upstream)
    body = {"messages": [{"role": "user", "content": "Count from 1 to 100000."}], "stream": True, "max_tokens": 3000}
    async with (
        asyncio.timeout(PATIENT),
        backend.ask(CHAT, orjson.dumps({**body, "temperature": 0, "ignore_eos": True})) as answer,
    ):
        chunks = answer.chunks()
        for _ in range(5):
            await anext(chunks)
        assert await is_busy(upstream)

    async def is_idle() -> bool:
        return not await is_busy(upstream)

    await until(is_idle)
    # At some 30 tokens a second, 3000 would take a minute and a half; the first look comes at once.
    assert await predicted_tokens(upstream) - before < 500
    assert set(await decide(backend, "hello")) == {"answer"}


async def test_a_wrong_key_or_none_is_refused(upstream: Upstream) -> None:
    assert await upstream.probe("/props", seconds=20, with_key=False) == 401
    assert await upstream.probe("/v1/models", seconds=20, with_key=False) == 401
    intruder = Upstream("http://sidecar", key="wrong", socket=upstream._socket)
    await intruder.open()
    try:
        with pytest.raises(ModelUnavailable, match="refuses the key"):
            async with intruder.ask(CHAT, b"{}"):
                pass
    finally:
        await intruder.close()


async def test_no_page_may_read_its_answers(upstream: Upstream) -> None:
    assert isinstance(upstream._session, aiohttp.ClientSession)
    async with upstream._session.get("http://sidecar/health", headers={"Origin": "https://evil.example"}) as response:
        assert response.headers["Access-Control-Allow-Origin"] == "http://agent.localhost:8765"


@pytest.mark.requirement("002-01", "the real model server has no internet socket and no key in its environment")
@pytest.mark.requirement("002-62", "the real model server has no internet socket")
async def test_the_process_has_nothing_to_lose(server: psutil.Process, upstream: Upstream) -> None:
    key = upstream._headers["Authorization"].removeprefix("Bearer ")
    assert set(server.environ()) - {"LC_CTYPE"} == {"PATH", "HOME", "OMP_WAIT_POLICY"}
    assert not any(key in part for part in [*server.cmdline(), *server.environ().values()])
    assert server.net_connections(kind="inet") == []


async def test_the_common_beginning_is_evaluated_once(backend: LocalBackend, upstream: Upstream) -> None:
    async with asyncio.timeout(PATIENT):
        await backend.warm(prompt("")[:-1])
        body = {"messages": prompt("read a.txt"), "max_tokens": 1}
        async with backend.ask(CHAT, orjson.dumps(body)) as answer:
            whole = orjson.loads(b"".join([chunk async for chunk in answer.chunks()]))
    assert whole["timings"]["cache_n"] > 10 * whole["timings"]["prompt_n"]


async def test_ids_are_those_in_the_servers_own_cache(backend: LocalBackend, upstream: Upstream) -> None:
    take = backend.keep_tokens()
    body = {"messages": TWO_PIECES_A_CHARACTER, "stream": True, "temperature": 0, "max_tokens": 40}
    async with asyncio.timeout(PATIENT), backend.ask(CHAT, orjson.dumps(body)) as answer:
        stream = b"".join([chunk async for chunk in answer.chunks()])
    tokens, backend._keeper = take(), None
    assert tokens is not None
    # Characters of several tokens each: what a stream of pieces has no ids for.
    assert len(tokens.sampled) > 2 * len("🦜🧶")
    assert "🦜🧶".encode() in stream
    # What the server saves is what it evaluated: all that was fed, and all that was sampled but for the last.
    async with upstream.ask("/slots/0?action=save", b'{"filename":"ids.bin"}') as saved:
        path = backend._state_folder / FOLDER / CONFINED_FOLDER / "ids.bin"
        assert saved.status == 200
        async for _ in saved.chunks():
            pass
    evaluated = (*tokens.fed, *tokens.sampled[:-1])
    assert struct.pack(f"<{len(evaluated)}i", *evaluated) in path.read_bytes()


TWO_PIECES_A_CHARACTER = [
    {"role": "system", "content": "You repeat exactly what the user says."},
    {"role": "user", "content": "𝕳𝖊𝖑𝖑𝖔 🙂🧬"},
    {"role": "assistant", "content": "𝕳𝖊𝖑𝖑𝖔 🙂🧬"},
    {"role": "user", "content": "🦜🧶 𝕳𝖊"},
]


async def test_a_killed_server_comes_back(backend: LocalBackend, server: psutil.Process) -> None:
    server.send_signal(signal.SIGKILL)

    async def is_another() -> bool:
        # The state of the one before stands until its end is noticed.
        launched: list[psutil.Process] = []
        for each in running_below(None, "xllama_launcher"):
            # One that ends while it is looked at is none, and what the one before ran in may outlive it.
            with contextlib.suppress(psutil.NoSuchProcess):
                launched += [each] if not each.children() and each.create_time() > server.create_time() else []
        return backend.state().phase is ModelPhase.READY and launched != []

    await until(is_another)
    assert await decide(backend, "delete notes/old.txt") == {"tool": "delete_file", "arguments": {"path": "notes/old.txt"}}


async def test_a_file_that_is_no_model_is_given_up_in_words(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(100))
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    plan = SidecarPlan(tmp_path / "m.gguf", "a:b", tmp_path / FOLDER, 4096, default_threads(), repack=True, origins=())
    sidecar = Sidecar(plan, WheelEngine(), clock=SystemClock(), pause=pause)
    await sidecar.start()
    try:
        async with asyncio.timeout(PATIENT):
            state = await sidecar.settle()
    finally:
        await sidecar.stop()
    assert (state.phase, pauses) == (ModelPhase.CRASHED, [1.0, 2.0, 4.0, 8.0])
    assert "while it was loading the model, 5 times in a row" in state.detail


async def test_a_request_that_needs_more_context_gets_it_and_nothing_is_read_twice(real_models: Path, tmp_path: Path) -> None:
    backend = LocalBackend(
        "default",
        models=real_models,
        state=tmp_path,
        context_tokens=16384,
        threads=None,
        llama_server="",
        origins=(),
        clock=SystemClock(),
        sandbox=SandboxPreference.AUTO,
    )
    body = {"messages": prompt("hello"), "stream": True, "temperature": 0, "timings_per_token": True}

    async def first_piece(max_tokens: int) -> dict[str, Any]:
        async with asyncio.timeout(PATIENT), backend.ask(CHAT, orjson.dumps({**body, "max_tokens": max_tokens})) as answer:
            assert answer.status == 200
            async for chunk in answer.chunks():
                for line in chunk.split(b"\n\n"):
                    if b'"timings"' in line:
                        return orjson.loads(line.removeprefix(b"data: "))["timings"]
        raise AssertionError("the server tells no timings")

    await backend.start()
    try:
        async with asyncio.timeout(PATIENT):
            assert (await backend.settle()).phase is ModelPhase.READY
        assert backend._sidecar is not None
        read = (await first_piece(1))["prompt_n"]
        assert backend._sidecar.context_tokens == 4096
        grown = await first_piece(4096)
        assert backend._sidecar.context_tokens == 8192
        assert (grown["cache_n"] > read // 2, grown["prompt_n"] < read // 2) == (True, True)
    finally:
        await backend.stop()
