"""Records at the end of a file, on the disk before they count as sent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from gateway.adapters.shipping.records import ShippedRecord, SinkDown


class FileWriter:
    """Appends. The file may be moved away meanwhile (log rotation): it is opened for each few records."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def held(self) -> int:
        """None: what was taken is on the disk."""
        return 0

    def take_back(self) -> int:
        """None either."""
        return 0

    async def send(self, records: Sequence[ShippedRecord]) -> None:
        """All of them, or SinkDown."""
        raw = b"".join(record.line() + b"\n" for record in records)
        try:
            await asyncio.to_thread(self._append, raw)
        except OSError as error:
            raise SinkDown(error.strerror or "it cannot be written") from None

    async def close(self) -> None:
        """Nothing is open."""

    def _append(self, raw: bytes) -> None:
        handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(handle).st_size
            # A line that an earlier process did not finish stays by itself; its record is sent again.
            if size and os.pread(handle, 1, size - 1) != b"\n":
                raw = b"\n" + raw
            while raw:
                raw = raw[os.write(handle, raw) :]
            os.fsync(handle)
        finally:
            os.close(handle)
