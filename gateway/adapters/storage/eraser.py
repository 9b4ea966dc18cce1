"""What an erasure takes besides its transaction: a line in the journal before it, and no copy left in the files after it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from gateway.adapters.storage.erasure_journal import JOURNAL, note_erasures
from gateway.adapters.storage.sqlite import DATABASE, scrub
from gateway.core.checkpoint import SigningKey
from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import (
    CallClosed,
    CallIntended,
    ConversationDeleted,
    ConversationSubject,
    Entry,
    ErasureReason,
    ErasureSubject,
    RecordsErased,
)

_log = logging.getLogger(__name__)


class Erasure(NamedTuple):
    """What an entry erases. `subject` is None for records of nothing in particular."""

    reason: ErasureReason
    subject: ErasureSubject | None


def erasure_of(entry: Entry) -> Erasure | None:
    """What this entry erases. A conversation may have no records of its own, and its messages are as much to be gone."""
    match entry:
        case CallIntended() | CallClosed():
            # Nearly all that is ever written.
            return None
        case RecordsErased():
            return Erasure(entry.reason, entry.subject)
        case ConversationDeleted(erased=ErasureReason() as reason):
            return Erasure(reason, ConversationSubject(entry.id))
        case _:
            return None


class Eraser:
    """For the thread that writes."""

    def __init__(self, folder: Path, key: SigningKey) -> None:
        self._folder = folder
        self._key = key

    def begin(self, erasures: Iterable[Erasure]) -> None:
        """Have in the journal what somebody asked for. Raises LedgerUnavailable, and nothing is erased then."""
        asked = (each.subject for each in erasures if each.reason is ErasureReason.REQUESTED)
        subjects = [*dict.fromkeys(subject for subject in asked if subject is not None)]
        try:
            if subjects:
                note_erasures(self._folder, self._key, subjects)
        except OSError as error:
            raise LedgerUnavailable(f"`{JOURNAL}` cannot be written: {error.strerror}; nothing was erased") from None

    def finish(self, connection: Connection, *, whole: bool = True) -> None:
        """What was erased is on record. Where its copies cannot be removed now, the next erasure tries again. `whole`: also what
        moved between pages, which takes a copy of the database."""
        driver: Any = connection.dialect.dbapi
        try:
            done = scrub(connection, self._folder / DATABASE, copy=whole)
        except (driver.Error, OSError) as error:
            _log.error("copies of what was erased may be left in `%s`: %s", DATABASE, error)
            return
        if not done:
            _log.warning("copies of what was erased are left in the write-ahead log until nobody reads an older state")
