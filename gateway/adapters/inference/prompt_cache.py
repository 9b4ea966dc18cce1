"""Evaluated prompts, kept beyond the state folder: a folder of files, each under the digest of all that decides whether it fits.

A file is used only when it carries the key it is asked for and the digest of its own content, for what reads it next is
native code that was not written for damaged input. The digest guards against damage and mix-ups, not against somebody who may
write to the folder; so nobody else may.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import tempfile
import time
from dataclasses import astuple, dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from gateway.core.errors import Misconfigured

SUFFIX: Final = ".kv"
MAGIC: Final = b"countersign-kv 1\n"

MOST_FILES: Final = 8
MOST_BYTES: Final = 1 << 30
"""Files are 5 to 60 MB each. Those used longest ago go first."""

ABANDONED_SECONDS: Final = 3600.0
"""After that, a file half written belongs to nobody."""

_CHUNK: Final = 1 << 20
_HEAD_BYTES: Final = 1024
_OURS: Final = re.compile(rf"[0-9a-f]{{64}}{re.escape(SUFFIX)}")


@dataclass(frozen=True, slots=True)
class CacheKey:
    """All that an evaluated prompt depends on; with any of it changed it is another one.

    `weights` is the digest where it is known, beside size and modification time in nanoseconds. `dtype` says how weights and
    cache are quantised, `prompt` is the text as the chat template renders it, tool list included.
    """

    model: str
    weights: str
    weights_bytes: int
    weights_mtime: int
    prompt: str
    vocab: int
    layers: int
    dtype: str
    build: str
    context_tokens: int

    @property
    def digest(self) -> str:
        """Hex SHA-256."""
        return hashlib.sha256(orjson.dumps(astuple(self))).hexdigest()


class _InvalidCacheFile(Exception):
    """The file is not what its name says."""


class PromptCache:
    """The folder. All methods block; call them off the event loop."""

    def __init__(self, folder: Path, *, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> None:
        """Makes the folder if it is not there. Raises Misconfigured when it cannot be, or others may write to it."""
        self._folder = folder
        self._most_files = most_files
        self._most_bytes = most_bytes
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            seen = folder.stat()
        except OSError as error:
            raise Misconfigured(f"the prompt cache folder `{folder.name}` cannot be made: {error.strerror}") from None
        if seen.st_uid != os.geteuid() or stat.S_IMODE(seen.st_mode) & 0o022:
            raise Misconfigured(
                f"the prompt cache folder `{folder.name}` is somebody else's, or others may write to it; choose one of your own"
            )

    def fetch(self, key: CacheKey, into: Path) -> bool:
        """Write what was kept under `key` to `into`; False when there is nothing, or nothing that can be trusted."""
        path = self._path(key)
        part = into.with_name(f"{into.name}.part")
        try:
            # Not through a link, and never waiting at a pipe.
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as kept:
                part.unlink(missing_ok=True)
                # The server may write to that folder: no link of its own is followed, nor is there time to put one there.
                made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o640)
                with os.fdopen(made, "wb") as copy:
                    _copy_checked(kept, copy, key.digest)
            os.replace(part, into)
        except (OSError, _InvalidCacheFile):
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            return False
        with contextlib.suppress(OSError):
            os.utime(path)
        return True

    def store(self, key: CacheKey, saved: Path) -> None:
        """Keep the file that the server saved, in place of whatever is there under `key`. Raises OSError."""
        with _opened_plain(saved) as source:
            self._store(key, source)

    def _store(self, key: CacheKey, source: BufferedReader) -> None:
        content = hashlib.file_digest(source, "sha256").hexdigest()
        head = orjson.dumps({"key": key.digest, "bytes": source.tell(), "sha256": content}) + b"\n"
        source.seek(0)
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + head)
                while chunk := source.read(_CHUNK):
                    file.write(chunk)
            self._clear_way(self._path(key))
            os.replace(part, self._path(key))
        finally:
            part.unlink(missing_ok=True)
        self._forget()

    def _path(self, key: CacheKey) -> Path:
        return self._folder / f"{key.digest}{SUFFIX}"

    def _clear_way(self, path: Path) -> None:
        # A folder of that name is no file that could be replaced; it is moved aside, for it may be full.
        if path.is_dir() and not path.is_symlink():
            path.rename(path.with_name(f"{path.name}.foreign"))

    def _forget(self) -> None:
        """Delete what was used longest ago until the rest is within bounds. What others put here is left alone."""
        kept: list[tuple[float, int, Path]] = []
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError):
                seen = path.lstat()
                if stat.S_ISREG(seen.st_mode) and _OURS.fullmatch(path.name):
                    kept.append((seen.st_mtime, seen.st_size, path))
                elif path.suffix == ".part" and time.time() - seen.st_mtime > ABANDONED_SECONDS:
                    path.unlink()
        total = 0
        for place, (_, size, path) in enumerate(sorted(kept, reverse=True)):
            total += size
            # The newest stays, however big it is.
            if place and (place >= self._most_files or total > self._most_bytes):
                with contextlib.suppress(OSError):
                    path.unlink()


def _copy_checked(kept: BinaryIO, copy: BinaryIO, digest: str) -> None:
    """Copy the content behind the head. Raises _InvalidCacheFile when it is not what the head and the key say."""
    if not stat.S_ISREG(os.fstat(kept.fileno()).st_mode) or kept.read(len(MAGIC)) != MAGIC:
        raise _InvalidCacheFile
    try:
        head = orjson.loads(kept.readline(_HEAD_BYTES))
    except orjson.JSONDecodeError:
        raise _InvalidCacheFile from None
    match head:
        case {"key": key, "bytes": int(size), "sha256": str(content)} if key == digest:
            pass
        case _:
            raise _InvalidCacheFile
    seen = hashlib.sha256()
    while chunk := kept.read(_CHUNK):
        size -= len(chunk)
        if size < 0:
            raise _InvalidCacheFile
        seen.update(chunk)
        copy.write(chunk)
    if size != 0 or seen.hexdigest() != content:
        raise _InvalidCacheFile


def _opened_plain(path: Path) -> BufferedReader:
    """A file that the server wrote: no link to what it may not read itself, and no pipe. Raises OSError."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    seen = os.fstat(file.fileno())
    if not stat.S_ISREG(seen.st_mode) or seen.st_nlink > 1:
        file.close()
        raise OSError(errno.EINVAL, "it is not a plain file")
    return file
