"""An API of three operations, at whatever server a test puts there."""

from __future__ import annotations

from typing import Any

from tests.adapters.tools.http_api.apis import OpenApi, document_of, open_api, settings_of
from tests.adapters.tools.sites import Site

PERSON: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
}

DOCUMENT = document_of(
    (
        "get",
        "/it",
        {
            "operationId": "get",
            "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": PERSON}}}},
        },
    ),
    ("post", "/it", {"operationId": "post", "requestBody": {"content": {"application/json": {}}}}),
    ("head", "/it", {"operationId": "head"}),
)

HEADERS = {"Authorization": "Bearer ${secret:TOKEN}"}
JSON = "Content-Type: application/json"


async def api_at(site: Site, **given: Any) -> OpenApi:
    return await open_api(settings_of(base_url=f"http://127.0.0.1:{site.port}", document=DOCUMENT, headers=HEADERS, **given))
