"""That sources changed is told once for all that changes within a moment, however often a source changes."""

from __future__ import annotations

import asyncio

from gateway.runtime.announcements import SourceAnnouncements
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.notices import SourcesChangedNotice

PATIENCE = 20.0


async def test_a_thousand_changes_at_once_are_told_as_one_and_a_later_one_again() -> None:
    connections = ConnectionRegistry()
    console = connections.attach_console("pri_ada", "ses_ada", "con_1", is_operator=True)
    announcements = SourceAnnouncements(connections)
    for _ in range(2):
        for _ in range(1_000):
            announcements.changed()
        await asyncio.wait_for(console.outbox.wait(), PATIENCE)
        assert console.outbox.take() == SourcesChangedNotice()
        assert console.outbox.take() is None


async def test_nobody_but_operators_is_told() -> None:
    connections = ConnectionRegistry()
    operator = connections.attach_console("pri_ada", "ses_ada", "con_1", is_operator=True)
    guest = connections.attach_console("pri_eve", "ses_eve", "con_2")
    SourceAnnouncements(connections).changed()
    await asyncio.wait_for(operator.outbox.wait(), PATIENCE)
    assert guest.outbox.take() is None
