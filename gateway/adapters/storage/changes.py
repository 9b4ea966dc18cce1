"""What each entry changes in the tables: one exhaustive match, from entry to statements with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, assert_never

import orjson

from gateway.adapters.storage import statements as s
from gateway.adapters.storage.statements import Statement
from gateway.core import ledger
from gateway.core.approval import Approval, Grant
from gateway.core.canonical import canonical_bytes
from gateway.core.ledger import Passkey
from gateway.core.model import Principal, Snapshot, ToolRequest
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.ports import CallState


class Change(NamedTuple):
    """One statement with its values. `call` names the call that a grouped statement belongs to."""

    statement: Statement
    values: dict[str, Any]
    call: tuple[str, str] | None = None


def changes(entry: ledger.Entry) -> Sequence[Change]:
    """The changes of an entry, in order."""
    match entry:
        case ledger.CallIntended():
            return _intend(entry)
        case ledger.CallClosed():
            return _close(entry)
        case ledger.CallFoundUnknown():
            values = {"of_conversation_id": entry.conversation_id, "of_call_id": entry.call_id, "closed_at": entry.at}
            return (Change(s.CLOSE_UNKNOWN_CALL, values),)
        case ledger.ApprovalRequested():
            approval = entry.approval
            return (
                _open_call(s.OPEN_CALL, entry.request, CallState.AWAITING_APPROVAL, approval.id),
                Change(s.REQUEST_APPROVAL, _approval(approval, entry.request)),
            )
        case ledger.ApprovalResolved():
            if entry.status is ApprovalStatus.APPROVED:
                return (Change(s.APPROVE, {"of_id": entry.approval_id, "of_at": entry.at}),)
            return (Change(s.DECIDE_OTHERWISE, {"of_id": entry.approval_id, "status": entry.status.value}),)
        case ledger.GrantIssued():
            return (Change(s.ISSUE_GRANT, _grant(entry.grant)),)
        case ledger.GrantRevoked():
            return (Change(s.REVOKE_GRANT, {"of_id": entry.grant_id, "revoked_at": entry.at}),)
        case ledger.MessageAppended():
            return _append_message(entry)
        case ledger.TurnBegun():
            return _begin_turn(entry)
        case ledger.SnapshotIssued():
            return _keep_snapshot(entry.snapshot)
        case ledger.TurnEnded():
            return (Change(s.CLOSE_TURN, {"of_id": entry.conversation_id, "of_turn_id": entry.turn_id}),)
        case ledger.ConversationOpened():
            return (Change(s.OPEN_CONVERSATION, _conversation(entry)),)
        case ledger.ConversationRenamed():
            return (Change(s.RENAME_CONVERSATION, {"of_id": entry.id, "title": entry.title}),)
        case ledger.ConversationDeleted():
            return (
                Change(s.DELETE_CONVERSATION, {"of_id": entry.id, "deleted_at": entry.at}),
                Change(s.ERASE_MESSAGE_DIGESTS, {"of_id": entry.id}),
                Change(s.DELETE_MESSAGES, {"of_id": entry.id}),
            )
        case ledger.ConversationTainted():
            return (Change(s.TAINT_CONVERSATION, {"of_id": entry.id, "of_taint": entry.taint, "of_label": entry.label}),)
        case ledger.EnrolmentOffered():
            values = {
                "token_hash": entry.token_hash,
                "name": entry.name,
                "profile": entry.profile.value,
                "expires_at": entry.expires_at,
                "used_at": None,
            }
            return (Change(s.OFFER_ENROLMENT, values),)
        case ledger.LocalOperatorAdded():
            return (Change(s.ENROL, _principal(entry.principal, entry.at)),)
        case ledger.PrincipalEnrolled():
            person = entry.principal
            return (
                Change(s.USE_ENROLMENT, {"of_token_hash": entry.token_hash, "used_at": entry.at}),
                Change(s.ENROL_KNOWN, {"of_id": person.id, "name": person.name})
                if entry.known
                else Change(s.ENROL, _principal(person, entry.at)),
                Change(s.ADD_PASSKEY, _passkey(entry.passkey)),
            )
        case ledger.PasskeyAdded():
            return (Change(s.ADD_PASSKEY, _passkey(entry.passkey)),)
        case ledger.PasskeyRenamed():
            return (Change(s.RENAME_PASSKEY, {**_of_passkey(entry), "name": entry.name}),)
        case ledger.PasskeyRemoved():
            return (Change(s.REMOVE_PASSKEY, _of_passkey(entry)),)
        case ledger.PasskeyUsed():
            values = {
                **_of_passkey(entry),
                "of_sign_count": entry.sign_count,
                "sign_count": entry.sign_count,
                "backed_up": entry.backed_up,
                "last_used_at": entry.at,
            }
            return (Change(s.USE_PASSKEY, values),)
        case ledger.ConsoleSessionStarted():
            values = {
                "id": entry.id,
                "secret_hash": entry.secret_hash,
                "principal_id": entry.principal_id,
                "created_at": entry.at,
                "expires_at": entry.expires_at,
                "ended_at": None,
            }
            return (Change(s.START_CONSOLE_SESSION, values),)
        case ledger.ConsoleSessionRenewed():
            values = {
                "of_id": entry.id,
                "of_principal_id": entry.principal_id,
                "secret_hash": entry.secret_hash,
                "expires_at": entry.expires_at,
            }
            return (Change(s.RENEW_CONSOLE_SESSION, values),)
        case ledger.ConsoleSessionEnded():
            return (Change(s.END_CONSOLE_SESSION, {"of_id": entry.id, "ended_at": entry.at}),)
        case ledger.AgentSessionStarted():
            return (Change(s.START_AGENT_SESSION, _agent_session(entry)),)
        case ledger.AgentSessionEnded():
            return (Change(s.END_AGENT_SESSION, {"of_id": entry.id, "ended_at": entry.at}),)
        case (
            ledger.GatewayStarted()
            | ledger.PolicyLoaded()
            | ledger.SignInRefused()
            | ledger.AssertionRefused()
            | ledger.CallRefusedUnrecorded()
            | ledger.LateResultDiscarded()
            | ledger.InferenceTokenMinted()
            | ledger.InferenceFinished()
        ):
            # On record in the audit log and nowhere else.
            return ()
        case _:
            assert_never(entry)


def write_request(request: ToolRequest) -> dict[str, Any]:
    """A request as the `approvals` table keeps it; `rows.read_request` is the way back."""
    model = request.model
    return {
        "principal": [request.principal.id, request.principal.name, request.principal.profile.value],
        "session_id": request.session_id,
        "connection_id": request.connection_id,
        "conversation_id": request.conversation_id,
        "turn_id": request.turn_id,
        "snapshot_id": request.snapshot_id,
        "snapshot_digest": request.snapshot_digest,
        "call_id": request.call_id,
        "tool": request.tool,
        "arguments": request.arguments.decode(),
        "digest": request.digest,
        "model": None if model is None else [model.id, model.backend, model.nonce, model.claimed],
        "received_at": request.received_at,
        "runner": request.runner.value,
    }


def _intend(entry: ledger.CallIntended) -> Sequence[Change]:
    request = entry.request
    call = (request.conversation_id, request.call_id)
    if entry.approval_id is None:
        opened = _open_call(s.OPEN_CALL, request, CallState.RUNNING, None)
        return (opened,) if entry.grant_id is None else (opened, _use_grant(entry, entry.grant_id, call))
    approved = (
        Change(s.USE_APPROVAL, {"of_approval_id": entry.approval_id, "used_at": entry.at}, call),
        Change(s.RUN_APPROVED_CALL, {**_of_call(request), "of_approval_id": entry.approval_id}, call),
    )
    return approved if entry.grant_id is None else (*approved, _use_grant(entry, entry.grant_id, call))


def _use_grant(entry: ledger.CallIntended, grant_id: str, call: tuple[str, str]) -> Change:
    request = entry.request
    values = {
        "of_grant_id": grant_id,
        "of_session_id": request.session_id,
        "of_conversation_id": request.conversation_id,
        "of_turn_id": request.turn_id,
        "of_tool": request.tool,
        "of_descriptor_digest": entry.descriptor_digest,
        "of_at": entry.at,
    }
    return Change(s.USE_GRANT, values, call)


def _close(entry: ledger.CallClosed) -> Sequence[Change]:
    request = entry.request
    call = (request.conversation_id, request.call_id)
    values = {**_of_call(request), "closed_at": entry.at}
    if entry.executed:
        return (Change(s.CLOSE_RUN_CALL, values, call),)
    # A refusal may be the first that is heard of a call.
    opened = _open_call(s.OPEN_CALL_IF_NEW, request, CallState.AWAITING_APPROVAL, None)
    return (opened, Change(s.CLOSE_CALL, values, call))


def _open_call(statement: Statement, request: ToolRequest, state: CallState, approval_id: str | None) -> Change:
    values = {
        "conversation_id": request.conversation_id,
        "call_id": request.call_id,
        "turn_id": request.turn_id,
        "principal_id": request.principal.id,
        "session_id": request.session_id,
        "tool": request.tool,
        "request_digest": request.digest,
        "state": state.value,
        "approval_id": approval_id,
        "received_at": request.received_at,
    }
    return Change(statement, values, (request.conversation_id, request.call_id))


def _of_call(request: ToolRequest) -> dict[str, Any]:
    return {
        "of_conversation_id": request.conversation_id,
        "of_call_id": request.call_id,
        "of_request_digest": request.digest,
    }


def _append_message(entry: ledger.MessageAppended) -> Sequence[Change]:
    message = entry.message
    values = {
        "conversation_id": message.conversation_id,
        "position": message.index,
        "turn_id": message.turn_id,
        "role": message.role.value,
        "content": message.content,
        "provenance": message.provenance,
        "at": message.at,
        "call_id": message.call_id,
        "tool_calls": canonical_bytes(list(message.tool_calls)).decode(),
    }
    count = {"of_id": message.conversation_id, "of_at": entry.at, "of_message_count": message.index + 1}
    return (Change(s.ADD_MESSAGE, values), Change(s.COUNT_MESSAGE, count))


def _begin_turn(entry: ledger.TurnBegun) -> Sequence[Change]:
    snapshot = entry.snapshot
    turn = {
        "id": snapshot.turn_id,
        "conversation_id": snapshot.conversation_id,
        "session_id": snapshot.session_id,
        "position": snapshot.turn_index,
        "model_id": entry.model_id,
    }
    opened = {
        "of_id": snapshot.conversation_id,
        "of_at": entry.at,
        "of_turn_count": snapshot.turn_index + 1,
        "open_turn_id": snapshot.turn_id,
    }
    return (*_keep_snapshot(snapshot), Change(s.BEGIN_TURN, turn), Change(s.OPEN_TURN, opened))


def _keep_snapshot(snapshot: Snapshot) -> Sequence[Change]:
    # Turn after turn publishes the same tools: a definition is stored once, a snapshot only names them.
    body = snapshot.described()
    body["tools"] = [[tool.spec.digest, tool.permission.value] for tool in snapshot.tools]
    descriptors = [
        Change(s.KEEP_DESCRIPTOR, {"digest": tool.spec.digest, "body": canonical_bytes(tool.spec.described()).decode()})
        for tool in snapshot.tools
    ]
    return (*descriptors, Change(s.KEEP_SNAPSHOT, {"digest": snapshot.digest, "body": canonical_bytes(body).decode()}))


def _conversation(entry: ledger.ConversationOpened) -> dict[str, Any]:
    return {
        "id": entry.id,
        "principal_id": entry.principal_id,
        "title": entry.title,
        "created_at": entry.at,
        "updated_at": entry.at,
        "parent_id": entry.parent_id,
        "fork_at": entry.fork_at,
        "taint": 0,
        "label": 0,
        "turn_count": 0,
        "message_count": 0,
        "open_turn_id": None,
        "deleted_at": None,
    }


def _principal(principal: Principal, at: int) -> dict[str, Any]:
    return {"id": principal.id, "name": principal.name, "profile": principal.profile.value, "enrolled_at": at}


def _of_passkey(entry: ledger.PasskeyRenamed | ledger.PasskeyRemoved | ledger.PasskeyUsed) -> dict[str, Any]:
    return {"of_credential_id": entry.credential_id, "of_principal_id": entry.principal_id}


def _passkey(passkey: Passkey) -> dict[str, Any]:
    return {
        "credential_id": passkey.id,
        "principal_id": passkey.principal_id,
        "public_key": passkey.public_key,
        "sign_count": passkey.sign_count,
        "backup_eligible": passkey.backup_eligible,
        "backed_up": passkey.backed_up,
        "user_handle": passkey.user_handle,
        "transports": _json(list(passkey.transports)),
        "name": passkey.name,
        "created_at": passkey.created_at,
        "last_used_at": passkey.last_used_at,
    }


def _agent_session(entry: ledger.AgentSessionStarted) -> dict[str, Any]:
    session = entry.session
    return {
        "id": session.id,
        "secret_hash": entry.secret_hash,
        "principal_id": session.principal.id,
        "console_session_id": session.console_session_id,
        "labels": _json(list(session.labels)),
        "label": int(session.label),
        "created_at": session.created_at,
        "expires_at": session.expires_at,
        "ended_at": None,
    }


def _approval(approval: Approval, request: ToolRequest) -> dict[str, Any]:
    needs = approval.needs
    return {
        "id": approval.id,
        "kind": approval.kind.value,
        "status": approval.status.value,
        "principal_id": approval.principal_id,
        "session_id": approval.session_id,
        "conversation_id": approval.conversation_id,
        "turn_id": approval.turn_id,
        "call_id": approval.call_id,
        "tool": approval.tool,
        "arguments": approval.arguments,
        "summary": approval.summary,
        "effects": _json(list(approval.effects)),
        "because": _json([[rule.id, rule.why] for rule in approval.because]),
        "needs": _json([needs.presence, needs.approvers, needs.requester_may_approve]),
        "offers": _json([scope.value for scope in approval.offers]),
        "statement": approval.statement,
        "statement_digest": approval.statement_digest,
        "request": _json(write_request(request)),
        "requested_at": approval.requested_at,
        "expires_at": approval.expires_at,
        "used_at": None,
    }


def _grant(grant: Grant) -> dict[str, Any]:
    return {
        "id": grant.id,
        "approval_id": grant.approval_id,
        "principal_id": grant.principal_id,
        "session_id": grant.session_id,
        "conversation_id": grant.conversation_id,
        "turn_id": grant.turn_id,
        "scope": grant.scope.value,
        "tool": grant.tool,
        "descriptor_digest": grant.descriptor_digest,
        "pins": _json({name: pinned.decode() for name, pinned in grant.pins.items()}),
        "freed": _json(list(grant.freed)),
        "issued_at": grant.issued_at,
        "expires_at": grant.expires_at,
        "max_uses": grant.max_uses,
        "uses": grant.uses,
        "revoked_at": grant.revoked_at,
    }


def _json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return orjson.dumps(value).decode()
