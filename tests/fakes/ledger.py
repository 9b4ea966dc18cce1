"""The ledger and its records in memory: the same rules as the database, nothing durable.

One object is both ports. `entries` is everything that was appended, `failure` makes the next appends fail as a full disk
would, `key` signs a checkpoint when one is asked for. The contract suite in `tests/adapters/storage` holds it and the real
adapter to the same behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

import orjson

from gateway.core import audit, merkle
from gateway.core import ledger as steps
from gateway.core.approval import Approval, Grant
from gateway.core.checkpoint import SigningKey
from gateway.core.errors import GatewayError, IllegalStep
from gateway.core.ledger import Entry, Message, Passkey, ToolResult
from gateway.core.model import Principal, Session, ToolRequest
from gateway.core.results import unknown_result
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.ports import (
    AuditQuery,
    AuditRow,
    CallRecord,
    CallState,
    ConsoleSession,
    ConversationRecord,
    EnrolmentOffer,
    OpenApproval,
    UnfinishedCall,
)

SALT = bytes(audit.SALT_SIZE)

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(slots=True)
class _State:
    """Every table, as dictionaries of frozen values: copying them is how an append is all or nothing."""

    principals: dict[str, Principal] = field(default_factory=dict[str, Principal])
    passkeys: dict[bytes, Passkey] = field(default_factory=dict[bytes, Passkey])
    offers: dict[str, EnrolmentOffer] = field(default_factory=dict[str, EnrolmentOffer])
    console: dict[str, tuple[str, ConsoleSession]] = field(default_factory=dict[str, tuple[str, ConsoleSession]])
    agent: dict[str, tuple[str, Session]] = field(default_factory=dict[str, tuple[str, Session]])
    conversations: dict[str, ConversationRecord] = field(default_factory=dict[str, ConversationRecord])
    messages: dict[tuple[str, int], Message] = field(default_factory=dict[tuple[str, int], Message])
    turns: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    calls: dict[tuple[str, str], CallRecord] = field(default_factory=dict[tuple[str, str], CallRecord])
    callers: dict[tuple[str, str], ToolRequest] = field(default_factory=dict[tuple[str, str], ToolRequest])
    approvals: dict[str, OpenApproval] = field(default_factory=dict[str, OpenApproval])
    used: frozenset[str] = frozenset()
    grants: dict[str, Grant] = field(default_factory=dict[str, Grant])
    leaves: tuple[AuditRow, ...] = ()

    def twin(self) -> _State:
        return _State(**{each.name: copy(getattr(self, each.name)) for each in fields(self)})


class MemoryLedger:
    """Both ports, `Ledger` and `Records`, over dictionaries."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.failure: GatewayError | None = None
        self.key: SigningKey | None = None
        self._state = _State()

    # ── writing ──

    async def append(self, *entries: Entry) -> tuple[int | None, ...]:
        if self.failure is not None:
            raise self.failure
        before = self._state
        self._state = before.twin()
        try:
            indices = tuple(self._take(entry) for entry in entries)
        except BaseException:
            self._state = before
            raise
        self.entries.extend(entries)
        return indices

    def _take(self, entry: Entry) -> int | None:
        leaf = audit.leaf(entry)
        index = None
        if leaf is not None:
            index = len(self._state.leaves)
            body = audit.seal(leaf, SALT)
            payload = None if leaf.payload is None else orjson.loads(leaf.payload)
            row = AuditRow(index, merkle.leaf_hash(body).hex(), orjson.loads(body), payload)
            self._state.leaves = (*self._state.leaves, row)
        self._change(entry, index)
        return index

    def _change(self, entry: Entry, index: int | None) -> None:
        state = self._state
        match entry:
            case steps.EnrolmentOffered():
                state.offers[entry.token_hash] = EnrolmentOffer(entry.name, entry.profile, entry.expires_at)
            case steps.LocalOperatorAdded():
                _add(state.principals, entry.principal.id, entry.principal)
            case steps.PrincipalEnrolled():
                _demand(state.offers.pop(entry.token_hash, None) is not None, "the enrolment link was used already")
                if entry.known:
                    taken = any(passkey.principal_id == entry.principal.id for passkey in state.passkeys.values())
                    _demand(not taken, "somebody else enrolled in the meantime")
                    state.principals[entry.principal.id] = entry.principal
                else:
                    _add(state.principals, entry.principal.id, entry.principal)
                _add(state.passkeys, entry.passkey.id, entry.passkey)
            case steps.PasskeyAdded():
                _add(state.passkeys, entry.passkey.id, entry.passkey)
            case steps.PasskeyRenamed():
                self._change_passkey(entry.principal_id, entry.credential_id, name=entry.name)
            case steps.PasskeyRemoved():
                self._change_passkey(entry.principal_id, entry.credential_id)
                del state.passkeys[entry.credential_id]
            case steps.PasskeyUsed():
                self._use_passkey(entry)
            case steps.ConsoleSessionStarted():
                session = ConsoleSession(entry.id, state.principals[entry.principal_id], entry.at, entry.expires_at)
                _add(state.console, entry.id, (entry.secret_hash, session))
            case steps.ConsoleSessionRenewed():
                _demand(entry.id in state.console, "the session has ended")
                renewed = replace(state.console[entry.id][1], expires_at=entry.expires_at)
                state.console[entry.id] = (entry.secret_hash, renewed)
            case steps.ConsoleSessionEnded():
                state.console.pop(entry.id, None)
            case steps.AgentSessionStarted():
                _add(state.agent, entry.session.id, (entry.secret_hash, entry.session))
            case steps.AgentSessionEnded():
                state.agent.pop(entry.id, None)
            case (
                steps.ConversationOpened()
                | steps.ConversationRenamed()
                | steps.ConversationDeleted()
                | steps.ConversationTainted()
                | steps.MessageAppended()
                | steps.TurnBegun()
                | steps.TurnEnded()
            ):
                self._change_conversation(entry)
            case (
                steps.ApprovalRequested()
                | steps.ApprovalResolved()
                | steps.GrantIssued()
                | steps.GrantRevoked()
                | steps.CallIntended()
                | steps.CallClosed()
                | steps.CallFoundUnknown()
            ):
                self._change_call(entry, index)
            case _:
                pass

    def _change_passkey(self, principal_id: str, credential_id: bytes, **changes: str) -> None:
        passkey = self._state.passkeys.get(credential_id)
        if passkey is None or passkey.principal_id != principal_id:
            raise IllegalStep("the passkey is not this principal's")
        self._state.passkeys[credential_id] = replace(passkey, **changes)

    def _use_passkey(self, entry: steps.PasskeyUsed) -> None:
        passkey = self._state.passkeys.get(entry.credential_id)
        if passkey is None or passkey.principal_id != entry.principal_id:
            raise IllegalStep("the passkey is not this principal's")
        counts = entry.sign_count > passkey.sign_count or entry.sign_count == passkey.sign_count == 0
        _demand(counts, "the passkey's counter went back")
        self._state.passkeys[entry.credential_id] = replace(
            passkey, sign_count=entry.sign_count, backed_up=entry.backed_up, last_used_at=entry.at
        )

    def _change_conversation(
        self,
        entry: steps.ConversationOpened
        | steps.ConversationRenamed
        | steps.ConversationDeleted
        | steps.ConversationTainted
        | steps.MessageAppended
        | steps.TurnBegun
        | steps.TurnEnded,
    ) -> None:
        heads = self._state.conversations
        match entry:
            case steps.ConversationOpened():
                opened = ConversationRecord(
                    entry.id, entry.principal_id, entry.title, entry.at, entry.at, entry.parent_id, 0, 0, 0, 0, None, None
                )
                _add(heads, entry.id, opened)
            case steps.ConversationRenamed():
                heads[entry.id] = replace(self._head(entry.id), title=entry.title)
            case steps.ConversationDeleted():
                del heads[self._head(entry.id).id]
                self._state.leaves = tuple(_without_message_digest(row, entry.id) for row in self._state.leaves)
                self._state.messages = {place: message for place, message in self._state.messages.items() if place[0] != entry.id}
            case steps.ConversationTainted():
                head = self._head(entry.id)
                heads[entry.id] = replace(head, taint=max(head.taint, entry.taint), label=max(head.label, entry.label))
            case steps.MessageAppended():
                message = entry.message
                head = self._head(message.conversation_id)
                _add(self._state.messages, (message.conversation_id, message.index), message)
                heads[head.id] = replace(
                    head,
                    updated_at=max(head.updated_at, entry.at),
                    message_count=max(head.message_count, message.index + 1),
                )
            case steps.TurnBegun():
                snapshot = entry.snapshot
                head = self._head(snapshot.conversation_id)
                _add(self._state.turns, snapshot.turn_id, (snapshot.conversation_id, snapshot.turn_index))
                heads[head.id] = replace(
                    head,
                    updated_at=max(head.updated_at, entry.at),
                    turn_count=max(head.turn_count, snapshot.turn_index + 1),
                    open_turn_id=snapshot.turn_id,
                    open_turn_index=snapshot.turn_index,
                    open_turn_model_id=entry.model_id,
                    open_turn_session_id=snapshot.session_id,
                )
            case steps.TurnEnded():
                head = heads.get(entry.conversation_id)
                if head is not None and head.open_turn_id == entry.turn_id:
                    heads[head.id] = replace(
                        head,
                        open_turn_id=None,
                        open_turn_index=None,
                        open_turn_model_id=None,
                        open_turn_session_id=None,
                    )

    def _head(self, conversation_id: str) -> ConversationRecord:
        head = self._state.conversations.get(conversation_id)
        if head is None:
            raise IllegalStep("there is no such conversation")
        return head

    def _change_call(
        self,
        entry: steps.ApprovalRequested
        | steps.ApprovalResolved
        | steps.GrantIssued
        | steps.GrantRevoked
        | steps.CallIntended
        | steps.CallClosed
        | steps.CallFoundUnknown,
        index: int | None,
    ) -> None:
        state = self._state
        match entry:
            case steps.ApprovalRequested():
                self._open_call(entry.request, CallState.AWAITING_APPROVAL, entry.approval.id)
                _add(state.approvals, entry.approval.id, OpenApproval(entry.approval, entry.request))
            case steps.ApprovalResolved():
                pending = state.approvals.get(entry.approval_id)
                if pending is None or pending.approval.status is not ApprovalStatus.PENDING:
                    raise IllegalStep("the approval is not pending")
                if entry.status is ApprovalStatus.APPROVED:
                    _demand(entry.at < pending.approval.expires_at, "the approval has expired")
                state.approvals[entry.approval_id] = replace(pending, approval=replace(pending.approval, status=entry.status))
            case steps.GrantIssued():
                _add(state.grants, entry.grant.id, entry.grant)
            case steps.GrantRevoked():
                grant = state.grants.get(entry.grant_id)
                if grant is not None and grant.revoked_at is None:
                    state.grants[grant.id] = replace(grant, revoked_at=entry.at)
            case steps.CallIntended():
                self._intend(entry)
            case steps.CallClosed():
                self._close(entry.request, entry.result, index, entry.at, executed=entry.executed)
            case steps.CallFoundUnknown():
                place = (entry.conversation_id, entry.call_id)
                call = state.calls.get(place)
                if call is None or call.state is not CallState.RUNNING:
                    raise IllegalStep("the call is not running")
                state.calls[place] = replace(
                    call,
                    state=CallState.CLOSED,
                    result=unknown_result(entry),
                    closing_index=index,
                    closed_at=entry.at,
                )

    def _open_call(self, request: ToolRequest, call_state: CallState, approval_id: str | None) -> None:
        record = CallRecord(
            request.conversation_id,
            request.turn_id,
            request.call_id,
            request.tool,
            request.arguments,
            request.digest,
            call_state,
            approval_id,
            request.received_at,
            None,
            None,
        )
        place = (request.conversation_id, request.call_id)
        _add(self._state.calls, place, record)
        self._state.callers[place] = request

    def _intend(self, entry: steps.CallIntended) -> None:
        state = self._state
        request = entry.request
        place = (request.conversation_id, request.call_id)
        if entry.grant_id is not None:
            grant = state.grants.get(entry.grant_id)
            if grant is None or not grant.covers(request, entry.descriptor_digest, entry.at):
                raise IllegalStep("the grant does not cover this call")
            state.grants[grant.id] = replace(grant, uses=grant.uses + 1)
        if entry.approval_id is None:
            self._open_call(request, CallState.RUNNING, None)
            return
        found = state.approvals.get(entry.approval_id)
        call = state.calls.get(place)
        if (
            found is None
            or found.approval.status is not ApprovalStatus.APPROVED
            or entry.approval_id in state.used
            or call is None
            or (call.state, call.approval_id, call.request_digest)
            != (CallState.AWAITING_APPROVAL, entry.approval_id, request.digest)
        ):
            raise IllegalStep("the approval cannot be used for this call")
        state.used |= {entry.approval_id}
        state.calls[place] = replace(call, state=CallState.RUNNING)

    def _close(self, request: ToolRequest, result: ToolResult, index: int | None, at: int, *, executed: bool) -> None:
        place = (request.conversation_id, request.call_id)
        if place not in self._state.calls:
            _demand(not executed, "a call that was never intended cannot have run")
            self._open_call(request, CallState.AWAITING_APPROVAL, None)
        call = self._state.calls[place]
        _demand(call.request_digest == request.digest, "another call has this id")
        _demand(call.state is CallState.RUNNING if executed else call.state is not CallState.CLOSED, "the call is closed")
        self._state.calls[place] = replace(call, state=CallState.CLOSED, result=result, closing_index=index, closed_at=at)

    # ── reading ──

    async def principals(self) -> Sequence[Principal]:
        return tuple(self._state.principals.values())

    async def principal(self, principal_id: str) -> Principal | None:
        return self._state.principals.get(principal_id)

    async def principal_of_handle(self, user_handle: bytes) -> Principal | None:
        for passkey in self._state.passkeys.values():
            if passkey.user_handle == user_handle:
                return self._state.principals[passkey.principal_id]
        return None

    async def passkeys(self, principal_id: str) -> Sequence[Passkey]:
        return tuple(each for each in self._state.passkeys.values() if each.principal_id == principal_id)

    async def passkey(self, credential_id: bytes) -> Passkey | None:
        return self._state.passkeys.get(credential_id)

    async def enrolment(self, token_hash: str) -> EnrolmentOffer | None:
        return self._state.offers.get(token_hash)

    async def console_session(self, secret_hash: str) -> ConsoleSession | None:
        return next((session for known, session in self._state.console.values() if known == secret_hash), None)

    async def agent_session(self, secret_hash: str) -> Session | None:
        return next((session for known, session in self._lent() if known == secret_hash), None)

    async def live_sessions(self, console_session_id: str) -> Sequence[Session]:
        return tuple(session for _, session in self._state.agent.values() if session.console_session_id == console_session_id)

    async def session(self, session_id: str) -> Session | None:
        return next((session for _, session in self._lent() if session.id == session_id), None)

    def _lent(self) -> Sequence[tuple[str, Session]]:
        return [each for each in self._state.agent.values() if each[1].console_session_id in self._state.console]

    async def conversations(
        self, principal_id: str, *, before: tuple[int, str] | None, limit: int
    ) -> Sequence[ConversationRecord]:
        own = [head for head in self._state.conversations.values() if head.principal_id == principal_id]
        own.sort(key=lambda head: (head.updated_at, head.id), reverse=True)
        return tuple(head for head in own if before is None or (head.updated_at, head.id) < before)[:limit]

    async def conversation(self, conversation_id: str) -> ConversationRecord | None:
        return self._state.conversations.get(conversation_id)

    async def conversations_with_open_turns(self) -> Sequence[str]:
        return tuple(head.id for head in self._state.conversations.values() if head.open_turn_id is not None)

    async def messages(self, conversation_id: str) -> Sequence[Message]:
        own = [message for place, message in self._state.messages.items() if place[0] == conversation_id]
        return tuple(sorted(own, key=lambda message: message.index))

    async def turn_indices(self, conversation_id: str) -> Mapping[str, int]:
        return {turn: index for turn, (owner, index) in self._state.turns.items() if owner == conversation_id}

    async def calls(self, conversation_id: str) -> Sequence[CallRecord]:
        own = [call for place, call in self._state.calls.items() if place[0] == conversation_id]
        return tuple(sorted(own, key=lambda call: (call.received_at, call.call_id)))

    async def call(self, conversation_id: str, call_id: str) -> CallRecord | None:
        return self._state.calls.get((conversation_id, call_id))

    async def calls_in_session(self, session_id: str) -> int:
        return sum(request.session_id == session_id for request in self._state.callers.values())

    async def calls_since(self, principal_id: str, since: int) -> int:
        return sum(
            request.principal.id == principal_id and request.received_at >= since for request in self._state.callers.values()
        )

    async def open_approvals(self) -> Sequence[OpenApproval]:
        return tuple(each for each in self._state.approvals.values() if each.approval.status is ApprovalStatus.PENDING)

    async def approvals(self, principal_id: str, *, limit: int) -> Sequence[Approval]:
        own = [each.approval for each in self._state.approvals.values() if each.approval.principal_id == principal_id]
        own.sort(key=lambda approval: (approval.requested_at, approval.id), reverse=True)
        return tuple(own[:limit])

    async def grants(self, session_id: str) -> Sequence[Grant]:
        return tuple(
            grant for grant in self._state.grants.values() if grant.session_id == session_id and grant.revoked_at is None
        )

    async def grants_of(self, principal_id: str) -> Sequence[Grant]:
        return tuple(
            grant for grant in self._state.grants.values() if grant.principal_id == principal_id and grant.revoked_at is None
        )

    async def grant(self, grant_id: str) -> Grant | None:
        return self._state.grants.get(grant_id)

    async def unfinished_calls(self) -> Sequence[UnfinishedCall]:
        return tuple(
            UnfinishedCall(self._state.callers[place].principal.id, call.conversation_id, call.turn_id, call.call_id)
            for place, call in self._state.calls.items()
            if call.state is CallState.RUNNING
        )

    async def audit(self, query: AuditQuery) -> Sequence[AuditRow]:
        wanted = {
            "principalId": query.principal_id,
            "conversationId": query.conversation_id,
            "event": query.event,
            "tool": query.tool,
            "outcome": query.outcome,
        }
        rows = [
            row
            for row in reversed(self._state.leaves)
            if (query.before is None or row.index < query.before)
            and all(value is None or row.body.get(name) == value for name, value in wanted.items())
        ]
        return tuple(rows[: query.limit])

    async def audit_size(self) -> int:
        return len(self._state.leaves)

    async def checkpoint(self) -> str | None:
        if self.key is None or not self._state.leaves:
            return None
        leaves = [bytes.fromhex(row.hash) for row in self._state.leaves]
        return self.key.sign(len(leaves), merkle.root_of(leaves))

    async def ready(self) -> bool:
        return self.failure is None


def _without_message_digest(row: AuditRow, conversation_id: str) -> AuditRow:
    about = (row.body["event"], row.body.get("conversationId"))
    return replace(row, payload=None) if about == (audit.Event.MESSAGE_APPENDED, conversation_id) else row


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise IllegalStep(otherwise)


def _add(rows: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    _demand(key not in rows, "this was recorded already")
    rows[key] = value
