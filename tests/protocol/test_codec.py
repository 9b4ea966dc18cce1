"""Decoding and encoding: every class of malformed input has its own typed error, and no other exception is raised."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.canonical import MAX_INTEGER, Json, parse
from gateway.core.errors import (
    GatewayError,
    IllegalStep,
    InvalidParams,
    LedgerUnavailable,
    NotFound,
    NotSignedIn,
    Refused,
    TooManyRequests,
    UnknownMethod,
)
from gateway.protocol import codec
from gateway.protocol.agent_methods import TurnCancelled, WireToolRequest, WireTurnEnding
from gateway.protocol.codec import Call, RejectedMessage
from gateway.protocol.console_methods import ApprovalAnswer
from gateway.protocol.frames import AGENT, CONSOLE, MAX_MESSAGE_BYTES
from gateway.protocol.wire import Nothing


def request(**changes: Json) -> bytes:
    """A well-formed request with `changes`; the value `...` removes a member."""
    members: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "session/describe", "params": {}, **changes}
    return orjson.dumps({name: value for name, value in members.items() if value is not ...})


def inside_params(text: bytes) -> bytes:
    """A request with raw JSON text as the value of one parameter."""
    return b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":%b}}' % text


PARSE_ERRORS: dict[str, bytes] = {
    "nothing at all": b"",
    "white space": b"  \n",
    "not JSON": b"hello",
    "cut short": b'{"jsonrpc":"2.0","id":7',
    "two values": request() + request(),
    "trailing comma": inside_params(b"[1,]"),
    "single quotes": b"{'jsonrpc':'2.0'}",
    "depth 65": inside_params(b"[" * 63 + b"]" * 63),
    "depth 1e5": b"[" * 100_000 + b"]" * 100_000,
    "depth 1e5, never closed": b"[" * 100_000,
    # Each of these made a scanner that looks for strings start over at every quote: minutes of work in one message.
    "unterminated string of escaped quotes, then openers": b'{"a":"' + b'\\"' * 130_000 + b"[" * 70,
    "quotes and openers": b'["' * 80_000,
    "87 thousand empty arrays, one too deep": inside_params(b"[" + b"[]," * 40_000 + b"[" * 62 + b"]" * 62 + b"]"),
    "NaN": inside_params(b"NaN"),
    "Infinity": inside_params(b"Infinity"),
    "-Infinity": inside_params(b"-Infinity"),
    "duplicate member of the request": b'{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}',
    "duplicate member deep inside": inside_params(b'{"b":[{"c":1,"c":1}]}'),
    "duplicate member through an escape": inside_params(b'{"b":1,"\\u0062":2}'),
    "lone high surrogate": inside_params(b'"\\ud800"'),
    "lone low surrogate": inside_params(b'"\\udc00 "'),
    "surrogates the wrong way round": inside_params(b'"\\udc00\\ud800"'),
    "surrogate in a name": inside_params(b'{"\\ud800":1}'),
    "1e400 beside a duplicate member": inside_params(b'{"b":1e400,"c":1,"c":1}'),
    "1e400, cut short": b'{"jsonrpc":"2.0","id":7,"params":{"a":1e400',
    "U+0000 raw": inside_params(b'"a\0b"'),
    "control character raw": inside_params(b'"a\nb"'),
    "byte order mark": b"\xef\xbb\xbf" + request(),
    "invalid UTF-8": inside_params(b'"\xff"'),
    "overlong UTF-8": inside_params(b'"\xc0\xaf"'),
    "surrogate in UTF-8": inside_params(b'"\xed\xa0\x80"'),
    "UTF-16": request().decode().encode("utf-16"),
}

UNSUPPORTED_VALUES: dict[str, bytes] = {
    "1e400": inside_params(b"1e400"),
    "-1e400": inside_params(b"-1e400"),
    "1e21": inside_params(b"1e21"),
    "2^53 as a float": inside_params(b"9007199254740992.0"),
    "2^53": inside_params(b"9007199254740992"),
    "-2^53": inside_params(b"-9007199254740992"),
    "5000 digits": inside_params(b"1" * 5000),
    "U+0000 escaped": inside_params(b'"a\\u0000b"'),
    "U+0000 in a name": inside_params(b'{"\\u0000":1}'),
    "U+0000 and 1e400": inside_params(b'["\\u0000",1e400]'),
}

INVALID_REQUESTS: dict[str, bytes] = {
    "null": b"null",
    "a string": b'"session/describe"',
    "a number": b"1",
    "an empty batch": b"[]",
    "a batch of one": b"[" + request() + b"]",
    "an empty object": b"{}",
    "a notification": request(id=...),
    "id null": request(id=None),
    "id true": request(id=True),
    "id a fraction": request(id=1.5),
    "id an integral float": request()[:-1].replace(b'"id":7', b'"id":7.0') + b"}",
    "id an object": request(id={}),
    "id of 129 characters": request(id="a" * 129),
    "no version": request(jsonrpc=...),
    "version 1.0": request(jsonrpc="1.0"),
    "version as a number": request(jsonrpc=2.0),
    "no method": request(method=...),
    "method a number": request(method=5),
    "method null": request(method=None),
    "a response": b'{"jsonrpc":"2.0","id":7,"result":{}}',
    "an error": b'{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}',
}

INVALID_ENVELOPES: dict[str, bytes] = {
    "unknown member": request(extra=1),
    "client claims consent": request(client_consented=True),
    "positional params": request(params=[1, 2]),
    "params null": request(params=None),
    "params a string": request(params="x"),
}


def fault_of(raw: bytes) -> RejectedMessage:
    fault = codec.decode(raw)
    assert isinstance(fault, RejectedMessage)
    return fault


TOO_LARGE = {
    "300 kB": inside_params(b'"' + b"a" * 300_000 + b'"'),
    "1e5 keys": inside_params(b"{" + b",".join(b'"k%d":0' % n for n in range(100_000)) + b"}"),
}


@pytest.mark.parametrize("raw", TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_what_is_too_large_says_so(raw: bytes) -> None:
    """docs/SECURITY.md cases 16 and 17."""
    fault = fault_of(raw)
    assert (fault.error.rpc_code, fault.error.code, fault.id) == (-32600, "message_too_large", None)


@pytest.mark.parametrize("raw", PARSE_ERRORS.values(), ids=PARSE_ERRORS.keys())
def test_ambiguous_json_is_a_parse_error(raw: bytes) -> None:
    """docs/SECURITY.md cases 15 to 21."""
    fault = fault_of(raw)
    assert fault.error.rpc_code == -32700
    assert fault.malformed
    assert fault.id is None


@pytest.mark.parametrize("raw", UNSUPPORTED_VALUES.values(), ids=UNSUPPORTED_VALUES.keys())
def test_an_unsupported_value_is_refused_with_the_id_of_its_request(raw: bytes) -> None:
    """docs/SECURITY.md case 19."""
    fault = fault_of(raw)
    assert fault.error.rpc_code == -32602
    assert not fault.malformed
    assert fault.id == 7


@pytest.mark.parametrize("call_id", [b"9007199254740992", b"1e21", b'"a\\u0000"', b"[1e400]"])
def test_an_unsupported_value_as_the_id_is_refused_without_an_id(call_id: bytes) -> None:
    fault = fault_of(b'{"jsonrpc":"2.0","id":%b,"method":"x","params":{"a":"\\u0000"}}' % call_id)
    assert (fault.id, fault.error.rpc_code, fault.malformed) == (None, -32602, False)


@pytest.mark.parametrize("raw", INVALID_REQUESTS.values(), ids=INVALID_REQUESTS.keys())
def test_a_message_that_is_no_single_request_is_an_invalid_request(raw: bytes) -> None:
    fault = fault_of(raw)
    assert fault.error.rpc_code == -32600
    assert fault.malformed


@pytest.mark.parametrize("raw", INVALID_ENVELOPES.values(), ids=INVALID_ENVELOPES.keys())
def test_unknown_members_and_odd_params_are_invalid_params_of_that_request(raw: bytes) -> None:
    """docs/SECURITY.md case 12."""
    fault = fault_of(raw)
    assert fault.error.rpc_code == -32602
    assert not fault.malformed
    assert fault.id == 7


def test_fault_keeps_the_id_so_that_the_client_can_match_the_answer() -> None:
    assert fault_of(request(jsonrpc="1.0", id="abc")).id == "abc"


@pytest.mark.parametrize("key", [0, -1, MAX_INTEGER, "", "a" * 128, "ünï"])
def test_string_and_integer_ids_are_taken(key: codec.CallKey) -> None:
    assert codec.decode(request(id=key)) == Call(key, "session/describe", {})


def test_params_may_be_left_out() -> None:
    assert codec.decode(request(params=...)) == Call(7, "session/describe", {})


def test_escaped_backslash_before_u0000_is_no_null() -> None:
    assert isinstance(codec.decode(inside_params(b'"a\\\\u0000"')), Call)


def test_largest_message_is_taken() -> None:
    frame = len(inside_params(b'""'))
    assert isinstance(codec.decode(inside_params(b'"' + b"a" * (MAX_MESSAGE_BYTES - frame) + b'"')), Call)
    assert isinstance(codec.decode(inside_params(b'"' + b"a" * (MAX_MESSAGE_BYTES - frame + 1) + b'"')), RejectedMessage)


def test_depth_64_is_taken() -> None:
    """params and its object are two of the levels."""
    assert isinstance(codec.decode(inside_params(b"[" * 62 + b"]" * 62)), Call)


@given(st.binary(max_size=400))
def test_decoding_any_bytes_gives_a_call_or_a_fault(raw: bytes) -> None:
    assert isinstance(codec.decode(raw), Call | RejectedMessage)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdé", max_size=4), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_decoding_any_json_gives_a_call_or_a_fault(value: Json) -> None:
    assert isinstance(codec.decode(orjson.dumps(value)), Call | RejectedMessage)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("jsonrpc", "id", "method", "params", "x"), JSON_VALUES)))
def test_decoding_any_envelope_gives_a_call_or_a_fault(envelope: dict[str, Json]) -> None:
    assert isinstance(codec.decode(orjson.dumps({"jsonrpc": "2.0", **envelope})), Call | RejectedMessage)


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=128)
    | st.integers(-MAX_INTEGER, MAX_INTEGER),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    st.dictionaries(st.text("abcdé", max_size=4), JSON_VALUES, max_size=4),
)
def test_a_request_reads_back_as_it_was_written(key: codec.CallKey, method: str, params: dict[str, Json]) -> None:
    raw = orjson.dumps({"jsonrpc": "2.0", "id": key, "method": method, "params": params})
    assert codec.decode(raw) == Call(key, method, params)


@pytest.mark.parametrize(
    "shape",
    [method.params for dialect in (AGENT, CONSOLE) for method in dialect.methods.values()],
    ids=[f"{name}" for dialect in (AGENT, CONSOLE) for name in dialect.methods],
)
@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from(["conversationId", "turnId", "call", "message", "scope", "x"]), JSON_VALUES, max_size=4))
def test_admitting_any_params_gives_the_type_or_invalid_params(shape: type[Nothing], params: dict[str, Json]) -> None:
    with suppress(InvalidParams):
        assert isinstance(codec.admit(shape, params), shape)


INVOCATION: dict[str, Json] = {
    "conversationId": "cnv_1",
    "turnId": "trn_1",
    "snapshotId": "snp_1",
    "snapshotDigest": "0" * 64,
    "call": {"id": "call-1", "name": "read_file", "arguments": {"path": "notes/a.txt", "limit": None}},
}


def test_invocation_is_admitted_with_its_arguments_untouched() -> None:
    admitted = codec.admit(WireToolRequest, INVOCATION)
    assert admitted.call.arguments == {"path": "notes/a.txt", "limit": None}


BAD_INVOCATIONS: dict[str, tuple[dict[str, Json], str]] = {
    "consent claimed by the client": ({"clientConsented": True}, "`clientConsented`"),
    "permission chosen by the client": ({"permission": "auto"}, "`permission`"),
    "snake case": ({"turn_id": "trn_1"}, "`turn_id`"),
    "turn missing": ({"turnId": ...}, "`turnId` is missing"),
    "turn a number": ({"turnId": 1}, "`turnId` must be a string"),
    "id of 65 characters": ({"turnId": "a" * 65}, "`turnId` must have at most 64"),
    "empty id": ({"turnId": ""}, "`turnId` must not be empty"),
    "call a list": ({"call": []}, "`call` must be an object"),
    "call id with a space": ({"call": {"id": "a b", "name": "x", "arguments": {}}}, "`call.id` must match"),
    "call id of 129": ({"call": {"id": "a" * 129, "name": "x", "arguments": {}}}, "`call.id` must match"),
    "call id with a newline": ({"call": {"id": "a\n", "name": "x", "arguments": {}}}, "`call.id` must match"),
    "arguments a list": ({"call": {"id": "a", "name": "x", "arguments": []}}, "`call.arguments` must be an object"),
    "arguments missing": ({"call": {"id": "a", "name": "x"}}, "`call.arguments` is missing"),
    "call marked as approved": (
        {"call": {"id": "a", "name": "x", "arguments": {}, "approved": True}},
        "`call.approved` is not a member",
    ),
}


@pytest.mark.parametrize(("changes", "told"), BAD_INVOCATIONS.values(), ids=BAD_INVOCATIONS.keys())
def test_invalid_invocation_names_the_path(changes: dict[str, Json], told: str) -> None:
    params = {name: value for name, value in {**INVOCATION, **changes}.items() if value is not ...}
    with pytest.raises(InvalidParams) as caught:
        codec.admit(WireToolRequest, params)
    assert told in caught.value.message


def test_faults_name_no_python_type_and_echo_no_long_text() -> None:
    with pytest.raises(InvalidParams) as caught:
        codec.admit(WireToolRequest, {**INVOCATION, "call": 1, **{f"{number}" * 5000: 1 for number in range(100)}})
    assert "ToolCall" not in caught.value.message
    assert "and 91 more" in caught.value.message
    assert len(caught.value.message) < 2000


@pytest.mark.requirement("002-38", "a browser may claim the roles user and assistant only")
@pytest.mark.parametrize("role", ["system", "tool", "developer", ""])
def test_browser_cannot_append_in_another_role(role: str) -> None:
    shape = AGENT.methods["messages/append"].params
    with pytest.raises(InvalidParams, match=r"^`message\.role` must be 'user' or 'assistant'$"):
        codec.admit(shape, {"conversationId": "c", "turnId": "t", "message": {"role": role, "content": "x"}})


@pytest.mark.parametrize("value", ["5", True, 5.5, -1, 2**53])
def test_counts_are_not_guessed_from_other_types(value: Json) -> None:
    with pytest.raises(InvalidParams):
        codec.admit(AGENT.methods["conversations/fork"].params, {"conversationId": "c", "fromTurn": value})


def test_usage_is_whatever_a_provider_counts() -> None:
    usage: Json = {"promptTokens": 3, "seconds": 1.5, "prompt_tokens_details": {"cached_tokens": 2}, "tier": None}
    assert codec.admit(WireTurnEnding, {"conversationId": "c", "turnId": "t", "usage": usage}).usage == usage
    with pytest.raises(InvalidParams):
        codec.admit(WireTurnEnding, {"conversationId": "c", "turnId": "t", "usage": 3})


def test_approval_without_a_scope_is_for_one_call() -> None:
    answer = codec.admit(ApprovalAnswer, {"approvalId": "apr_1", "challenge": "x", "decision": "approve"})
    assert answer.scope.value == "once"


ERRORS: list[tuple[Exception, int, str]] = [
    (UnknownMethod("no method `x`"), -32601, "unknown_method"),
    (InvalidParams("`a` is missing"), -32602, "invalid_params"),
    (NotSignedIn("sign in"), -32001, "not_signed_in"),
    (TooManyRequests("slow down"), -32002, "too_many_requests"),
    (NotFound("unknown conversation"), -32003, "not_found"),
    (Refused("approvalExpired", "this approval has expired", 410), -32004, "approvalExpired"),
    (LedgerUnavailable("the disk is full"), -32005, "ledger_unavailable"),
    (IllegalStep("no such step: running -> asked"), -32004, "changed"),
    (GatewayError("anything else"), -32603, "internal"),
    (KeyError("/srv/secret.py"), -32603, "internal"),
]


@pytest.mark.parametrize(("error", "number", "code"), ERRORS, ids=[type(row[0]).__name__ for row in ERRORS])
def test_errors_have_stable_numbers_and_codes(error: Exception, number: int, code: str) -> None:
    answer = orjson.loads(codec.encode_error(7, error))
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] == 7
    assert answer["error"]["code"] == number
    assert answer["error"]["data"] == {"code": code}


def test_unexpected_errors_are_sent_without_details() -> None:
    raw = codec.encode_error("k", RuntimeError("password in /home/someone/secret.py"))
    assert b"secret" not in raw
    assert orjson.loads(raw)["error"]["message"] == "internal error"


def test_result_goes_into_its_envelope_once() -> None:
    assert orjson.loads(codec.encode_result('a"b', TurnCancelled(cancelled=("c1",)))) == {
        "jsonrpc": "2.0",
        "id": 'a"b',
        "result": {"cancelled": ["c1"]},
    }
    assert codec.encode_result(1, Nothing()) == b'{"jsonrpc":"2.0","id":1,"result":{}}'


def test_every_written_message_can_be_decoded() -> None:
    assert parse(codec.encode_error(None, NotFound("unknown")))["id"] is None
    assert parse(codec.encode_notification("session/ended", Nothing()))["method"] == "session/ended"
