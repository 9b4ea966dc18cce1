"""Bytes to calls, and answers to bytes.

Reading never raises: a message that is no call becomes a `RejectedMessage`, with the error to answer and whether it counts
as malformed. Writing sends no more of an error than the tree in `gateway.core.errors` allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar, cast

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.core.canonical import Json, parse, parse_with_any_number
from gateway.core.errors import (
    GatewayStopping,
    IllegalStep,
    InvalidParams,
    InvalidRequest,
    LedgerUnavailable,
    MalformedJson,
    MessageTooLarge,
    ModelUnavailable,
    ProtocolError,
    Refused,
    UnsupportedValue,
)
from gateway.core.value_types import quick
from gateway.protocol.frames import MAX_ID_LENGTH, MAX_MESSAGE_BYTES
from gateway.protocol.wire import Wire

CallKey: TypeAlias = str | int
"""A request's id, as the client chose it."""

REFUSED: Final = -32004
"""A valid request that is refused; `data.code` is the reason of the refusal."""

UNAVAILABLE: Final = -32005
"""The request is valid, but the ledger, the model or the gateway as a whole cannot be had now."""

INTERNAL: Final = -32603

_MEMBERS: Final = {"jsonrpc", "id", "method", "params"}

_ENUM_MEMBER: Final = re.compile(r"<[A-Za-z.]+: ('[^']*')>")
"""How pydantic names one of the members that a shape takes, and its value."""

_FAULTS_DESCRIBED: Final = 10
"""The largest number of faults in one answer; the author of a client needs the first ones."""

AnyWire = TypeVar("AnyWire", bound=Wire)


@quick
@dataclass(frozen=True, slots=True)
class Call:
    """One well-formed request. The method and the parameters are not checked yet."""

    id: CallKey
    method: str
    params: Mapping[str, Json]
    may_hold_null: bool = field(default=True, compare=False)
    """Whether the word stands anywhere in the message: without it no member is null."""


@dataclass(frozen=True, slots=True)
class RejectedMessage:
    """A message that is no call. `id` is None where none could be read; Several `malformed` ones close the connection."""

    id: CallKey | None
    error: ProtocolError

    @property
    def malformed(self) -> bool:
        """Whether this was not even a JSON-RPC request."""
        return isinstance(self.error, MalformedJson | InvalidRequest)


TOO_LARGE: Final = MessageTooLarge("the message is larger than 256 KiB, so nothing of it was read")
"""What is said before the socket closes: whose request it was is not known."""


def decode(raw: bytes) -> Call | RejectedMessage:
    """Read one message."""
    if len(raw) > MAX_MESSAGE_BYTES:
        return RejectedMessage(None, TOO_LARGE)
    try:
        message = parse_message(raw)
    except UnsupportedValue as error:
        return refuse_value(raw, error)
    except MalformedJson as error:
        return RejectedMessage(None, error)
    if not isinstance(message, dict):
        kind = "batches are not taken" if isinstance(message, list) else "a request is an object"
        return RejectedMessage(None, InvalidRequest(kind))
    return _read_envelope(cast("dict[str, Json]", message), may_hold_null=b"null" in raw)


def admit(shape: type[AnyWire], params: Mapping[str, Json], *, may_hold_null: bool = True) -> AnyWire:
    """Parameters as their type. Raises InvalidParams, which names each path that is not valid."""
    try:
        admitted = shape.admit(params)
    except ValidationError as error:
        raise InvalidParams(_describe_faults(error.errors(include_url=False, include_input=False))) from None
    null = next(_find_nulls(admitted, ()), None) if may_hold_null else None
    if null is not None:
        raise InvalidParams(f"`{_path(null)}` must not be null; a member that there is no value for is left out")
    return admitted


def encode_result(call_id: CallKey, result: Wire) -> bytes:
    """A success. The result is serialised once, straight into the envelope."""
    return result.enclose(b'{"jsonrpc":"2.0","id":%b,"result":' % orjson.dumps(call_id), b"}")


def encode_error(call_id: CallKey | None, error: Exception) -> bytes:
    """A failure. An exception outside the error tree becomes `internal error` and nothing more."""
    number, code, message = describe_error(error)
    body = {"code": number, "message": message, "data": {"code": code}}
    return orjson.dumps({"jsonrpc": "2.0", "id": call_id, "error": body})


def encode_notification(method: str, params: Wire) -> bytes:
    """A notification."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (orjson.dumps(method), params.to_json())


def parse_message(raw: bytes) -> Json:
    """One JSON value of a client. Raises MalformedJson, and UnsupportedValue for what not every reader can hold."""
    message = parse(raw)
    # PostgreSQL cannot store U+0000 in text, and many programs end a string there. Only the escaped form reaches this line.
    if b"\\u0000" in raw and _has_null(message):
        raise UnsupportedValue("U+0000 in a string")
    return message


def refuse_value(raw: bytes, error: UnsupportedValue) -> RejectedMessage:
    """Answer with the request's id: a client whose model wrote such a value must not wait for ever."""
    try:
        message = parse_with_any_number(raw)
    except MalformedJson as worse:
        return RejectedMessage(None, worse)
    call_id = cast("dict[str, Json]", message).get("id") if isinstance(message, dict) else None
    is_readable = is_call_id(call_id) and not _has_null(call_id)
    return RejectedMessage(call_id if is_readable else None, InvalidParams(error.message))


def _read_envelope(message: dict[str, Json], *, may_hold_null: bool) -> Call | RejectedMessage:
    call_id = message.get("id")
    if not is_call_id(call_id):
        reason = "notifications are not taken" if "id" not in message else "`id` must be a string or an integer"
        return RejectedMessage(None, InvalidRequest(reason))
    if message.get("jsonrpc") != "2.0":
        return RejectedMessage(call_id, InvalidRequest('`jsonrpc` must be "2.0"'))
    method = message.get("method")
    if not isinstance(method, str):
        return RejectedMessage(call_id, InvalidRequest("`method` must be a string"))
    if message.keys() - _MEMBERS:
        return RejectedMessage(call_id, InvalidParams("a request has `jsonrpc`, `id`, `method` and `params`, and nothing else"))
    params = message.get("params", {})
    if not isinstance(params, dict):
        return RejectedMessage(call_id, InvalidParams("`params` must be an object"))
    return Call(call_id, method, cast("dict[str, Json]", params), may_hold_null)


def is_call_id(value: Json) -> TypeGuard[CallKey]:
    """Whether it may be the id of a request."""
    match value:
        case bool():
            return False
        case int():
            return True
        case str():
            return len(value) <= MAX_ID_LENGTH
        case _:
            return False


def _has_null(value: Json) -> bool:
    match value:
        case str():
            return "\0" in value
        case list():
            return any(_has_null(item) for item in cast("list[Json]", value))
        case dict():
            members = cast("dict[str, Json]", value)
            return any("\0" in name or _has_null(item) for name, item in members.items())
        case _:
            return False


ILLEGAL_STEP: Final = Refused(
    "changed", "something of this was changed at the same moment; nothing was done, look at it again", 409
)
"""What the record refuses because another step came first: two people, or two pages of one, did what only one of them can."""


def describe_error(error: Exception) -> tuple[int, str, str]:
    """Its number, its stable word and a message that is safe to send."""
    match error:
        case ProtocolError():
            return error.rpc_code, error.code, error.message
        case Refused():
            return REFUSED, error.reason, error.message
        case IllegalStep():
            return REFUSED, ILLEGAL_STEP.reason, ILLEGAL_STEP.message
        case LedgerUnavailable() | ModelUnavailable() | GatewayStopping():
            return UNAVAILABLE, error.code, error.message
        case _:
            return INTERNAL, "internal", "internal error"


_PLAIN: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": "is not a member of this method's parameters",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "tuple_type": "must be an array",
    "too_long": "has too many members",
    "too_short": "has too few members",
}
"""Messages in the terms of the contract; pydantic's own messages name Python types."""


def _describe_faults(faults: Sequence[ErrorDetails]) -> str:
    described = [f"`{_path(fault['loc'])}` {_explain(fault)}" for fault in faults[:_FAULTS_DESCRIBED]]
    more = len(faults) - len(described)
    return "; ".join(described) + (f"; and {more} more" if more else "")


def _explain(fault: ErrorDetails) -> str:
    context: dict[str, Any] = fault.get("ctx", {})
    match fault["type"]:
        case "string_too_short" if context["min_length"] == 1:
            return "must not be empty"
        case "string_too_short":
            return f"must have at least {context['min_length']} characters"
        case "string_too_long":
            return f"must have at most {context['max_length']} characters"
        case "string_pattern_mismatch":
            return f"must match {context['pattern']}"
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "enum" | "literal_error":
            return "must be " + _ENUM_MEMBER.sub(r"\1", context["expected"])
        case kind:
            return _PLAIN.get(kind, "does not fit")


def _find_nulls(value: object, place: tuple[int | str, ...]) -> Iterator[tuple[int | str, ...]]:
    """Where a client sent null for a member of the contract. In free JSON, such as `arguments`, null is a value."""
    match value:
        case Wire():
            fields = type(value).model_fields
            for name in value.model_fields_set:
                member, inner = getattr(value, name), (*place, fields[name].alias or name)
                if member is None:
                    yield inner
                elif isinstance(member, Wire | tuple):
                    yield from _find_nulls(cast("object", member), inner)
        case tuple():
            for index, item in enumerate(cast("tuple[object, ...]", value)):
                yield from _find_nulls(item, (*place, index))
        case _:
            return


def _path(location: Sequence[int | str]) -> str:
    # Member names are the client's text: long ones are cut, so that an error cannot be used to echo a message.
    return ".".join(str(part)[:64] for part in location) or "params"
