"""The text files of a workspace as passages with vectors, kept in the state folder and brought up to date file by file.

A record holds a file's path, digest, size and time, and for each passage its lines and its vector, but none of its words: those
are read from the workspace when they are shown. A record that does not read is made again.

Vectors are made of what redaction leaves. A likeness tells how near a guess comes, so one to the whole text would tell, piece by
piece, a credential that is shown to nobody.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any, Final, Protocol, cast

import orjson

from gateway.core.canonical import Json

PASSAGE_CHARACTERS: Final = 600
"""Some 150 tokens of English: the sentence model was trained on texts of that length, and reads 512 tokens at most."""

PASSAGES_PER_FILE: Final = 200
LARGEST_RECORD: Final = 1 << 20
"""Bytes; 200 passages take a tenth."""

VERSION: Final = 2
"""Of the records. Those of 1 were made of the whole text."""

_OF_THIS_VERSION: Final = f"v{VERSION}-"


class TextEmbedder(Protocol):
    """A model that makes vectors of texts: those of texts with a like meaning are alike. `id` says which model."""

    @property
    def id(self) -> str: ...
    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length one for each text. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a file, counted from 1; `vector` has a byte for each dimension."""

    first: int
    last: int
    vector: bytes

    def likeness(self, vector: Sequence[float]) -> float:
        """The cosine between the passage and a vector of length one."""
        own = array("b", self.vector)
        return sum(map(mul, own, vector)) / (sum(map(mul, own, own)) ** 0.5 or 1.0)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What is known of one file. `stamp` is size, time and inode: while that stays the same, so does the file. `without` are the
    classes of what was taken out before the vectors were made (RedactionClass values)."""

    path: str
    stamp: tuple[int, ...]
    digest: str
    without: frozenset[str]
    passages: tuple[Passage, ...]


class PassageStore:
    """Records in one folder, which belongs to one workspace and one model."""

    def __init__(self, folder: Path, workspace: Path, model: str) -> None:
        belongs_to = hashlib.sha256(f"{VERSION}\n{model}\n{workspace}".encode(errors="surrogateescape")).hexdigest()[:16]
        self._root = folder
        self._folder = folder / f"{_OF_THIS_VERSION}{belongs_to}"

    def read(self, path: str) -> FileRecord | None:
        """The record of a file."""
        try:
            raw = self._place(path).read_bytes()
            return _read_record(orjson.loads(raw), path) if len(raw) <= LARGEST_RECORD else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def write(self, record: FileRecord) -> None:
        """Keep it, whole or not at all. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(orjson.dumps(_as_json(record)))
            os.replace(name, self._place(record.path))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def keep_only(self, paths: Sequence[str]) -> None:
        """Forget files that are no longer there, and what other versions made."""
        with contextlib.suppress(OSError), os.scandir(self._root) as found:
            for entry in list(found):
                if not entry.name.startswith(_OF_THIS_VERSION):
                    shutil.rmtree(entry.path, ignore_errors=True)
        kept = {self._place(path).name for path in paths}
        with contextlib.suppress(OSError), os.scandir(self._folder) as found:
            for entry in list(found):
                if entry.name not in kept:
                    os.unlink(entry.path)

    def _place(self, path: str) -> Path:
        return self._folder / f"{hashlib.sha256(path.encode(errors='surrogateescape')).hexdigest()}.json"


def cut_passages(text: str) -> Iterator[tuple[int, int, str]]:
    """First line, last line and words of each passage: whole lines, as many as fit; a line that is too long counts as far as
    it fits."""
    first, held, size = 1, list[str](), 0
    made = 0
    for number, line in enumerate(text.splitlines(), 1):
        taken = line[:PASSAGE_CHARACTERS]
        if held and (size + len(taken) > PASSAGE_CHARACTERS or not taken.strip()):
            yield first, number - 1, "\n".join(held)
            made, held, size = made + 1, [], 0
            if made >= PASSAGES_PER_FILE:
                return
        if not held:
            first = number
        if taken.strip():
            held.append(taken)
            size += len(taken) + 1
    if held:
        yield first, first + len(held) - 1, "\n".join(held)


def as_bytes(vector: Sequence[float]) -> bytes:
    """A vector in one byte for each dimension: of a length of one, the cosines stay right to two digits."""
    largest = max((abs(each) for each in vector), default=0.0) or 1.0
    return array("b", (round(127 * each / largest) for each in vector)).tobytes()


def _as_json(record: FileRecord) -> Json:
    passages: list[Json] = [[each.first, each.last, base64.b85encode(each.vector).decode()] for each in record.passages]
    return {
        "path": record.path,
        "stamp": list(record.stamp),
        "digest": record.digest,
        "without": sorted(record.without),
        "passages": passages,
    }


def _read_record(value: Any, path: str) -> FileRecord | None:
    if value["path"] != path:
        return None
    passages = tuple(Passage(int(first), int(last), base64.b85decode(code)) for first, last, code in value["passages"])
    stamp = tuple(map(int, cast("list[int]", value["stamp"])))
    return FileRecord(path, stamp, str(value["digest"]), frozenset(map(str, cast("list[str]", value["without"]))), passages)
