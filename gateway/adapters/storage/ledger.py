"""The `Ledger` port: entries are made ready on the event loop and made durable by the writer."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

from gateway.adapters.storage.commits import prepare
from gateway.adapters.storage.writer import Writer
from gateway.core.ledger import Entry


class SqlLedger:
    """The one way to durable state."""

    def __init__(self, writer: Writer, salt: Callable[[int], bytes] = os.urandom) -> None:
        """`salt` gives that many random bytes."""
        self._writer = writer
        self._salt = salt

    def quiet_seconds(self) -> float:
        """Since when nothing was to be written; 0 while something waits for the disk."""
        return self._writer.quiet_seconds()

    def append(self, *entries: Entry) -> Awaitable[tuple[int | None, ...]]:
        """Make the entries durable, together, in order; gives their audit indices once they are.

        Raises LedgerUnavailable when they cannot be written, and IllegalStep when one of them cannot have happened: an
        approval used twice, a call closed twice, a grant used up. Nothing was written then.
        """
        # Hashing here, while the thread waits for the disk, keeps the commit itself short.
        return self._writer.submit([prepare(entry, self._salt) for entry in entries])
