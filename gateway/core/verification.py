"""Checking an audit log again, from its records alone: hashes, tree, signatures, payloads and invariants.

Pure, so that the same check runs over a live database, an exported file, and in tests. It answers with a report, never an
exception: records that nobody could have written are a finding, not a failure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, cast

from gateway.core.anchors import Anchored, AnchorTrust, Evidence, UnsoundAnchor, check_evidence, find_missing
from gateway.core.canonical import Json, digest, parse_canonical
from gateway.core.checkpoint import Checkpoint, Unverified, VerificationKey, open_note, read_note
from gateway.core.erasure_records import ErasureRecords
from gateway.core.errors import MalformedJson
from gateway.core.invariants import InvariantChecker, OfferedTool
from gateway.core.key_rotation import KeyFault, KeyHistory, read_key_history
from gateway.core.merkle import EMPTY_ROOT, Frontier, grow, leaf_hash
from gateway.core.signed_answers import AnswerCheck, SignedAnswers

UNANCHORED: Final = (
    "Checked against nothing but itself: someone with the database and the key could have cut records off the end,"
    " together with their checkpoints. Keep a checkpoint somewhere else and pass it to rule that out."
)


@dataclass(slots=True)
class LeafRecord:
    """One record as stored or exported. `hash` is the leaf hash as it was stored with the body, to find which record changed.

    `salt` and `payload` are both None where there is no payload, or it was erased or taken out. Not frozen, for a million of them
    are made.
    """

    index: int
    hash: bytes
    body: bytes
    salt: bytes | None
    payload: bytes | None


LaterRecords = Callable[[Frontier, KeyHistory], Sequence[Mapping[str, Json]]]
"""Gives the records behind those of a frontier, where a signed checkpoint covers them all; none where none does."""


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """A snapshot with all its tools, under the digest by which leaves name it."""

    digest: str
    body: Mapping[str, Json]


class Flaw(StrEnum):
    """What can be wrong with a log."""

    FORM = "form"
    MISSING = "missing"
    CHANGED = "changed"
    MALFORMED = "malformed"
    PAYLOAD = "payload"
    TAKEN = "taken"
    ERASURE = "erasure"
    SNAPSHOT = "snapshot"
    CHECKPOINT = "checkpoint"
    UNSIGNED_END = "unsignedEnd"
    ANCHOR = "anchor"
    INVARIANT = "invariant"
    SIGNATURE = "signature"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class LogFault:
    """The first thing that is wrong, and a sentence about it. `index` is the record's, None where no single one is at fault;
    `place` names the field: `records[14].payload`, `checkpoints[3]`, `line 7` of an exported file."""

    flaw: Flaw
    index: int | None
    detail: str
    place: str


@dataclass(frozen=True, slots=True)
class LogReport:
    """What was checked, up to the first fault. `anchor` is the size of the outside checkpoint that was confirmed, `newest_note`
    the last of the log's own checkpoints that was, `anchors` what anchors gave, `signatures` how many passkeys' answers hold.

    Without an anchor the log is only proven to be whole up to its own last checkpoint: see UNANCHORED.
    """

    size: int = 0
    root: str = EMPTY_ROOT.hex()
    checkpoints: int = 0
    newest_note: str = ""
    calls: int = 0
    executed: int = 0
    open_calls: int = 0
    erased: int = 0
    anchor: int | None = None
    anchors: tuple[Anchored, ...] = ()
    signatures: int = 0
    fault: LogFault | None = None

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
    key: VerificationKey | KeyHistory,
    *,
    snapshots: Iterable[SnapshotRecord] = (),
    anchor: str | None = None,
    evidence: Iterable[Evidence] = (),
    trust: AnchorTrust | None = None,
    newest_only: bool = False,
    check_answer: AnswerCheck | None = None,
    later: LaterRecords | None = None,
) -> LogReport:
    """Check a whole log. `leaves` by index and `notes` by size, both ascending; `anchor` is a note kept elsewhere. `key` is the
    log's one key, or all that it had (`read_keys`).

    `newest_only`: of the notes, every one must say what the records say, and the last must be signed. That proves as much of the
    records, for the last covers them all; a fault is only found later, and an older note whose signature is bad is none.
    `evidence`: what anchors gave for checkpoints of this log, and `trust` whose to believe.
    `check_answer`: check the passkeys' signatures too. `later`: what came meanwhile.
    """
    offers = _read_offers(snapshots)
    if isinstance(offers, LogFault):
        return LogReport(fault=offers)
    keys = KeyHistory((key,)) if isinstance(key, VerificationKey) else key
    given = None if anchor is None else _open_anchor(anchor, keys)
    if isinstance(given, Unverified):
        detail = f"the checkpoint that was passed proves nothing: {given.reason}"
        return LogReport(fault=LogFault(Flaw.ANCHOR, None, detail, "checkpoint"))
    anchors = _read_evidence(evidence, keys, trust or AnchorTrust())
    if isinstance(anchors, LogFault):
        return LogReport(fault=anchors)
    kept = [] if given is None else [_Kept(given.size, given.root, "checkpoint")]
    kept += [_Kept(each.size, bytes.fromhex(each.root), f"anchors[{number}].note") for number, each in enumerate(anchors)]
    answers = None if check_answer is None else SignedAnswers(check_answer)
    check = _Check(keys, InvariantChecker(offers, whole=True), answers, kept, newest_only=newest_only, later=later)
    report = check.run(leaves, iter(notes))
    confirmed = given is not None and not any(each.place == "checkpoint" for each in check.kept)
    return replace(report, anchor=given.size if given is not None and confirmed else None, anchors=anchors)


def read_keys(
    rotations: Iterable[LeafRecord], newest: VerificationKey, pinned: VerificationKey | None = None
) -> KeyHistory | LogFault:
    """All keys of a log: `rotations` are its records of the event `audit-key:rotated`, `newest` is the key that it says it has.

    `pinned` is the one to trust: the log's only key, or one of those that were handed over from one to the next.
    """
    read = [(leaf.index, parse_canonical(leaf.body)) for leaf in rotations if _is_whole(leaf)]
    found = read_key_history(read, newest if read or pinned is None else pinned)
    if isinstance(found, KeyFault):
        place = f"records[{found.index}].body.{found.member}" if found.member else "key"
        return LogFault(Flaw.KEY, found.index, found.detail, place)
    if pinned is not None and pinned not in found.keys:
        return LogFault(Flaw.KEY, None, "the key that was given is none that this log had", "key")
    return found


def _is_whole(leaf: LeafRecord) -> bool:
    """Whether a record is the one of its hash, and can be read. Of another one the check of the records says more."""
    try:
        return leaf_hash(leaf.body) == leaf.hash and bool(parse_canonical(leaf.body))
    except MalformedJson:
        return False


def _open_anchor(anchor: str, keys: KeyHistory) -> Checkpoint | Unverified:
    """A checkpoint that was kept elsewhere, by the key that the log had then."""
    claimed = read_note(anchor, keys.newest)
    return claimed if isinstance(claimed, Unverified) else open_note(anchor, keys.at(claimed.size))


def _read_evidence(evidence: Iterable[Evidence], keys: KeyHistory, trust: AnchorTrust) -> tuple[Anchored, ...] | LogFault:
    found: list[Anchored] = []
    for number, each in enumerate(evidence):
        try:
            found.append(check_evidence(each, keys.keys, trust))
        except UnsoundAnchor as unsound:
            return LogFault(Flaw.ANCHOR, None, unsound.detail, unsound.place(number))
    missing = find_missing(found, trust)
    return tuple(found) if missing is None else LogFault(Flaw.ANCHOR, None, missing, "anchors")


@dataclass(frozen=True, slots=True)
class _Kept:
    """A checkpoint that somebody else has of this log, and what a fault calls it."""

    size: int
    root: bytes
    place: str


class _Check:
    """One pass over the log, one checkpoint's stretch of records at a time.

    A stretch is proven against its checkpoint before its invariants are checked: a forged record must not be believed about
    others.
    """

    def __init__(
        self,
        keys: KeyHistory,
        checker: InvariantChecker,
        answers: SignedAnswers | None,
        kept: Iterable[_Kept],
        *,
        newest_only: bool,
        later: LaterRecords | None,
    ) -> None:
        self._keys, self._later = keys, later
        self._checker = checker
        self._answers = answers
        # The next one is the last.
        self.kept = sorted(kept, key=lambda each: each.size)[::-1]
        self._frontier = Frontier()
        self._report = LogReport()
        self._stretch: list[LeafRecord] = []
        self._newest_only = newest_only
        self._note = ""
        self._ahead: str | None = None
        self._confirmed = ""
        self._checkpoints = 0
        self._erasures = ErasureRecords(whole=True)

    def run(self, leaves: Iterable[LeafRecord], notes: Iterator[str]) -> LogReport:
        self._ahead = next(notes, None)
        fault = self._walk(leaves, notes)
        checker = self._checker
        return replace(
            self._report,
            size=self._frontier.size,
            root=self._frontier.root().hex(),
            calls=checker.calls,
            executed=checker.executed,
            open_calls=checker.open_calls,
            erased=self._erasures.erased,
            checkpoints=self._checkpoints,
            newest_note=self._confirmed,
            signatures=0 if self._answers is None else self._answers.signatures,
            fault=fault,
        )

    def _walk(self, leaves: Iterable[LeafRecord], notes: Iterator[str]) -> LogFault | None:
        following = self._next_checkpoint(notes)
        due = self._due(following)
        for expected, leaf in enumerate(leaves):
            if leaf.index != expected:
                return LogFault(Flaw.MISSING, expected, f"record {expected} is missing", f"records[{expected}].index")
            if leaf_hash(leaf.body) != leaf.hash:
                return LogFault(Flaw.CHANGED, leaf.index, f"record {leaf.index} was changed", f"records[{leaf.index}].hash")
            if isinstance(following, LogFault):
                return following
            if following is None:
                unsigned = f"record {leaf.index} and what follows is under no checkpoint"
                return LogFault(Flaw.UNSIGNED_END, leaf.index, unsigned, f"records[{leaf.index}]")
            self._stretch.append(leaf)
            if expected + 1 == due:
                if (fault := self._finish_stretch(following)) is not None:
                    return fault
                if self._frontier.size == following.size:
                    following = self._next_checkpoint(notes)
                due = self._due(following)
        return self._finish(following)

    def _finish(self, following: Checkpoint | LogFault | None) -> LogFault | None:
        if isinstance(following, LogFault):
            return following
        size = self._frontier.size + len(self._stretch)
        if following is not None:
            cut = f"a checkpoint covers {following.size} records, the log ends after {size}"
            return LogFault(Flaw.MISSING, size, cut, f"records[{size}]")
        for each in reversed(self.kept):
            if each.size > size:
                cut = f"{each.size} records were anchored, the log ends after {size}: its end was cut off"
                return LogFault(Flaw.MISSING, size, cut, f"records[{size}]")
            if each.size or each.root != EMPTY_ROOT:
                return LogFault(Flaw.ANCHOR, None, "the anchored checkpoint does not fit this log", each.place)
            self.kept.pop()
        if self._later is not None and self._erasures.find_taken() is not None:
            for body in self._later(self._frontier, self._keys):
                self._erasures.name_later(body)
        if (taken := self._erasures.find_taken()) is not None:
            detail = f"the payload of record {taken} was taken out: no record says that it was erased"
            return LogFault(Flaw.TAKEN, taken, detail, f"records[{taken}].payload")
        violation = self._checker.finish()
        return None if violation is None else LogFault(Flaw.INVARIANT, size - 1, violation.detail, f"records[{size - 1}]")

    def _next_checkpoint(self, notes: Iterator[str]) -> Checkpoint | LogFault | None:
        note = self._ahead
        if note is None:
            return None
        self._note, self._ahead = note, next(notes, None)
        implied = self._newest_only and self._ahead is not None
        opened = read_note(note, self._keys.newest)
        if not implied and isinstance(opened, Checkpoint):
            opened = open_note(note, self._keys.at(opened.size))
        size, place = self._frontier.size, f"checkpoints[{self._checkpoints}]"
        if isinstance(opened, Unverified):
            detail = f"the checkpoint after record {size - 1} proves nothing: {opened.reason}"
            return LogFault(Flaw.CHECKPOINT, size, detail, place)
        if opened.size <= size:
            return LogFault(Flaw.CHECKPOINT, size, f"the checkpoint over {opened.size} records is out of order", place)
        self._checkpoints += 1
        return opened

    def _due(self, following: Checkpoint | LogFault | None) -> int | None:
        """Where the next proof is due: at the checkpoint, or before it, at the size of one that somebody else has."""
        if not isinstance(following, Checkpoint):
            return None
        later = (each.size for each in reversed(self.kept) if each.size > self._frontier.size)
        return min(next(later, following.size), following.size)

    def _finish_stretch(self, following: Checkpoint) -> LogFault | None:
        first = self._frontier.size
        grown = grow(self._frontier, [leaf.hash for leaf in self._stretch])
        root = grown.root()
        if grown.size == following.size and root != following.root:
            detail = f"records {first} to {grown.size - 1} are not those that their checkpoint signed"
            return LogFault(Flaw.CHANGED, first, detail, f"records[{first}]")
        while self.kept and self.kept[-1].size == grown.size:
            if root != self.kept[-1].root:
                detail = f"the first {grown.size} records are not those that were anchored"
                return LogFault(Flaw.CHANGED, None, detail, self.kept[-1].place)
            self.kept.pop()
        read = self._read
        for leaf in self._stretch:
            if (fault := read(leaf)) is not None:
                return fault
        if grown.size == following.size:
            self._confirmed = self._note
        self._frontier = grown
        self._stretch = []
        return None

    def _read(self, leaf: LeafRecord) -> LogFault | None:
        place = f"records[{leaf.index}]"
        try:
            body = parse_canonical(leaf.body)
            payload = None
            sealed: str | None = body.get("payload")
            if leaf.payload is not None:
                if sealed != _digest_of(leaf.salt, leaf.payload):
                    changed = f"the payload of record {leaf.index} was changed"
                    return LogFault(Flaw.PAYLOAD, leaf.index, changed, f"{place}.payload")
                payload = parse_canonical(leaf.payload)
            if (untrue := self._erasures.check(leaf.index, body, lacking=payload is None and sealed is not None)) is not None:
                return LogFault(Flaw.ERASURE, leaf.index, untrue, f"{place}.body.records")
            violation = self._checker.check(body, payload)
            fault = None if violation is not None or self._answers is None else self._answers.check(body, payload)
        except (MalformedJson, KeyError, TypeError, ValueError, AttributeError):
            return LogFault(Flaw.MALFORMED, leaf.index, f"record {leaf.index} is none that the gateway writes", place)
        if violation is not None:
            return LogFault(Flaw.INVARIANT, leaf.index, violation.detail, place)
        return None if fault is None else LogFault(Flaw.SIGNATURE, leaf.index, fault, place)


def _digest_of(salt: bytes | None, payload: bytes) -> str:
    return hashlib.sha256((salt or b"") + payload).hexdigest()


def _read_offers(snapshots: Iterable[SnapshotRecord]) -> dict[str, Mapping[str, OfferedTool]] | LogFault:
    offers: dict[str, Mapping[str, OfferedTool]] = {}
    # Each turn has a snapshot of its own, and most of them offer what another one did.
    tools_of: dict[tuple[tuple[str, str, str], ...], Mapping[str, OfferedTool]] = {}
    for snapshot in snapshots:
        try:
            if digest(snapshot.body) != snapshot.digest:
                return LogFault(Flaw.SNAPSHOT, None, f"snapshot `{snapshot.digest}` was changed", f"snapshots[{snapshot.digest}]")
            tools = cast("list[Mapping[str, str]]", snapshot.body["tools"])
            named = tuple((tool["name"], tool["digest"], tool["permission"]) for tool in tools)
            if named not in tools_of:
                tools_of[named] = {name: OfferedTool(descriptor, permission) for name, descriptor, permission in named}
            offers[snapshot.digest] = tools_of[named]
        except (MalformedJson, KeyError, TypeError):
            return LogFault(
                Flaw.SNAPSHOT,
                None,
                f"snapshot `{snapshot.digest}` is none that the gateway writes",
                f"snapshots[{snapshot.digest}]",
            )
    return offers
