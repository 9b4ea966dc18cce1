"""What planning an erasure reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gateway.core.ledger import CallSubject, Entry, ErasureReason, ErasureSubject


class ErasureRecordsReader(Protocol):
    """What there is to erase."""

    async def plan_erasure(
        self, subject: ErasureSubject, reason: ErasureReason, at: int, by: str | None = None
    ) -> Sequence[Entry]:
        """The entries that erase a subject, to be appended together. Empty where nothing is kept of it."""
        ...

    async def open_turns(self, subject: ErasureSubject) -> int:
        """How many turns of the subject's conversations have not ended."""
        ...

    async def conversations_of_call(self, call_id: str) -> Sequence[str]:
        """The conversations that have a call of that id, which its client chose."""
        ...

    async def due_calls(self, now: int, limit: int) -> Sequence[CallSubject]:
        """Closed calls whose content has been kept for long enough, longest due first."""
        ...

    async def copies_of(self, conversation_id: str) -> Sequence[str]:
        """Conversations that were copied from it, directly or not, and are still there."""
        ...
