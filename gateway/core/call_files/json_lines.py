"""One JSON object a line."""

from __future__ import annotations

import orjson

from gateway.core.call_files.described import Named, describe_call
from gateway.core.call_history import AuditedCall


class JsonLinesWriter:
    """Writes what is known; a member that is absent is not."""

    def __init__(self, named: Named) -> None:
        self._named = named

    def head(self) -> bytes:
        """Nothing: every line says itself what it is."""
        return b""

    def line(self, call: AuditedCall) -> bytes:
        """One object."""
        members = describe_call(call, self._named)
        return orjson.dumps({name: value for name, value in members.items() if value is not None}) + b"\n"
