"""What is signed and what a grant covers (docs/PROTOCOL.md sections 3 and 6; docs/SECURITY.md promises 2 and 5)."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.core.approval import (
    GRANT_SECONDS,
    Approval,
    Grant,
    Needs,
    RuleReason,
    build_statement,
    digest_of_statement,
    grant_by,
)
from gateway.core.canonical import Json, canonical_bytes, parse
from gateway.core.errors import Refused
from gateway.core.model import Principal, Session, ToolCall, ToolRequest, bind
from gateway.core.patterns import Pattern
from gateway.core.vocabulary import ApprovalKind, GrantScope, Label, PatternKind, Profile

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "statement.json").read_text("utf-8"))["vectors"]

ADA = Principal("prn_ada", "Ada", Profile.OPERATOR)
NOW = 1_795_255_029_123
DESCRIPTOR = "b" * 64


def request(arguments: Mapping[str, Json], **changes: Any) -> ToolRequest:
    """A bound request; `changes` are fields of ToolRequest."""
    bound = bind(
        ToolCall("call-1", "write_file", arguments),
        session=Session("ses_1", ADA, "csn_1", (), Label.PUBLIC, 0, NOW * 2),
        connection_id="con_1",
        conversation_id="cnv_1",
        turn_id="trn_1",
        snapshot_id="snp_1",
        snapshot_digest="a" * 64,
        model=None,
        received_at=NOW,
    )
    return dataclasses.replace(bound, **changes)


def statement(asked: ToolRequest, **changes: Any) -> bytes:
    """The statement over a request; `changes` are arguments of `build_statement`."""
    terms: dict[str, Any] = {
        "approval_id": "apr_1",
        "nonce": "nonce-1",
        "kind": ApprovalKind.STEP_UP,
        "turn_index": 4,
        "descriptor_digest": "b" * 64,
        "policy_version": "c" * 64,
        "issued_at": NOW,
        "expires_at": NOW + 300_000,
    }
    return build_statement(asked, **(terms | changes))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_golden_statements_have_their_golden_bytes(vector: dict[str, Any]) -> None:
    said = vector["statement"]
    raw = build_statement(
        request(
            said["arguments"],
            session_id=said["sessionId"],
            principal=dataclasses.replace(ADA, id=said["principal"]),
            conversation_id=said["conversationId"],
            turn_id=said["turnId"],
            call_id=said["callId"],
            snapshot_digest=said["snapshotDigest"],
            tool=said["tool"],
        ),
        approval_id=said["approvalId"],
        nonce=said["nonce"],
        kind=ApprovalKind(said["kind"]),
        turn_index=said["turnIndex"],
        descriptor_digest=said["descriptorDigest"],
        policy_version=said["policyVersion"],
        issued_at=vector["issuedAtMs"],
        expires_at=vector["expiresAtMs"],
    )
    assert raw.decode() == vector["canonical"] == rfc8785.dumps(said).decode()
    assert digest_of_statement(raw) == vector["sha256"]
    assert base64.urlsafe_b64encode(hashlib.sha256(raw).digest()).rstrip(b"=").decode() == vector["challenge"]


def test_a_statement_has_exactly_the_members_of_the_contract() -> None:
    assert set(parse(statement(request({})))) == {
        *("v", "approvalId", "nonce", "kind", "sessionId", "principal", "conversationId", "turnId", "turnIndex", "callId"),
        *("snapshotDigest", "descriptorDigest", "policyVersion", "tool", "arguments", "issuedAt", "expiresAt"),
    }


@pytest.mark.requirement("002-33", "another expiry, nonce, kind or descriptor is another challenge")
@pytest.mark.parametrize(
    "change",
    [
        {"approval_id": "apr_2"},
        {"nonce": "nonce-2"},
        {"kind": ApprovalKind.CONSENT},
        {"turn_index": 5},
        {"descriptor_digest": "0" * 64},
        {"policy_version": "0" * 64},
        {"issued_at": NOW + 1},
        {"expires_at": NOW + 300_001},
    ],
    ids=str,
)
def test_changing_any_term_changes_what_is_signed(change: dict[str, Any]) -> None:
    asked = request({"path": "a.txt"})
    assert digest_of_statement(statement(asked, **change)) != digest_of_statement(statement(asked))


@pytest.mark.requirement("002-33", "another tool, argument, conversation, turn or call is another challenge")
@pytest.mark.parametrize(
    "change",
    [
        {"session_id": "ses_2"},
        {"principal": dataclasses.replace(ADA, id="prn_bob")},
        {"conversation_id": "cnv_2"},
        {"turn_id": "trn_2"},
        {"call_id": "call-2"},
        {"snapshot_digest": "0" * 64},
        {"tool": "delete_file"},
        {"arguments": b'{"path":"b.txt"}'},
        {"arguments": b'{"path":"a.txt","mode":null}'},
        {"arguments": b"{}"},
    ],
    ids=str,
)
def test_changing_any_part_of_the_request_changes_what_is_signed(change: dict[str, Any]) -> None:
    asked = request({"path": "a.txt"})
    assert digest_of_statement(statement(dataclasses.replace(asked, **change))) != digest_of_statement(statement(asked))


def approval(arguments: Mapping[str, Json], **changes: Any) -> Approval:
    """The question about a call; `changes` are fields of Approval."""
    asked = request(arguments)
    raw = statement(asked)
    made = Approval(
        id="apr_1",
        kind=ApprovalKind.CONSENT,
        principal_id=ADA.id,
        session_id="ses_1",
        conversation_id="cnv_1",
        turn_id="trn_1",
        call_id="call-1",
        tool="write_file",
        arguments=asked.arguments,
        summary="Write a.txt",
        effects=(),
        because=(RuleReason("write.consent", "This changes files"),),
        needs=Needs(),
        offers=(GrantScope.ONCE, GrantScope.TURN),
        statement=raw,
        statement_digest=digest_of_statement(raw),
        requested_at=NOW,
        expires_at=NOW + 300_000,
    )
    return dataclasses.replace(made, **changes)


def test_the_wire_form_of_an_approval_holds_nothing_that_could_answer_it() -> None:
    wire = approval({"path": "a.txt"}).wire()
    assert set(wire) == {
        *("id", "kind", "status", "tool", "arguments", "summary", "effects", "statementDigest", "conversationId", "turnId"),
        *("callId", "requestedAt", "expiresAt", "needs", "because", "offers"),
    }
    assert "nonce-1" not in json.dumps(wire)
    assert wire["arguments"] == {"path": "a.txt"}
    assert wire["needs"] == {"presence": False, "approvers": 1, "requesterMayApprove": True}


# ── which arguments may vary ────────────────────────────────────────────────────────────────────────────────────────────


def given_for(
    asked: Approval, scope: GrantScope, pins: tuple[str, ...] | None, within: PatternKind | None = None
) -> Grant | None:
    return grant_by(asked, grant_id="grt_1", scope=scope, pins=pins, within=within, descriptor_digest=DESCRIPTOR, now=NOW)


@pytest.mark.parametrize(
    ("pins", "freed"),
    [(None, ()), (("path", "content"), ()), (("content",), ("path",)), (("path",), ("content",))],
    ids=str,
)
def test_the_argument_that_is_not_pinned_is_free(pins: tuple[str, ...] | None, freed: tuple[str, ...]) -> None:
    lasting = given_for(approval({"path": "a", "content": "b"}), GrantScope.TURN, pins)
    assert lasting is not None
    assert lasting.freed == freed
    assert set(lasting.pins) == {"path", "content"} - set(freed)


@pytest.mark.parametrize(("pins", "told"), [(("mode",), "shown can be pinned"), ((), "at most one")], ids=str)
def test_pins_name_what_was_shown_and_leave_at_most_one_argument_free(pins: tuple[str, ...], told: str) -> None:
    with pytest.raises(Refused, match=told):
        given_for(approval({"path": "a", "content": "b"}), GrantScope.TURN, pins)


IN_NOTES = Pattern("path", PatternKind.FOLDER, "notes")


def test_an_argument_varies_within_the_pattern_that_was_shown_for_it_and_no_other() -> None:
    asked = approval({"path": "notes/a.txt", "content": "b"}, patterns=(IN_NOTES,))
    lasting = given_for(asked, GrantScope.TURN, ("content",), PatternKind.FOLDER)
    assert lasting is not None
    assert lasting.within == IN_NOTES
    assert lasting.covers(request({"path": "notes/b.txt", "content": "b"}), DESCRIPTOR, NOW)
    assert not lasting.covers(request({"path": "letters/b.txt", "content": "b"}), DESCRIPTOR, NOW)


@pytest.mark.parametrize(
    ("pins", "within"),
    [(("path",), PatternKind.FOLDER), (("content",), PatternKind.HOST), (None, PatternKind.FOLDER)],
    ids=str,
)
def test_a_pattern_that_was_not_shown_for_the_open_argument_is_refused(pins: tuple[str, ...] | None, within: PatternKind) -> None:
    asked = approval({"path": "notes/a.txt", "content": "b"}, patterns=(IN_NOTES,))
    with pytest.raises(Refused, match="within a pattern that was shown"):
        given_for(asked, GrantScope.TURN, pins, within)


def test_an_approval_for_once_grants_nothing_whatever_was_pinned() -> None:
    assert given_for(approval({"path": "a"}), GrantScope.ONCE, ()) is None


def test_a_scope_that_was_not_offered_is_refused() -> None:
    with pytest.raises(Refused, match="cannot be given for `session`"):
        given_for(approval({"path": "a"}), GrantScope.SESSION, None)


@pytest.mark.parametrize(("scope", "turn_id"), [(GrantScope.TURN, "trn_1"), (GrantScope.SESSION, None)])
def test_a_turn_grant_is_bound_to_its_turn_and_a_session_grant_to_none(scope: GrantScope, turn_id: str | None) -> None:
    lasting = given_for(approval({"path": "a"}, offers=tuple(GrantScope)), scope, None)
    assert lasting is not None
    assert lasting.turn_id == turn_id
    assert lasting.expires_at == NOW + int(GRANT_SECONDS[scope] * 1000)


# ── grants ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

names = st.sampled_from(["path", "content", "mode", "deep", "a", "b"])
values = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "", "a", "b", "1"]) | st.lists(st.integers(0, 1))
)
arguments_of_calls = st.dictionaries(names, values, max_size=4)


def grant(asked: ToolRequest, *, free: str | None = None, **changes: Any) -> Grant:
    """The grant that approving this request gives, all arguments pinned but `free`."""
    arguments: dict[str, Json] = parse(asked.arguments)
    lasting = Grant(
        id="grt_1",
        approval_id="apr_1",
        principal_id=ADA.id,
        session_id=asked.session_id,
        conversation_id=asked.conversation_id,
        turn_id=asked.turn_id,
        scope=GrantScope.TURN,
        tool=asked.tool,
        descriptor_digest=DESCRIPTOR,
        pins={name: canonical_bytes(value) for name, value in arguments.items() if name != free},
        freed=(free,) if free is not None else (),
        issued_at=NOW,
        expires_at=NOW + 60_000,
        max_uses=3,
    )
    return dataclasses.replace(lasting, **changes)


@given(arguments_of_calls)
def test_a_grant_covers_the_call_it_was_given_for(arguments: dict[str, Json]) -> None:
    asked = request(arguments)
    assert grant(asked).covers(asked, DESCRIPTOR, NOW)


@given(arguments_of_calls, arguments_of_calls)
def test_a_fully_pinned_grant_covers_no_other_arguments(shown: dict[str, Json], later: dict[str, Json]) -> None:
    """Promise 5: changing, adding or removing any argument falls outside."""
    asked, other = request(shown), request(later)
    assume(asked.arguments != other.arguments)
    assert not grant(asked).covers(other, DESCRIPTOR, NOW)


@given(arguments_of_calls, arguments_of_calls, names)
def test_a_freed_argument_frees_nothing_else(shown: dict[str, Json], later: dict[str, Json], free: str) -> None:
    asked, other = request(shown), request(later)
    without = {name: value for name, value in later.items() if name != free}
    pinned = {name: value for name, value in shown.items() if name != free}
    covered = grant(asked, free=free).covers(other, DESCRIPTOR, NOW)
    assert covered is (free in later and canonical_bytes(without) == canonical_bytes(pinned))


def test_a_freed_argument_may_vary_and_not_stay_away() -> None:
    freed = grant(request({"path": "a.txt", "content": "x"}), free="content")
    assert freed.covers(request({"path": "a.txt", "content": "y"}), DESCRIPTOR, NOW)
    assert not freed.covers(request({"path": "a.txt"}), DESCRIPTOR, NOW)


def test_equal_numbers_are_equal_arguments_and_equal_looking_texts_are_not() -> None:
    assert grant(request({"n": 1})).covers(request({"n": 1.0}), DESCRIPTOR, NOW)
    assert not grant(request({"n": 1})).covers(request({"n": True}), DESCRIPTOR, NOW)
    assert not grant(request({"n": 1})).covers(request({"n": "1"}), DESCRIPTOR, NOW)
    assert not grant(request({"path": "\u00e9"})).covers(request({"path": "e\u0301"}), DESCRIPTOR, NOW)


@pytest.mark.parametrize(
    "change",
    [{"session_id": "ses_2"}, {"conversation_id": "cnv_2"}, {"turn_id": "trn_2"}, {"tool": "delete_file"}],
    ids=str,
)
def test_a_grant_covers_nothing_elsewhere(change: dict[str, Any]) -> None:
    asked = request({"path": "a.txt"})
    assert not grant(asked).covers(dataclasses.replace(asked, **change), DESCRIPTOR, NOW)


def test_a_session_grant_outlives_its_turn_and_not_its_conversation() -> None:
    asked = request({"path": "a.txt"})
    lasting = grant(asked, scope=GrantScope.SESSION, turn_id=None)
    assert lasting.covers(dataclasses.replace(asked, turn_id="trn_2"), DESCRIPTOR, NOW)
    assert not lasting.covers(dataclasses.replace(asked, conversation_id="cnv_2"), DESCRIPTOR, NOW)


def test_a_grant_for_another_definition_of_the_tool_covers_nothing() -> None:
    asked = request({"path": "a.txt"})
    assert not grant(asked).covers(asked, "0" * 64, NOW)


@pytest.mark.parametrize(
    ("change", "now"),
    [({}, NOW + 60_000), ({"uses": 3}, NOW), ({"max_uses": 0}, NOW), ({"revoked_at": NOW}, NOW), ({}, NOW - 1)],
    ids=["expired", "used up", "never usable", "revoked", "from the future"],
)
def test_a_spent_grant_covers_nothing(change: dict[str, Any], now: int) -> None:
    asked = request({"path": "a.txt"})
    assert not grant(asked, **change).covers(asked, DESCRIPTOR, now)


def test_a_grants_last_millisecond_counts() -> None:
    asked = request({"path": "a.txt"})
    assert grant(asked, uses=2).covers(asked, DESCRIPTOR, NOW + 59_999)


def test_a_grant_is_listed_with_what_was_on_screen() -> None:
    listed = grant(request({"path": "a.txt", "content": "x"}), free="content").wire()
    assert (listed["pins"], listed["freed"]) == ({"path": "a.txt"}, ["content"])
