"""Elicitations: what the server of a tool asked a person during a call, and how that ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf
from gateway.core.canonical import own_bytes
from gateway.core.elicitation import ElicitationStatus
from gateway.core.ledger.requests import identify_call
from gateway.core.model import ToolRequest

__all__ = [
    "ElicitationAsked",
    "ElicitationResolved",
]


@dataclass(frozen=True, slots=True)
class ElicitationAsked:
    """A server's form is put before the person. Durable before anybody sees it; of the form there is only its digest."""

    EVENT: ClassVar[str] = "elicitation:asked"

    at: int
    request: ToolRequest
    elicitation_id: str
    source: str
    form_digest: str
    expires_at: int

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **identify_call(self.EVENT, self.at, self.request),
                "tool": self.request.tool,
                "elicitationId": self.elicitation_id,
                "source": self.source,
                "expiresAt": self.expires_at,
            },
            own_bytes({"formDigest": self.form_digest}),
        )


@dataclass(frozen=True, slots=True)
class ElicitationResolved:
    """How it ended. `values_digest` is that of what a person sent, durable before the server gets it; nobody answered where
    `console_session_id` is None. A second one, `withdrawn`, says that what a person answered was not sent after all."""

    EVENT: ClassVar[str] = "elicitation:resolved"

    at: int
    request: ToolRequest
    elicitation_id: str
    status: ElicitationStatus
    console_session_id: str | None = None
    values_digest: str | None = None

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **identify_call(self.EVENT, self.at, self.request),
                "elicitationId": self.elicitation_id,
                "status": self.status.value,
                "consoleSessionId": self.console_session_id,
            },
            None if self.values_digest is None else own_bytes({"valuesDigest": self.values_digest}),
        )


ElicitationEntry = ElicitationAsked | ElicitationResolved
