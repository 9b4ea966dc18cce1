"""Events of the Open Cybersecurity Schema Framework 1.9.0: class API Activity with the profiles `ai_operation`,
`security_control` and `record_integrity`, one JSON object a line.

`attestation` has a fingerprint and no signature: it finds an event that was garbled on its way. What proves a call is its
receipt; `metadata.uid` says where in the log it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, cast

from gateway.core.call_files.described import Named
from gateway.core.call_history import OPEN, AuditedCall, read_rules
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.vocabulary import Outcome, Reason

VERSION: Final = "1.9.0"

NOBODY: Final = "nobody"
"""In place of a person where the log names none."""

_CATEGORY: Final = 6
_CLASS: Final = 6003
_OTHER_ACTIVITY: Final = 99
"""Of creating, reading, updating and deleting, the log does not say which a tool did."""
_INFORMATIONAL: Final = 1
_SHA_256: Final = 3


class OcsfWriter:
    """Writes an event for each call."""

    def __init__(self, named: Named) -> None:
        self._named = named

    def head(self) -> bytes:
        """Nothing."""
        return b""

    def line(self, call: AuditedCall) -> bytes:
        """One event."""
        return canonical_bytes(self.event(call)) + b"\n"

    def event(self, call: AuditedCall) -> dict[str, Json]:
        """One event, with the fingerprint of all its other members."""
        event = _known(self._members(call))
        # OCSF 1.9.0, `attestation`: over the whole event with these two, and without fingerprint and signatures.
        attestation: dict[str, Json] = {"authority_uid": self._named.log, "uid": self._uid(call)}
        event["attestation"] = attestation
        digest = sha256(canonical_bytes(event)).hexdigest()
        attestation["fingerprint"] = {"algorithm_id": _SHA_256, "algorithm": "SHA-256", "value": digest}
        return event

    def _members(self, call: AuditedCall) -> Mapping[str, Json]:
        traits = call.traits
        status_id, status = _status(traits.outcome, traits.reason)
        action_id, action = (1, "Allowed") if call.started_at is not None else (2, "Denied")
        if traits.outcome == OPEN:
            action_id, action = 0, "Unknown"
        return {
            "activity_id": _OTHER_ACTIVITY,
            "activity_name": "Call a tool",
            "category_uid": _CATEGORY,
            "category_name": "Application Activity",
            "class_uid": _CLASS,
            "class_name": "API Activity",
            "type_uid": _CLASS * 100 + _OTHER_ACTIVITY,
            "type_name": "API Activity: Other",
            "severity_id": _INFORMATIONAL,
            "severity": "Informational",
            "time": call.at,
            "start_time": call.started_at,
            "end_time": call.closed_at,
            "duration": call.duration_ms,
            "status_id": status_id,
            "status": status,
            "status_code": traits.outcome,
            "status_detail": traits.reason,
            "action_id": action_id,
            "action": action,
            "actor": {"user": {"uid": traits.principal_id or NOBODY, "name": self._named.person(traits.principal_id) or NOBODY}},
            "ai_agent": self._agent(call),
            "src_endpoint": {"svc_name": "agent"},
            "api": {
                "operation": traits.tool or "unknown",
                "service": _known({"name": traits.source}) or None,
                "request": {"uid": call.call_id},
            },
            "authorizations": self._authorizations(call),
            "metadata": {
                "version": VERSION,
                "product": {"name": "Countersign", "vendor_name": "Countersign", "version": self._named.version},
                "profiles": ["ai_operation", "record_integrity", "security_control"],
                "log_name": self._named.log,
                "uid": self._uid(call),
                "sequence": call.position,
                "correlation_uid": call.conversation_id,
            },
            "unmapped": _known(
                {
                    "turn_id": call.turn_id,
                    "turn_index": call.turn_index,
                    "label": traits.label if traits.label >= 0 else None,
                    "approval_id": call.approval_id,
                    "approval_kind": traits.approval_kind,
                    "answer": call.answer,
                    "approver_uid": call.approver_id,
                    "asked_time": call.asked_at,
                    "decided_time": call.decided_at,
                    "credential_uid": call.credential_id,
                    "grant_uid": call.grant_id,
                    "records": list(call.leaves),
                }
            ),
        }

    def _uid(self, call: AuditedCall) -> str:
        return f"{self._named.log}/{call.position}"

    def _agent(self, call: AuditedCall) -> Json:
        model = call.traits.model_id
        return _known(
            {
                # Whoever proposes calls here is known by the person whose session it has.
                "uid": f"{self._named.log}/agent/{call.traits.principal_id or NOBODY}",
                "instance_uid": call.conversation_id,
                # The log says which model it was, and not whose.
                "ai_model": {"name": model, "ai_provider": "unknown"} if model else None,
            }
        )

    def _authorizations(self, call: AuditedCall) -> Json:
        traits = call.traits
        policies: list[Json] = [
            _known({"uid": rule, "version": traits.policy_version, "is_applied": True}) for rule in read_rules(traits.rules)
        ]
        return [_known({"decision": traits.decision, "policy": policy}) for policy in policies or [None] if traits.decision]


def _status(outcome: str, reason: str) -> tuple[int, str]:
    if outcome == Outcome.OK:
        return 1, "Success"
    return (0, "Unknown") if outcome == OPEN or reason == Reason.OUTCOME_UNKNOWN else (2, "Failure")


def _known(members: Mapping[str, Json]) -> dict[str, Json]:
    return {
        name: _known(cast("dict[str, Json]", value)) if isinstance(value, dict) else value
        for name, value in members.items()
        if value not in (None, "", [], {})
    }
