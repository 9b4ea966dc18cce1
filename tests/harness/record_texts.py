"""The texts of records for a test that changes them by SQL, as somebody could with the file and an SQLite shell."""

from __future__ import annotations

from typing import Any, Final

from gateway.adapters.storage.record_texts import register_functions

_TEXT = (
    "record_text(body, (SELECT CAST(asked.body AS BLOB) FROM leaves AS asked"
    " WHERE asked.position = record_question(leaves.body, leaves.position)))"
)

UNPACK: Final = f"UPDATE leaves SET body = {_TEXT} WHERE typeof(body) = 'blob'"
"""Has every record lie there as text, as before any were packed. For a connection of the storage's own."""


def unpack_records(database: Any) -> None:
    """The same over a connection of a driver."""
    register_functions(database)
    database.execute(UNPACK)


def read_texts(database: Any) -> list[str]:
    """The texts of all records, over a connection of a driver."""
    register_functions(database)
    rows = database.execute(f"SELECT CASE typeof(body) WHEN 'blob' THEN {_TEXT} ELSE body END FROM leaves")
    return [text for (text,) in rows.fetchall()]
