"""The records of one call with their proofs, gathered from a stored log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from sqlalchemy import Connection, bindparam, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.inspection import StoredLog
from gateway.adapters.storage.log import read_compact_snapshot, read_descriptor
from gateway.adapters.storage.plain import KeyedQuery
from gateway.adapters.storage.projections.turns import restore_snapshot
from gateway.adapters.storage.reader import RECOVER
from gateway.adapters.storage.record_texts import UnpackedOctets
from gateway.core.anchors import Evidence
from gateway.core.canonical import Json, parse_canonical
from gateway.core.checkpoint import Checkpoint, open_note, read_note
from gateway.core.errors import LedgerDamaged, MalformedJson, Misconfigured, NotFound
from gateway.core.ledger import (
    ApprovalRequested,
    ApprovalResolved,
    AuditKeyRotated,
    CallClosed,
    CallFoundUnknown,
    GrantIssued,
    GrantRevoked,
    PolicyLoaded,
    SnapshotIssued,
    TurnBegun,
)
from gateway.core.merkle import prove_consistency, prove_inclusion
from gateway.core.merkle_tiles import TiledTree
from gateway.core.receipts import ProvenRecord, compose_receipt, is_of_call

_SNAPSHOTS: Final = (TurnBegun.EVENT, SnapshotIssued.EVENT)
_OF_NONE: Final = (PolicyLoaded.EVENT, AuditKeyRotated.EVENT)
"""Events that belong to no conversation and nobody."""

_CONSENT: Final = (ApprovalRequested.EVENT, ApprovalResolved.EVENT)
"""What a grant rests on: one person's consent. What takes several people makes no grant."""

# Statements are made once: to make one takes longer than to run it.
_RECORDS: Final = KeyedQuery(
    select(t.leaves.c.position, UnpackedOctets(t.leaves.c.body), t.leaves.c.salt, t.leaves.c.payload), t.leaves.c.position
)
_PLACES: Final = KeyedQuery(select(t.leaves.c.position, t.leaves.c.body), t.leaves.c.position)
_SNAPSHOTS_OF: Final = select(t.snapshots).where(t.snapshots.c.digest.in_(bindparam("digests", expanding=True)))
_DESCRIPTORS_OF: Final = select(t.descriptors).where(t.descriptors.c.digest.in_(bindparam("digests", expanding=True)))


@dataclass(frozen=True, slots=True)
class _Placed:
    """What a record says, and where it is."""

    index: int
    body: Mapping[str, Json]


def read_receipt(
    stored: StoredLog, conversation_id: str, call_id: str, owner_id: str | None = None, evidence: Sequence[Evidence] = ()
) -> bytes:
    """The receipt of a call that has closed, under the newest checkpoint.

    `owner_id` is whose call it has to be; None for anybody's. `evidence` is what anchors gave; of another log it is left
    out. Raises NotFound for a call that has not closed or is another's, and Misconfigured for a log whose newest checkpoint
    proves nothing.
    """
    note = stored.newest_note()
    checkpoint = None if note is None else open_note(note, stored.key)
    if note is None or not isinstance(checkpoint, Checkpoint):
        raise Misconfigured("the newest checkpoint of the log proves nothing; `countersign audit verify` says more")
    named = _read_places(stored.connection, stored.places.of_call(conversation_id, _OF_NONE))
    rows = [row for row in named if row.body.get("conversationId") in (None, conversation_id)]
    own = [row for row in rows if is_of_call(row.body, conversation_id, call_id)]
    owners = {row.body["principalId"] for row in own if row.body["event"] in (CallClosed.EVENT, CallFoundUnknown.EVENT)}
    if not owners or (owner_id is not None and owners != {owner_id}):
        # One answer for all of them: whose calls there are is nobody else's to know.
        raise NotFound("there is no such call that has closed, and only of those there are receipts")
    places = _choose(stored, rows, own, conversation_id, call_id)
    tree = stored.tree(checkpoint)
    proofs = prove_inclusion(tree, places)
    records = tuple(_read_records(stored.connection, places, proofs))
    digests = {record.body["snapshotDigest"] for record in records if record.body.get("snapshotDigest") is not None}
    snapshots = dict(_read_snapshots(stored.connection, digests))
    anchors = [(each, _prove(stored, tree, str(each["note"]))) for each in evidence if stored.has_anchored(str(each["note"]))]
    return compose_receipt(conversation_id, call_id, stored.key, note, records, snapshots, anchors)


def _prove(stored: StoredLog, tree: TiledTree, note: str) -> Sequence[bytes]:
    """That the log goes on from an anchored checkpoint of its own."""
    anchored = read_note(note, stored.key)
    assert isinstance(anchored, Checkpoint)
    return prove_consistency(tree, anchored.size)


def _choose(
    stored: StoredLog, rows: Sequence[_Placed], own: Sequence[_Placed], conversation_id: str, call_id: str
) -> Sequence[int]:
    """The places of the call's own records, and of what they rest on: its snapshot, the policies that judged it, a grant with its
    approval, and who approved with which passkey."""
    last = own[-1].index
    earlier = [row for row in rows if row.index < last]
    chosen = {row.index for row in own}

    def add(member: str, value: Json, *events: str) -> list[_Placed]:
        found = [row for row in earlier if row.body.get(member) == value and (not events or row.body["event"] in events)]
        chosen.update(row.index for row in found)
        return found

    for snapshot in _values(own, "snapshotDigest"):
        add("snapshotDigest", snapshot, *_SNAPSHOTS)
    for version in _values(own, "policyVersion"):
        loaded = [row for row in earlier if row.body["event"] == PolicyLoaded.EVENT and row.body["policyVersion"] == version]
        chosen.update(row.index for row in loaded[-1:])
    answers = list(own)
    for grant in _values(own, "grantId"):
        for issued in add("grantId", grant, GrantIssued.EVENT, GrantRevoked.EVENT):
            if issued.body["event"] == GrantIssued.EVENT:
                answers += add("approvalId", issued.body["approvalId"], *_CONSENT)
    for consent in [row for row in answers if not is_of_call(row.body, conversation_id, call_id)]:
        for snapshot in _values([consent], "snapshotDigest"):
            add("snapshotDigest", snapshot, *_SNAPSHOTS)
    people = _values(answers, "principalId")
    told = _read_places(stored.connection, stored.places.of_people(people))
    chosen.update(row.index for row in told if row.index < last and row.body.get("principalId") in people)
    chosen.update(row.index for row in _read_places(stored.connection, stored.places.erasures_of(chosen)))
    # All of them, also later ones: they say why the checkpoint is signed by another key than one that was kept.
    chosen.update(row.index for row in rows if row.body["event"] == AuditKeyRotated.EVENT)
    return sorted(chosen)


def _values(rows: Sequence[_Placed], member: str) -> set[str]:
    return {row.body[member] for row in rows if row.body.get(member) is not None}


def _read_places(connection: Connection, places: Sequence[int]) -> list[_Placed]:
    """The records at these places, without their payloads, of those that the log has."""
    return [_Placed(position, _read_body(position, body)) for position, body in _PLACES.rows(connection, places)]


def _read_body(position: int, body: str) -> Mapping[str, Json]:
    try:
        return {**orjson.loads(body)}
    except (ValueError, TypeError):
        raise LedgerDamaged(f"the stored record `{position}` is damaged; {RECOVER}") from None


def _read_records(connection: Connection, places: Sequence[int], proofs: Mapping[int, Sequence[bytes]]) -> Iterator[ProvenRecord]:
    for position, body, salt, payload in _RECORDS.rows(connection, places):
        yield _read_record(position, body, salt, payload, proofs[position])


def _read_record(position: int, body: bytes, salt: bytes | None, payload: bytes | None, proof: Sequence[bytes]) -> ProvenRecord:
    try:
        read = parse_canonical(body)
        # Which policy it was is said by its digest. Its texts are the operator's, and no part of one call.
        if read["event"] == PolicyLoaded.EVENT or payload is None:
            return ProvenRecord(position, read, None, None, proof)
        return ProvenRecord(position, read, salt, parse_canonical(payload), proof)
    except MalformedJson:
        raise LedgerDamaged(f"the stored record `{position}` is damaged; {RECOVER}") from None


def _read_snapshots(connection: Connection, digests: Collection[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    found = connection.execute(_SNAPSHOTS_OF, {"digests": [*digests]})
    bodies = dict(map(read_compact_snapshot, found))
    named = {tool for body in bodies.values() for tool, _ in body["tools"]}
    definitions = connection.execute(_DESCRIPTORS_OF, {"digests": [*named]})
    descriptors = dict(map(read_descriptor, definitions))
    for digest, body in bodies.items():
        yield digest, restore_snapshot(body, descriptors)
