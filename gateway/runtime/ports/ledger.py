"""The one way to durable state."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from gateway.core.ledger import Entry


class Ledger(Protocol):
    """The one way to durable state. Writes are grouped: one transaction holds state, audit leaves and checkpoint."""

    def append(self, *entries: Entry) -> Awaitable[tuple[int | None, ...]]:
        """Make the entries durable, together, in order. Gives each entry's audit index, None for an unaudited one.

        They are on their way when this returns, and durable when what it gives has been awaited: between the two, the caller
        may do what needs no record. Either raises LedgerUnavailable where they cannot be committed; nothing was written then.
        """
        ...
