"""ArcSight's Common Event Format, version 0: a line of seven header fields, then `key=value` pairs.

Escaped as its specification says: backslash and pipe in the header, backslash and equals sign in values, and line breaks
nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.core.call_files.described import Named
from gateway.core.call_history import OPEN, AuditedCall, read_rules
from gateway.core.effects import escape
from gateway.core.vocabulary import Outcome

_HEADER: Final = str.maketrans({"\\": r"\\", "|": r"\|"})
_VALUE: Final = str.maketrans({"\\": r"\\", "=": r"\="})

_SEVERITY: Final[Mapping[str, int]] = {
    Outcome.OK: 2,
    OPEN: 2,
    Outcome.CANCELLED: 3,
    Outcome.TIMED_OUT: 4,
    Outcome.EXECUTION_ERROR: 4,
    Outcome.INVALID_ARGUMENTS: 4,
    Outcome.UNKNOWN_TOOL: 5,
    Outcome.REFUSED_BY_POLICY: 6,
    Outcome.DENIED_BY_USER: 6,
    Outcome.STEP_UP_FAILED: 7,
}
"""Of 0 to 10. A refusal weighs more than a failure: somebody asked for what was not to be had."""


class CefWriter:
    """Writes a line for each call."""

    def __init__(self, named: Named) -> None:
        self._named = named

    def head(self) -> bytes:
        """Nothing."""
        return b""

    def line(self, call: AuditedCall) -> bytes:
        """One event."""
        outcome = call.traits.outcome
        header = ("CEF:0", "Countersign", "Countersign", self._named.version, outcome, f"Tool call: {outcome}")
        shown = "|".join(_shown(field, _HEADER) for field in (*header, str(_SEVERITY.get(outcome, 5))))
        pairs = (f"{key}={_shown(str(value), _VALUE)}" for key, value in self._pairs(call).items() if value not in (None, ""))
        return f"{shown}|{' '.join(pairs)}\n".encode()

    def _pairs(self, call: AuditedCall) -> Mapping[str, str | int | None]:
        traits = call.traits
        asked = call.approver_id is not None
        return {
            "rt": call.at,
            "start": call.started_at,
            "end": call.closed_at,
            "externalId": call.call_id,
            "suid": traits.principal_id,
            "suser": self._named.person(traits.principal_id),
            "act": traits.tool,
            "destinationServiceName": traits.source,
            "outcome": traits.outcome,
            "reason": traits.reason,
            "dvchost": self._named.log,
            "cn1Label": "position",
            "cn1": call.position,
            "cs1Label": "conversation",
            "cs1": call.conversation_id,
            "cs2Label": "model" if traits.model_id else None,
            "cs2": traits.model_id,
            "cs3Label": "rules" if traits.rules else None,
            "cs3": " ".join(read_rules(traits.rules)),
            "cs4Label": "policyVersion" if traits.policy_version else None,
            "cs4": traits.policy_version,
            "cs5Label": "decision" if traits.decision else None,
            "cs5": traits.decision,
            "cs6Label": "approver" if asked else None,
            "cs6": self._named.person(call.approver_id or "") if asked else None,
        }


def _shown(text: str, escapes: dict[int, str]) -> str:
    # `escape` leaves no line break and no control character, and doubles backslashes itself.
    return escape(text).replace(r"\\", "\\").translate(escapes)
