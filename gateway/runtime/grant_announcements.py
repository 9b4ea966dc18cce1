"""Tells a person's consoles when a grant of theirs begins, is used or ends.

Grants end in many ways: they are taken back, used up, end with their turn, session or conversation, lapse when a label rises,
or are refused by another policy. Each of these is on record, so it is told from there, once the record is durable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator

from gateway.core.ledger import (
    AgentSessionEnded,
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
        people = dict.fromkeys(person for entry in entries for person in self._changed_by(entry))
        if not people:
            return recorded
        recording = asyncio.ensure_future(recorded)
        recording.add_done_callback(lambda done: self._tell(done, [*people]))
        return recording

    def _tell(self, recording: asyncio.Future[tuple[int | None, ...]], people: list[str]) -> None:
        if not recording.cancelled() and recording.exception() is None:
            for person in people:
                self._connections.notify_console(person, GrantsChangedNotice())

    def _changed_by(self, entry: Entry) -> Iterator[str]:
        """The person whose grants it changes, if it does. Of turns only those end a grant in which one was given."""
        match entry:
            case GrantIssued(_, grant):
                if grant.turn_id is not None:
                    self._turns.add(grant.turn_id)
                yield grant.principal_id
            case CallIntended(grant_id=str()):
                yield entry.request.principal.id
            case TurnEnded() if entry.turn_id in self._turns:
                self._turns.discard(entry.turn_id)
                yield entry.principal_id
            case GrantRevoked() | AgentSessionEnded() | ConversationDeleted():
                yield entry.principal_id
            case _:
                pass
