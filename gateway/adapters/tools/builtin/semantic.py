"""Finding passages by what they are about: the question and the passages of the workspace as vectors, compared."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.passages import FileRecord, Passage, PassageStore, TextEmbedder, as_bytes, cut_passages
from gateway.adapters.tools.builtin.paths import read_path, write_path
from gateway.adapters.tools.builtin.searching import SearchFindings, walk_files
from gateway.adapters.tools.builtin.texts import decode_text
from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.core.effects import escape
from gateway.core.errors import ModelUnavailable, ToolFailed
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.redaction import redact_lines
from gateway.core.vocabulary import Category, Reason, Recovery
from gateway.runtime.ports import ToolContext

MAX_FILES: Final = 2_000
MAX_PASSAGES: Final = 10_000
"""Of a workspace that are compared; more take longer than a person waits."""

SHOWN: Final = 5
SHOWN_CHARACTERS: Final = 300

LEAST_LIKENESS: Final = 0.2
"""Cosine below which a passage is about something else. Of unrelated sentences it was at most 0.13, of related ones 0.66."""

INDEXING_SECONDS: Final = 15.0
"""Of one call, for files that are new or have changed; what is left is done by the next call."""

BATCH: Final = 16
"""Passages that are made into vectors at a time."""

CUT: Final = 150
"""Characters of a passage that has more tokens than the model reads, as other scripts may."""

_Query: TypeAlias = Annotated[str, Field(description="What the passages should be about, in words", min_length=1, max_length=300)]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that is about the query. `likeness` is the cosine, in hundredths."""

    path: str
    first: int
    last: int
    likeness: int
    text: str


def semantic_tools(workspace: Workspace, store: PassageStore, embedder: TextEmbedder) -> list[AnyTool]:
    """The tool over one workspace."""
    updating = asyncio.Lock()

    @tool(
        category=Category.READ,
        summary="Look for passages about {query}",
        own=True,
        recovery=Recovery.PURE,
        # As a search of the whole workspace is: a policy about paths sees it as that.
        facts=lambda _: CallFacts(path="."),
        interface="workspace",
    )
    async def semantic_search(query: _Query, context: ToolContext) -> ToolOutput:
        """Find passages in the text files by their meaning, also where they use other words."""
        try:
            (wanted,) = await embedder.embed([query])
            async with updating:
                index = _Index(workspace, store, embedder, context)
                records, complete = await index.bring_up_to_date()
        except ModelUnavailable as error:
            raise ToolFailed(error.message, Reason.SOURCE_UNAVAILABLE) from None
        found = await asyncio.to_thread(_best, workspace, records, wanted, context)
        lines = [f"{escape(each.path)}:{each.first}-{each.last}: {each.text}" for each in found]
        lines = lines or [f"nothing in {len(records)} text files is about that"]
        if not complete:
            lines.append(f"…[{len(records)} text files are looked through so far; ask again to go on]")
        return ToolOutput("\n".join(lines), {"matches": [asdict(each) for each in found], "complete": complete})

    return [semantic_search]


class _Index:
    """The records of all text files, as they are now."""

    def __init__(self, workspace: Workspace, store: PassageStore, embedder: TextEmbedder, context: ToolContext) -> None:
        self._workspace = workspace
        self._store = store
        self._embedder = embedder
        self._context = context
        self._deadline = time.monotonic() + INDEXING_SECONDS

    async def bring_up_to_date(self) -> tuple[list[FileRecord], bool]:
        """The records, and whether that is all. Raises ModelUnavailable, ToolFailed."""
        walked = SearchFindings()
        files = await asyncio.to_thread(lambda: list(walk_files(self._workspace, (), walked, self._context.cancelled)))
        paths = [write_path(parts) for parts in files]
        records: list[FileRecord] = []
        passages, complete = 0, walked.complete and len(files) <= MAX_FILES
        for parts, path in zip(files[:MAX_FILES], paths, strict=False):
            if self._context.cancelled.is_set() or passages >= MAX_PASSAGES:
                complete = False
                break
            record = await asyncio.to_thread(self._known, parts, path)
            if record is None:
                if time.monotonic() > self._deadline:
                    complete = False
                    continue
                record = await self._make(parts, path)
            if record is not None and record.passages:
                records.append(record)
                passages += len(record.passages)
        if walked.complete:
            await asyncio.to_thread(self._store.keep_only, paths)
        return records, complete

    def _known(self, parts: tuple[str, ...], path: str) -> FileRecord | None:
        record = self._store.read(path)
        if record is None or not self._context.redact <= record.without:
            return None
        return record if record.stamp == _stamp_of(self._workspace, parts) else None

    async def _make(self, parts: tuple[str, ...], path: str) -> FileRecord | None:
        stamp = await asyncio.to_thread(_stamp_of, self._workspace, parts)
        text = await asyncio.to_thread(_read_text, self._workspace, parts, self._context.cancelled)
        if stamp is None or self._context.cancelled.is_set():
            return None
        # A file that is no text keeps a record without passages, so that it is not read again each time.
        digest = hashlib.sha256((text or "").encode()).hexdigest()
        before = await asyncio.to_thread(self._store.read, path)
        # Never less than for others who search here, so that two whom the policy holds to different classes share one record.
        without = self._context.redact if before is None else self._context.redact | before.without
        if before is not None and (before.digest, before.without) == (digest, without):
            record = FileRecord(path, stamp, digest, without, before.passages)
        else:
            pieces = list(cut_passages("\n".join(await asyncio.to_thread(redact_lines, text or "", without))))
            self._context.progress(f"reading {escape(path)}", None)
            vectors = await self._vectors([words for _, _, words in pieces])
            made = (Passage(first, last, vector) for (first, last, _), vector in zip(pieces, vectors, strict=True) if vector)
            record = FileRecord(path, stamp, digest, without, tuple(made))
        try:
            await asyncio.to_thread(self._store.write, record)
        except OSError as error:
            raise ToolFailed(f"the index cannot be written: {error.strerror}", Reason.SOURCE_UNAVAILABLE) from None
        return record

    async def _vectors(self, texts: Sequence[str]) -> list[bytes]:
        """One for each text; empty for one that the model does not read at all."""
        vectors: list[bytes] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            try:
                vectors += map(as_bytes, await self._embedder.embed(batch))
            except ModelUnavailable:
                # One of them has too many tokens, or there is no server, which the second attempt will say.
                vectors += [await self._short_vector(text[:CUT]) for text in batch]
        return vectors

    async def _short_vector(self, text: str) -> bytes:
        (vector,) = await self._embedder.embed([text])
        return as_bytes(vector)


def _stamp_of(workspace: Workspace, parts: tuple[str, ...]) -> tuple[int, ...] | None:
    try:
        with workspace.opened(parts, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) as descriptor:
            seen = os.fstat(descriptor)
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode) or seen.st_nlink != 1:
        return None
    return seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino


def _read_text(workspace: Workspace, parts: tuple[str, ...], cancelled: threading.Event) -> str | None:
    """The text of a file, None for one that is no text or cannot be read."""
    try:
        content = workspace.read(parts, cancelled)
    except ToolFailed:
        return None
    decoded = decode_text(content.data, whole=len(content.data) == content.size)
    return None if decoded is None else decoded.text


def _best(workspace: Workspace, records: Sequence[FileRecord], wanted: Sequence[float], context: ToolContext) -> list[Found]:
    rated = [(passage.likeness(wanted), record.path, passage) for record in records for passage in record.passages]
    rated.sort(key=lambda each: (-each[0], each[1], each[2].first))
    found: list[Found] = []
    for likeness, path, passage in rated[:SHOWN]:
        text = _read_text(workspace, read_path(path), context.cancelled) if likeness >= LEAST_LIKENESS else None
        if text is not None:
            # The whole before the passage: half a key is none to whoever looks for keys.
            words = " ".join(" ".join(redact_lines(text, context.redact)[passage.first - 1 : passage.last]).split())
            shown = words if len(words) <= SHOWN_CHARACTERS else words[:SHOWN_CHARACTERS] + "…"
            found.append(Found(path, passage.first, passage.last, round(100 * likeness), shown))
    return found
