"""Weights on disk: their digest, and a stamp that spares computing it again while the file has not changed.

The stamp guards against a torn download and a swapped file, not against someone who can write to the models folder: they
could write the stamp as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

STAMP_SUFFIX: Final = ".sha256-ok"
CHUNK: Final = 1 << 20

ReportBytes = Callable[[int], None]
"""Called with how many bytes were read since the last call."""


def digest_of(path: Path, report: ReportBytes = lambda count: None) -> str:
    """Hex SHA-256 of a file. Reads it whole: call it off the event loop. Raises OSError."""
    seen = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            seen.update(chunk)
            report(len(chunk))
    return seen.hexdigest()


def stamp_beside(path: Path) -> Path:
    """The stamp of a file in the models folder."""
    return path.with_name(path.name + STAMP_SUFFIX)


def stamped_digest(path: Path, stamp: Path) -> str | None:
    """The digest in the stamp, if size and modification time of the file are still those it was made at."""
    try:
        noted = json.loads(stamp.read_text(encoding="utf-8"))
        now = path.stat()
    except (OSError, ValueError):
        return None
    match noted:
        case {"sha256": str(sha256), "bytes": now.st_size, "mtimeNs": now.st_mtime_ns}:
            return sha256
        case _:
            return None


def write_stamp(path: Path, stamp: Path, sha256: str) -> None:
    """Remember that the file, as it is now, has this digest. Raises OSError."""
    now = path.stat()
    draft = stamp.with_name(stamp.name + ".new")
    draft.write_text(json.dumps({"sha256": sha256, "bytes": now.st_size, "mtimeNs": now.st_mtime_ns}), encoding="utf-8")
    os.replace(draft, stamp)


def known_digest(path: Path, stamp: Path, report: ReportBytes = lambda count: None) -> str:
    """The file's digest, from its stamp or by reading it, and then stamped if that can be. Raises OSError."""
    known = stamped_digest(path, stamp)
    if known is None:
        known = digest_of(path, report)
        # A folder that only others may write to costs reading the file again, not its use.
        with contextlib.suppress(OSError):
            write_stamp(path, stamp, known)
    return known
