"""What anchors gave for checkpoints of a log, as receipts and exported logs carry it, and the check of it without a network.

Each is one object:

    {"kind": "cosigner", "note", "key": vkey, "signature": line}     a cosigner signed the checkpoint, and when (tlog-cosignature)
    {"kind": "rfc3161", "note", "token": base64}                     an authority's answer with a time stamp of the note
    {"kind": "git", "note", "commit": id}                            a claim: somebody has to look the commit up

`note` is the signed checkpoint that was anchored, by a key of the log. In a receipt there is also `consistency`, the hashes that
show that the receipt's own checkpoint goes on from that one (RFC 9162 section 2.1.4). A checkpoint in a file elsewhere is not
carried: its path proves nothing to anybody else.

A cosigner's signature is checked with the key that the object names, so that no change goes unnoticed; that this is the key of a
cosigner whom to believe is only said where whoever checks gave it. So it is with an authority's certificate.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from gateway.core.canonical import Json
from gateway.core.checkpoint import Checkpoint, Unverified, VerificationKey, open_note_of
from gateway.core.cosigner import CosignerKey, check_cosignature, read_cosigner_key
from gateway.core.errors import Misconfigured
from gateway.core.time_stamps import MalformedStamp, read_time_stamp
from gateway.core.times import rfc3339

LAST_SECOND: Final = 253_402_300_799
"""The end of the year 9999."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

Evidence = Mapping[str, Json]

StampCheck = Callable[[bytes, str], str | None]
"""Why an authority's answer is no time stamp of this note by an authority that is trusted; None where it is one."""


class AnchorKind(StrEnum):
    """Anchors whose evidence is carried."""

    COSIGNER = "cosigner"
    TIME_STAMP = "rfc3161"
    GIT = "git"


MEMBERS: Final[Mapping[AnchorKind, frozenset[str]]] = {
    AnchorKind.COSIGNER: frozenset({"kind", "note", "key", "signature"}),
    AnchorKind.TIME_STAMP: frozenset({"kind", "note", "token"}),
    AnchorKind.GIT: frozenset({"kind", "note", "commit"}),
}


@dataclass(frozen=True, slots=True)
class AnchorTrust:
    """What whoever checks has from elsewhere: the key of a cosigner, the certificates of an authority."""

    cosigner: CosignerKey | None = None
    check_stamp: StampCheck | None = None


@dataclass(frozen=True, slots=True)
class Anchored:
    """A checkpoint that was anchored: over how many records, with what root, by whom, and when in epoch milliseconds, where that
    is said. `trusted` where whoever checks gave the key or the certificates that it was checked with."""

    kind: AnchorKind
    size: int
    root: str
    who: str
    at: int | None
    trusted: bool

    @property
    def sentence(self) -> str:
        """For people: what is anchored, by whom and when, and what was not checked."""
        records = f"the log's first {self.size} records"
        at = "" if self.at is None else f" at {rfc3339(self.at)}"
        match self.kind:
            case AnchorKind.COSIGNER:
                known = "with the key that was given" if self.trusted else "not checked: whether the key is that cosigner's"
                return f"The cosigner {self.who} signed {records}{at}; {known}."
            case AnchorKind.TIME_STAMP:
                known = "by the authority that was given" if self.trusted else "not checked: which authority signed that"
                return f"A time stamp is over {records}{at}; {known}."
            case AnchorKind.GIT:
                return f"The git commit {self.who} is said to hold {records}; not checked: look it up in that repository."
            case _:
                assert_never(self.kind)


class UnsoundAnchor(Exception):
    """Evidence that does not hold, by the member that is wrong; none where it is the object itself."""

    def __init__(self, member: str, detail: str) -> None:
        super().__init__(detail)
        self.member = member
        self.detail = detail

    def place(self, number: int) -> str:
        """Where it is in a file that carries several."""
        return f"anchors[{number}]{self.member and '.'}{self.member}"


def cosigner_evidence(note: str, key: str, signature: str) -> dict[str, Json]:
    """What a cosigner gave."""
    return {"kind": AnchorKind.COSIGNER.value, "note": note, "key": key, "signature": signature}


def time_stamp_evidence(note: str, token: str) -> dict[str, Json]:
    """What an authority gave."""
    return {"kind": AnchorKind.TIME_STAMP.value, "note": note, "token": token}


def git_evidence(note: str, commit: str) -> dict[str, Json]:
    """Where a repository has it."""
    return {"kind": AnchorKind.GIT.value, "note": note, "commit": commit}


def check_evidence(evidence: Evidence, keys: Sequence[VerificationKey], trust: AnchorTrust) -> Anchored:
    """What a piece of evidence shows about the log of these keys. Raises UnsoundAnchor."""
    if evidence.get("kind") not in list(AnchorKind):
        raise UnsoundAnchor("kind", "this is no kind of anchor whose evidence is carried")
    kind = AnchorKind(str(evidence["kind"]))
    if evidence.keys() ^ MEMBERS[kind]:
        named = ", ".join(sorted(MEMBERS[kind]))
        raise UnsoundAnchor("", f"one of the kind `{kind}` has to have the members {named}, and no others")
    for member in sorted(MEMBERS[kind]):
        if not isinstance(evidence[member], str):
            raise UnsoundAnchor(member, "this has to be a text")
    note = str(evidence["note"])
    checkpoint = _open(note, keys)
    match kind:
        case AnchorKind.COSIGNER:
            who, at, trusted = _check_cosigner(note, str(evidence["key"]), str(evidence["signature"]), trust.cosigner)
        case AnchorKind.TIME_STAMP:
            at = _check_stamp(note, str(evidence["token"]), trust.check_stamp)
            who, trusted = "", trust.check_stamp is not None
        case AnchorKind.GIT:
            who, at, trusted = str(evidence["commit"]), None, False
            if _COMMIT.fullmatch(who) is None:
                raise UnsoundAnchor("commit", "this is no id of a commit")
        case _:
            assert_never(kind)
    return Anchored(kind, checkpoint.size, checkpoint.root.hex(), who, None if at is None else at * 1000, trusted)


def find_missing(found: Sequence[Anchored], trust: AnchorTrust) -> str | None:
    """A sentence where what was given to trust is met by nothing: evidence that was left out would be missed by nobody else."""
    trusted = {each.kind for each in found if each.trusted}
    if trust.cosigner is not None and AnchorKind.COSIGNER not in trusted:
        return "no anchor is by the cosigner that was given"
    if trust.check_stamp is not None and AnchorKind.TIME_STAMP not in trusted:
        return "no anchor is a time stamp, and an authority was given"
    return None


def _open(note: str, keys: Sequence[VerificationKey]) -> Checkpoint:
    opened = open_note_of(note, keys)
    if isinstance(opened, Unverified):
        raise UnsoundAnchor("note", f"the anchored checkpoint proves nothing: {opened.reason}")
    text = opened.text()
    if not note.startswith(f"{text}\n") or note.count("\n") != text.count("\n") + 2:
        raise UnsoundAnchor("note", "the anchored checkpoint says more than a gateway's does")
    if opened.size == 0:
        raise UnsoundAnchor("note", "the anchored checkpoint covers no record")
    return opened


def _check_cosigner(note: str, line: str, signature: str, given: CosignerKey | None) -> tuple[str, int, bool]:
    try:
        key = read_cosigner_key(line)
    except Misconfigured:
        key = None
    if key is None or key.line() != line:
        raise UnsoundAnchor("key", "this is no key of a cosigner")
    signed = check_cosignature(signature, note, key)
    if isinstance(signed, Unverified):
        raise UnsoundAnchor("signature", signed.reason)
    if signed.at > LAST_SECOND:
        raise UnsoundAnchor("signature", "it was made at no time that there is")
    return key.name, signed.at, key == given


def _check_stamp(note: str, token: str, check_stamp: StampCheck | None) -> int:
    try:
        raw = b64decode(token, validate=True)
        stamp = read_time_stamp(raw)
    except (MalformedStamp, ValueError):
        raise UnsoundAnchor("token", "this is no time stamp") from None
    if b64encode(raw).decode() != token:
        raise UnsoundAnchor("token", "this is no time stamp")
    if not stamp.is_of(note.encode()):
        raise UnsoundAnchor("token", "it is the time stamp of something else")
    fault = None if check_stamp is None else check_stamp(raw, note)
    if fault is not None:
        raise UnsoundAnchor("token", fault)
    return stamp.at
