"""Lines of an MCP client, read with a bound and judged before the SDK sees them.

The protocol's own reader takes a line of any length, any depth of JSON and any number of requests; what a socket of the web shell
may not send, an MCP client may not either (docs/PROTOCOL.md section 2).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from gateway.core.canonical import Json
from gateway.core.errors import InvalidRequest, MalformedJson, UnsupportedValue
from gateway.protocol.codec import CallKey, RejectedMessage, is_call_id, parse_message, refuse_value
from gateway.protocol.frames import MAX_MESSAGE_BYTES

_PIECE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class OversizedLine:
    """A line that was longer than a message may be. It was read to its end and thrown away."""


@dataclass(frozen=True, slots=True)
class PeerRequest:
    """A request in form."""

    id: CallKey
    method: str
    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PeerNotification:
    """A notification in form."""

    method: str
    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PeerReply:
    """An answer. The gateway asks clients nothing, so that there is nothing that it could answer."""


PeerMessage: TypeAlias = PeerRequest | PeerNotification | PeerReply | RejectedMessage


async def read_lines(reader: asyncio.StreamReader) -> AsyncGenerator[bytes | OversizedLine]:
    """Every line that is not blank, until the end. Never holds more than one message and one piece."""
    held, is_skipping = b"", False
    while piece := await reader.read(_PIECE):
        *ended, rest = (held + piece).split(b"\n")
        for line in ended:
            if is_skipping or len(line) > MAX_MESSAGE_BYTES:
                is_skipping = False
                yield OversizedLine()
            elif line.strip():
                yield line
        held = rest
        if len(held) > MAX_MESSAGE_BYTES:
            held, is_skipping = b"", True


def judge_line(line: bytes | OversizedLine) -> PeerMessage:
    """What a line is. Never raises."""
    if isinstance(line, OversizedLine) or len(line) > MAX_MESSAGE_BYTES:
        return RejectedMessage(None, MalformedJson("message is larger than 256 KiB"))
    try:
        message = parse_message(line)
    except UnsupportedValue as error:
        return refuse_value(line, error)
    except MalformedJson as error:
        return RejectedMessage(None, error)
    if not isinstance(message, dict):
        kind = "batches are not taken" if isinstance(message, list) else "a message is an object"
        return RejectedMessage(None, InvalidRequest(kind))
    return _judge_envelope(cast("dict[str, Json]", message))


def _judge_envelope(message: dict[str, Json]) -> PeerMessage:
    request_id = message.get("id")
    known = request_id if is_call_id(request_id) else None
    if message.get("jsonrpc") != "2.0":
        return RejectedMessage(known, InvalidRequest('`jsonrpc` must be "2.0"'))
    if "method" not in message and ("result" in message or "error" in message):
        return PeerReply()
    method = message.get("method")
    if not isinstance(method, str):
        return RejectedMessage(known, InvalidRequest("`method` must be a string"))
    if not isinstance(message.get("params", {}), dict):
        return RejectedMessage(known, InvalidRequest("`params` must be an object"))
    if "id" not in message:
        return PeerNotification(method, message)
    if known is None:
        return RejectedMessage(None, InvalidRequest("`id` must be a string of at most 128 characters or an integer"))
    return PeerRequest(known, method, message)
