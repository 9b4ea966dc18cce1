"""The texts of records for a test that changes them by SQL, as somebody could with the file and an SQLite shell."""

from __future__ import annotations

from typing import Any, Final

from gateway.adapters.storage.record_texts import register_functions

UNPACK: Final = "UPDATE leaves SET body = record_text(body) WHERE typeof(body) = 'blob'"
"""Has every record lie there as text, as before any were packed. For a connection of the storage's own."""


def unpack_records(database: Any) -> None:
    """The same over a connection of a driver."""
    register_functions(database)
    database.execute(UNPACK)
