"""What the audit log says about each step: one leaf per entry, and beside it the payload that may be erased.

A leaf holds ids, closed words, numbers and digests: never a secret, never free text. What people or programs wrote
(arguments, results, names, statements) stands in the payload, canonical JSON kept apart, of which the leaf holds only
SHA-256(salt || payload). Deleting salt and payload erases the content and leaves every proof valid; without the salt, not
even a guess can be confirmed.

Bodies have ASCII member names, integers below 2^53 and no floats, so `canonical.own_bytes` writes their RFC 8785 form.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from enum import StrEnum
from typing import Final, NamedTuple, assert_never

import orjson

from gateway.core import ledger
from gateway.core.canonical import Json, canonical_bytes, digest_of_bytes, own_bytes
from gateway.core.model import ModelRef, Snapshot, ToolRequest
from gateway.core.results import result_record, unknown_result

LEAF_VERSION: Final = 1

SALT_SIZE: Final = 16
"""Bytes of salt before each payload: 128 bits, as RFC 9901 section 9.3 asks of salts for selectively kept claims."""


class Event(StrEnum):
    """What a leaf is about, `subject:past-tense`."""

    GATEWAY_STARTED = "gateway:started"
    POLICY_LOADED = "policy:loaded"
    ENROLMENT_OFFERED = "enrolment:offered"
    LOCAL_OPERATOR_ADDED = "local-operator:added"
    PRINCIPAL_ENROLLED = "principal:enrolled"
    PASSKEY_ADDED = "passkey:added"
    PASSKEY_REMOVED = "passkey:removed"
    PASSKEY_USED = "passkey:used"
    SIGN_IN_REFUSED = "sign-in:refused"
    CONSOLE_SESSION_STARTED = "console-session:started"
    CONSOLE_SESSION_RENEWED = "console-session:renewed"
    CONSOLE_SESSION_ENDED = "console-session:ended"
    AGENT_SESSION_STARTED = "agent-session:started"
    AGENT_SESSION_ENDED = "agent-session:ended"
    CONVERSATION_OPENED = "conversation:opened"
    CONVERSATION_DELETED = "conversation:deleted"
    CONVERSATION_TAINTED = "conversation:tainted"
    MESSAGE_APPENDED = "message:appended"
    TURN_BEGUN = "turn:begun"
    TURN_ENDED = "turn:ended"
    SNAPSHOT_ISSUED = "snapshot:issued"
    APPROVAL_REQUESTED = "approval:requested"
    APPROVAL_RESOLVED = "approval:resolved"
    ASSERTION_REFUSED = "assertion:refused"
    GRANT_ISSUED = "grant:issued"
    GRANT_REVOKED = "grant:revoked"
    CALL_INTENDED = "call:intended"
    CALL_CLOSED = "call:closed"
    CALL_REFUSED = "call:refused"
    CALL_FOUND_UNKNOWN = "call:found-unknown"
    RESULT_DISCARDED = "call:result-discarded"
    INFERENCE_TOKEN_MINTED = "inference-token:minted"  # noqa: S105 - the name of an event, not a token
    INFERENCE_FINISHED = "inference:finished"


class Leaf(NamedTuple):
    """A leaf before it is salted: its body without `payload`, and the canonical bytes of the payload, if it has one."""

    body: dict[str, Json]
    payload: bytes | None = None


def seal(leaf: Leaf, salt: bytes) -> bytes:
    """The canonical bytes that are hashed into the tree. The salt is not used by a leaf without payload."""
    if leaf.payload is None:
        return own_bytes(leaf.body)
    return own_bytes({**leaf.body, "payload": hashlib.sha256(salt + leaf.payload).hexdigest()})


def leaf(entry: ledger.Entry) -> Leaf | None:
    """The leaf of an entry; None for the few that change nothing but a person's own wording."""
    match entry:
        case ledger.CallIntended():
            return Leaf(
                {
                    **_call(Event.CALL_INTENDED, entry.at, entry.request, entry.snapshot, entry.descriptor_digest),
                    "decision": entry.decision.value,
                    "because": [rule.id for rule in entry.because],
                    "approvalId": entry.approval_id,
                    "grantId": entry.grant_id,
                },
                _payload_of_intent(entry.request),
            )
        case ledger.CallClosed(executed=True):
            # Its intent says the rest: what was on offer, why it was allowed, and with which arguments.
            return Leaf(
                {
                    **_whose(Event.CALL_CLOSED, entry.at, entry.request),
                    "tool": entry.request.tool,
                    "decision": entry.decision.value,
                    "executed": True,
                    **_outcome(entry.result),
                },
                _payload_of_result(entry.result),
            )
        case ledger.CallClosed():
            return Leaf(
                {
                    **_call(Event.CALL_CLOSED, entry.at, entry.request, entry.snapshot, entry.descriptor_digest),
                    "decision": entry.decision.value,
                    "because": [rule.id for rule in entry.because],
                    "executed": False,
                    **_outcome(entry.result),
                },
                _payload_of_proposal(entry.request, result=result_record(entry.result)),
            )
        case ledger.CallRefusedUnrecorded():
            return Leaf(
                {**_call(Event.CALL_REFUSED, entry.at, entry.request, None, None), **_outcome(entry.result)},
                _payload_of_proposal(entry.request, result=result_record(entry.result)),
            )
        case ledger.MessageAppended(message=message):
            return Leaf(
                {
                    **_about(Event.MESSAGE_APPENDED, entry.at, entry.principal_id),
                    "conversationId": message.conversation_id,
                    "turnId": message.turn_id,
                    "index": message.index,
                    "role": message.role.value,
                    "length": len(message.content),
                },
                own_bytes({"digest": digest_of_bytes(message.content.encode())}),
            )
        case ledger.ApprovalRequested(approval=approval):
            return Leaf(
                {
                    **_call(Event.APPROVAL_REQUESTED, entry.at, entry.request, entry.snapshot, None),
                    "approvalId": approval.id,
                    "kind": approval.kind.value,
                    "presence": approval.needs.presence,
                    "statementDigest": approval.statement_digest,
                    "because": [rule.id for rule in approval.because],
                    "expiresAt": approval.expires_at,
                },
                _payload_of_proposal(entry.request, statement=orjson.loads(approval.statement)),
            )
        case ledger.ApprovalResolved():
            return Leaf(
                {
                    **_about(Event.APPROVAL_RESOLVED, entry.at, entry.approver_id),
                    "conversationId": entry.conversation_id,
                    "callId": entry.call_id,
                    "approvalId": entry.approval_id,
                    "status": entry.status.value,
                    "consoleSessionId": entry.console_session_id,
                    "credentialId": None if entry.credential_id is None else base64url(entry.credential_id),
                },
                canonical_bytes({"assertion": entry.assertion, "detail": entry.detail}),
            )
        case ledger.AssertionRefused():
            return Leaf(
                {
                    **_about(Event.ASSERTION_REFUSED, entry.at, entry.approver_id),
                    "conversationId": entry.conversation_id,
                    "callId": entry.call_id,
                    "approvalId": entry.approval_id,
                    "reason": entry.reason,
                }
            )
        case ledger.GrantIssued(grant=grant):
            return Leaf(
                {
                    **_about(Event.GRANT_ISSUED, entry.at, grant.principal_id),
                    "sessionId": grant.session_id,
                    "conversationId": grant.conversation_id,
                    "turnId": grant.turn_id,
                    "grantId": grant.id,
                    "approvalId": grant.approval_id,
                    "scope": grant.scope.value,
                    "tool": grant.tool,
                    "descriptorDigest": grant.descriptor_digest,
                    "expiresAt": grant.expires_at,
                    "maxUses": grant.max_uses,
                },
                canonical_bytes(
                    {"pins": {name: pinned.decode() for name, pinned in grant.pins.items()}, "freed": list(grant.freed)}
                ),
            )
        case ledger.GrantRevoked():
            return Leaf(
                {
                    **_about(Event.GRANT_REVOKED, entry.at, entry.principal_id),
                    "grantId": entry.grant_id,
                    "reason": entry.reason,
                }
            )
        case ledger.CallFoundUnknown():
            result = unknown_result(entry)
            return Leaf(
                {
                    **_about(Event.CALL_FOUND_UNKNOWN, entry.at, entry.principal_id),
                    "conversationId": entry.conversation_id,
                    "callId": entry.call_id,
                    **_outcome(result),
                },
                _payload_of_result(result),
            )
        case ledger.LateResultDiscarded():
            return Leaf(
                {
                    **_about(Event.RESULT_DISCARDED, entry.at, entry.principal_id),
                    "conversationId": entry.conversation_id,
                    "callId": entry.call_id,
                },
                own_bytes({"resultDigest": entry.result_digest}),
            )
        case ledger.TurnBegun(snapshot=snapshot):
            return Leaf(
                {
                    **_about(Event.TURN_BEGUN, entry.at, entry.principal_id),
                    **_snapshot(snapshot),
                    "modelId": entry.model_id,
                }
            )
        case ledger.SnapshotIssued(snapshot=snapshot):
            return Leaf(
                {
                    **_about(Event.SNAPSHOT_ISSUED, entry.at, entry.principal_id),
                    **_snapshot(snapshot),
                    "cause": entry.cause,
                }
            )
        case ledger.TurnEnded():
            return Leaf(
                {
                    **_about(Event.TURN_ENDED, entry.at, entry.principal_id),
                    "conversationId": entry.conversation_id,
                    "turnId": entry.turn_id,
                    "reason": entry.reason,
                },
                None if entry.usage is None else canonical_bytes({"usage": entry.usage}),
            )
        case ledger.ConversationOpened():
            return Leaf(
                {
                    **_about(Event.CONVERSATION_OPENED, entry.at, entry.principal_id),
                    "conversationId": entry.id,
                    "parentId": entry.parent_id,
                    "forkAt": entry.fork_at,
                }
            )
        case ledger.ConversationRenamed():
            # A title is the person's own note and no authority hangs on it; without the text nothing is left to say.
            return None
        case ledger.ConversationDeleted():
            return Leaf({**_about(Event.CONVERSATION_DELETED, entry.at, entry.principal_id), "conversationId": entry.id})
        case ledger.ConversationTainted():
            return Leaf(
                {
                    **_about(Event.CONVERSATION_TAINTED, entry.at, entry.principal_id),
                    "conversationId": entry.id,
                    "callId": entry.call_id,
                    "taint": entry.taint,
                    "label": entry.label,
                }
            )
        case ledger.InferenceTokenMinted():
            return Leaf(
                {
                    **_about(Event.INFERENCE_TOKEN_MINTED, entry.at, entry.principal_id),
                    "sessionId": entry.session_id,
                    "conversationId": entry.conversation_id,
                    "turnId": entry.turn_id,
                    "modelId": entry.model_id,
                    "expiresAt": entry.expires_at,
                }
            )
        case ledger.InferenceFinished():
            return Leaf(
                {
                    **_about(Event.INFERENCE_FINISHED, entry.at, entry.principal_id),
                    "conversationId": entry.conversation_id,
                    "turnId": entry.turn_id,
                    "modelId": entry.model_id,
                    "outcome": entry.outcome,
                    "promptTokens": entry.prompt_tokens,
                    "completionTokens": entry.completion_tokens,
                }
            )
        case ledger.GatewayStarted():
            return Leaf(
                {
                    **_about(Event.GATEWAY_STARTED, entry.at, None),
                    "version": entry.version,
                    "policyVersion": entry.policy_version,
                    "recovered": entry.recovered,
                }
            )
        case ledger.PolicyLoaded():
            return Leaf({**_about(Event.POLICY_LOADED, entry.at, None), "policyVersion": entry.version})
        case ledger.EnrolmentOffered():
            return Leaf(
                {
                    **_about(Event.ENROLMENT_OFFERED, entry.at, None),
                    "profile": entry.profile.value,
                    "expiresAt": entry.expires_at,
                },
                own_bytes({"name": entry.name}),
            )
        case ledger.PrincipalEnrolled(principal=principal):
            return Leaf(
                {
                    **_about(Event.PRINCIPAL_ENROLLED, entry.at, principal.id),
                    "profile": principal.profile.value,
                    **_passkey(entry.passkey),
                },
                own_bytes({"name": principal.name, "passkeyName": entry.passkey.name}),
            )
        case ledger.LocalOperatorAdded(principal=principal):
            return Leaf(
                {
                    **_about(Event.LOCAL_OPERATOR_ADDED, entry.at, principal.id),
                    "profile": principal.profile.value,
                },
                own_bytes({"name": principal.name}),
            )
        case ledger.PasskeyAdded(passkey=passkey):
            return Leaf(
                {**_about(Event.PASSKEY_ADDED, entry.at, passkey.principal_id), **_passkey(passkey)},
                own_bytes({"passkeyName": passkey.name}),
            )
        case ledger.PasskeyRenamed():
            return None
        case ledger.PasskeyRemoved():
            return Leaf(
                {
                    **_about(Event.PASSKEY_REMOVED, entry.at, entry.principal_id),
                    "credentialId": base64url(entry.credential_id),
                }
            )
        case ledger.PasskeyUsed():
            return Leaf(
                {
                    **_about(Event.PASSKEY_USED, entry.at, entry.principal_id),
                    "credentialId": base64url(entry.credential_id),
                    "signCount": entry.sign_count,
                    "backedUp": entry.backed_up,
                }
            )
        case ledger.SignInRefused():
            return Leaf(
                {
                    **_about(Event.SIGN_IN_REFUSED, entry.at, entry.principal_id),
                    "purpose": entry.purpose,
                    "reason": entry.reason,
                }
            )
        case ledger.ConsoleSessionStarted():
            return Leaf(
                {
                    **_about(Event.CONSOLE_SESSION_STARTED, entry.at, entry.principal_id),
                    "consoleSessionId": entry.id,
                    "expiresAt": entry.expires_at,
                    # Absent for browsers, as in every log written before there was another way.
                    **({"via": "terminal"} if entry.terminal else {}),
                }
            )
        case ledger.ConsoleSessionRenewed():
            return Leaf(
                {
                    **_about(Event.CONSOLE_SESSION_RENEWED, entry.at, entry.principal_id),
                    "consoleSessionId": entry.id,
                    "expiresAt": entry.expires_at,
                }
            )
        case ledger.ConsoleSessionEnded():
            return Leaf(
                {
                    **_about(Event.CONSOLE_SESSION_ENDED, entry.at, entry.principal_id),
                    "consoleSessionId": entry.id,
                    "reason": entry.reason,
                }
            )
        case ledger.AgentSessionStarted(session=session):
            return Leaf(
                {
                    **_about(Event.AGENT_SESSION_STARTED, entry.at, session.principal.id),
                    "sessionId": session.id,
                    "consoleSessionId": session.console_session_id,
                    "label": int(session.label),
                    "expiresAt": session.expires_at,
                }
            )
        case ledger.AgentSessionEnded():
            return Leaf(
                {
                    **_about(Event.AGENT_SESSION_ENDED, entry.at, entry.principal_id),
                    "sessionId": entry.id,
                    "reason": entry.reason,
                }
            )
        case _:
            assert_never(entry)


def base64url(raw: bytes) -> str:
    """WebAuthn's text form of bytes: base64url without padding."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _about(event: Event, at: int, principal_id: str | None) -> dict[str, Json]:
    return {"v": LEAF_VERSION, "event": event.value, "at": at, "principalId": principal_id}


def _whose(event: Event, at: int, request: ToolRequest) -> dict[str, Json]:
    return {
        "v": LEAF_VERSION,
        "event": event.value,
        "at": at,
        "principalId": request.principal.id,
        "sessionId": request.session_id,
        "conversationId": request.conversation_id,
        "turnId": request.turn_id,
        "callId": request.call_id,
    }


def _call(
    event: Event, at: int, request: ToolRequest, snapshot: Snapshot | None, descriptor_digest: str | None
) -> dict[str, Json]:
    """Whose call, in which turn, of which tool. What only the client says (name, snapshot, model) is payload.

    A call that has a snapshot was checked against it, and one that has a descriptor was found in it: from there on, what the
    request says of them is the gateway's own knowledge.
    """
    published = None if snapshot is None else snapshot.by_name.get(request.tool)
    return {
        **_whose(event, at, request),
        "runner": request.runner.value,
        "turnIndex": None if snapshot is None else snapshot.turn_index,
        "snapshotDigest": None if snapshot is None else request.snapshot_digest,
        "policyVersion": None if snapshot is None else snapshot.policy_version,
        "tool": None if published is None and descriptor_digest is None else request.tool,
        "permission": None if published is None else published.permission.value,
        "descriptorDigest": published.spec.digest if descriptor_digest is None and published else descriptor_digest,
        "modelId": None if request.model is None or request.model.claimed else request.model.id,
    }


def _outcome(result: ledger.ToolResult) -> dict[str, Json]:
    return {
        "outcome": result.outcome.value,
        "reason": None if result.reason is None else result.reason.value,
        "receiptId": result.receipt_id,
        "truncated": result.truncated,
        "redactions": result.redactions,
        "trust": result.trust.value,
        "durationMs": result.duration_ms,
    }


def _snapshot(snapshot: Snapshot) -> dict[str, Json]:
    return {
        "sessionId": snapshot.session_id,
        "conversationId": snapshot.conversation_id,
        "turnId": snapshot.turn_id,
        "turnIndex": snapshot.turn_index,
        "snapshotDigest": snapshot.digest,
        "policyVersion": snapshot.policy_version,
        "expiresAt": snapshot.expires_at,
    }


def _passkey(passkey: ledger.Passkey) -> dict[str, Json]:
    return {
        "credentialId": base64url(passkey.id),
        "publicKey": base64url(passkey.public_key),
        "backupEligible": passkey.backup_eligible,
        "backedUp": passkey.backed_up,
    }


def _payload_of_intent(request: ToolRequest) -> bytes:
    """The arguments, spliced in: their bytes are canonical already, and canonical order puts them first."""
    members: dict[str, Json] = {"connectionId": request.connection_id, "receivedAt": request.received_at}
    if request.model is not None:
        members["model"] = _model(request.model)
    return b'{"arguments":%b,%b' % (request.arguments, own_bytes(members)[1:])


def _payload_of_proposal(request: ToolRequest, **further: Json) -> bytes:
    """The call as the client put it."""
    return canonical_bytes(
        {
            "arguments": orjson.loads(request.arguments),
            "connectionId": request.connection_id,
            "model": None if request.model is None else _model(request.model),
            "receivedAt": request.received_at,
            "snapshotDigest": request.snapshot_digest,
            "snapshotId": request.snapshot_id,
            "tool": request.tool,
            **further,
        }
    )


def _model(model: ModelRef) -> dict[str, Json]:
    return {"id": model.id, "backend": model.backend, "nonce": model.nonce, "claimed": model.claimed}


def _payload_of_result(result: ledger.ToolResult) -> bytes:
    members = {"result": result_record(result)}
    # A tool's structured result may hold floats and any member names; everything else here is the gateway's own.
    return own_bytes(members) if result.structured is None else canonical_bytes(members)
