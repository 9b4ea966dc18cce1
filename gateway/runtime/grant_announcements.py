"""Tells a person's consoles when a grant of theirs begins, is used or ends.

Grants end in many ways: they are taken back, used up, end with their turn, session or conversation, lapse when a label rises,
or are refused by another policy. Each of these is on record, so it is told from there, once the record is durable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from gateway.core.ledger import (
    AgentSessionEnded,
    CallClosed,
    CallIntended,
    ConversationDeleted,
    Entry,
    GrantIssued,
    GrantRevoked,
    TurnEnded,
)
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.notices import GrantsChangedNotice
from gateway.runtime.ports import Ledger


class AnnouncedLedger:
    """The ledger, with word to the consoles of those whose grants an entry changes."""

    def __init__(self, ledger: Ledger, connections: ConnectionRegistry) -> None:
        self._ledger = ledger
        self._connections = connections
        self._turns: set[str] = set()

    def append(self, *entries: Entry) -> Awaitable[tuple[int | None, ...]]:
        """Make the entries durable, as the port says, and tell of what they change after that."""
        recorded = self._ledger.append(*entries)
        # In the order of the entries. Nearly all that is written are calls without a grant.
        people: dict[str, None] = {}
        for entry in entries:
            if (person := self._changed_by(entry)) is not None:
                people[person] = None
        if not people:
            return recorded
        recording = asyncio.ensure_future(recorded)
        recording.add_done_callback(lambda done: self._tell(done, [*people]))
        return recording

    def _tell(self, recording: asyncio.Future[tuple[int | None, ...]], people: list[str]) -> None:
        if not recording.cancelled() and recording.exception() is None:
            for person in people:
                self._connections.notify_console(person, GrantsChangedNotice())

    def _changed_by(self, entry: Entry) -> str | None:
        """The person whose grants it changes, if it does. Of turns only those end a grant in which one was given."""
        match entry:
            case CallClosed():
                return None
            case CallIntended():
                return None if entry.grant_id is None else entry.request.principal.id
            case GrantIssued(_, grant):
                if grant.turn_id is not None:
                    self._turns.add(grant.turn_id)
                return grant.principal_id
            case TurnEnded() if entry.turn_id in self._turns:
                self._turns.discard(entry.turn_id)
                return entry.principal_id
            case GrantRevoked() | AgentSessionEnded() | ConversationDeleted():
                return entry.principal_id
            case _:
                return None
