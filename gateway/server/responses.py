"""Answers: JSON, and the one shape of an error, `{"error": {"code", "reason"?, "message"}}`.

No internal detail is sent: an exception outside the error tree becomes `internal_error` and nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from starlette.responses import Response

from gateway.core.canonical import Json
from gateway.core.errors import (
    GatewayError,
    GatewayStopping,
    IllegalStep,
    LedgerUnavailable,
    ModelUnavailable,
    NotFound,
    NotSignedIn,
    ProtocolError,
    Refused,
    TooManyRequests,
    UnknownMethod,
)
from gateway.protocol.codec import ILLEGAL_STEP
from gateway.protocol.handshake import HandshakeVerdict

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class HttpError:
    """A refused request: an HTTP status, a stable code, and a reason where the code alone is not enough."""

    status: int
    code: str
    message: str
    reason: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


NOT_FOUND = HttpError(404, "not_found", "there is nothing here")
NOT_SIGNED_IN = HttpError(401, "not_signed_in", "sign in first")
INVALID_TOKEN = HttpError(
    401,
    "invalid_token",
    "this token is unknown, used up or revoked",
    headers={"www-authenticate": 'Bearer error="invalid_token"'},
)
FOREIGN_ORIGIN = HttpError(403, "refused", "this is answered only to pages of its own origin", "origin")
AUDITOR_READS_ONLY = HttpError(403, "refused", "an auditor reads the audit log and can do nothing else", "auditorReadsOnly")
NO_PROBE = HttpError(403, "refused", "this is for the machine itself, or for who holds the metrics token", "probe")
TOO_SLOW = HttpError(408, "request_timeout", "the body did not arrive in time")
TOO_LARGE = HttpError(413, "body_too_large", "the body is larger than this endpoint takes")
NOT_JSON = HttpError(415, "unsupported_media_type", "send application/json")
STOPPING = HttpError(503, "gateway_stopping", "the gateway is stopping; try again when it is back")
WRONG_HOST = HttpError(421, "misdirected_request", "this gateway does not answer to that host")
NOT_A_SOCKET = HttpError(
    426, "upgrade_required", "this is a WebSocket", headers={"upgrade": "websocket", "connection": "Upgrade"}
)
INTERNAL = HttpError(500, "internal_error", "internal error")

_STATUSES: Mapping[type[ProtocolError], int] = {NotSignedIn: 401, NotFound: 404, UnknownMethod: 404, TooManyRequests: 429}


def refusal_of(verdict: HandshakeVerdict) -> HttpError:
    """The answer to a handshake that opens no socket."""
    return HttpError(verdict.value, verdict.name.lower(), verdict.message)


def wrong_method(allowed: str) -> HttpError:
    """`allowed` as an Allow header lists methods."""
    return HttpError(405, "method_not_allowed", f"this takes {allowed}", headers={"allow": allowed})


def describe(error: Exception) -> HttpError:
    """The HTTP error for an error of the tree; for any other exception, an internal error."""
    if isinstance(error, IllegalStep):
        error = ILLEGAL_STEP
    match error:
        case Refused():
            return HttpError(error.status, error.code, error.message, error.reason)
        case ProtocolError():
            return HttpError(_STATUSES.get(type(error), 400), error.code, error.message)
        case ModelUnavailable():
            return HttpError(503, error.code, error.message, error.state, headers={"retry-after": "2"})
        case LedgerUnavailable() | GatewayStopping():
            return HttpError(503, error.code, error.message)
        case _:
            return INTERNAL


def answer(value: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON."""
    return Response(orjson.dumps(value), status, headers=headers, media_type=JSON)


def no_content() -> Response:
    """204."""
    return Response(status_code=204)


def refuse(fault: HttpError) -> Response:
    """The error shape."""
    body = {"code": fault.code, "message": fault.message}
    if fault.reason is not None:
        body["reason"] = fault.reason
    return answer({"error": body}, fault.status, fault.headers)


def refuse_as_openai(fault: HttpError) -> Response:
    """The same with the two members that OpenAI's clients look for as well."""
    return answer(openai_error(fault), fault.status, fault.headers)


def openai_error(fault: HttpError) -> dict[str, Json]:
    """The body of `refuse_as_openai`, and of an error inside a stream."""
    kind = "invalid_request_error" if fault.status < 500 else "server_error"
    body: dict[str, Json] = {"code": fault.code, "message": fault.message, "type": kind, "param": None}
    if fault.reason is not None:
        body["reason"] = fault.reason
    return {"error": body}


def is_expected(error: Exception) -> bool:
    """Whether an error is one of the expected kinds, whose traceback is of no use to an operator."""
    return isinstance(error, GatewayError) and describe(error) is not INTERNAL
