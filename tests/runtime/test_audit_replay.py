"""Decisions of the gate made again from hand-written records, each with what cannot be seen in a record that a gateway wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.errors import LedgerDamaged
from gateway.core.vocabulary import PermissionMode
from gateway.runtime.audit_replay import Repetition, replay_conversation
from gateway.runtime.ports import AuditRow
from gateway.runtime.rehearsal import Unjudged
from tests.runtime.test_rehearsal import RULE, Judgement, Modes, question

OF_CALL: dict[str, Any] = {
    "at": 20,
    "principalId": "prn_ada",
    "conversationId": "cnv_1",
    "turnId": "trn_1",
    "callId": "call_1",
    "snapshotDigest": "aa",
    "policyVersion": "v1",
    "tool": "note",
    "permission": "auto",
    "sessionId": "ses_1",
    "descriptorDigest": "dd",
    "approvalId": None,
    "grantId": None,
}


def begun() -> AuditRow:
    body = {"event": "turn:begun", "at": 1, "snapshotDigest": "aa", "expiresAt": 100, "policyVersion": "v1"}
    return AuditRow(0, "", {**body, "conversationId": "cnv_1", "turnId": "trn_1"}, None)


def ran(mode: PermissionMode, **changed: Any) -> AuditRow:
    judged = Judgement(question(), mode, RULE).described()
    return AuditRow(
        1, "", {**OF_CALL, "event": "call:intended", "decision": "auto", **changed}, {"judged": judged, "arguments": {}}
    )


def refused(reason: str, mode: PermissionMode = PermissionMode.FORBIDDEN, **changed: Any) -> AuditRow:
    payload = {"judged": Judgement(question(), mode, RULE).described(), "snapshotDigest": "aa", "tool": "note"}
    body = {
        **OF_CALL,
        "event": "call:closed",
        "executed": False,
        "outcome": "refusedByPolicy",
        "decision": "forbidden",
        "reason": reason,
        **changed,
    }
    return AuditRow(1, "", body, payload)


def find(row: AuditRow, mode: PermissionMode) -> Repetition:
    versions = {"v1": Modes({"note": mode})}
    (decided,) = replay_conversation([begun(), row], {}, lambda version: versions.get(version or "", Unjudged.NO_DOCUMENTS))
    return decided.finding


@pytest.mark.parametrize("mode", PermissionMode)
def test_what_ran_by_itself_must_be_allowed_by_itself(mode: PermissionMode) -> None:
    assert find(ran(mode), mode) is (Repetition.SAME if mode is PermissionMode.AUTO else Repetition.DIFFERENT)


@pytest.mark.parametrize("mode", PermissionMode)
def test_what_was_forbidden_must_be_forbidden(mode: PermissionMode) -> None:
    assert find(refused("forbidden", mode), mode) is (
        Repetition.SAME if mode is PermissionMode.FORBIDDEN else Repetition.DIFFERENT
    )


def test_an_answer_that_the_policy_does_not_give_is_different() -> None:
    assert find(ran(PermissionMode.AUTO), PermissionMode.CONSENT) is Repetition.DIFFERENT


def test_a_policy_that_is_not_on_record_decides_nothing() -> None:
    assert find(ran(PermissionMode.AUTO, policyVersion="v2"), PermissionMode.AUTO) is Repetition.NOT_REPEATABLE


@pytest.mark.parametrize(
    ("row", "finding"),
    [
        (refused("snapshotExpired", at=100), Repetition.SAME),
        (refused("snapshotExpired", at=99), Repetition.DIFFERENT),
        (refused("turnClosed"), Repetition.DIFFERENT),
        (refused("turnClosed", turnId="trn_0"), Repetition.SAME),
        (refused("staleSnapshot"), Repetition.DIFFERENT),
        (refused("policyFrozen"), Repetition.DIFFERENT),
        (refused("assertionInvalid"), Repetition.DIFFERENT),
        (refused("quotaExceeded"), Repetition.NOT_REPEATABLE),
    ],
)
def test_a_refusal_needs_a_reason_that_the_records_show(row: AuditRow, finding: Repetition) -> None:
    assert find(row, PermissionMode.AUTO) is finding


def test_a_call_that_was_allowed_and_never_began_was_decided_once() -> None:
    intended = ran(PermissionMode.AUTO)
    closed = replace(refused("toolTimeout", PermissionMode.AUTO), index=2)
    decided = replay_conversation([begun(), intended, closed], {}, lambda _version: Modes({"note": PermissionMode.AUTO}))
    assert [(each.index, each.finding) for each in decided] == [(1, Repetition.SAME)]


@pytest.mark.parametrize("changed", [{"reason": "onTuesdays"}, {"turnId": ["trn_1"]}, {"callId": []}])
def test_a_record_with_words_that_this_version_does_not_know_is_named_in_one_line(changed: dict[str, Any]) -> None:
    reason = changed.get("reason", "denied")
    with pytest.raises(LedgerDamaged, match=r"^record 1 has a form that this version does not write; "):
        find(replace(refused(reason), body={**refused(reason).body, **changed}), PermissionMode.AUTO)
