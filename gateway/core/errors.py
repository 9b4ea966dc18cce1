"""The one error tree.

    GatewayError                    code and a message that is safe to show
    ├── ProtocolError               a message that is no well-formed call of a known method
    │   ├── MalformedJson           -32700
    │   │   └── UnsupportedValue    -32602 where the request's id can be read: a value that not every reader can hold
    │   ├── InvalidRequest          -32600
    │   ├── UnknownMethod           -32601
    │   ├── InvalidParams           -32602
    │   ├── NotSignedIn             -32001
    │   ├── TooManyRequests         -32002
    │   └── NotFound                -32003  unknown, or not yours: the two look alike on purpose
    ├── Refused                     an HTTP or console request that is understood and denied (status 401, 403, 409, 410 or 429)
    ├── IllegalStep                 the lifecycle table has no such transition
    ├── PolicyUnusable              a policy document that does not load
    ├── LedgerUnavailable           the record cannot be written, so nothing may run
    │   ├── LedgerBusy              another process keeps the database locked
    │   ├── LedgerSuperseded        this process may not write any more: its lock, its files or its turn are somebody else's
    │   └── LedgerDamaged           what is stored is not what was recorded; nothing may run on it
    ├── LedgerLocked                another process writes this database
    ├── GatewayStopping             it was asked to stop and begins nothing new
    ├── ModelUnavailable            no model can answer now; `state` says why
    ├── ToolFailed                  a tool reports failure in words meant for the model and the person
    ├── OnDevicePlannerError        a planner has no action; `attempts` and the last `reason` say why
    ├── GeneratorUnusable           a text generator gave something that is no text
    ├── MalformedTrajectory         a file is no trajectory, or one of another version
    └── Misconfigured               settings or files of the operator are wrong; says what to do

Messages are lower case, put what the user gave in backticks and name no class, path of this machine or stack frame.
"""

from __future__ import annotations

from typing import ClassVar

from gateway.core.refusals import RefusalReason


class GatewayError(Exception):
    """Base of every error the gateway raises on purpose. `message` is safe to show to anyone."""

    code: ClassVar[str] = "gateway_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ProtocolError(GatewayError):
    """A JSON-RPC level error; `rpc_code` is the number that docs/PROTOCOL.md section 5 names."""

    rpc_code: ClassVar[int] = -32600


class MalformedJson(ProtocolError):
    """Not JSON, or JSON that two readers could read differently."""

    code = "malformed_json"
    rpc_code = -32700


class UnsupportedValue(MalformedJson):
    """JSON in form, with a value that not every reader can hold: U+0000 in a string, a number outside I-JSON (RFC 7493)."""


class InvalidRequest(ProtocolError):
    """JSON, but not one JSON-RPC 2.0 request."""

    code = "invalid_request"
    rpc_code = -32600


class MessageTooLarge(ProtocolError):
    """More than the gateway reads in one message."""

    code = "message_too_large"
    rpc_code = -32600


class UnknownMethod(ProtocolError):
    """The method is not one of this origin's."""

    code = "unknown_method"
    rpc_code = -32601


class InvalidParams(ProtocolError):
    """The parameters do not fit the method; unknown members are refused too."""

    code = "invalid_params"
    rpc_code = -32602


class NotSignedIn(ProtocolError):
    """No live session."""

    code = "not_signed_in"
    rpc_code = -32001


class TooManyRequests(ProtocolError):
    """More requests in flight on one connection than it may have."""

    code = "too_many_requests"
    rpc_code = -32002


class NotFound(ProtocolError):
    """Unknown, or somebody else's. One answer for both, so that it reveals nothing."""

    code = "not_found"
    rpc_code = -32003


class Refused(GatewayError):
    """An understood request that is denied. `reason` is a stable word of a closed set, `status` the HTTP status that fits it."""

    code = "refused"

    def __init__(self, reason: RefusalReason, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status


class IllegalStep(GatewayError):
    """The lifecycle table has no such transition, or another step came first; never a reason to proceed."""

    code = "illegal_step"


class PolicyUnusable(GatewayError):
    """The policy documents do not load; the message names file and rule."""

    code = "policy_unusable"


class LedgerUnavailable(GatewayError):
    """The ledger cannot be written (disk full, locked, closed). What asked for a record must not go on."""

    code = "ledger_unavailable"


class LedgerBusy(LedgerUnavailable):
    """Another process kept the database locked for longer than the writer waits. Trying again may succeed."""


class LedgerSuperseded(LedgerUnavailable):
    """This process may not write any more: another gateway took over, or the files under it were exchanged."""

    code = "ledger_superseded"


class LedgerDamaged(LedgerUnavailable):
    """What is stored is not what was recorded. The message names what, and what the operator can do."""

    code = "ledger_damaged"


class LedgerLocked(GatewayError):
    """Another process holds the database's write lock."""

    code = "ledger_locked"


class GatewayStopping(GatewayError):
    """The gateway was asked to stop. What runs may finish, and nothing new begins."""

    code = "gateway_stopping"


class ModelUnavailable(GatewayError):
    """No model can answer. `state` is the sidecar's own word for it: starting, downloading, crashed, absent."""

    code = "model_unavailable"

    def __init__(self, message: str, state: str) -> None:
        super().__init__(message)
        self.state = state


class ToolFailed(GatewayError):
    """A tool's own failure, worded for the model and the person; `reason` is the `executionError` reason.

    `labels` are those of what the words may quote, beside the tool's own. `answered` is whether whoever runs the tool said that
    time was up, and so was there.
    """

    code = "tool_failed"

    def __init__(self, message: str, reason: str = "toolError", *, labels: tuple[str, ...] = (), answered: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.labels = labels
        self.answered = answered


class OnDevicePlannerError(GatewayError):
    """There is no action: after so many attempts (0: the model was never asked), for the last `reason`."""

    code = "planner_gave_up"

    def __init__(self, attempts: int, reason: str) -> None:
        super().__init__(f"no valid action after {attempts} attempts: {reason}")
        self.attempts = attempts
        self.reason = reason


class GeneratorUnusable(GatewayError):
    """A text generator gave something that is no text."""

    code = "generator_unusable"


class MalformedTrajectory(GatewayError):
    """A file that should hold a trajectory does not; the message names the place inside it."""

    code = "malformed_trajectory"


class Misconfigured(GatewayError):
    """Settings or an operator's file are wrong. The message says which and what to do."""

    code = "misconfigured"
