"""The one way to durable state."""

from __future__ import annotations

from typing import Protocol

from gateway.core.ledger import Entry


class Ledger(Protocol):
    """The one way to durable state. Writes are grouped: one transaction holds state, audit leaves and checkpoint."""

    async def append(self, *entries: Entry) -> tuple[int | None, ...]:
        """Make the entries durable, together, in order. Gives each entry's audit index, None for an unaudited one.

        Returns only after the commit. Raises LedgerUnavailable when it cannot commit; nothing was written then.
        """
        ...
