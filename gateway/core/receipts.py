"""A receipt: one call's records with what proves that they are in the log, as one file that is checked without the log.

The file is one line of canonical JSON (RFC 8785), so that nothing in it can be written in two ways:

    {"anchors": [ANCHOR], "call": {"callId", "conversationId"}, "checkpoint": note, "key": vkey, "records": [RECORD],
     "snapshots": [SNAPSHOT], "type": "countersign.receipt", "v": 2}
    ANCHOR    {"consistency": [hex], "kind", "note", …}: see `gateway.core.anchors`
    RECORD    {"body": object, "index", "payload": object or null, "proof": [hex], "salt": hex or null}
    SNAPSHOT  {"body": object, "digest": hex}

Every byte of it but for `anchors` is under the checkpoint's signature: bodies by their proofs (RFC 9162 section 2.1.3), payloads
by the digests in their bodies, snapshots by the digests that records name. A payload that is null where its body has a digest
was erased or is kept back. A receipt of version 1 is one without `anchors`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from gateway.core.anchors import Anchored, AnchorTrust, UnsoundAnchor, check_evidence, find_missing
from gateway.core.canonical import Json, canonical_bytes, digest, parse_only_canonical
from gateway.core.checkpoint import Checkpoint, Unverified, VerificationKey, open_note, read_verification_key
from gateway.core.erasure_records import ErasureRecords
from gateway.core.errors import MalformedJson, Misconfigured
from gateway.core.invariants import InvariantChecker, OfferedTool
from gateway.core.key_rotation import KeyFault, KeyHistory, read_key_history
from gateway.core.ledger import AuditKeyRotated, CallClosed, CallFoundUnknown, CallIntended
from gateway.core.merkle import is_consistent, leaf_hash, root_by_proof
from gateway.core.signed_answers import AnswerCheck, SignedAnswers

RECEIPT_TYPE: Final = "countersign.receipt"
RECEIPT_VERSION: Final = 2
_MEMBERS: Final = frozenset({"type", "v", "call", "key", "checkpoint", "records", "snapshots"})

RECEIPT_LIMIT: Final = 32 * 1024 * 1024
"""Bytes; the records of a call are a few kilobytes each, and its snapshot a few hundred."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SALT: Final = re.compile(r"(?:[0-9a-f]{2}){0,64}")

_CLOSINGS: Final = (CallClosed.EVENT, CallFoundUnknown.EVENT)
_ACTS: Final = (*_CLOSINGS, CallIntended.EVENT)

Object = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ProvenRecord:
    """A record as a receipt has it. `payload` and `salt` are None where there is none, or it was erased or kept back."""

    index: int
    body: Object
    salt: bytes | None
    payload: Object | None
    proof: Sequence[bytes]

    @property
    def withheld(self) -> bool:
        """Whether it had a payload that is not here."""
        return self.payload is None and self.body.get("payload") is not None


@dataclass(frozen=True, slots=True)
class ReceiptFault:
    """The first thing that is wrong, by its place in the file (`records[2].payload`), and a sentence about it."""

    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class ReceiptReport:
    """What was checked, up to the first fault. `signatures` are passkeys' answers that hold, `withheld` payloads that are not in
    the file, `erased` those of them that a record in it calls erased; `anchors` what anchors gave, `anchored` where the
    checkpoint is the one that was kept elsewhere."""

    conversation_id: str = ""
    call_id: str = ""
    key: VerificationKey | None = None
    size: int = 0
    root: str = ""
    records: Sequence[ProvenRecord] = ()
    offers: Mapping[str, Mapping[str, OfferedTool]] | None = None
    signatures: int = 0
    withheld: int = 0
    erased: int = 0
    anchors: Sequence[Anchored] = ()
    anchored: bool = False
    fault: ReceiptFault | None = None

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.fault is None

    def covered(self, anchored: Anchored) -> int:
        """How many of the records came before that anchored checkpoint, and so are under it."""
        return sum(record.index < anchored.size for record in self.records)


class _Bad(Exception):
    """A fault that ends the check."""

    def __init__(self, place: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = ReceiptFault(place, detail)


def compose_receipt(
    conversation_id: str,
    call_id: str,
    key: VerificationKey,
    note: str,
    records: Iterable[ProvenRecord],
    snapshots: Mapping[str, Object],
    anchors: Sequence[tuple[Object, Sequence[bytes]]] = (),
) -> bytes:
    """The file's bytes. `snapshots` are those that the records name, by their digests; `anchors` what anchors gave, each with the
    proof that the checkpoint goes on from its own."""
    return canonical_bytes(
        {
            "type": RECEIPT_TYPE,
            "v": RECEIPT_VERSION,
            "call": {"conversationId": conversation_id, "callId": call_id},
            "key": key.line(),
            "checkpoint": note,
            "anchors": [{**each, "consistency": [part.hex() for part in proof]} for each, proof in anchors],
            "records": [_describe(each) for each in records],
            "snapshots": [{"digest": each, "body": dict(snapshots[each])} for each in sorted(snapshots)],
        }
    )


def check_receipt(
    raw: bytes,
    check_answer: AnswerCheck,
    *,
    pinned: VerificationKey | None = None,
    anchor: str | None = None,
    trust: AnchorTrust | None = None,
) -> ReceiptReport:
    """Check a receipt by itself, in this order: form, key, checkpoint, anchors, each record, snapshots, what belongs to the call,
    the invariants, the passkeys' signatures. `pinned` is the key to trust, `anchor` a checkpoint that was kept elsewhere and has
    to be the receipt's own, `trust` whose anchors to believe."""
    report = ReceiptReport()
    try:
        whole = _read_form(raw)
        call = _object(whole["call"], "call", {"conversationId", "callId"})
        named = _text(call["conversationId"], "call.conversationId"), _text(call["callId"], "call.callId")
        report = replace(report, conversation_id=named[0], call_id=named[1])
        keys = _read_keys(whole["key"], whole["records"], pinned)
        key = keys.newest
        report = replace(report, key=key)
        checkpoint = _read_note(whole["checkpoint"], key)
        report = replace(report, size=checkpoint.size, root=checkpoint.root.hex())
        if anchor is not None:
            _compare(checkpoint, anchor, key)
            report = replace(report, anchored=True)
        report = replace(report, anchors=_read_anchors(whole.get("anchors", []), checkpoint, keys, trust or AnchorTrust()))
        records = _read_records(whole["records"], checkpoint)
        report = replace(report, records=records, withheld=sum(each.withheld for each in records))
        offers = _read_snapshots(whole["snapshots"], records)
        report = replace(report, offers=offers)
        _check_belonging(report)
        report = replace(report, erased=_check_erasures(records))
        _check_invariants(report)
        report = replace(report, signatures=_check_answers(records, check_answer))
    except _Bad as bad:
        return replace(report, fault=bad.fault)
    return report


# ── the parts, in the order of the check ──


def _read_form(raw: bytes) -> Object:
    if len(raw) > RECEIPT_LIMIT:
        raise _Bad("file", f"a receipt has at most {RECEIPT_LIMIT} bytes")
    try:
        value = parse_only_canonical(raw.removesuffix(b"\n"))
    except MalformedJson as fault:
        raise _Bad("file", f"this is no canonical JSON: {fault.message}") from None
    version = _object(value, "file").get("v")
    whole = _object(value, "file", _MEMBERS if version == 1 else {*_MEMBERS, "anchors"})
    if whole["type"] != RECEIPT_TYPE:
        raise _Bad("type", "this is no receipt")
    if version is True or version not in (1, RECEIPT_VERSION):
        raise _Bad("v", "this receipt is of another version")
    return whole


def _read_keys(line: Json, records: Json, pinned: VerificationKey | None) -> KeyHistory:
    text = _text(line, "key")
    try:
        key = read_verification_key(text)
    except Misconfigured:
        raise _Bad("key", "this is no key that checks a checkpoint") from None
    if key.line() != text:
        raise _Bad("key", "this is no key that checks a checkpoint")
    history = read_key_history(_find_rotations(records), key)
    if isinstance(history, KeyFault):
        place = f"records[{history.index}].body.{history.member}" if history.member else "key"
        raise _Bad(place, history.detail)
    if pinned is not None and pinned not in history.keys:
        raise _Bad("key", "the receipt was signed with another key than the one that was given")
    return history


def _find_rotations(records: Json) -> Iterable[tuple[int, Object]]:
    """The bodies of those records that hand over the key, by their place in the file. What is malformed is passed over: the check
    of the records says so. Nothing of them is believed but that two keys signed it."""
    for number, record in enumerate(cast("list[Any]", records) if isinstance(records, list) else ()):
        body = cast("dict[str, Any]", record).get("body") if isinstance(record, dict) else None
        if isinstance(body, dict) and cast("dict[str, Any]", body).get("event") == AuditKeyRotated.EVENT:
            yield number, cast("Object", body)


def _read_note(note: Json, key: VerificationKey) -> Checkpoint:
    text = _text(note, "checkpoint")
    opened = open_note(text, key)
    if isinstance(opened, Unverified):
        raise _Bad("checkpoint", f"the checkpoint proves nothing: {opened.reason}")
    if not text.startswith(opened.text() + "\n") or text.count("\n") != opened.text().count("\n") + 2:
        raise _Bad("checkpoint", "the checkpoint says more than a gateway's does")
    return opened


def _compare(checkpoint: Checkpoint, anchor: str, key: VerificationKey) -> None:
    kept = open_note(anchor, key)
    if isinstance(kept, Unverified):
        raise _Bad("checkpoint", f"the checkpoint that was given proves nothing: {kept.reason}")
    if kept != checkpoint:
        raise _Bad("checkpoint", "the receipt stands on another checkpoint than the one that was given")


def _read_anchors(value: Json, checkpoint: Checkpoint, keys: KeyHistory, trust: AnchorTrust) -> Sequence[Anchored]:
    found: list[Anchored] = []
    for number, each in enumerate(_list(value, "anchors")):
        place = f"anchors[{number}]"
        evidence = {**_object(each, place)}
        proof = _read_proof(evidence.pop("consistency", None), f"{place}.consistency")
        try:
            anchored = check_evidence(evidence, keys.keys, trust)
        except UnsoundAnchor as unsound:
            raise _Bad(unsound.place(number), unsound.detail) from None
        if anchored.size > checkpoint.size:
            raise _Bad(f"{place}.note", "it covers more records than the receipt's checkpoint")
        if not is_consistent(anchored.size, bytes.fromhex(anchored.root), checkpoint.size, checkpoint.root, proof):
            raise _Bad(f"{place}.consistency", "the receipt's checkpoint does not go on from the one that was anchored")
        found.append(anchored)
    if (missing := find_missing(found, trust)) is not None:
        raise _Bad("anchors", missing)
    return found


def _read_proof(value: Json, place: str) -> Sequence[bytes]:
    return [bytes.fromhex(_matching(each, _DIGEST, place, "a proof is made of SHA-256 digests")) for each in _list(value, place)]


def _read_records(value: Json, checkpoint: Checkpoint) -> Sequence[ProvenRecord]:
    records: list[ProvenRecord] = []
    for number, each in enumerate(_list(value, "records")):
        record = _read_record(each, f"records[{number}]", checkpoint)
        if records and record.index <= records[-1].index:
            raise _Bad(f"records[{number}].index", "the records are not in the order of the log")
        records.append(record)
    return records


def _read_record(value: Json, place: str, checkpoint: Checkpoint) -> ProvenRecord:
    members = _object(value, place, {"index", "body", "salt", "payload", "proof"})
    index, body = members["index"], _object(members["body"], f"{place}.body")
    if not isinstance(index, int) or isinstance(index, bool):
        raise _Bad(f"{place}.index", "this is no place in a log")
    proof = _read_proof(members["proof"], f"{place}.proof")
    if root_by_proof(leaf_hash(canonical_bytes(body)), index, checkpoint.size, proof) != checkpoint.root:
        raise _Bad(place, "this record is not under the checkpoint")
    salt, payload = members["salt"], members["payload"]
    if (salt is None) is not (payload is None):
        raise _Bad(f"{place}.salt", "a payload and its salt are there together, or neither is")
    if payload is None:
        return ProvenRecord(index, body, None, None, proof)
    octets = bytes.fromhex(_matching(salt, _SALT, f"{place}.salt", "a salt is bytes in hex"))
    content = _object(payload, f"{place}.payload")
    if hashlib.sha256(octets + canonical_bytes(content)).hexdigest() != body.get("payload"):
        raise _Bad(f"{place}.payload", "the payload is not the one that the record has the digest of")
    return ProvenRecord(index, body, octets, content, proof)


def _read_snapshots(value: Json, records: Sequence[ProvenRecord]) -> Mapping[str, Mapping[str, OfferedTool]]:
    named = {each for record in records if isinstance(each := record.body.get("snapshotDigest"), str)}
    offers: dict[str, Mapping[str, OfferedTool]] = {}
    for number, each in enumerate(_list(value, "snapshots")):
        place = f"snapshots[{number}]"
        members = _object(each, place, {"digest", "body"})
        name, body = _text(members["digest"], f"{place}.digest"), _object(members["body"], f"{place}.body")
        if digest(body) != name:
            raise _Bad(place, "the snapshot is not the one of its digest")
        if name not in named or name <= max(offers, default=""):
            raise _Bad(place, "no record names this snapshot, or it is there twice")
        try:
            tools = cast("Sequence[Mapping[str, str]]", body["tools"])
            offers[name] = {tool["name"]: OfferedTool(tool["digest"], tool["permission"]) for tool in tools}
        except (KeyError, TypeError, AttributeError):
            raise _Bad(place, "this is no snapshot that a gateway writes") from None
    return offers


def _check_belonging(report: ReceiptReport) -> None:
    """That the call is among the records, and closed. Other records are what it rests on."""
    own = [each.body for each in report.records if is_of_call(each.body, report.conversation_id, report.call_id)]
    if not own:
        raise _Bad("call", "no record is about this call")
    if not any(body.get("event") in _CLOSINGS for body in own):
        raise _Bad("records", "the record with which the call closed is missing")
    for number, each in enumerate(report.records):
        if each.body.get("event") in _ACTS and not is_of_call(each.body, report.conversation_id, report.call_id):
            raise _Bad(f"records[{number}]", "this record is about another call")


def _check_erasures(records: Sequence[ProvenRecord]) -> int:
    erasures = ErasureRecords(whole=False)
    _walk(records, lambda each: erasures.check(each.index, each.body, lacking=each.withheld))
    return erasures.erased


def _check_invariants(report: ReceiptReport) -> None:
    checker = InvariantChecker(report.offers or {})

    def check(record: ProvenRecord) -> str | None:
        violation = checker.check(record.body, record.payload)
        return None if violation is None else violation.detail

    _walk(report.records, check)


def _check_answers(records: Sequence[ProvenRecord], check_answer: AnswerCheck) -> int:
    answers = SignedAnswers(check_answer)
    _walk(records, lambda record: answers.check(record.body, record.payload))
    return answers.signatures


def _walk(records: Sequence[ProvenRecord], check: Callable[[ProvenRecord], str | None]) -> None:
    for number, record in enumerate(records):
        try:
            fault = check(record)
        except (KeyError, TypeError, ValueError, AttributeError, MalformedJson):
            fault = "this record is none that a gateway writes"
        if fault is not None:
            raise _Bad(f"records[{number}]", fault)


# ── reading ──


def is_of_call(body: Object, conversation_id: str, call_id: str) -> bool:
    """Whether a record is about that call."""
    return body.get("callId") == call_id and body.get("conversationId") == conversation_id


def _describe(record: ProvenRecord) -> dict[str, Json]:
    return {
        "index": record.index,
        "body": dict(record.body),
        "salt": None if record.salt is None else record.salt.hex(),
        "payload": None if record.payload is None else dict(record.payload),
        "proof": [each.hex() for each in record.proof],
    }


def _object(value: Any, place: str, members: AbstractSet[str] | None = None) -> Object:
    if not isinstance(value, dict):
        raise _Bad(place, "this has to be an object")
    held = cast("dict[str, Json]", value)
    if members is not None and held.keys() != members:
        raise _Bad(place, f"it has to have the members {', '.join(sorted(members))}, and no others")
    return held


def _list(value: Any, place: str) -> Sequence[Json]:
    if not isinstance(value, list):
        raise _Bad(place, "this has to be a list")
    return cast("list[Json]", value)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise _Bad(place, "this has to be a text")
    return value


def _matching(value: Any, pattern: re.Pattern[str], place: str, detail: str) -> str:
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise _Bad(place, detail)
    return value
