"""Model servers with a name: what is said when one is away, wants a key, or lacks the model."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from gateway.adapters.inference.factory import ModelChoice, build_backend
from gateway.adapters.inference.openai_api import Upstream
from gateway.adapters.inference.presets import PRESETS, Preset, keys_of, preset_of
from gateway.adapters.inference.reach import ask_what_is_there, reach
from gateway.adapters.inference.remote import RemoteBackend
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import ModelPhase
from tests.fakes.clock import FakeClock

OLLAMA, OPENROUTER = PRESETS["ollama"], PRESETS["openrouter"]
NOBODY = "http://127.0.0.1:1/v1"


@dataclass
class ModelServer:
    """Lists models; with a `key`, asks for it at `guarded`."""

    url: str = ""
    listed: Any = field(default_factory=lambda: {"data": [{"id": "qwen3:4b"}, {"id": "llama3.2:latest"}]})
    key: str = ""
    guarded: str = "/v1/models"
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    async def answer(self, request: web.Request) -> web.StreamResponse:
        given = request.headers.get("Authorization", "")
        self.asked.append((request.path, given))
        if self.key and request.path == self.guarded and given != f"Bearer {self.key}":
            return web.json_response({"error": {"message": f"bad key {given}"}}, status=401)
        if request.path == "/v1/models":
            return web.json_response(self.listed) if self.listed is not None else web.Response(status=404, text="not found")
        return web.json_response({"data": {}})


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ModelServer]:
    server = ModelServer()
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", server.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield server
    await runner.cleanup()


def at(server: ModelServer, preset: Preset) -> Preset:
    return replace(preset, url=server.url)


async def test_a_server_that_is_there_says_what_it_has(server: ModelServer) -> None:
    reached = await reach(at(server, OLLAMA), key="", model="qwen3:4b")
    assert (reached.phase, reached.detail, reached.model) == (ModelPhase.READY, "", "qwen3:4b")
    assert list(reached.offers) == ["qwen3:4b", "llama3.2:latest"]
    assert (await reach(at(server, OLLAMA), key="", model="llama3.2")).model == "llama3.2:latest"
    assert (await reach(at(server, OLLAMA), key="")).model == "qwen3:4b"


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
async def test_a_server_that_is_away_is_said_with_how_to_start_it(preset: Preset) -> None:
    reached = await reach(replace(preset, url=NOBODY), key="k")
    assert reached.phase is ModelPhase.CRASHED
    assert reached.detail == f"{preset.title} does not answer; {preset.start}"


async def test_a_key_that_is_refused_is_said_with_its_variable_and_not_shown(server: ModelServer) -> None:
    server.key = "right"
    reached = await reach(at(server, PRESETS["vllm"]), key="sk-wrong")
    assert reached.detail == "vLLM refuses the key; check VLLM_API_KEY"
    assert (await reach(at(server, PRESETS["vllm"]), key="right")).phase is ModelPhase.READY


async def test_a_server_that_lists_its_models_to_anybody_is_asked_about_the_key(server: ModelServer) -> None:
    """Else a wrong key would be found out only in the middle of the first turn."""
    server.key, server.guarded = "right", "/v1/key"
    assert (await reach(at(server, OPENROUTER), key="")).detail == "OpenRouter wants a key; set OPENROUTER_API_KEY"
    assert server.asked == []
    assert "OPENROUTER_API_KEY" in (await reach(at(server, OPENROUTER), key="sk-wrong")).detail
    assert (await reach(at(server, OPENROUTER), key="right")).phase is ModelPhase.READY


async def test_a_model_that_is_missing_is_said_with_those_that_are_there(server: ModelServer) -> None:
    reached = await reach(at(server, OLLAMA), key="", model="llama3.1")
    assert reached.phase is ModelPhase.ABSENT
    assert reached.detail == (
        "Ollama has no model `llama3.1`; there are `llama3.2:latest`, `qwen3:4b`; fetch one with `ollama pull NAME`"
    )
    server.listed = {"data": [{"id": f"model-{number}"} for number in range(300)]}
    assert "and 292 more" in (await reach(at(server, OLLAMA), key="", model="model")).detail
    server.listed = {"data": []}
    assert "lists no model; fetch one" in (await reach(at(server, OLLAMA), key="")).detail
    assert "there is none" in (await reach(at(server, OLLAMA), key="", model="x")).detail


@pytest.mark.parametrize("listed", [None, [], "text", {"data": 3}], ids=["404", "array", "text", "number"])
async def test_something_else_behind_the_port_is_no_model_server(server: ModelServer, listed: Any) -> None:
    server.listed = listed
    assert (await reach(at(server, OLLAMA), key="")).phase is not ModelPhase.READY


async def test_a_page_behind_a_url_is_told_from_silence_and_a_server_that_lists_nothing_is_believed(server: ModelServer) -> None:
    server.listed = None
    upstream = Upstream(server.url.removesuffix("/v1"), key="")
    await upstream.open()
    unnamed = await ask_what_is_there(upstream, "")
    named = await ask_what_is_there(upstream, "mine")
    await upstream.close()
    answers = "the model server answers /v1/models with something else than JSON (status 404); check its URL"
    assert (unnamed.phase, unnamed.detail) == (ModelPhase.ABSENT, answers)
    assert (named.phase, named.model) == (ModelPhase.READY, "mine")


async def test_the_setting_names_server_and_model(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "ollama", at(server, OLLAMA))
    choice = ModelChoice("ollama/llama3.2", tmp_path, tmp_path, url_key="of-another-server", keys={"vllm": "k"})
    backend = build_backend(choice, FakeClock())
    assert isinstance(backend, RemoteBackend)
    await backend.start()
    (model,) = await backend.models()
    await backend.stop()
    place = server.url.removeprefix("http://").removesuffix("/v1")
    assert (model.id, model.display_name, model.local) == (f"remote:{place}:llama3.2:latest", "llama3.2:latest", False)
    assert server.asked[0] == ("/v1/models", "")
    assert {key for _, key in server.asked} == {""}, "no server gets another's key"


async def test_a_missing_model_is_not_offered_and_appears_when_it_was_fetched(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PRESETS, "ollama", at(server, OLLAMA))
    clock = FakeClock()
    backend = build_backend(ModelChoice("ollama/new", tmp_path, tmp_path), clock)
    await backend.start()
    assert await backend.models() == ()
    assert "no model `new`" in backend.state().detail
    server.listed["data"].append({"id": "new"})
    clock.advance(11)
    assert [model.display_name for model in await backend.models()] == ["new"]
    await backend.stop()


async def test_a_named_model_whose_server_is_away_is_offered_with_the_reason_until_the_server_answers(
    server: ModelServer,
) -> None:
    clock = FakeClock()
    listed, server.listed = server.listed, None
    away = RemoteBackend(NOBODY, model="llama3.2:latest", key="", clock=clock)
    there = RemoteBackend(server.url, model="qwen3:4b", key="", clock=clock, preset="")
    server.key = "wanted"
    for backend in (away, there):
        await backend.start()
    (model,) = await away.models()
    assert model.display_name == "llama3.2:latest"
    assert model.trouble == away.state().detail != ""
    (model,) = await there.models()
    assert "key" in model.trouble
    server.listed, server.key = listed, ""
    clock.advance(11)
    (model,) = await there.models()
    assert model.trouble == "", "it answers again"
    for backend in (away, there):
        await backend.stop()


def test_only_a_known_name_is_a_preset() -> None:
    assert preset_of("ollama/hf.co/a/b:Q4") == ("ollama", "hf.co/a/b:Q4")
    assert preset_of("vllm") == ("vllm", "")
    assert preset_of("ollama-x/y") is None
    assert preset_of("models/ollama/x.gguf") is None


def test_a_key_that_no_header_can_carry_is_refused() -> None:
    assert keys_of({"VLLM_API_KEY": "a", "OLLAMA_API_KEY": ""}) == {"vllm": "a"}
    with pytest.raises(Misconfigured, match="OPENROUTER_API_KEY") as caught:
        keys_of({"OPENROUTER_API_KEY": "sk-secret\r\nX: y"})
    assert "sk-secret" not in caught.value.message


async def test_the_command_asks_nobody_elsewhere_without_a_key(tmp_path: Path) -> None:
    async def run(*arguments: str) -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "models", "presets", *arguments),
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])},
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            out, _ = await process.communicate()
        return process.returncode or 0, out.decode()

    code, out = await run()
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[::2]] == list(PRESETS)
    assert "not asked; set OPENROUTER_API_KEY" in out
    code, out = await run("openrouter")
    assert code == 1
    assert "wants a key" in out
