"""The `Ledger` port: entries are made ready on the event loop and made durable by the writer."""

from __future__ import annotations

import os
from collections.abc import Callable

import orjson

from gateway.adapters.storage.changes import changes
from gateway.adapters.storage.writer import Prepared, Writer
from gateway.core import audit
from gateway.core.errors import LedgerUnavailable, MalformedJson
from gateway.core.ledger import Entry
from gateway.core.merkle import leaf_hash


class SqlLedger:
    """The one door to durable state. `salt` gives that many random bytes."""

    def __init__(self, writer: Writer, salt: Callable[[int], bytes] = os.urandom) -> None:
        self._writer = writer
        self._salt = salt

    async def append(self, *entries: Entry) -> tuple[int | None, ...]:
        """Make the entries durable, together, in order; gives their audit indices.

        Raises LedgerUnavailable when they cannot be written, and IllegalStep when one of them cannot have happened: an
        approval used twice, a call closed twice, a grant used up. Nothing was written then.
        """
        # Hashing here, while the thread waits for the disk, keeps the commit itself short.
        return await self._writer.submit([self._prepare(entry) for entry in entries])

    def _prepare(self, entry: Entry) -> Prepared:
        try:
            leaf = audit.leaf(entry)
            if leaf is None:
                return Prepared(changes(entry))
            salt = None if leaf.payload is None else self._salt(audit.SALT_SIZE)
            body = audit.seal(leaf, salt or b"")
            return Prepared(changes(entry), leaf_hash(body), body.decode(), salt, leaf.payload)
        except (MalformedJson, orjson.JSONEncodeError, UnicodeError):
            # Text that is no Unicode, or a number that no two readers agree on.
            raise LedgerUnavailable("this entry cannot be written down") from None
