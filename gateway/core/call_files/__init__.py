"""Files of calls for other programs: spreadsheets, log search and security monitoring.

They are for reading and prove nothing: whoever has one can change it. What can be checked is the signed export
(`gateway.core.export_form`) and a receipt. A line is one call, and holds no argument, result or text of a conversation.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Protocol, assert_never

from gateway.core.call_files.cef import CefWriter
from gateway.core.call_files.csv import CsvWriter
from gateway.core.call_files.described import Named
from gateway.core.call_files.json_lines import JsonLinesWriter
from gateway.core.call_files.ocsf import OcsfWriter
from gateway.core.call_history import AuditedCall


class CallFormat(StrEnum):
    """How calls are written."""

    JSONL = "jsonl"
    CSV = "csv"
    OCSF = "ocsf"
    CEF = "cef"

    @property
    def media_type(self) -> str:
        """For an HTTP answer."""
        return _MEDIA_TYPES[self]

    @property
    def file_name(self) -> str:
        """What the file is called unless somebody names it."""
        return f"calls.{_ENDINGS[self]}"


_MEDIA_TYPES: Final = {
    CallFormat.JSONL: "application/jsonl",
    CallFormat.CSV: "text/csv; charset=utf-8",
    CallFormat.OCSF: "application/jsonl",
    CallFormat.CEF: "text/plain; charset=utf-8",
}

_ENDINGS: Final = {
    CallFormat.JSONL: "jsonl",
    CallFormat.CSV: "csv",
    CallFormat.OCSF: "ocsf.jsonl",
    CallFormat.CEF: "cef",
}


class CallWriter(Protocol):
    """Writes calls in one format."""

    def head(self) -> bytes:
        """What stands before the first call."""
        ...

    def line(self, call: AuditedCall) -> bytes:
        """One call, with its line break."""
        ...


def writer_of(form: CallFormat, named: Named) -> CallWriter:
    """The writer of a format."""
    match form:
        case CallFormat.JSONL:
            return JsonLinesWriter(named)
        case CallFormat.CSV:
            return CsvWriter(named)
        case CallFormat.OCSF:
            return OcsfWriter(named)
        case CallFormat.CEF:
            return CefWriter(named)
        case _:
            assert_never(form)
