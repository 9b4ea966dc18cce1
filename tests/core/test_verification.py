"""Whatever is done to a finished log is found, at the first record it was done to."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.audit import seal
from gateway.core.canonical import Json, canonical_bytes, own_bytes, parse
from gateway.core.checkpoint import SigningKey
from gateway.core.ledger import (
    ConversationDeleted,
    ErasureReason,
    LossReason,
    Message,
    MessageAppended,
    RecordsErased,
    RecordsLost,
)
from gateway.core.merkle import Frontier, grow, leaf_hash
from gateway.core.verification import UNANCHORED, Flaw, LeafRecord, SnapshotRecord
from gateway.core.vocabulary import Role
from tests.fakes.history import History
from tests.fakes.written import KEY, Written, fault_of, write

WHOLE = write(History().whole())
SIZE = len(WHOLE.leaves)


def edited(leaf: LeafRecord, **changes: Json) -> LeafRecord:
    body = canonical_bytes({**parse(leaf.body), **changes})
    return replace(leaf, body=body, hash=leaf_hash(body))


def flipped(raw: bytes, bit: int) -> bytes:
    changed = bytearray(raw)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


# ── the tree ──


def test_an_untouched_log_is_sound_and_says_what_it_could_not_rule_out() -> None:
    report = WHOLE.check()
    assert report.fault is None
    assert (report.size, report.checkpoints, report.calls, report.executed) == (SIZE, len(WHOLE.notes), 8, 5)
    assert (report.open_calls, report.erased, report.anchor, report.caveat) == (0, 0, None, UNANCHORED)


def test_an_empty_log_is_sound() -> None:
    report = write([]).check()
    assert (report.sound, report.size) == (True, 0)


@pytest.mark.parametrize("index", range(SIZE))
def test_an_edited_record_is_named(index: int) -> None:
    leaf = WHOLE.leaves[index]
    report = WHOLE.with_leaf(index, replace(leaf, body=leaf.body.replace(b'"v":1', b'"v":2'))).check()
    assert fault_of(report) == (Flaw.CHANGED, index)


@pytest.mark.parametrize("index", range(SIZE))
def test_an_edited_record_with_a_matching_hash_breaks_its_checkpoint(index: int) -> None:
    report = WHOLE.with_leaf(index, edited(WHOLE.leaves[index], at=1)).check()
    flaw, first = fault_of(report)
    assert flaw is Flaw.CHANGED
    assert first is not None
    assert first <= index


@pytest.mark.parametrize("index", range(SIZE))
def test_a_removed_record_is_missed(index: int) -> None:
    remaining = replace(WHOLE, leaves=(*WHOLE.leaves[:index], *WHOLE.leaves[index + 1 :]))
    assert fault_of(remaining.check()) == (Flaw.MISSING, index)


@pytest.mark.parametrize("index", range(SIZE))
def test_a_removed_record_is_missed_even_if_the_others_are_renumbered(index: int) -> None:
    others = (*WHOLE.leaves[:index], *WHOLE.leaves[index + 1 :])
    renumbered = replace(WHOLE, leaves=tuple(replace(leaf, index=place) for place, leaf in enumerate(others)))
    assert not renumbered.check().sound


@given(st.permutations(range(SIZE)))
@settings(max_examples=30)
def test_no_other_order_is_sound(order: Sequence[int]) -> None:
    shuffled = tuple(replace(WHOLE.leaves[old], index=new) for new, old in enumerate(order))
    assert replace(WHOLE, leaves=shuffled).check().sound == (list(order) == list(range(SIZE)))


@pytest.mark.parametrize("kept", [0, 1, SIZE - 1])
def test_records_without_their_end_are_missed_by_their_checkpoint(kept: int) -> None:
    assert fault_of(replace(WHOLE, leaves=WHOLE.leaves[:kept]).check()) == (Flaw.MISSING, kept)


def test_an_end_cut_off_with_its_checkpoints_needs_an_anchor_to_be_found() -> None:
    cut = write(History().whole()[:8])
    alone = cut.check()
    assert alone.sound
    assert alone.caveat == UNANCHORED
    assert fault_of(cut.check(anchor=WHOLE.notes[-1])) == (Flaw.MISSING, len(cut.leaves))


def test_an_anchor_inside_the_log_is_confirmed() -> None:
    for note in WHOLE.notes:
        report = WHOLE.check(anchor=note)
        assert report.sound
        assert (report.anchor, report.caveat) == (int(note.split("\n")[1]), None)


def test_an_anchor_between_the_logs_own_checkpoints_is_confirmed_too() -> None:
    frontier = grow(Frontier(), [leaf.hash for leaf in WHOLE.leaves[:3]])
    report = WHOLE.check(anchor=KEY.sign(3, frontier.root()))
    assert (report.sound, report.anchor) == (True, 3)
    assert fault_of(WHOLE.check(anchor=KEY.sign(3, bytes(32)))) == (Flaw.CHANGED, None)


def test_an_anchor_over_the_empty_log_fits_every_log() -> None:
    assert WHOLE.check(anchor=KEY.sign(0, Frontier().root())).sound
    assert fault_of(WHOLE.check(anchor=KEY.sign(0, bytes(32)))) == (Flaw.ANCHOR, None)


def test_a_rewritten_history_does_not_fit_the_anchor_however_well_it_is_signed() -> None:
    history = History()
    other = write([history.beginning(), (history.message(0, "another history"),), *history.whole()[2:]])
    flaw, _ = fault_of(other.check(anchor=WHOLE.notes[-1]))
    assert flaw in (Flaw.CHANGED, Flaw.MISSING)


def test_an_anchor_of_another_signer_proves_nothing() -> None:
    stranger = SigningKey("gateway.example/audit", bytes(31) + b"\x01")
    assert fault_of(WHOLE.check(anchor=stranger.sign(1, bytes(32)))) == (Flaw.ANCHOR, None)
    assert fault_of(WHOLE.check(anchor="no note at all")) == (Flaw.ANCHOR, None)


def test_records_beyond_the_last_checkpoint_are_not_taken_on_trust() -> None:
    first = int(WHOLE.notes[-2].split("\n")[1])
    assert fault_of(replace(WHOLE, notes=WHOLE.notes[:-1]).check()) == (Flaw.UNSIGNED_END, first)
    assert fault_of(replace(WHOLE, notes=()).check()) == (Flaw.UNSIGNED_END, 0)


def test_checkpoints_of_a_stranger_or_out_of_order_are_refused() -> None:
    stranger = SigningKey("gateway.example/audit", bytes(31) + b"\x01")
    root = grow(Frontier(), [leaf.hash for leaf in WHOLE.leaves]).root()
    assert fault_of(replace(WHOLE, notes=(stranger.sign(SIZE, root),)).check()) == (Flaw.CHECKPOINT, 0)
    backwards = (WHOLE.notes[1], WHOLE.notes[0], *WHOLE.notes[2:])
    assert fault_of(replace(WHOLE, notes=backwards).check())[0] is Flaw.CHECKPOINT


@pytest.mark.parametrize("index", range(SIZE))
def test_the_newest_signature_alone_finds_every_edited_or_removed_record(index: int) -> None:
    assert WHOLE.check(newest_only=True) == WHOLE.check()
    assert not WHOLE.with_leaf(index, edited(WHOLE.leaves[index], at=1)).check(newest_only=True).sound
    remaining = (*WHOLE.leaves[:index], *WHOLE.leaves[index + 1 :])
    assert not replace(WHOLE, leaves=remaining).check(newest_only=True).sound


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_single_changed_bit_of_any_record_is_found(data: st.DataObject) -> None:
    leaf = data.draw(st.sampled_from(WHOLE.leaves))
    field = data.draw(st.sampled_from([name for name in ("hash", "body", "salt", "payload") if getattr(leaf, name) is not None]))
    raw: bytes = getattr(leaf, field)
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    spoilt = WHOLE.with_leaf(leaf.index, replace(leaf, **{field: flipped(raw, bit)}))
    assert not spoilt.check(newest_only=True).sound
    assert not spoilt.check().sound


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_single_changed_bit_of_any_checkpoint_is_found(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(WHOLE.notes) - 1))
    raw = WHOLE.notes[place].encode()
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    note = flipped(raw, bit).decode(errors="replace")
    spoilt = replace(WHOLE, notes=(*WHOLE.notes[:place], note, *WHOLE.notes[place + 1 :]))
    assert not spoilt.check().sound
    # Only of older checkpoints, and only the signature, is taken on the newest one's word.
    signed = bit < 8 * (raw.index(b"\n\n") + 2)
    if signed or place == len(WHOLE.notes) - 1:
        assert not spoilt.check(newest_only=True).sound


def test_an_older_signature_is_checked_only_on_request_and_the_newest_always() -> None:
    stranger = SigningKey("gateway.example/audit", bytes(31) + b"\x01")
    older, newest = WHOLE.notes[3].split("\n"), WHOLE.notes[-1].split("\n")
    forged_older = stranger.sign(int(older[1]), b64decode(older[2]))
    forged_newest = stranger.sign(int(newest[1]), b64decode(newest[2]))
    spoilt = replace(WHOLE, notes=(*WHOLE.notes[:3], forged_older, *WHOLE.notes[4:]))
    assert fault_of(spoilt.check())[0] is Flaw.CHECKPOINT
    assert spoilt.check(newest_only=True).sound
    assert fault_of(replace(WHOLE, notes=(*WHOLE.notes[:-1], forged_newest)).check(newest_only=True))[0] is Flaw.CHECKPOINT
    # An older one that says something else than the records do is found either way.
    lying = replace(WHOLE, notes=(*WHOLE.notes[:3], stranger.sign(int(older[1]), bytes(32)), *WHOLE.notes[4:]))
    assert fault_of(lying.check(newest_only=True))[0] is Flaw.CHANGED


def test_the_log_need_not_keep_every_checkpoint() -> None:
    assert replace(WHOLE, notes=(WHOLE.notes[3], WHOLE.notes[-1])).check().sound


# ── payloads and snapshots ──


@pytest.mark.parametrize("index", [leaf.index for leaf in WHOLE.leaves if leaf.payload is not None])
def test_a_payload_that_is_gone_or_changed_is_a_fault_of_its_record(index: int) -> None:
    leaf = WHOLE.leaves[index]
    taken = WHOLE.with_leaf(index, replace(leaf, salt=None, payload=None)).check()
    assert (fault_of(taken), taken.erased) == ((Flaw.TAKEN, index), 0)
    assert leaf.payload is not None
    changed = replace(leaf, payload=canonical_bytes({**parse(leaf.payload), "more": 1}))
    assert fault_of(WHOLE.with_leaf(index, changed).check()) == (Flaw.PAYLOAD, index)
    assert fault_of(WHOLE.with_leaf(index, replace(leaf, salt=bytes(16))).check()) == (Flaw.PAYLOAD, index)


def test_everything_may_be_erased_that_a_record_names() -> None:
    held = [leaf.index for leaf in WHOLE.leaves if leaf.payload is not None]
    report = with_erasure(held, held).check()
    assert (report.fault, report.erased) == (None, len(held))


def test_an_erasure_has_to_be_true() -> None:
    one, other, *_ = [leaf.index for leaf in WHOLE.leaves if leaf.payload is not None]
    bare = next(leaf.index for leaf in WHOLE.leaves if leaf.payload is None)
    end = len(WHOLE.leaves)
    # One more is gone than the record names; one that it names is there; one that it names never had any.
    assert fault_of(with_erasure([one, other], [one]).check()) == (Flaw.TAKEN, other)
    assert fault_of(with_erasure([one], [one, other]).check()) == (Flaw.ERASURE, end)
    assert fault_of(with_erasure([one], sorted((one, bare))).check()) == (Flaw.ERASURE, end)
    for named in ([], [one, one], [other, one], [end], [-1, one], [True], ["1"], "1"):
        assert fault_of(with_erasure([one, other], named).check()) == (Flaw.MALFORMED, end), named
    assert fault_of(with_erasure([one], [one], reason="by chance").check()) == (Flaw.MALFORMED, end)


def test_a_recovery_that_only_counted_what_it_erased_accounts_for_as_many() -> None:
    one, other, *_ = [leaf.index for leaf in WHOLE.leaves if leaf.payload is not None]
    lost = RecordsLost(1, LossReason.CHANGED, None, None, None, None, erased=1).leaf()
    assert appended(without([one]), seal(lost, b"")).check().sound
    assert fault_of(appended(without([one, other]), seal(lost, b"")).check()) == (Flaw.TAKEN, one)
    # One that names them, too, accounts for them once.
    named = appended(without([one, other]), seal(lost, b""))
    erasure = RecordsErased(1, ErasureReason.DAMAGED, (one,)).leaf()
    assert fault_of(appended(named, seal(erasure, b"")).check()) == (Flaw.TAKEN, other)


def test_the_digests_of_a_deleted_conversations_messages_are_accounted_for_by_its_deletion() -> None:
    said = [MessageAppended(1, "prn_1", Message("cnv_9", "trn_9", at, Role.USER, "milk", "claimed", 1)) for at in (0, 1)]
    told = WHOLE
    for each in said:
        told = appended(told, seal(each.leaf(), bytes(16)))
    end = len(told.leaves)
    assert fault_of(told.check()) == (Flaw.TAKEN, end - 2)
    gone = appended(told, seal(ConversationDeleted(1, "cnv_9", "prn_1").leaf(), b""))
    assert (gone.check().fault, gone.check().erased) == (None, 2)
    other = appended(told, seal(ConversationDeleted(1, "cnv_8", "prn_1").leaf(), b""))
    assert fault_of(other.check()) == (Flaw.TAKEN, end - 2)


def without(taken: list[int]) -> Written:
    """The log without these payloads."""
    return replace(
        WHOLE,
        leaves=tuple(replace(leaf, salt=None, payload=None) if leaf.index in taken else leaf for leaf in WHOLE.leaves),
    )


def appended(written: Written, body: bytes) -> Written:
    """The log with one more record, without its payload, under one more checkpoint."""
    leaves = (*written.leaves, LeafRecord(len(written.leaves), leaf_hash(body), body, None, None))
    root = grow(Frontier(), [leaf.hash for leaf in leaves]).root()
    return replace(written, leaves=leaves, notes=(*written.notes, KEY.sign(len(leaves), root)))


def with_erasure(taken: list[int], named: Any, reason: str = "requested") -> Written:
    """The log without these payloads, and with a record that names those."""
    body = {**RecordsErased(1, ErasureReason.REQUESTED, ()).leaf().body, "records": named, "reason": reason}
    return appended(without(taken), own_bytes(body))


def test_a_payload_where_none_belongs_is_a_fault() -> None:
    added = replace(WHOLE.leaves[0], salt=bytes(16), payload=b"{}")
    assert fault_of(WHOLE.with_leaf(0, added).check()) == (Flaw.PAYLOAD, 0)


SNAPSHOT = History().snapshot


@pytest.mark.requirement("002-74", "a recorded call is checked against the tools that its snapshot showed")
def test_calls_are_held_to_the_snapshot_itself_where_it_is_at_hand() -> None:
    assert WHOLE.check(snapshots=[SnapshotRecord(SNAPSHOT.digest, SNAPSHOT.described())]).sound


def test_an_edited_snapshot_is_noticed() -> None:
    forged = {**SNAPSHOT.described(), "policyVersion": "b" * 64}
    assert fault_of(WHOLE.check(snapshots=[SnapshotRecord(SNAPSHOT.digest, forged)])) == (Flaw.SNAPSHOT, None)
    assert fault_of(WHOLE.check(snapshots=[SnapshotRecord("0" * 64, {"no": "tools"})])) == (Flaw.SNAPSHOT, None)


@pytest.mark.parametrize("body", [b"{}", b"[]", b"not json", b'{"event":"call:invented"}', b'{"event":"call:intended"}'])
def test_a_signed_record_that_no_gateway_writes_is_a_fault_and_no_crash(body: bytes) -> None:
    root = grow(Frontier(), [leaf_hash(body)]).root()
    written = Written((LeafRecord(0, leaf_hash(body), body, None, None),), (KEY.sign(1, root),))
    assert fault_of(written.check()) == (Flaw.MALFORMED, 0)
