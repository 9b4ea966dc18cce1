"""The context of a model behind a URL is the one that it is served with, wherever that kind of server says it.

The answers are those of the servers' own documentation.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.adapters.inference.diagnosis import diagnose_model
from gateway.adapters.inference.factory import ModelChoice
from gateway.adapters.inference.presets import PRESETS, Preset
from gateway.adapters.inference.remote import RemoteBackend
from tests.fakes.clock import FakeClock

CHAT = "/v1/chat/completions"


class Pages:
    """A server that answers each path with a document, and anything else with 404."""

    def __init__(self) -> None:
        self.documents: dict[str, Any] = {}
        self.url = ""
        self.clock = FakeClock()
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if request.path == CHAT:
            return web.json_response({"ok": True})
        if request.path not in self.documents:
            return web.Response(status=404, text="not found")
        if request.path == "/api/show":
            assert await request.json() == {"model": "m"}
        return web.json_response(self.documents[request.path])

    def lists(self, **facts: Any) -> None:
        self.documents["/v1/models"] = {"data": [{"id": "m", **facts}]}


@pytest.fixture
async def pages() -> AsyncIterator[Pages]:
    pages = Pages()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", pages.answer)
    async with TestServer(app) as server:
        pages.url = str(server.make_url("/"))
        yield pages


async def context_of(pages: Pages, wanted: int | None = None, preset: str = "") -> int:
    backend = RemoteBackend(pages.url, model="m", key="", context_tokens=wanted, clock=pages.clock, preset=preset)
    await backend.start()
    (model,) = await backend.models()
    await backend.stop()
    return model.context_tokens


OLLAMA: Mapping[str, Any] = {"model_info": {"general.architecture": "llama", "llama.context_length": 131072}}
PROPERTIES: Mapping[str, Any] = {"default_generation_settings": {"n_ctx": 16384}}
LM_STUDIO: Mapping[str, Any] = {"id": "m", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 16384}


@pytest.mark.parametrize(
    ("listed", "documents", "tokens"),
    [
        ({"max_model_len": 40960}, {}, 40960),
        ({"context_length": 131072}, {}, 131072),
        ({"context_length": 131072, "top_provider": {"context_length": 65536}}, {}, 65536),
        ({"owned_by": "llamacpp", "meta": {"n_ctx": 8192, "n_ctx_train": 32768}}, {}, 8192),
        (
            {"owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}},
            {"/props": PROPERTIES},
            16384,
        ),
        ({"owned_by": "library"}, {"/api/ps": {"models": [{"model": "m", "context_length": 8192}]}, "/api/show": OLLAMA}, 8192),
        ({"owned_by": "library"}, {"/api/ps": {"models": []}, "/api/show": OLLAMA}, 4096),
        ({"owned_by": "library"}, {"/api/ps": {"models": []}, "/api/show": {"model_info": {"bert.context_length": 512}}}, 512),
        (
            {"owned_by": "library"},
            {"/api/ps": {"models": []}, "/api/show": {**OLLAMA, "parameters": 'stop "x"\nnum_ctx       24000\ntop_k 3'}},
            24000,
        ),
        ({"owned_by": "organization_owner"}, {"/api/v0/models": {"data": [LM_STUDIO]}}, 16384),
        (
            {"owned_by": "organization_owner"},
            {"/api/v0/models": {"data": [{"id": "other", "loaded_context_length": 9}, {"id": "m", "max_context_length": 2048}]}},
            2048,
        ),
        ({"owned_by": "somebody"}, {"/props": PROPERTIES}, 4096),
    ],
    ids=[
        "vllm",
        "openrouter",
        "openrouter's provider",
        "llama.cpp lists",
        "llama.cpp's properties",
        "ollama runs",
        "ollama's default",
        "ollama's small model",
        "ollama's own setting",
        "lm studio",
        "lm studio's small model",
        "anybody else",
    ],
)
async def test_the_context_is_the_one_that_is_served(
    pages: Pages, listed: Mapping[str, Any], documents: Mapping[str, Any], tokens: int
) -> None:
    pages.lists(**listed)
    pages.documents |= documents
    assert await context_of(pages) == tokens


async def test_what_is_set_stands_for_what_is_not_said_and_bounds_what_is(pages: Pages) -> None:
    pages.lists()
    assert await context_of(pages, 16000) == 16000
    pages.lists(max_model_len=8192)
    assert [await context_of(pages, wanted) for wanted in (16000, 6000)] == [8192, 6000]
    pages.lists(owned_by="organization_owner")
    pages.documents["/api/v0/models"] = {"data": [{"id": "m", "max_context_length": 9000}]}
    assert await context_of(pages, 16000) == 9000


@pytest.mark.parametrize(
    "nonsense", [None, [], "x", {"models": 3}, {"data": [None, 3]}, {"default_generation_settings": {"n_ctx": "many"}}]
)
@pytest.mark.parametrize("owner", ["llamacpp", "library", "organization_owner"])
async def test_answers_that_make_no_sense_say_nothing(pages: Pages, owner: str, nonsense: object) -> None:
    pages.lists(owned_by=owner)
    pages.documents |= dict.fromkeys(("/props", "/api/ps", "/api/show", "/api/v0/models"), nonsense)
    assert await context_of(pages) == 4096


async def test_a_server_is_asked_only_what_its_kind_answers(pages: Pages) -> None:
    pages.lists(owned_by="vllm")
    await context_of(pages)
    assert pages.asked == ["/v1/models"]


async def test_a_preset_says_which_kind_it_is(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "lmstudio", Preset("LM Studio", f"{pages.url}v1", "LM_API_TOKEN", "start it", "fetch one"))
    pages.lists()
    pages.documents["/api/v0/models"] = {"data": [LM_STUDIO]}
    assert await context_of(pages, preset="lmstudio") == 16384


async def test_a_server_that_loads_a_model_when_it_is_asked_is_asked_again_then(pages: Pages) -> None:
    pages.lists(owned_by="library")
    pages.documents |= {"/api/ps": {"models": []}, "/api/show": OLLAMA}
    backend = RemoteBackend(pages.url, model="m", key="", clock=pages.clock)
    await backend.start()

    async def tokens() -> int:
        return (await backend.models())[0].context_tokens

    async def ask() -> None:
        async with asyncio.timeout(20), backend.ask(CHAT, b"{}") as answer:
            assert b"".join([chunk async for chunk in answer.chunks()])

    assert await tokens() == 4096
    await ask()
    pages.documents["/api/ps"] = {"models": [{"model": "m", "context_length": 32768}]}
    pages.clock.advance(11)
    assert await tokens() == 32768
    asked = len(pages.asked)
    await ask()
    pages.clock.advance(11)
    assert await tokens() == 32768
    assert pages.asked[asked:] == [CHAT]
    await backend.stop()


@pytest.mark.parametrize(
    ("listed", "wanted", "sentence"),
    [
        ({"max_model_len": 8192}, None, "8,192 tokens of context"),
        ({"max_model_len": 8192}, 6000, "6,000 tokens of context of the 8,192 that the server gives"),
        ({}, None, "4,096 tokens of context, assumed; the server does not say, COUNTERSIGN_MODEL_CONTEXT can"),
        ({}, 16000, "16,000 tokens of context"),
    ],
)
async def test_doctor_says_where_a_context_comes_from(
    pages: Pages, tmp_path_factory: pytest.TempPathFactory, listed: Mapping[str, Any], wanted: int | None, sentence: str
) -> None:
    pages.lists(**listed)
    folder = tmp_path_factory.mktemp("here")
    (finding,) = await diagnose_model(ModelChoice("x", folder, folder, context_tokens=wanted, url=pages.url), FakeClock())
    assert finding.ok
    assert finding.sentence.endswith(sentence)
