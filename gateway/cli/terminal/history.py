"""What was said at the prompt in earlier launches: a file in the state folder that only its owner can read."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from gateway.core.redaction import RedactionClass, redact_text

FILE: Final = "prompt-history"
"""In the state folder; one JSON text a line, because what was pasted may have several."""

KEPT: Final = 500
"""Lines. What is older is dropped by the launch that finds more than twice as many."""

LONGEST: Final = 2048
"""Characters of a line that is kept. What is longer was pasted, and is found where it came from."""

_MOST_READ: Final = 8 << 20
_OPEN: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""No link is followed and no pipe waited at."""


class PromptHistory:
    """The lines, oldest first. A file that cannot be read or written is no history, and nothing else is wrong with it."""

    def __init__(self, state: Path) -> None:
        self._path = state / FILE

    def read(self) -> Sequence[str]:
        """The newest lines."""
        try:
            lines = self._read_lines()
            if len(lines) > 2 * KEPT:
                self._replace(lines[-KEPT:])
        except OSError:
            return ()
        said = [_said(line) for line in lines[-KEPT:]]
        return [each for each in said if each is not None]

    def add(self, line: str) -> None:
        """Keep a line for later launches, unless it begins with a space, is too long, or holds what looks like a secret."""
        if line.startswith(" ") or len(line) > LONGEST or redact_text(line, (RedactionClass.SECRETS,)).count:
            return
        try:
            self._append(orjson.dumps(line) + b"\n")
        except (OSError, orjson.JSONEncodeError):
            # A full disk, or half a character.
            return

    def _read_lines(self) -> list[bytes]:
        descriptor = os.open(self._path, os.O_RDONLY | _OPEN)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_MOST_READ).splitlines() if stat.S_ISREG(os.fstat(descriptor).st_mode) else []

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _OPEN, 0o600)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _replace(self, lines: Sequence[bytes]) -> None:
        fresh = self._path.with_suffix(f".{os.getpid()}")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600), "wb") as file:
            file.writelines(line + b"\n" for line in lines)
        fresh.replace(self._path)


def _said(line: bytes) -> str | None:
    try:
        value: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, str) else None
