"""Somebody's OpenAI-compatible server: called by its own names, never trusted, and its key disclosed to nobody."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.adapters.inference.remote import RemoteBackend
from gateway.core.errors import InvalidRequest, MalformedJson, Misconfigured, ModelUnavailable, NotFound
from gateway.runtime.ports import ModelPhase
from tests.fakes.clock import FakeClock

CHAT = "/v1/chat/completions"
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Provider:
    """A server whose list of models and chat answer a test chooses."""

    models: object = field(default_factory=lambda: {"data": [{"id": "first"}, {"id": "second", "max_model_len": 32000}]})
    chat: Answer | None = None
    moved: str = ""
    elsewhere: int = 0
    lists: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    host: str = ""

    async def list_models(self, request: web.Request) -> web.StreamResponse:
        self.lists += 1
        if self.moved:
            raise web.HTTPFound(self.moved)
        if self.models is None:
            return web.Response(status=500)
        return web.Response(body=orjson.dumps(self.models), content_type="application/json")

    async def welcome(self, _request: web.Request) -> web.StreamResponse:
        self.elsewhere += 1
        return web.json_response({"data": [{"id": "elsewhere"}]})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(orjson.loads(await request.read()))
        self.headers.append(dict(request.headers))
        return web.json_response({"ok": True}) if self.chat is None else await self.chat(request)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    stage = Provider()
    app = web.Application(handler_args={"handler_cancellation": True})
    app.router.add_get("/v1/models", stage.list_models)
    app.router.add_get("/elsewhere", stage.welcome)
    app.router.add_post("/v1/chat/completions", stage.complete)
    async with TestServer(app) as server:
        stage.url, stage.host = str(server.make_url("/")), server.make_url("/").authority
        yield stage


Connect = Callable[..., Awaitable[RemoteBackend]]


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def connect(provider: Provider, clock: FakeClock) -> AsyncIterator[Connect]:
    started: list[RemoteBackend] = []

    async def start(*, url: str = "", model: str = "", key: str = "sk-secret") -> RemoteBackend:
        backend = RemoteBackend(url or provider.url, model=model, key=key, clock=clock)
        started.append(backend)
        await backend.start()
        return backend

    yield start
    for backend in started:
        await backend.stop()


async def read(backend: RemoteBackend, body: bytes = b"{}", path: str = CHAT) -> bytes:
    async with asyncio.timeout(20), backend.ask(path, body) as answer:
        return b"".join([chunk async for chunk in answer.chunks()])


async def test_the_first_listed_model_is_taken_when_none_is_named(provider: Provider, connect: Connect) -> None:
    backend = await connect()
    (model,) = await backend.models()
    assert model.id == f"remote:{provider.host}:first"
    assert (model.display_name, model.local, model.supports_tools, model.context_tokens) == ("first", False, True, 4096)
    assert backend.state().phase is ModelPhase.READY


async def test_a_named_model_has_the_context_that_its_server_states(connect: Connect) -> None:
    (model,) = await (await connect(model="second")).models()
    assert (model.display_name, model.context_tokens) == ("second", 32000)


@pytest.mark.parametrize("base", ["", "v1", "v1/"])
async def test_the_base_url_may_end_in_v1(provider: Provider, connect: Connect, base: str) -> None:
    assert await read(await connect(url=provider.url + base)) == b'{"ok": true}'


async def test_the_server_is_asked_by_its_own_name_for_the_model_and_with_the_key(provider: Provider, connect: Connect) -> None:
    await read(await connect(), orjson.dumps({"model": f"remote:{provider.host}:first", "messages": []}))
    assert provider.asked == [{"model": "first", "messages": []}]
    assert provider.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "Cookie" not in provider.headers[0]


async def test_without_a_key_none_is_sent(provider: Provider, connect: Connect) -> None:
    await read(await connect(key=""))
    assert "Authorization" not in provider.headers[0]


async def test_pieces_come_through_as_they_are_and_leaving_closes_the_connection(provider: Provider, connect: Connect) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        await response.write(b"data: {}\n\n")
        try:
            await asyncio.Event().wait()
        finally:
            provider.gone.set()
        return response

    provider.chat = endless
    backend = await connect()
    async with asyncio.timeout(20):
        async with backend.ask(CHAT, b"{}") as answer:
            assert (answer.status, answer.content_type) == (200, "text/event-stream")
            assert await anext(answer.chunks()) == b"data: {}\n\n"
        await provider.gone.wait()


async def test_a_complaint_about_the_request_is_passed_on(provider: Provider, connect: Connect) -> None:
    async def complain(request: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "too long"}}, status=400)

    provider.chat = complain
    backend = await connect()
    async with backend.ask(CHAT, b"{}") as answer:
        assert answer.status == 400
    assert backend.state().phase is ModelPhase.READY


@pytest.mark.requirement("002-63", "the provider's key is in no message, and no redirect takes the request elsewhere")
@pytest.mark.parametrize(
    ("status", "phase", "why"),
    [
        (401, ModelPhase.ABSENT, "COUNTERSIGN_MODEL_KEY"),
        (403, ModelPhase.ABSENT, "COUNTERSIGN_MODEL_KEY"),
        (503, ModelPhase.STARTING, "being loaded"),
        (307, ModelPhase.ABSENT, "redirect"),
    ],
)
async def test_a_fault_between_gateway_and_server_is_reported_by_the_gateway(
    provider: Provider, connect: Connect, status: int, phase: ModelPhase, why: str
) -> None:
    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text="the key sk-secret is wrong", headers={"Location": f"{provider.url}v1/models"})

    provider.chat = refuse
    backend = await connect()
    with pytest.raises(ModelUnavailable, match=why) as caught:
        await read(backend)
    assert caught.value.state == phase.value
    assert backend.state().phase is phase
    assert "sk-secret" not in caught.value.message + backend.state().detail
    assert len(provider.asked) == 1


async def test_a_server_cannot_send_the_question_for_its_models_elsewhere(provider: Provider, connect: Connect) -> None:
    provider.moved = f"{provider.url}elsewhere"
    backend = await connect()
    assert await backend.models() == ()
    assert "redirect" in backend.state().detail
    assert provider.elsewhere == 0


@pytest.mark.parametrize("form", ["gzip", "deflate", "br", "zstd", "x\u00e4"])
async def test_an_answer_that_could_unpack_into_anything_is_not_unpacked(provider: Provider, connect: Connect, form: str) -> None:
    async def pack(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=gzip.compress(bytes(1 << 20)), headers={"Content-Encoding": form})

    provider.chat = pack
    with pytest.raises(ModelUnavailable, match="compressed") as caught:
        await read(await connect())
    assert caught.value.state == "absent"


async def test_an_answer_that_breaks_off_is_said(provider: Provider, connect: Connect) -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"data: {}\n\n")
        assert request.transport is not None
        request.transport.close()
        return response

    provider.chat = break_off
    with pytest.raises(ModelUnavailable, match="broke off") as caught:
        await read(await connect())
    assert caught.value.state == "crashed"


async def test_a_server_that_is_away_is_not_asked_for_its_models_on_every_page(
    provider: Provider, connect: Connect, clock: FakeClock
) -> None:
    provider.models = None
    backend = await connect()
    assert await backend.models() == ()
    assert await backend.models() == ()
    assert provider.lists == 1
    provider.models = {"data": [{"id": "late"}]}
    clock.advance(11)
    assert [model.display_name for model in await backend.models()] == ["late"]


async def test_nobody_there_is_a_state_with_words(connect: Connect) -> None:
    backend = await connect(url="http://127.0.0.1:1", model="named")
    assert (await backend.models())[0].display_name == "named"
    with pytest.raises(ModelUnavailable, match="does not answer"):
        await read(backend)
    assert backend.state().phase is ModelPhase.CRASHED
    unnamed = await connect(url="http://127.0.0.1:1")
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:1"):
        await read(unnamed)


@pytest.mark.parametrize(
    "listed",
    [
        *([], {}, {"data": None}, {"data": [3, {"id": 4}, {}]}, {"data": {"id": "x"}}, "text", None),
        *({"data": [{"id": ""}]}, {"data": [{"id": "x" * 129}, {"id": "a\nb"}, {"id": "a\u202eb"}]}),
    ],
)
async def test_a_list_that_makes_no_sense_is_no_list(provider: Provider, connect: Connect, listed: object) -> None:
    provider.models = listed
    backend = await connect()
    assert await backend.models() == ()
    assert backend.state().phase is not ModelPhase.READY


@pytest.mark.parametrize("context", [0, -5, "many", None, 2.5, True])
async def test_a_context_that_makes_no_sense_is_not_trusted(provider: Provider, connect: Connect, context: object) -> None:
    provider.models = {"data": [{"id": "m", "max_model_len": context}]}
    assert (await (await connect()).models())[0].context_tokens == 4096


async def test_no_server_has_more_context_than_can_be_counted_or_a_longer_id_than_can_be_sent(
    provider: Provider, connect: Connect
) -> None:
    provider.models = {"data": [{"id": "m" * 128, "max_model_len": 2**62}]}
    (model,) = await (await connect()).models()
    assert model.context_tokens == 10_000_000
    with pytest.raises(Misconfigured, match="name"):
        await connect(model="\udcff")
    named = RemoteBackend(f"http://{'h.' * 100}invalid/v1", model="m" * 128, key="", clock=FakeClock())
    await named.start()
    (model,) = await named.models()
    await named.stop()
    assert (len(model.id), len(model.display_name)) == (200, 128)


@pytest.mark.requirement("002-63", "only the known paths of the one provider are asked")
async def test_only_known_paths_are_asked(connect: Connect) -> None:
    backend = await connect()
    for path in ("/v1/models", "/slots/0?action=erase", "/v1/chat/completions/../../props", ""):
        with pytest.raises(NotFound):
            await read(backend, path=path)


async def test_a_body_that_cannot_carry_a_model_is_refused(connect: Connect) -> None:
    backend = await connect()
    with pytest.raises(MalformedJson):
        await read(backend, b"{")
    with pytest.raises(InvalidRequest):
        await read(backend, b"[]")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434",
        "ftp://x",
        "http://",
        "https://me:pw@x/v1",
        "https://x/v1?key=1",
        "https://x/#k",
        f"http://{'h' * 64}",
    ],
)
def test_a_url_that_cannot_be_a_base_is_refused(url: str) -> None:
    with pytest.raises(Misconfigured, match="COUNTERSIGN_MODEL_URL") as caught:
        RemoteBackend(url, model="", key="", clock=FakeClock())
    assert "pw" not in caught.value.message
