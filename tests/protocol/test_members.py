"""A member that a client sends is what the contract says, and not something like it (docs/PROTOCOL.md section 4)."""

from __future__ import annotations

import pytest

from gateway.core.canonical import Json
from gateway.core.errors import InvalidParams
from gateway.protocol import codec
from gateway.protocol.frames import AGENT, CONSOLE

INVOCATION: dict[str, Json] = {
    "conversationId": "cnv_1",
    "turnId": "trn_1",
    "snapshotId": "snp_1",
    "snapshotDigest": "0" * 64,
    "call": {"id": "c1", "name": "read_file", "arguments": {"path": "a.txt", "limit": None}},
}

NULLS: dict[str, tuple[str, dict[str, Json], str]] = {
    "the title of a new conversation": ("conversations/open", {"title": None}, "title"),
    "a flag": ("conversations/open", {"takeOver": None}, "takeOver"),
    "a message": ("turns/begin", {"conversationId": "c", "message": None}, "message"),
    "a model": ("tools/invoke", {**INVOCATION, "model": None}, "model"),
    "a member of a model": ("tools/invoke", {**INVOCATION, "model": {"id": "m", "nonce": None}}, "model.nonce"),
    "the call that this one follows": ("tools/invoke", {**INVOCATION, "after": None}, "after"),
    "the calls of a message": (
        "messages/append",
        {"conversationId": "c", "turnId": "t", "message": {"role": "assistant", "content": "x", "toolCalls": None}},
        "message.toolCalls",
    ),
}


@pytest.mark.parametrize(("method", "params", "path"), NULLS.values(), ids=NULLS.keys())
def test_an_absent_member_is_never_null(method: str, params: dict[str, Json], path: str) -> None:
    with pytest.raises(InvalidParams, match=rf"`{path}` must"):
        codec.admit(AGENT.methods[method].params, params)


def test_null_in_a_list_of_shapes_is_found() -> None:
    parts: Json = [{"name": "a", "text": "x"}, {"name": "b", "text": "x"}]
    shape = CONSOLE.methods["policy/validate"].params
    assert codec.admit(shape, {"documents": parts})
    decisions: Json = [{"tool": "a", "pin": "0" * 64, "category": "read"}, {"tool": "b", "pin": "0" * 64, "category": None}]
    with pytest.raises(InvalidParams, match=r"`decisions\.1\.category` must not be null"):
        codec.admit(CONSOLE.methods["sources/decide"].params, {"name": "s", "decisions": decisions})


def test_null_in_free_json_is_a_value() -> None:
    admitted = codec.admit(AGENT.methods["tools/invoke"].params, INVOCATION)
    assert admitted.to_members()["call"] == INVOCATION["call"]


NUMBERS: dict[str, tuple[str, dict[str, Json], str]] = {
    "a page of versions": ("policy/history", {}, "limit"),
    "a page of records": ("audit/list", {}, "limit"),
    "the days of a rehearsal": ("policy/rehearse", {"documents": [{"name": "a.cedar", "text": "x"}]}, "days"),
    "the position of a call": ("audit/call", {}, "position"),
    "the turn that a copy ends before": ("conversations/fork", {"conversationId": "c"}, "fromTurn"),
}


@pytest.mark.parametrize("like", ["5", True, 5.0])
@pytest.mark.parametrize(("method", "params", "name"), NUMBERS.values(), ids=NUMBERS.keys())
def test_a_number_is_not_guessed_from_what_is_like_one(method: str, params: dict[str, Json], name: str, like: Json) -> None:
    shape = {**AGENT.methods, **CONSOLE.methods}[method].params
    codec.admit(shape, {**params, name: 5})
    with pytest.raises(InvalidParams, match=rf"^`{name}` must be an integer"):
        codec.admit(shape, {**params, name: like})


@pytest.mark.parametrize("name", ["minuteOfDay", "weekday"])
def test_a_moment_is_not_guessed_either(name: str) -> None:
    call: dict[str, Json] = {"tool": "t", "arguments": {}, "profile": "guest", name: True}
    with pytest.raises(InvalidParams, match=rf"^`imagined\.{name}` must be an integer"):
        codec.admit(CONSOLE.methods["policy/explain"].params, {"imagined": call})
