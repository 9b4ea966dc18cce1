"""Checkpoints at the end of a file elsewhere."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Final

from gateway.adapters.anchoring.places import AnchorDown, SignedCheckpoint

_TAIL: Final = 64 * 1024
"""Bytes that are read of its end. A checkpoint has some hundred."""

_NOTE: Final = re.compile(r"^[^\n]+\n[0-9]+\n[A-Za-z0-9+/]{43}=\n\n(?:— [^\n]+\n)+(?=\n)", re.MULTILINE)


class FileKeeper:
    """Adds to a file, and never changes what it has."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def held(self) -> str:
        """The last whole checkpoint in it."""
        try:
            tail = await asyncio.to_thread(self._read_tail)
        except OSError as error:
            raise AnchorDown(f"the file cannot be read: {error.strerror}") from None
        found = _NOTE.findall(tail.decode(errors="replace"))
        return found[-1] if found else ""

    async def put(self, checkpoint: SignedCheckpoint, old: int) -> str:
        """On the disk when it returns; gives the file's name."""
        del old
        try:
            await asyncio.to_thread(self._append, f"{checkpoint.note}\n".encode())
        except OSError as error:
            raise AnchorDown(f"the file cannot be written: {error.strerror}") from None
        return str(self._path)

    def _read_tail(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                file.seek(max(file.seek(0, os.SEEK_END) - _TAIL, 0))
                return file.read(_TAIL)
        except FileNotFoundError:
            return b""

    def _append(self, raw: bytes) -> None:
        # A checkpoint that was cut off while it was written is left by itself.
        gap = b"" if self._read_tail()[-2:] in (b"", b"\n\n") else b"\n\n"
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            if os.write(handle, gap + raw) != len(gap + raw):
                raise OSError(28, "no room for the whole checkpoint")
            os.fsync(handle)
        finally:
            os.close(handle)
