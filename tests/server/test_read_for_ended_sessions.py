"""What was being read when its session ended."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from gateway.core.attachments import KeptAttachment
from gateway.runtime.attachments import Attachments
from gateway.server.receipts import Receipts
from tests.server.conftest import PATIENCE, Running


@dataclass
class SlowRead:
    """Something that is found when the test says so."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def receipt(self, *_asked: object) -> bytes:
        """Instead of `Receipts.of_call`."""
        await self._wait()
        return b"{}"

    async def attachment(self, *_asked: object) -> KeptAttachment:
        """Instead of `Attachments.fetch`."""
        await self._wait()
        return KeptAttachment("a", b"data")

    async def _wait(self) -> None:
        self.begun.set()
        await self.go_on.wait()


@pytest.mark.parametrize("path", ["receipt?conversation=c&call=k", "attachments/a"])
@pytest.mark.parametrize("ended", [False, True])
async def test_case_280_what_was_read_for_a_session_that_has_ended_is_not_given(
    running: Running, monkeypatch: pytest.MonkeyPatch, path: str, ended: bool
) -> None:
    slow = SlowRead()
    monkeypatch.setattr(Receipts, "of_call", slow.receipt)
    monkeypatch.setattr(Attachments, "fetch", slow.attachment)
    await running.arrive()
    origin = running.console if path.startswith("receipt") else running.agent
    under_way = asyncio.create_task(running.browser.get(f"{origin}/{path}"))
    async with asyncio.timeout(PATIENCE):
        await slow.begun.wait()
        if ended:
            assert (await running.browser.post(f"{running.console}/signout")).status == 204
        slow.go_on.set()
        assert (await under_way).status == (401 if ended else 200)
