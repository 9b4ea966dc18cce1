"""The agent origin's methods (docs/PROTOCOL.md section 5).

The caller is a browser that may be hostile: every method acts only for the session of its connection, and none can approve
a call, widen a permission, or record a decision that a person or the gateway did not make.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from gateway.core import model as core
from gateway.core.approval import Approval
from gateway.core.canonical import MAX_DEPTH
from gateway.core.model import ToolCall
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ApprovalStatus, Label
from gateway.protocol import agent_methods as wire
from gateway.protocol import shapes
from gateway.protocol.frames import AGENT, MAX_MESSAGE_BYTES
from gateway.protocol.shapes import WireToolResult
from gateway.protocol.wire import Nothing, Wire
from gateway.runtime.binding import Proposal
from gateway.runtime.connections import Connection
from gateway.runtime.gateway import Gateway
from gateway.server.methods.encoding import read_cursor, read_message_cursor, write_cursor, write_message_cursor
from gateway.server.methods.table import Concurrency, Method, MethodPermission, MethodRow, tabulate
from gateway.server.methods.views import (
    view_answer,
    view_call,
    view_conversation,
    view_found,
    view_grant,
    view_issued,
    view_message,
    view_model,
    view_open_turn,
    view_tool,
)

REQUESTS_IN_FLIGHT = 32
"""docs/PROTOCOL.md section 2, per connection."""


CALL_EVENTS = (
    *("approval:requested", "approval:resolved", "assertion:refused", "passkey:used", "grant:issued", "grant:revoked"),
    *("call:intended", "call:closed", "call:refused", "call:found-unknown", "call:result-discarded", "conversation:tainted"),
)
"""What the driver of one call may leave in the log. A person's answer is recorded by the call that waits for it."""


class AgentMethods:
    """The handlers. `agent_origin` is where `/v1` is served."""

    def __init__(self, gateway: Gateway, *, agent_origin: str, console_origin: str) -> None:
        self._gateway = gateway
        self._agent_origin = agent_origin
        self._console_origin = console_origin

    def table(self) -> Mapping[str, Method[Connection]]:
        """Every method of docs/PROTOCOL.md section 5."""
        return tabulate(
            AGENT,
            {
                "session/describe": MethodRow(self.describe_session, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "conversations/open": MethodRow(
                    self.open_conversation,
                    Concurrency.IN_ORDER,
                    MethodPermission.ANY_SESSION,
                    (
                        "conversation:opened",
                        "snapshot:issued",
                    ),
                    reads_much=True,
                ),
                "conversations/list": _reading(self.list_conversations),
                "conversations/search": _reading(self.search_messages),
                "conversations/rename": MethodRow(self.rename_conversation, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION),
                "conversations/delete": MethodRow(
                    self.delete_conversation, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION, ("conversation:deleted",)
                ),
                "conversations/export": _reading(self.export_conversation),
                "conversations/fork": MethodRow(
                    self.fork_conversation,
                    Concurrency.IN_ORDER,
                    MethodPermission.ANY_SESSION,
                    (
                        "conversation:opened",
                        "conversation:tainted",
                        "message:appended",
                    ),
                    reads_much=True,
                ),
                "messages/append": MethodRow(
                    self.append_message, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION, ("message:appended",)
                ),
                "tools/describe": MethodRow(self.describe_tools, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "turns/begin": MethodRow(
                    self.begin_turn,
                    Concurrency.IN_ORDER,
                    MethodPermission.ANY_SESSION,
                    (
                        "turn:ended",
                        "turn:begun",
                        "message:appended",
                    ),
                ),
                "turns/refresh": MethodRow(
                    self.refresh_turn, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION, ("snapshot:issued",)
                ),
                "turns/end": MethodRow(self.end_turn, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION, ("turn:ended",)),
                "turns/cancel": MethodRow(self.cancel_turn, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION, ("turn:ended",)),
                "tools/invoke": MethodRow(self.invoke_tool, Concurrency.WAITING, MethodPermission.ANY_SESSION, CALL_EVENTS),
                "tools/cancel": MethodRow(self.cancel_call, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "tools/list-calls": _reading(self.list_calls),
                "inference/token": MethodRow(
                    self.mint_token,
                    Concurrency.AT_ONCE,
                    MethodPermission.ANY_SESSION,
                    ("inference-token:minted", "inference:refused"),
                ),
                "grants/list": MethodRow(self.list_grants, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "grants/revoke": MethodRow(
                    self.revoke_grant, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION, ("grant:revoked",)
                ),
            },
        )

    # ── session ──

    async def describe_session(self, caller: Connection, _params: Nothing) -> wire.SessionDescription:
        """The session, its connection, its limits, and the models it may use."""
        session = caller.session
        limits = self._gateway.ports.policy.limits(session.principal.profile)
        missing = await self._gateway.inference.missing(session)
        return wire.SessionDescription(
            session=wire.AgentSession(
                id=session.id,
                principal=session.principal.id,
                principal_name=session.principal.name,
                profile=session.principal.profile,
                labels=(Label(self._gateway.exposures.subject(session).label).mark,),
                expires_at=rfc3339(session.expires_at),
            ),
            connection_id=caller.id,
            limits=wire.SessionLimits(
                message_bytes=MAX_MESSAGE_BYTES,
                message_depth=MAX_DEPTH,
                requests_in_flight=REQUESTS_IN_FLIGHT,
                calls_per_turn=limits.calls_per_turn,
                calls_per_session=limits.calls_per_session,
                calls_per_day=limits.calls_per_principal_per_day,
                pending_approvals=limits.pending_approvals,
            ),
            models=tuple(view_model(model) for model in await self._gateway.inference.models(session)),
            missing_models=tuple(wire.WireMissingModel(name=name, why=why) for name, why in missing) or None,
            console_origin=self._console_origin,
            at=rfc3339(self._gateway.ports.clock.now()),
        )

    # ── conversations ──

    async def open_conversation(self, caller: Connection, params: wire.ConversationOpening) -> wire.WireConversationOpened:
        """A new conversation, or one of the person's own, with its open turn re-bound to this connection if no other holds it."""
        conversations, session = self._gateway.conversations, caller.session
        if params.conversation_id is None:
            created = await conversations.create(session, params.title)
            return wire.WireConversationOpened(conversation=view_conversation(created), messages=())
        open_turn = await self._gateway.turns.rebind(caller, params.conversation_id, take_over=params.take_over)
        return wire.WireConversationOpened(
            conversation=view_conversation(await conversations.describe(session, params.conversation_id)),
            messages=tuple(map(view_message, await conversations.messages(session, params.conversation_id))),
            open_turn=None if open_turn is None else view_open_turn(open_turn),
        )

    async def list_conversations(self, caller: Connection, params: wire.ConversationPage) -> wire.ConversationList:
        """The person's conversations, most recently used first."""
        page, following = await self._gateway.conversations.list(caller.session, read_cursor(params.cursor))
        return wire.ConversationList(
            conversations=tuple(map(view_conversation, page)),
            next_cursor=write_cursor(following),
        )

    async def search_messages(self, caller: Connection, params: wire.MessageSearch) -> wire.FoundMessages:
        """What was said in the person's conversations with these words in it, newest first."""
        page, following = await self._gateway.conversations.search(
            caller.session, params.text, read_message_cursor(params.cursor)
        )
        return wire.FoundMessages(
            found=tuple(view_found(each, params.text.split()) for each in page),
            next_cursor=write_message_cursor(following),
        )

    async def rename_conversation(self, caller: Connection, params: wire.ConversationTitle) -> wire.ConversationHead:
        """Change the title."""
        conversations = self._gateway.conversations
        await conversations.rename(caller.session, params.conversation_id, params.title)
        record = await conversations.describe(caller.session, params.conversation_id)
        return wire.ConversationHead(conversation=view_conversation(record))

    async def delete_conversation(self, caller: Connection, params: wire.ConversationRef) -> Nothing:
        """Delete its messages; the audit log keeps its entries."""
        await self._gateway.conversations.delete(caller.session, params.conversation_id)
        return Nothing()

    async def export_conversation(self, caller: Connection, params: wire.ConversationRef) -> wire.ConversationExport:
        """All that its owner may see, as one value."""
        conversations, session = self._gateway.conversations, caller.session
        calls = await self._gateway.dispatcher.list_calls(session, params.conversation_id)
        return wire.ConversationExport(
            format="countersign.conversation.v1",
            exported_at=rfc3339(self._gateway.ports.clock.now()),
            conversation=view_conversation(await conversations.describe(session, params.conversation_id)),
            messages=tuple(map(view_message, await conversations.messages(session, params.conversation_id))),
            calls=tuple(view_call(call, self._gateway.ports.toolbox) for call in calls),
        )

    async def fork_conversation(self, caller: Connection, params: wire.ConversationFork) -> wire.ConversationForked:
        """A copy of a conversation up to a turn."""
        conversations, session = self._gateway.conversations, caller.session
        copy = await conversations.fork(session, params.conversation_id, params.from_turn)
        return wire.ConversationForked(
            conversation=view_conversation(copy),
            messages=tuple(map(view_message, await conversations.messages(session, copy.id))),
        )

    async def append_message(self, caller: Connection, params: wire.MessageAppending) -> wire.WireMessageAppended:
        """Store a message that the browser claims."""
        message = params.message
        index = await self._gateway.conversations.append_message(
            caller.session,
            params.conversation_id,
            params.turn_id,
            message.role,
            message.content,
            [call.to_members() for call in message.tool_calls or ()],
        )
        return wire.WireMessageAppended(index=index)

    # ── turns ──

    async def begin_turn(self, caller: Connection, params: wire.TurnBeginning) -> wire.WireSnapshotIssued:
        """Open a turn on this connection."""
        self._gateway.admission.check()
        snapshot = await self._gateway.turns.begin(
            caller,
            params.conversation_id,
            message=None if params.message is None else params.message.content,
            model_id=params.model_id,
        )
        return view_issued(snapshot)

    async def refresh_turn(self, caller: Connection, params: wire.TurnRef) -> wire.WireSnapshotIssued:
        """A new snapshot for the open turn."""
        snapshot = await self._gateway.turns.refresh(caller, params.conversation_id, params.turn_id)
        return view_issued(snapshot)

    async def end_turn(self, caller: Connection, params: wire.WireTurnEnding) -> Nothing:
        """End the turn when the loop is done."""
        await self._gateway.turns.end(caller.session, params.conversation_id, params.turn_id, params.usage)
        return Nothing()

    async def cancel_turn(self, caller: Connection, params: wire.TurnRef) -> wire.TurnCancelled:
        """Stop the turn, its calls and its inference."""
        cancelled = await self._gateway.turns.cancel(caller.session, params.conversation_id, params.turn_id)
        return wire.TurnCancelled(cancelled=tuple(cancelled))

    # ── tools ──

    async def describe_tools(self, caller: Connection, params: wire.ConversationRef) -> wire.ToolList:
        """The tools that a turn would publish now."""
        tools = await self._gateway.turns.describe_tools(caller.session, params.conversation_id)
        obstacles = await self._gateway.turns.find_obstacles(caller.session, params.conversation_id, tools)
        return wire.ToolList(
            tools=tuple(map(view_tool, tools)),
            obstacles=tuple(wire.WireToolObstacle(reason=each.reason, why=each.why, tools=each.tools) for each in obstacles)
            or None,
        )

    async def invoke_tool(self, caller: Connection, params: wire.WireToolRequest) -> WireToolResult:
        """Propose a call; the answer comes when it is closed."""
        call = params.call
        answer = await self._gateway.dispatcher.invoke(
            caller,
            Proposal(
                conversation_id=params.conversation_id,
                turn_id=params.turn_id,
                snapshot_id=params.snapshot_id,
                snapshot_digest=params.snapshot_digest,
                call=ToolCall(call.id, call.name, call.arguments),
                model=None if params.model is None else _claimed_model(params.model),
                after=params.after,
            ),
        )
        return view_answer(answer)

    async def cancel_call(self, caller: Connection, params: wire.CallRef) -> Nothing:
        """Stop one call."""
        await self._gateway.dispatcher.cancel(caller.session, params.conversation_id, params.call_id)
        return Nothing()

    async def list_calls(self, caller: Connection, params: wire.ConversationRef) -> wire.CallList:
        """Every call of a conversation with its state."""
        calls = await self._gateway.dispatcher.list_calls(caller.session, params.conversation_id)
        asked = {approval.call_id: approval for approval in await self._pending(caller, params.conversation_id)}
        toolbox = self._gateway.ports.toolbox
        return wire.CallList(calls=tuple(view_call(call, toolbox, asked.get(call.call_id)) for call in calls))

    async def _pending(self, caller: Connection, conversation_id: str) -> Sequence[Approval]:
        approvals = await self._gateway.approvals.list(caller.session.principal.id)
        return [
            approval.without_names()
            for approval in approvals
            if approval.conversation_id == conversation_id and approval.status is ApprovalStatus.PENDING
        ]

    # ── inference and grants ──

    async def mint_token(self, caller: Connection, params: wire.InferenceTokenRequest) -> wire.InferenceToken:
        """A token for `/v1`, for this turn and model only."""
        session = caller.session
        self._gateway.admission.check()
        conversation, turn = await self._gateway.turns.open_turn(session, params.conversation_id, params.turn_id)
        token, lease = await self._gateway.inference.mint(session, conversation, turn, params.model_id)
        return wire.InferenceToken(
            token=token,
            endpoint=f"{self._agent_origin}/v1",
            provider=lease.model.backend,
            model_id=lease.model.id,
            expires_at=rfc3339(lease.expires_at),
            revocable=True,
        )

    async def list_grants(self, caller: Connection, _params: Nothing) -> wire.GrantList:
        """The session's grants that a call could still come for."""
        grants = await self._gateway.grants.usable(caller.session)
        return wire.GrantList(grants=tuple(view_grant(grant, self._gateway.ports.toolbox) for grant in grants))

    async def revoke_grant(self, caller: Connection, params: wire.GrantRef) -> Nothing:
        """Revoke one; this only narrows what the session may do."""
        await self._gateway.grants.revoke_own(caller.session, params.grant_id)
        return Nothing()


def _claimed_model(model: shapes.WireModelRef) -> core.ModelRef:
    return core.ModelRef(model.id, model.backend or "", model.nonce or "", claimed=True)


def _reading(answer: Callable[[Connection, Any], Awaitable[Wire]]) -> MethodRow[Connection]:
    return MethodRow(answer, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION, reads_much=True)
