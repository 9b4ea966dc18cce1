"""Documents of real APIs, each served by a server that answers as its document says: every operation is called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson
import pytest
from aiohttp import web

from gateway.adapters.tools.http_api.catalogue import read_catalogue
from gateway.adapters.tools.http_api.documents import read_document
from gateway.adapters.tools.kinds import build_driver, check_settings
from gateway.adapters.tools.offer import DriverResources
from gateway.adapters.tools.schemas import Validator
from gateway.core.canonical import Json
from gateway.core.sources import SourceKind
from gateway.core.vocabulary import Category
from gateway.sandbox.job import SandboxUnavailable
from tests.adapters.tools.http_api.apis import (
    EXAMPLES,
    ApiServer,
    Listener,
    OpenApi,
    SeenRequest,
    fill,
    open_api,
    settings_of,
    shown_again,
)
from tests.adapters.tools.http_api.conftest import Serve
from tests.adapters.tools.http_api.samples import sample

REAL = [
    ("3.0/json/star-trek.json", 120, 0),
    ("3.0/yaml/petstore.yaml", 19, 1),
    ("3.1/yaml/train-travel.yaml", 7, 0),
    ("3.0/yaml/uspto.yaml", 3, 0),
]

PROPOSED = {"GET": Category.NETWORK, "HEAD": Category.NETWORK, "DELETE": Category.DESTRUCTIVE}


class DocumentedServer:
    """Knows the operations of a document by its own reading of the paths, and answers with a value of the right schema."""

    def __init__(self, raw: bytes) -> None:
        self.catalogue = read_catalogue(settings_of(document=raw.decode()), None)
        self.called: list[str] = []
        paths: Mapping[str, Any] = read_document(raw).paths
        self._routes: list[tuple[str, re.Pattern[str], int, str]] = []
        for path, item in paths.items():
            pattern = re.compile(
                "".join("[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{.*?\})", path))
            )
            for method, operation in item.items():
                if method in ("get", "post", "put", "patch", "delete", "head"):
                    name = operation.get("operationId") or f"{method}_{path.strip('/')}"
                    self._routes.append(
                        (method.upper(), pattern, path.count("{"), re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_"))
                    )
        # A literal path wins over one with places in it (OpenAPI 3.1, section 4.8.8.2).
        self._routes.sort(key=lambda route: route[2])

    async def answer(self, seen: SeenRequest) -> web.StreamResponse:
        path = seen.target.split("?")[0]
        name = next(name for method, pattern, _, name in self._routes if method == seen.method and pattern.fullmatch(path))
        self.called.append(name)
        return self._answer(name)

    def _answer(self, name: str) -> web.StreamResponse:
        operation, reader = self.catalogue.operations[name], self.catalogue.reader
        assert reader is not None
        status = min((int(code) for code in operation.answers if code.startswith("2")), default=200)
        schema, known = reader.read_answer_schema(operation, status, "application/json")
        if "application/json" in known and schema is not None:
            return web.Response(status=status, body=orjson.dumps(sample(schema)), content_type="application/json")
        return web.Response(status=status, body=b"" if not known else b"x", content_type=known[0] if known else "text/plain")


async def open_served(serve: Serve, name: str) -> tuple[OpenApi, DocumentedServer, ApiServer]:
    raw = (EXAMPLES / name).read_bytes()
    documented = DocumentedServer(raw)
    server = await serve(documented.answer)
    server.document = raw
    api = await open_api(
        settings_of(base_url=server.url, document_url=f"{server.url}/openapi.json", headers={"X-Key": "${secret:TOKEN}"})
    )
    return api, documented, server


def arguments_of(schema: Mapping[str, Json]) -> dict[str, Any]:
    """Every argument; the required ones where the others have rules that no sample fits."""
    properties: dict[str, Any] = dict(schema["properties"])
    given = {name: sample(each) for name, each in properties.items()}
    validator = Validator(schema)
    for fault in validator.find_faults(given):
        given.pop(fault.path.split("/")[1], None)
    return given


@pytest.mark.parametrize(("name", "offered", "refused"), REAL, ids=str)
async def test_every_operation_of_a_real_document_arrives_as_it_was_shown(
    serve: Serve, name: str, offered: int, refused: int
) -> None:
    api, documented, server = await open_served(serve, name)
    assert (len(api.offer.tools), len(api.offer.refused)) == (offered, refused)
    for tool in api.offer.tools:
        arguments = arguments_of(tool.param_schema)
        for fault in api.driver.find_faults(tool, arguments):
            # The samples hold a slash and more than ASCII on purpose: neither may stand everywhere.
            assert fault.message.startswith(("must not hold `/`", "must be visible ASCII"))
            arguments = {key: "a b" if isinstance(value, str) and "/" in value else value for key, value in arguments.items()}
        assert Validator(tool.param_schema).find_faults(arguments) == ()
        lines = await api.lines(tool.name, **arguments)
        result = await api.result(tool.name, **arguments)
        assert lines == shown_again(server, server.seen[-1])
        assert documented.called[-1] == tool.name
        assert 200 <= result["status"] < 300
        assert "mismatch" not in result, (tool.name, result)
        assert tool.proposed is PROPOSED.get(tool.because, Category.WRITE)
    assert len(server.seen) == offered


def test_json_and_yaml_of_one_document_offer_the_same() -> None:
    for name in ("3.0/{0}/star-trek.{0}", "3.0/{0}/petstore.{0}", "3.1/{0}/train-travel.{0}", "3.1/{0}/readme.{0}"):
        one, other = (read_catalogue(settings_of(document_file=EXAMPLES / name.format(form)), None) for form in ("json", "yaml"))
        assert dict(one.operations) == dict(other.operations)
        assert one.refused == other.refused


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("3.*/json/*.json")), ids=lambda path: path.name)
def test_no_document_of_the_collection_breaks_the_reader(path: Path) -> None:
    if path.name in ("webhooks.json", "schema-validation-top-level.json"):
        return
    catalogue = read_catalogue(settings_of(document_file=path), None)
    base = settings_of(document="{}").base
    assert catalogue.operations or catalogue.refused
    for operation in catalogue.operations.values():
        tool = operation.offer(base, timeout=1, result_cap=1000)
        Validator(tool.param_schema)
        assert tool.description
    for why in catalogue.refused.values():
        assert "\n" not in why


async def test_settings_survive_being_stored(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    call: dict[str, Any] = {
        "name": "a",
        "method": "GET",
        "path": "/{x}",
        "description": "d",
        "parameters": [{"name": "x", "in": "path", "schema": {"type": "string"}}],
    }
    stored = check_settings(SourceKind.HTTP, {"base_url": server.url, "calls": [call], "labels": ["label:internal"]})
    again = check_settings(SourceKind.HTTP, orjson.loads(orjson.dumps(stored)))
    assert stored == again
    resources = DriverResources("api", tmp_path, (), lambda: SandboxUnavailable("none"), fill)
    driver = build_driver(SourceKind.HTTP, again, resources)
    (tool,) = (await driver.open(Listener())).tools
    assert unquote(tool.summary) == f"GET {server.url}/{{x}}"
