"""What planning an erasure reads, whatever executes it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy import Connection

from gateway.adapters.storage.erasable import (
    count_open_turns,
    plan_erasure,
    select_conversations_of_call,
    select_copies,
    select_due_calls,
)
from gateway.adapters.storage.reader import Reader
from gateway.core.ledger import CallSubject, Entry, ErasureReason, ErasureSubject

Value = TypeVar("Value")


class ErasureReader(Reader):
    """The reads of `ErasureRecordsReader`."""

    async def plan_erasure(
        self, subject: ErasureSubject, reason: ErasureReason, at: int, by: str | None = None
    ) -> Sequence[Entry]:
        return await self._at_one_moment(lambda connection: plan_erasure(connection, subject, reason, at, by))

    async def open_turns(self, subject: ErasureSubject) -> int:
        return await self._at_one_moment(lambda connection: count_open_turns(connection, subject))

    async def conversations_of_call(self, call_id: str) -> Sequence[str]:
        return await self._list(select_conversations_of_call(call_id), lambda row: row[0])

    async def due_calls(self, now: int, limit: int) -> Sequence[CallSubject]:
        return await self._list(select_due_calls(now, limit), lambda row: CallSubject(row[0], row[1]))

    async def copies_of(self, conversation_id: str) -> Sequence[str]:
        return await self._list(select_copies(conversation_id), lambda row: row[0])

    @abstractmethod
    async def _at_one_moment(self, read: Callable[[Connection], Value]) -> Value:
        """Several queries that see the same state."""
