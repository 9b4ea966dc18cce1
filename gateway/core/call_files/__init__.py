"""Files of calls for other programs: spreadsheets, log search and security monitoring.

They are for reading and prove nothing: whoever has one can change it. What can be checked is the signed export
(`gateway.core.export_form`) and a receipt. One line or row is one call, and holds no argument, result or text of a conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol, assert_never

from gateway.core.call_files.cef import CefWriter
from gateway.core.call_files.csv import CsvWriter
from gateway.core.call_files.described import Named
from gateway.core.call_files.json_lines import JsonLinesWriter
from gateway.core.call_files.ocsf import OcsfWriter
from gateway.core.call_files.parquet import ParquetWriter
from gateway.core.call_history import AuditedCall


class CallFormat(StrEnum):
    """How calls are written."""

    JSONL = "jsonl"
    CSV = "csv"
    OCSF = "ocsf"
    CEF = "cef"
    PARQUET = "parquet"

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
    CallFormat.PARQUET: "application/vnd.apache.parquet",
}

_ENDINGS: Final = {
    CallFormat.JSONL: "jsonl",
    CallFormat.CSV: "csv",
    CallFormat.OCSF: "ocsf.jsonl",
    CallFormat.CEF: "cef",
    CallFormat.PARQUET: "parquet",
}


class CallLineWriter(Protocol):
    """Writes calls in a format of lines."""

    def head(self) -> bytes:
        """What stands before the first call."""
        ...

    def line(self, call: AuditedCall) -> bytes:
        """One call, with its line break."""
        ...


class CallWriter(Protocol):
    """Writes calls in any format."""

    def head(self) -> bytes:
        """What stands before the first call."""
        ...

    def lines(self, calls: Sequence[AuditedCall]) -> bytes:
        """The next calls, as far as they can be written by now."""
        ...

    def tail(self) -> bytes:
        """What stands after the last call."""
        ...


class _Lines:
    """A format of lines needs nothing after the last."""

    def __init__(self, writer: CallLineWriter) -> None:
        self._writer = writer

    def head(self) -> bytes:
        return self._writer.head()

    def lines(self, calls: Sequence[AuditedCall]) -> bytes:
        return b"".join(map(self._writer.line, calls))

    def tail(self) -> bytes:
        return b""


def writer_of(form: CallFormat, named: Named) -> CallWriter:
    """The writer of a format. Raises Misconfigured where what it needs is not installed."""
    match form:
        case CallFormat.JSONL:
            return _Lines(JsonLinesWriter(named))
        case CallFormat.CSV:
            return _Lines(CsvWriter(named))
        case CallFormat.OCSF:
            return _Lines(OcsfWriter(named))
        case CallFormat.CEF:
            return _Lines(CefWriter(named))
        case CallFormat.PARQUET:
            return ParquetWriter(named)
        case _:
            assert_never(form)
