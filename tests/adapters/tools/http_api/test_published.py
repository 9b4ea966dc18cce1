"""An API as a source that an operator added: decided about, asked about, called, and quarantined when its document changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.storage.secret_box import SecretBox
from gateway.adapters.tools.added import AddedSources, Secrets
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.core.effects import list_effects, summarise
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.sources import SourceKind, Standing
from gateway.core.vocabulary import Category
from gateway.runtime.ports import SourcePhase
from gateway.runtime.source_views import ToolDecision
from gateway.runtime.sources import Sources
from gateway.sandbox.job import SandboxUnavailable
from tests.adapters.tools.http_api.apis import document_of
from tests.adapters.tools.http_api.conftest import Serve
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import MemoryLedger
from tests.fakes.sign_ins import make_sign_ins
from tests.fakes.tool_context import make_context


def written(place: str) -> str:
    """The document, with a parameter that may move."""
    operation: dict[str, Any] = {
        "operationId": "create",
        "requestBody": {"content": {"application/json": {}}},
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
            {"name": "dry", "in": place, "schema": {"type": "string"}},
        ],
    }
    return document_of(("post", "/orders/{id}", operation))


class Shop:
    """A gateway's sources over the kinds that are shipped."""

    def __init__(self, folder: Path) -> None:
        self.catalog = ToolCatalog()
        ledger, shelf = MemoryLedger(), Secrets()
        self.host = AddedSources(
            self.catalog, shelf, state=folder, private=(), find_sandbox=lambda: SandboxUnavailable("none here")
        )
        self.sources = Sources(
            ledger=ledger,
            records=ledger,
            host=self.host,
            sealer=SecretBox(folder),
            shelf=shelf,
            sign_ins=make_sign_ins(ledger, folder),
            declared=(),
            clock=FakeClock(),
            on_withdrawn=lambda: None,
        )

    async def settle(self) -> None:
        async with asyncio.timeout(10):
            while self.host.state("shop").phase is SourcePhase.CONNECTING:
                await asyncio.sleep(0.005)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    made = Shop(tmp_path)
    await made.sources.start(connect=True)
    yield made
    await made.host.close()


async def test_an_api_is_called_as_somebody_decided_and_shown_before(shop: Shop, serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    document = tmp_path / "shop.json"
    document.write_text(written("query"))
    await shop.sources.store_secret("TOKEN", "hush-hush", "prn_ada")
    settings = {"base_url": server.url, "document_file": str(document), "headers": {"X-Key": "${secret:TOKEN}"}}
    await shop.sources.add("shop", SourceKind.HTTP, settings, "prn_ada")
    await shop.settle()
    (tool,) = (await shop.sources.find("shop")).tools
    await shop.sources.decide("shop", [ToolDecision("create", tool.seen.pin, Category.WRITE)], "prn_ada")
    spec = shop.catalog.find("shop__create")
    assert spec is not None
    arguments = {"id": "A7", "dry": "yes", "body": {"a": 1}}
    assert shop.catalog.find_faults(spec, arguments) == ()
    assert [fault.path for fault in shop.catalog.find_faults(spec, {**arguments, "id": "../admin"})] == ["/id"]
    assert summarise(spec, arguments) == f"POST {server.url}/orders/A7"
    assert list_effects(spec, arguments)[0].startswith(
        "Sends to this machine: `id` in the path; `dry` in the query; `body` as JSON"
    )
    preview = await shop.catalog.preview(spec, arguments)
    assert preview is not None
    assert [line.text for line in preview.lines[:1]] == [f"POST {server.url}/orders/A7?dry=yes"]
    assert "X-Key: ${secret:TOKEN}" in [line.text for line in preview.lines]
    assert (await shop.catalog.execute(spec, arguments, make_context())).structured["status"] == 200
    assert (server.seen[0].headers["X-Key"], server.seen[0].target) == ("hush-hush", "/orders/A7?dry=yes")

    document.write_text(written("header"))
    await shop.sources.probe("shop")
    (changed,) = (await shop.sources.find("shop")).tools
    assert changed.standing is Standing.QUARANTINED
    with pytest.raises(ToolFailed, match="changed"):
        await shop.catalog.execute(spec, arguments, make_context())
    assert len(server.seen) == 1


async def test_settings_that_cannot_work_are_not_added(shop: Shop) -> None:
    for settings, words in (
        ({"base_url": "http://api.example.com", "document": "{}"}, "not encrypted"),
        ({"base_url": "https://api.example.com"}, "give an OpenAPI document"),
        ({"base_url": "https://api.example.com", "document": "{}", "headers": {"Host": "x"}}, "`headers`"),
    ):
        with pytest.raises(Misconfigured, match=words):
            await shop.sources.add("shop", SourceKind.HTTP, settings, "prn_ada")


async def test_a_document_that_is_none_leaves_the_source_away_with_its_line(shop: Shop) -> None:
    await shop.sources.add("shop", SourceKind.HTTP, {"base_url": "https://api.example.com", "document": "{}"}, "prn_ada")
    await shop.settle()
    assert shop.host.state("shop").phase is SourcePhase.AWAY
    assert shop.host.state("shop").why == "the document is no OpenAPI document: it has no `openapi` with its version"
