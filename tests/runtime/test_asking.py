"""Whether the session that asked still lives: judged once more after each wait."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core.errors import NotSignedIn
from gateway.runtime.asking import ChangeLock, ask_for, require_asker


async def test_what_waited_for_a_lock_changes_nothing_once_its_session_has_ended() -> None:
    lock, lives, changed = ChangeLock(), True, list[str]()

    async def change(who: str) -> None:
        if who == "eve":
            ask_for(lambda: lives)
        async with lock:
            changed.append(who)

    async with lock:
        waiting = [asyncio.create_task(change(who)) for who in ("eve", "nobody")]
        await asyncio.sleep(0)
        lives = False
    eve, _ = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(eve, NotSignedIn)
    assert changed == ["nobody"]


async def test_what_a_request_started_outlives_its_session() -> None:
    async def connect() -> str:
        await asyncio.sleep(0)
        require_asker()
        return "connected"

    async def ask() -> asyncio.Task[str]:
        ask_for(lambda: lives)
        return asyncio.create_task(connect())

    lives = True
    started = await asyncio.create_task(ask())
    lives = False
    assert await started == "connected"
    with pytest.raises(NotSignedIn):
        ask_for(lambda: lives)
