"""How long an OpenAPI document of 500 operations takes until its tools can be chosen, against reading it as plain JSON."""

from __future__ import annotations

import json
import time
from typing import Any, Final

from bench.figures import Pace, median, report, report_pairs, say
from gateway.adapters.tools.http_api.catalogue import read_catalogue
from gateway.adapters.tools.http_api.requests import RequestWriter
from gateway.adapters.tools.http_api.settings import HttpApiSettings

OPERATIONS: Final = 500
COMPONENTS: Final = 60


async def measure(pace: Pace) -> None:
    """Read the document as often as there are rounds, then make requests of one of its operations."""
    text = json.dumps(_make_document())
    settings = HttpApiSettings(base_url="https://api.example.com", document=text)
    pairs: list[tuple[float, float]] = []
    for number in range(pace.rounds):
        began = time.process_time()
        catalogue = read_catalogue(settings, None)
        offers = [each.offer(settings.base, timeout=30, result_cap=8192) for each in catalogue.operations.values()]
        ours = time.process_time() - began
        assert len(offers) == OPERATIONS, catalogue.refused
        began = time.process_time()
        json.loads(text)
        pairs.append((ours * 1000, (time.process_time() - began) * 1000))
        say(f"openapi: {len(offers)} operations of {len(text) // 1024} KB, round {number + 1} of {pace.rounds}")
    report_pairs(f"openapi/read/{OPERATIONS}", "ms", pairs)
    operation = read_catalogue(settings, None).operations["create3"]
    writer = RequestWriter(settings.base, {"Authorization": "Bearer ${secret:TOKEN}"})
    arguments = {"id": "a b", "dry": True, "body": {"id": 1, "name": "x" * 200}}
    times: list[float] = []
    for _ in range(pace.rounds):
        began = time.process_time()
        for _ in range(1000):
            writer.write(operation, arguments).preview()
        times.append((time.process_time() - began) * 1000)
    report("openapi/request", median(times), "µs")


def _make_document() -> dict[str, Any]:
    schemas = {f"Thing{number}": _make_schema(number) for number in range(COMPONENTS)}
    paths: dict[str, Any] = {}
    for number in range(OPERATIONS // 2):
        thing = {"$ref": f"#/components/schemas/Thing{number % COMPONENTS}"}
        content = {"application/json": {"schema": thing}}
        answers = {"200": {"description": "done", "content": content}}
        parameters = [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "description": "Which one."},
            {"name": "dry", "in": "query", "schema": {"type": "boolean", "default": False}},
        ]
        paths[f"/things{number}/{{id}}"] = {
            "parameters": parameters,
            "get": {"operationId": f"get{number}", "summary": "Get one thing", "responses": answers},
            "post": {"operationId": f"create{number}", "requestBody": {"content": content}, "responses": answers},
        }
    return {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths, "components": {"schemas": schemas}}


def _make_schema(number: int) -> dict[str, Any]:
    plain = {f"field{each}": {"type": "string", "maxLength": 100, "description": "Some words about it."} for each in range(12)}
    inner = {"parts": {"type": "array", "items": {"$ref": f"#/components/schemas/Thing{number - 1}"}}} if number % 4 else {}
    return {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, **plain, **inner}}
