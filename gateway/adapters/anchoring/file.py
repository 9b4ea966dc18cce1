"""Checkpoints at the end of a file elsewhere."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from gateway.adapters.anchoring.places import AnchorDown, AnchorPlace, SignedCheckpoint


class FileKeeper:
    """Adds to a file, and never changes what it has."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def put(self, checkpoint: SignedCheckpoint, before: AnchorPlace) -> str:
        """On the disk when it returns; gives the file's name."""
        del before
        try:
            await asyncio.to_thread(self._append, f"{checkpoint.note}\n".encode())
        except OSError as error:
            raise AnchorDown(f"the file cannot be written: {error.strerror}") from None
        return str(self._path)

    def _append(self, raw: bytes) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            if os.write(handle, raw) != len(raw):
                raise OSError(28, "no room for the whole checkpoint")
            os.fsync(handle)
        finally:
            os.close(handle)
