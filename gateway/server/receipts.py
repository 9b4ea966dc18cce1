"""Receipts of calls, made for the console from the stored log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

ReceiptReader = Callable[[str, str, str | None], bytes]
"""The receipt of a call by conversation, call and whose it has to be (None: anybody's). It blocks. Raises NotFound."""


class Receipts:
    """Makes one at a time, because one of records that were not read yet looks through all of those."""

    def __init__(self, read: ReceiptReader) -> None:
        self._read = read
        self._reading = asyncio.Lock()

    async def of_call(self, conversation_id: str, call_id: str, owner_id: str | None) -> bytes:
        """The file. Raises NotFound for a call that is not this person's, or has not closed."""
        async with self._reading:
            return await asyncio.to_thread(self._read, conversation_id, call_id, owner_id)
