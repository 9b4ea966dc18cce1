"""What a server writes to stderr: the last part of it in a file, its last line for the operator."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Final

import anyio

from gateway.adapters.tools.mcp.worker.inert import inert_line, show_acting
from gateway.adapters.tools.mcp.worker.lines import Masker

MAX_FILE: Final = 256 * 1024
"""Bytes of the file, and as many of the one before it."""

PAUSE_SECONDS: Final = 0.02
"""Between two pieces: what is written faster than 3 MB a second makes the server wait, and nobody else."""

MAX_LAST: Final = 200
LAST_SECONDS: Final = 0.2
_CHUNK: Final = 1 << 16
_LONGEST_LINE: Final = 4_000


class ErrorLog:
    """Reads stderr to its end. Lines are written without what acts on a screen and without the secrets."""

    def __init__(self, descriptor: int, path: str, masker: Masker) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._path = path
        self._masker = masker
        self._rest = b""
        self._last = ""
        self._size = 0
        self._reading: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read; the log of the run before is kept beside the new one."""
        self._begin_file()
        self._reading = asyncio.create_task(self._read())

    async def add_last_line(self, why: str) -> str:
        """The sentence with the last line that the server wrote."""
        if self._reading is not None:
            await asyncio.wait((self._reading,), timeout=LAST_SECONDS)
        last = inert_line(self._last, MAX_LAST)
        return f"{why}; the last line it wrote: {last}" if last else why

    async def _read(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                await anyio.wait_readable(self._descriptor)
                chunk = os.read(self._descriptor, _CHUNK)
                if not chunk:
                    break
                self._take(chunk)
                if len(chunk) == _CHUNK:
                    await asyncio.sleep(PAUSE_SECONDS)
        self._take(b"\n")

    def _take(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self._rest = self._rest[:_CHUNK]
        # Masked before it is cut, or half a secret would be left.
        texts = [self._masker.mask(line.decode(errors="replace"))[:_LONGEST_LINE] for line in lines]
        self._last = next((text for text in reversed(texts) if text.strip()), self._last)
        written = "".join(f"{show_acting(text)}\n" for text in texts if text).encode(errors="replace")
        if self._size + len(written) > MAX_FILE:
            self._begin_file()
        self._size += len(written)
        with contextlib.suppress(OSError), open(self._path, "ab") as file:
            file.write(written[-MAX_FILE:])

    def _begin_file(self) -> None:
        with contextlib.suppress(OSError):
            os.replace(self._path, f"{self._path}.1")
        self._size = 0
