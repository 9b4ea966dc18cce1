"""Checking an audit log again, from its records alone: hashes, tree, signatures, payloads, and the story they tell.

Pure, so that the same check runs over a live database, an exported file, and in tests. It answers with a report, never an
exception: records that nobody could have written are a finding, not a failure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, cast

from gateway.core.canonical import Json, digest, parse
from gateway.core.checkpoint import Checkpoint, Unverified, VerificationKey, open_note
from gateway.core.errors import MalformedJson
from gateway.core.merkle import Frontier, grow, leaf_hash
from gateway.core.story import Offer, Story

UNANCHORED: Final = (
    "Checked against nothing but itself: whoever holds the database and the key could have cut records off the end,"
    " together with their checkpoints. Keep a checkpoint somewhere else and pass it to rule that out."
)


@dataclass(frozen=True, slots=True)
class LeafRecord:
    """One record as stored or exported. `hash` is the leaf hash as it was noted beside the body, to tell which one changed.

    `salt` and `payload` are both None where there is no payload or it was erased.
    """

    index: int
    hash: bytes
    body: bytes
    salt: bytes | None
    payload: bytes | None


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """A snapshot with all its tools, under the digest by which leaves name it."""

    digest: str
    body: Mapping[str, Json]


class Flaw(StrEnum):
    """What can be wrong with a log."""

    MISSING = "missing"
    CHANGED = "changed"
    MALFORMED = "malformed"
    PAYLOAD = "payload"
    SNAPSHOT = "snapshot"
    CHECKPOINT = "checkpoint"
    UNSIGNED_END = "unsignedEnd"
    ANCHOR = "anchor"
    STORY = "story"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first bad record, by index, and a sentence about it. `index` is None where no single record is at fault."""

    flaw: Flaw
    index: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked, up to the first fault. `anchor` is the size of the outside checkpoint that was confirmed.

    Without an anchor the log is only proven to be whole up to its own last checkpoint: see UNANCHORED.
    """

    size: int = 0
    root: str = ""
    checkpoints: int = 0
    calls: int = 0
    executed: int = 0
    open_calls: int = 0
    erased: int = 0
    anchor: int | None = None
    fault: Fault | None = None

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with what was checked."""
        return self.fault is None

    @property
    def caveat(self) -> str | None:
        """What this check could not rule out."""
        return UNANCHORED if self.anchor is None else None


def verify(
    leaves: Iterable[LeafRecord],
    notes: Iterable[str],
    key: VerificationKey,
    *,
    snapshots: Iterable[SnapshotRecord] = (),
    anchor: str | None = None,
) -> Report:
    """Check a whole log. `leaves` by index and `notes` by size, both ascending; `anchor` is a note kept elsewhere."""
    offers = _read_offers(snapshots)
    if isinstance(offers, Fault):
        return Report(fault=offers)
    anchored = None
    if anchor is not None:
        opened = open_note(anchor, key)
        if isinstance(opened, Unverified):
            return Report(fault=Fault(Flaw.ANCHOR, None, f"the checkpoint that was passed proves nothing: {opened.reason}"))
        anchored = opened
    return _Check(key, Story(offers), anchored).run(leaves, iter(notes))


class _Check:
    """One pass over the log, one checkpoint's stretch of records at a time.

    A stretch is proven against its checkpoint before its story is told: a forged record must not be believed about others.
    """

    def __init__(self, key: VerificationKey, story: Story, anchor: Checkpoint | None) -> None:
        self._key = key
        self._story = story
        self._anchor = anchor
        self._frontier = Frontier()
        self._report = Report()
        self._stretch: list[LeafRecord] = []

    def run(self, leaves: Iterable[LeafRecord], notes: Iterator[str]) -> Report:
        fault = self._walk(leaves, notes)
        story = self._story
        return replace(
            self._report,
            size=self._frontier.size,
            root=self._frontier.root().hex(),
            calls=story.calls,
            executed=story.executed,
            open_calls=story.open_calls,
            fault=fault,
        )

    def _walk(self, leaves: Iterable[LeafRecord], notes: Iterator[str]) -> Fault | None:
        following = self._next_checkpoint(notes)
        for leaf in leaves:
            expected = self._frontier.size + len(self._stretch)
            if leaf.index != expected:
                return Fault(Flaw.MISSING, expected, f"record {expected} is missing")
            if leaf_hash(leaf.body) != leaf.hash:
                return Fault(Flaw.CHANGED, leaf.index, f"record {leaf.index} was changed")
            if isinstance(following, Fault):
                return following
            if following is None:
                return Fault(Flaw.UNSIGNED_END, leaf.index, f"record {leaf.index} and what follows is under no checkpoint")
            self._stretch.append(leaf)
            if leaf.index + 1 == self._anchored_size(following):
                if (fault := self._finish_stretch(following)) is not None:
                    return fault
                if self._frontier.size == following.size:
                    following = self._next_checkpoint(notes)
        return self._finish(following)

    def _finish(self, following: Checkpoint | Fault | None) -> Fault | None:
        if isinstance(following, Fault):
            return following
        size = self._frontier.size + len(self._stretch)
        if following is not None:
            return Fault(Flaw.MISSING, size, f"a checkpoint covers {following.size} records, the log ends after {size}")
        if self._anchor is not None and self._report.anchor is None:
            if self._anchor.size > size:
                cut = f"{self._anchor.size} records were anchored, the log ends after {size}: its end was cut off"
                return Fault(Flaw.MISSING, size, cut)
            if self._anchor != Checkpoint(self._key.name, 0, Frontier().root()):
                return Fault(Flaw.ANCHOR, None, "the anchored checkpoint does not fit this log")
            self._report = replace(self._report, anchor=0)
        breach = self._story.end()
        return None if breach is None else Fault(Flaw.STORY, size - 1, breach.detail)

    def _next_checkpoint(self, notes: Iterator[str]) -> Checkpoint | Fault | None:
        note = next(notes, None)
        if note is None:
            return None
        opened = open_note(note, self._key)
        size = self._frontier.size
        if isinstance(opened, Unverified):
            return Fault(Flaw.CHECKPOINT, size, f"the checkpoint after record {size - 1} proves nothing: {opened.reason}")
        if opened.size <= size:
            return Fault(Flaw.CHECKPOINT, size, f"the checkpoint over {opened.size} records is out of order")
        self._report = replace(self._report, checkpoints=self._report.checkpoints + 1)
        return opened

    def _anchored_size(self, following: Checkpoint) -> int:
        """Where the next proof is due: at the checkpoint, or before it where the anchor stands."""
        if self._anchor is not None and self._frontier.size < self._anchor.size < following.size:
            return self._anchor.size
        return following.size

    def _finish_stretch(self, following: Checkpoint) -> Fault | None:
        first = self._frontier.size
        grown = grow(self._frontier, (leaf.hash for leaf in self._stretch))
        root = grown.root()
        if grown.size == following.size and root != following.root:
            return Fault(Flaw.CHANGED, first, f"records {first} to {grown.size - 1} are not those that their checkpoint signed")
        if self._anchor is not None and grown.size == self._anchor.size:
            if root != self._anchor.root:
                return Fault(Flaw.CHANGED, None, f"the first {grown.size} records are not those that were anchored")
            self._report = replace(self._report, anchor=grown.size)
        for leaf in self._stretch:
            if (fault := self._read(leaf)) is not None:
                return fault
        self._frontier = grown
        self._stretch = []
        return None

    def _read(self, leaf: LeafRecord) -> Fault | None:
        try:
            body = parse(leaf.body)
            payload = None if leaf.payload is None else parse(leaf.payload)
            sealed: str | None = body.get("payload")
            if sealed is not None and payload is None:
                self._report = replace(self._report, erased=self._report.erased + 1)
            elif (sealed, leaf.payload) != (None, None) and sealed != _digest_of(leaf):
                return Fault(Flaw.PAYLOAD, leaf.index, f"the payload of record {leaf.index} was changed")
            breach = self._story.tell(body, payload)
        except (MalformedJson, KeyError, TypeError, ValueError, AttributeError):
            return Fault(Flaw.MALFORMED, leaf.index, f"record {leaf.index} is none that the gateway writes")
        return None if breach is None else Fault(Flaw.STORY, leaf.index, breach.detail)


def _digest_of(leaf: LeafRecord) -> str:
    return hashlib.sha256((leaf.salt or b"") + (leaf.payload or b"")).hexdigest()


def _read_offers(snapshots: Iterable[SnapshotRecord]) -> dict[str, Mapping[str, Offer]] | Fault:
    offers: dict[str, Mapping[str, Offer]] = {}
    for snapshot in snapshots:
        try:
            if digest(snapshot.body) != snapshot.digest:
                return Fault(Flaw.SNAPSHOT, None, f"snapshot `{snapshot.digest}` was changed")
            tools = cast("list[Mapping[str, str]]", snapshot.body["tools"])
            offers[snapshot.digest] = {
                tool["name"]: Offer(descriptor_digest=tool["digest"], permission=tool["permission"]) for tool in tools
            }
        except (MalformedJson, KeyError, TypeError):
            return Fault(Flaw.SNAPSHOT, None, f"snapshot `{snapshot.digest}` is none that the gateway writes")
    return offers
