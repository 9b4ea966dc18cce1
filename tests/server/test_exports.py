"""A file of calls on its way: to whom it goes on, and how many of them one person has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.core.errors import LedgerUnavailable
from gateway.server.call_files import CallFile, CallFiles
from gateway.server.endpoints.exports import ExportResponse
from tests.server.conftest import PATIENCE, Running, headers_of


@dataclass
class Pages:
    """A file of two pages; the second comes when the test says so."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    counting: asyncio.Event = field(default_factory=asyncio.Event)
    counted: asyncio.Event | None = None
    is_unread: bool = False

    async def open(self, *_asked: Any) -> CallFile:
        """Instead of `CallFiles.open`. With `counted` it takes until that is set."""
        self.counting.set()
        if self.counted is not None:
            await self.counted.wait()
        if self.is_unread:
            raise LedgerUnavailable("some records are still being read")
        return CallFile(2, self._write())

    async def _write(self) -> AsyncIterator[bytes]:
        yield b"first\n"
        self.begun.set()
        await self.go_on.wait()
        yield b"second\n"


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Pages:
    made = Pages()
    monkeypatch.setattr(CallFiles, "open", made.open)
    return made


async def test_case_262_an_export_stops_in_the_middle_when_the_session_ends(running: Running, pages: Pages) -> None:
    await running.arrive()
    export = f"{running.console}/export?format=jsonl"
    under_way = asyncio.create_task(running.browser.get(export))
    async with asyncio.timeout(PATIENCE):
        await pages.begun.wait()
        assert (await running.browser.post(f"{running.console}/signout")).status == 204
        pages.go_on.set()
        file = await under_way
    assert (file.body, headers_of(file)["countersign-calls"]) == (b"first\n", "2")


async def test_case_263_a_person_has_one_export_under_way(running: Running, pages: Pages) -> None:
    await running.arrive()
    export = f"{running.console}/export?format=jsonl"
    under_way = asyncio.create_task(running.browser.get(export))
    async with asyncio.timeout(PATIENCE):
        await pages.begun.wait()
        assert (await running.browser.get(export)).status == 429
        pages.go_on.set()
        assert (await under_way).body == b"first\nsecond\n"
        # Neither one that is over nor one that could not begin stands in the way of the next.
        pages.is_unread = True
        assert (await running.browser.get(export)).status == 503
        pages.is_unread = False
        assert (await running.browser.get(export)).body == b"first\nsecond\n"


async def test_case_294_an_export_whose_session_ends_while_it_is_counted_keeps_nobody_from_the_next(
    running: Running, pages: Pages
) -> None:
    await running.arrive()
    export = f"{running.console}/export?format=jsonl"
    pages.counted = asyncio.Event()
    begun = asyncio.create_task(running.browser.get(export))
    async with asyncio.timeout(PATIENCE):
        await pages.counting.wait()
        assert (await running.browser.post(f"{running.console}/signout")).status == 204
        pages.counted.set()
        assert (await begun).status == 401
        assert (await running.sign_in()).status == 204
        pages.go_on.set()
        assert (await running.browser.get(export)).body == b"first\nsecond\n"


async def test_an_export_is_over_once_so_that_its_end_ends_no_later_one_of_its_person() -> None:
    ended: list[bool] = []

    async def content() -> AsyncIterator[bytes]:
        yield b"first\n"

    async def send(_message: MutableMapping[str, Any]) -> None: ...

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    scope = {"type": "http", "asgi": {"spec_version": "2.4"}}
    await ExportResponse(content(), "text/plain", {}, lambda: ended.append(True))(scope, receive, send)
    assert ended == [True]


async def test_an_export_is_over_before_its_reader_can_know_that_it_is_whole() -> None:
    ended: list[bool] = []
    known: list[tuple[bytes, bool]] = []

    async def content() -> AsyncIterator[bytes]:
        yield b"first\n"

    async def send(message: MutableMapping[str, Any]) -> None:
        known.append((message.get("body", b""), bool(ended)))

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    scope = {"type": "http", "asgi": {"spec_version": "2.4"}}
    await ExportResponse(content(), "text/plain", {}, lambda: ended.append(True))(scope, receive, send)
    assert known == [(b"", False), (b"first\n", False), (b"", True)]
