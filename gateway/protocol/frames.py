"""The frames of both origins: the JSON-RPC 2.0 envelope and one row per method and notification.

A method is in these tables or it does not exist: the codec's unknown-method answer, the schema for the browser and the
tables of handlers are all made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from gateway.protocol import agent_methods as agent
from gateway.protocol import console_methods as console
from gateway.protocol import notifications as told
from gateway.protocol.shapes import ToolResult
from gateway.protocol.wire import JsonObject, Nothing, Wire

SUBPROTOCOL = "countersign.v1"

MAX_MESSAGE_BYTES = 256 * 1024
"""protocol.md section 2, both directions of a client's messages counted in UTF-8 bytes."""

MAX_ID_LENGTH = 128

RequestId = Annotated[str, Field(max_length=MAX_ID_LENGTH)] | int
"""Chosen by the client; null is not an id here, although JSON-RPC would let it pass."""


class Request(Wire):
    """What a client sends: one call of one method."""

    jsonrpc: Literal["2.0"]
    id: RequestId
    method: str
    params: JsonObject | None = None


class ErrorData(Wire):
    """The stable word for an error, beside its number."""

    code: str


class ErrorBody(Wire):
    """A JSON-RPC error. `message` is safe to show."""

    code: int
    message: str
    data: ErrorData


class Success(Wire):
    """The answer to a request."""

    jsonrpc: Literal["2.0"]
    id: RequestId
    result: JsonObject


class Failure(Wire):
    """The answer to a message that is no well-formed call of a known method; `id` is null where none could be read."""

    jsonrpc: Literal["2.0"]
    id: RequestId | None
    error: ErrorBody


class Notification(Wire):
    """What the gateway says unasked."""

    jsonrpc: Literal["2.0"]
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class MethodShape:
    """What a method takes and gives."""

    params: type[Wire]
    result: type[Wire]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is spoken on one origin's socket."""

    methods: Mapping[str, MethodShape]
    notifications: Mapping[str, type[Wire]]


AGENT = Dialect(
    methods=MappingProxyType(
        {
            "session/describe": MethodShape(Nothing, agent.SessionDescription),
            "conversations/open": MethodShape(agent.ConversationOpening, agent.ConversationOpened),
            "conversations/list": MethodShape(agent.ConversationPage, agent.ConversationList),
            "conversations/rename": MethodShape(agent.ConversationTitle, agent.ConversationHead),
            "conversations/delete": MethodShape(agent.ConversationRef, Nothing),
            "conversations/export": MethodShape(agent.ConversationRef, agent.ConversationExport),
            "conversations/fork": MethodShape(agent.ConversationFork, agent.ConversationForked),
            "messages/append": MethodShape(agent.MessageAppending, agent.MessageAppended),
            "tools/describe": MethodShape(agent.ConversationRef, agent.ToolList),
            "turns/begin": MethodShape(agent.TurnBeginning, agent.SnapshotIssued),
            "turns/refresh": MethodShape(agent.TurnRef, agent.SnapshotIssued),
            "turns/end": MethodShape(agent.TurnEnding, Nothing),
            "turns/cancel": MethodShape(agent.TurnRef, agent.TurnCancelled),
            "tools/invoke": MethodShape(agent.ToolRequest, ToolResult),
            "tools/cancel": MethodShape(agent.CallRef, Nothing),
            "tools/list-calls": MethodShape(agent.ConversationRef, agent.CallList),
            "inference/token": MethodShape(agent.InferenceTokenRequest, agent.InferenceToken),
            "grants/list": MethodShape(Nothing, agent.GrantList),
            "grants/revoke": MethodShape(agent.GrantRef, Nothing),
        }
    ),
    notifications=MappingProxyType(
        {
            "snapshot/revoked": told.SnapshotRevoked,
            "approvals/requested": told.ApprovalRequested,
            "approvals/resolved": told.ApprovalResolved,
            "tools/progress": told.ToolProgress,
            "session/ended": told.SessionEnded,
            "policy/changed": told.PolicyChanged,
        }
    ),
)
"""protocol.md section 5. Nothing here can approve anything."""

CONSOLE = Dialect(
    methods=MappingProxyType(
        {
            "session/describe": MethodShape(Nothing, console.ConsoleDescription),
            "approvals/list": MethodShape(console.ApprovalPage, console.ApprovalList),
            "approvals/get": MethodShape(console.ApprovalRef, console.ApprovalQuestion),
            "approvals/decide": MethodShape(console.ApprovalAnswer, console.ApprovalDecided),
            "grants/list": MethodShape(Nothing, agent.GrantList),
            "grants/revoke": MethodShape(agent.GrantRef, Nothing),
            "passkeys/list": MethodShape(Nothing, console.PasskeyList),
            "passkeys/rename": MethodShape(console.PasskeyName, Nothing),
            "passkeys/remove": MethodShape(console.PasskeyRef, Nothing),
            "audit/list": MethodShape(console.AuditPage, console.AuditList),
            "audit/verify": MethodShape(Nothing, console.AuditVerification),
            "principals/list": MethodShape(Nothing, console.PrincipalList),
            "policy/describe": MethodShape(Nothing, console.PolicyDescription),
        }
    ),
    notifications=MappingProxyType(
        {
            "approvals/requested": told.ApprovalRequested,
            "approvals/resolved": told.ApprovalResolved,
            "session/ended": told.SessionEnded,
            "policy/changed": told.PolicyChanged,
        }
    ),
)
"""protocol.md section 6, and what the console pages show."""
