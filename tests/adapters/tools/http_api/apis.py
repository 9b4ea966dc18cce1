"""Drivers over APIs on loopback, and a server that remembers exactly what it was sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from gateway.adapters.tools.builtin.egress import Egress
from gateway.adapters.tools.http_api.driver import HttpApiDriver
from gateway.adapters.tools.http_api.settings import HttpApiSettings
from gateway.adapters.tools.offer import DriverResources, SourceOffer, ToolOffer
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolOutput
from gateway.sandbox.job import SandboxUnavailable
from tests.adapters.tools.conftest import make_context

EXAMPLES = Path(__file__).parents[3] / "mcp_servers/node_modules/@readme/oas-examples"
"""Documents of real APIs (npm, MIT), installed like the tool servers of others."""

SECRETS = {"TOKEN": "s3cr3t-t0ken-value"}


def fill(text: str) -> str:
    for name, value in SECRETS.items():
        text = text.replace(f"${{secret:{name}}}", value)
    if "${secret:" in text:
        raise Misconfigured("there is no such secret")
    return text


class Listener:
    def changed(self) -> None:
        raise AssertionError("an API tells nothing by itself")

    def went_away(self, why: str) -> None:
        raise AssertionError(why)


def settings_of(**given: Any) -> HttpApiSettings:
    return HttpApiSettings.model_validate({"base_url": "https://api.example.com/v1", **given})


def driver_of(settings: HttpApiSettings, egress: Egress | None = None) -> HttpApiDriver:
    def no_sandbox() -> SandboxUnavailable:
        raise AssertionError("an API starts no program")

    resources = DriverResources("api", Path("/nowhere"), (), no_sandbox, fill)
    return HttpApiDriver(settings, resources, egress)


@dataclass(frozen=True)
class OpenApi:
    """An opened driver with what it offers."""

    driver: HttpApiDriver
    offer: SourceOffer

    def tool(self, name: str) -> ToolOffer:
        return {tool.name: tool for tool in self.offer.tools}[name]

    async def call(self, name: str, /, **arguments: Json) -> ToolOutput:
        tool = self.tool(name)
        assert not self.driver.find_faults(tool, arguments)
        return await self.driver.call(tool, arguments, make_context())

    async def result(self, name: str, /, **arguments: Json) -> dict[str, Any]:
        return (await self.call(name, **arguments)).structured

    async def lines(self, name: str, /, **arguments: Json) -> list[str]:
        preview = await self.driver.preview(self.tool(name), arguments)
        assert preview is not None
        assert preview.complete
        return [line.text for line in preview.lines]

    def faults(self, name: str, /, **arguments: Json) -> list[tuple[str, str]]:
        return [(fault.path, fault.message) for fault in self.driver.find_faults(self.tool(name), arguments)]


async def open_api(settings: HttpApiSettings, egress: Egress | None = None) -> OpenApi:
    driver = driver_of(settings, egress)
    return OpenApi(driver, await driver.open(Listener()))


def document_of(*operations: tuple[str, str, dict[str, Any]], version: str = "3.1.0", **components: Any) -> str:
    """A document of `(method, path, operation)`."""
    paths: dict[str, Any] = {}
    for method, path, operation in operations:
        paths.setdefault(path, {})[method] = {"responses": {"200": {"description": "done"}}, **operation}
    info = {"title": "Test", "version": "1"}
    return orjson.dumps({"openapi": version, "info": info, "paths": paths, "components": components}).decode()


@dataclass(frozen=True)
class SeenRequest:
    """What arrived, unchanged."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class ApiServer:
    """A real HTTP server on loopback. `answer` makes the answer to each request; documents are at `/openapi.json`."""

    def __init__(self, answer: Callable[[SeenRequest], Awaitable[web.StreamResponse]] | None = None) -> None:
        self.seen: list[SeenRequest] = []
        self.document: bytes = b""
        self._answer = answer

    async def start(self) -> None:
        application = web.Application(client_max_size=1024 * 1024)
        application.router.add_route("*", "/{rest:.*}", self._serve)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = self._runner.addresses[0][1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        headers = {name.decode(): value.decode() for name, value in request.raw_headers}
        seen = SeenRequest(request.method, request.raw_path, headers, await request.read())
        if seen.target == "/openapi.json":
            return web.Response(body=self.document, content_type="application/json")
        self.seen.append(seen)
        return web.json_response({}) if self._answer is None else await self._answer(seen)


OWN_HEADERS = frozenset({"host", "content-length", "connection"})
"""What a request has besides what is shown."""


def shown_again(server: ApiServer, seen: SeenRequest) -> list[str]:
    """The lines of the preview, made from what arrived."""
    headers = [f"{name}: {value}" for name, value in seen.headers.items() if name.lower() not in OWN_HEADERS]
    lines = [f"{seen.method} {server.url}{seen.target}", *headers]
    shown = [line.replace("s3cr3t-t0ken-value", "${secret:TOKEN}") for line in lines]
    return [*shown, "", *seen.body.decode().split("\n")] if seen.body else shown
