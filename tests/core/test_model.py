"""Binding a call, and what digests cover (docs/PROTOCOL.md sections 3, 4 and 7)."""

from __future__ import annotations

import dataclasses
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.canonical import Json, digest, digest_of_bytes
from gateway.core.errors import MalformedJson
from gateway.core.model import (
    ModelRef,
    Principal,
    PublishedTool,
    Session,
    Snapshot,
    ToolCall,
    ToolRequest,
    ToolSpec,
    bind,
)
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Recovery, Trust

ADA = Principal("prn_ada", "Ada", Profile.OPERATOR)
SESSION = Session("ses_1", ADA, "csn_1", (), Label.PUBLIC, 0, 1)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(-1e6, 1e6) | texts
arguments_of_calls = st.dictionaries(texts, scalars | st.lists(scalars, max_size=3) | st.dictionaries(texts, scalars, max_size=2))
call_ids = st.text("abcXYZ019_.:-", min_size=1, max_size=12)
calls = st.builds(ToolCall, call_ids, st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True), arguments_of_calls)


def bound(call: ToolCall, **changes: Any) -> ToolRequest:
    place: dict[str, Any] = {
        "session": SESSION,
        "connection_id": "con_1",
        "conversation_id": "cnv_1",
        "turn_id": "trn_1",
        "snapshot_id": "snp_1",
        "snapshot_digest": "a" * 64,
        "model": None,
        "received_at": 1,
    }
    return bind(call, **(place | changes))


@pytest.mark.requirement("002-41", "a call is its id, its name and canonical arguments")
@given(calls)
def test_the_request_digest_is_over_the_canonical_envelope(call: ToolCall) -> None:
    envelope = {"arguments": call.arguments, "call": call.id, "conversation": "cnv_1", "name": call.name}
    assert bound(call).digest == digest_of_bytes(rfc8785.dumps(envelope))


@given(calls, texts)
def test_what_a_reconnect_changes_does_not_change_the_request_digest(call: ToolCall, other: str) -> None:
    again = bound(
        call,
        connection_id=other,
        snapshot_id=other,
        snapshot_digest=other,
        received_at=2,
        model=ModelRef(other),
        session=dataclasses.replace(SESSION, id=other),
    )
    assert again.digest == bound(call).digest


@given(calls, calls)
def test_two_calls_share_a_digest_only_if_they_are_the_same(one: ToolCall, other: ToolCall) -> None:
    same = (one.id, one.name, rfc8785.dumps(dict(one.arguments))) == (other.id, other.name, rfc8785.dumps(dict(other.arguments)))
    assert (bound(one).digest == bound(other).digest) is same


@pytest.mark.parametrize(
    "other",
    [
        ToolCall("call-2", "read_file", {"path": "a"}),
        ToolCall("call-1", "delete_file", {"path": "a"}),
        ToolCall("call-1", "read_file", {"path": "b"}),
        ToolCall("call-1", "read_file", {"path": "a", "deep": None}),
        ToolCall("call-1", "read_file", {}),
    ],
)
def test_another_id_name_or_argument_is_another_request(other: ToolCall) -> None:
    assert bound(other).digest != bound(ToolCall("call-1", "read_file", {"path": "a"})).digest


def test_the_same_call_in_another_conversation_is_another_request() -> None:
    call = ToolCall("call-1", "read_file", {"path": "a"})
    assert bound(call, conversation_id="cnv_2").digest != bound(call).digest


def test_a_name_cannot_pretend_to_be_part_of_the_envelope() -> None:
    forged = ToolCall('call-1","conversation":"cnv_2', "read_file", {})
    assert bound(forged).digest != bound(ToolCall("call-1", "read_file", {}), conversation_id="cnv_2").digest


@given(calls)
def test_a_bound_request_holds_the_bytes_that_run(call: ToolCall) -> None:
    request = bound(call)
    assert request.arguments == rfc8785.dumps(dict(call.arguments))
    assert orjson.loads(request.arguments) == call.arguments


def test_arguments_changed_after_binding_change_nothing() -> None:
    arguments: dict[str, Json] = {"path": "notes/a.txt"}
    request = bound(ToolCall("call-1", "read_file", arguments))
    arguments["path"] = "/etc/shadow"
    assert request.arguments == b'{"path":"notes/a.txt"}'
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.tool = "delete_file"  # pyright: ignore[reportAttributeAccessIssue] (that it is frozen is the point)


@pytest.mark.parametrize("arguments", [{"n": float("nan")}, {"n": 2**53}, {"text": "\ud800"}])
def test_a_call_without_canonical_bytes_is_not_bound(arguments: dict[str, Json]) -> None:
    with pytest.raises(MalformedJson):
        bound(ToolCall("call-1", "read_file", arguments))


SPEC = ToolSpec(
    name="delete_file",
    description="Delete a file.",
    interface_id="workspace",
    method_name="delete_file",
    param_schema={"type": "object", "properties": {"path": {"type": "string"}}},
    category=Category.DESTRUCTIVE,
    source="builtin",
)


@pytest.mark.requirement("002-39", "a descriptor's digest covers every field but the permission")
@pytest.mark.parametrize(
    "change",
    [
        {"name": "remove_file"},
        {"title": "Delete"},
        {"description": "Delete a file. Ask nobody."},
        {"interface_id": "elsewhere"},
        {"method_name": "unlink"},
        {"param_schema": {"type": "object"}},
        {"category": Category.READ},
        {"source": "mcp:files"},
        {"local": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_descriptor_digest_covers_everything_that_browsers_and_models_see(change: dict[str, Any]) -> None:
    assert dataclasses.replace(SPEC, **change).digest != SPEC.digest


@pytest.mark.requirement("002-39", "a descriptor has the contract's fields and no others")
def test_a_descriptor_is_its_digest_its_permission_and_what_the_digest_covers() -> None:
    shown = PublishedTool(SPEC, PermissionMode.STEP_UP).descriptor()
    assert shown.pop("digest") == SPEC.digest
    assert shown.pop("permission") == "stepUp"
    assert digest(shown) == SPEC.digest


def test_the_permission_of_a_session_does_not_change_the_tools_digest() -> None:
    digests = {PublishedTool(SPEC, mode).descriptor()["digest"] for mode in PermissionMode}
    assert digests == {SPEC.digest}


@pytest.mark.parametrize("change", [{"trust": Trust.TRUSTED}, {"recovery": Recovery.PURE}, {"timeout": 1.0}, {"result_cap": 10}])
def test_how_the_gateway_handles_a_tool_stays_out_of_the_descriptor(change: dict[str, Any]) -> None:
    assert dataclasses.replace(SPEC, **change).described() == SPEC.described()


SNAPSHOT = Snapshot(
    id="snp_1",
    session_id="ses_1",
    connection_id="con_1",
    conversation_id="cnv_1",
    turn_id="trn_1",
    turn_index=0,
    issued_at=1_795_255_029_123,
    expires_at=1_795_255_329_123,
    policy_version="c" * 64,
    tools=(PublishedTool(SPEC, PermissionMode.STEP_UP),),
)


@pytest.mark.requirement("002-28", "session, conversation, turn, connection and expiry are under the snapshot's digest")
@pytest.mark.parametrize(
    "change",
    [
        {"id": "snp_2"},
        {"session_id": "ses_2"},
        {"connection_id": "con_2"},
        {"conversation_id": "cnv_2"},
        {"turn_id": "trn_2"},
        {"turn_index": 1},
        {"issued_at": 1_795_255_029_124},
        {"expires_at": 1_795_255_329_124},
        {"policy_version": "d" * 64},
        {"tools": ()},
        {"tools": (PublishedTool(SPEC, PermissionMode.AUTO),)},
    ],
    ids=str,
)
def test_the_snapshot_digest_covers_every_member(change: dict[str, Any]) -> None:
    assert dataclasses.replace(SNAPSHOT, **change).digest != SNAPSHOT.digest


def test_the_snapshot_digest_is_that_of_all_other_wire_members() -> None:
    wire = SNAPSHOT.wire()
    assert wire.pop("digest") == digest_of_bytes(rfc8785.dumps(wire)) == SNAPSHOT.digest
    assert wire["issuedAt"] == "2026-11-21T09:57:09.123Z"
    assert SNAPSHOT.by_name["delete_file"].permission is PermissionMode.STEP_UP
