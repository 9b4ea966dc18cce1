"""The whole log, written to one file in short transactions while the gateway goes on; `gateway.core.export_form` says what its
lines are.

One transaction over the whole of a long log would keep the database's write-ahead log from being used again, and an erasure from
being finished. So each reads a stretch, until one meets the end of the log: the file is the log as that last transaction sees it.
Records and checkpoints are only ever added. What may have changed behind the place that is read are payloads that were erased,
which records say that are read later; and tools that were published, which stand before the records. Where either happened, the
file is written once more from itself.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import IO, Final

import orjson

from gateway.adapters.storage import log
from gateway.adapters.storage.inspection import StoredLog
from gateway.core.anchors import Evidence
from gateway.core.canonical import canonical_bytes, own_bytes
from gateway.core.errors import LedgerUnavailable
from gateway.core.export_form import EXPORT_VERSION, size_of, write_line
from gateway.core.ledger import ConversationDeleted, MessageAppended, RecordsErased
from gateway.core.verification import LeafRecord

STRETCH: Final = 10_000
"""Records that are read in one transaction."""

_NULL: Final = b"null"

_LEAF: Final = re.compile(rb'\{"type":"leaf","index":([0-9]+),"hash":"[0-9a-f]+","body":')
_EMPTY: Final = b',"salt":null,"payload":null}\n'
_ERASURES: Final = tuple(b'"%b"' % event.encode() for event in (RecordsErased.EVENT, ConversationDeleted.EVENT))

_decoder: Final = json.JSONDecoder()

OpenLog = Callable[[], AbstractContextManager[StoredLog]]
"""Gives the log as it is at that moment."""


def write_export(open_log: OpenLog, file: IO[bytes], evidence: Sequence[Evidence] = (), *, stretch: int = STRETCH) -> int:
    """Write everything to a file, which can be read and sought in, and give the number of leaves. `evidence` is what anchors
    gave; what is of another log is left out. Raises LedgerUnavailable where the log is another one in the middle."""
    export = _Export(file)
    with open_log() as stored:
        export.begin(stored)
    is_whole = False
    while not is_whole:
        with open_log() as stored:
            is_whole = export.read_stretch(stored, stretch)
            if is_whole:
                export.finish(stored, evidence)
    export.mend()
    return export.leaves


class _Export:
    def __init__(self, file: IO[bytes]) -> None:
        self.leaves = 0
        self._file = file
        self._begins = 0
        """Where the first record or checkpoint stands in the file."""
        self._lines = 0
        self._last: int | None = None
        self._last_note: tuple[int, str] | None = None
        self._published: tuple[str, int] | None = None
        self._head: bytes | None = None
        """What the file has to begin with instead."""
        self._named: set[int] = set()
        """Records that may have been written before they were erased."""
        self._erased: Collection[int] = ()
        self._deleted: set[str] = set()
        """Conversations some of whose messages may have been written before they were deleted."""

    def begin(self, stored: StoredLog) -> None:
        """The lines before the records."""
        self._published = _published(stored)
        for line in _read_head(stored):
            self._write(line)
        self._begins = self._file.tell()

    def read_stretch(self, stored: StoredLog, most: int) -> bool:
        """The next records with their checkpoints; whether they were the last."""
        self._require_same(stored)
        notes = stored.notes_after(None if self._last_note is None else self._last_note[0])
        note = next(notes, None)
        first, before = self._last, self.leaves
        for leaf in stored.leaves_after(self._last, most):
            self._write(_leaf_line(leaf))
            self.leaves += 1
            self._last = leaf.index
            if first is not None and any(event in leaf.body for event in _ERASURES):
                self._note_erasure(leaf.body, first)
            # One that claims no size is written where it will be noticed.
            while note is not None and (size_of(note[1]) or 0) <= self.leaves:
                self._write_note(note)
                note = next(notes, None)
        if self.leaves - before == most:
            return False
        while note is not None:
            self._write_note(note)
            note = next(notes, None)
        return True

    def finish(self, stored: StoredLog, evidence: Sequence[Evidence]) -> None:
        """The lines after the records, in the transaction that read the last of them."""
        published = _published(stored)
        if published != self._published:
            head = list(_read_head(stored))
            self._lines += len(head) - self._lines_of_head()
            self._head = b"".join(head)
        # Where one is named and still there, that is what the file has to show.
        self._erased = stored.without_payload(self._named)
        for each in evidence:
            if stored.has_anchored(str(each["note"])):
                self._write(write_line("anchor", canonical_bytes(dict(each))))
        self._write(write_line("end", own_bytes(self._lines)))

    def mend(self) -> None:
        """Write the file again, as it was in the last transaction."""
        if self._head is None and not self._erased and not self._deleted:
            return
        with tempfile.TemporaryFile() as other:
            self._file.seek(0)
            if self._head is None:
                other.write(self._file.read(self._begins))
            else:
                other.write(self._head)
                self._file.seek(self._begins)
            for line in self._file:
                other.write(self._without_erased(line))
            self._file.seek(0)
            self._file.truncate()
            other.seek(0)
            shutil.copyfileobj(other, self._file)

    def _without_erased(self, line: bytes) -> bytes:
        found = _LEAF.match(line)
        if found is None or line.endswith(_EMPTY):
            return line
        is_named = int(found[1]) in self._erased
        if not is_named and (not self._deleted or MessageAppended.EVENT.encode() not in line):
            return line
        text = line.decode()
        body, end = _decoder.raw_decode(text, found.end())
        if not is_named and not (body["event"] == MessageAppended.EVENT and body["conversationId"] in self._deleted):
            return line
        return text[:end].encode() + _EMPTY

    def _note_erasure(self, body: bytes, before: int) -> None:
        """What the record says was erased of those up to that one. It may be damaged."""
        with suppress(orjson.JSONDecodeError, KeyError, TypeError):
            read = orjson.loads(body)
            if read["event"] == ConversationDeleted.EVENT:
                self._deleted.add(read["conversationId"])
            elif read["event"] == RecordsErased.EVENT:
                self._named.update(index for index in read["records"] if isinstance(index, int) and index <= before)

    def _require_same(self, stored: StoredLog) -> None:
        if self._last_note is not None and log.note_over(stored.connection, self._last_note[0]) != self._last_note[1]:
            raise LedgerUnavailable("the log was put back from a copy while it was exported; export it again")

    def _lines_of_head(self) -> int:
        self._file.seek(0)
        lines = self._file.read(self._begins).count(b"\n")
        self._file.seek(0, 2)
        return lines

    def _write_note(self, note: tuple[int, str]) -> None:
        self._write(write_line("checkpoint", own_bytes(note[1])))
        self._last_note = note

    def _write(self, line: bytes) -> None:
        self._file.write(line)
        self._lines += 1


def _published(stored: StoredLog) -> tuple[str, int]:
    """What the lines before the records are made of: as long as this is the same, so are they."""
    return stored.key.line(), log.count_published(stored.connection)


def _read_head(stored: StoredLog) -> Iterator[bytes]:
    yield write_line("log", own_bytes(EXPORT_VERSION), own_bytes(stored.key.line()))
    for digest, body in log.read_descriptors(stored.connection).items():
        yield write_line("descriptor", own_bytes(digest), canonical_bytes(body))
    for digest, body in log.read_compact_snapshots(stored.connection):
        yield write_line("snapshot", own_bytes(digest), canonical_bytes(body))


def _leaf_line(leaf: LeafRecord) -> bytes:
    salt = _NULL if leaf.salt is None else own_bytes(leaf.salt.hex())
    return write_line("leaf", own_bytes(leaf.index), own_bytes(leaf.hash.hex()), leaf.body, salt, leaf.payload or _NULL)
