"""Comma-separated values (RFC 4180), made for being opened in a spreadsheet.

A spreadsheet runs a cell that begins like a formula, and ids, names and tools are words of others (OWASP, CSV Injection). So
what could begin one is led by an apostrophe, at the start of a cell and after what other locales take for a separator. What
cannot be seen is written out. Whoever needs the values as they are takes the JSON lines.
"""

from __future__ import annotations

import re
from typing import Final, cast

from gateway.core.call_files.described import MEMBERS, Named, describe_call
from gateway.core.call_history import AuditedCall
from gateway.core.canonical import Json
from gateway.core.effects import escape

# With the full-width forms, which some spreadsheets take for the same.
_FORMULA: Final = re.compile(r"(^|[;,|])( *)(?=[=+\-@＝＋－＠])")


class CsvWriter:
    """Writes the names of the members first, then a row for each call."""

    def __init__(self, named: Named) -> None:
        self._named = named

    def head(self) -> bytes:
        """The names of the columns."""
        return _row(MEMBERS)

    def line(self, call: AuditedCall) -> bytes:
        """One row."""
        return _row(tuple(map(_cell, describe_call(call, self._named).values())))


def _cell(value: Json) -> str:
    match value:
        case None:
            return ""
        case list():
            return make_inert(" ".join(map(str, cast("list[Json]", value))))
        case str():
            return make_inert(value)
        case _:
            return str(value)


def make_inert(text: str) -> str:
    """The text as no spreadsheet takes it for a formula."""
    return _FORMULA.sub(r"\1\2'", escape(text))


def _row(cells: tuple[str, ...]) -> bytes:
    quoted = (cell if cell.isalnum() else '"' + cell.replace('"', '""') + '"' for cell in cells)
    # RFC 4180 section 2: lines end with CRLF.
    return (",".join(quoted) + "\r\n").encode()
