"""The agent origin's methods (protocol.md section 5).

Whoever calls is a browser that may be hostile: every method answers only for the session of its connection, and none can
approve, widen or record anything that a person or the gateway did not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.core.approval import Approval
from gateway.core.canonical import MAX_DEPTH
from gateway.core.model import ToolCall
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ApprovalStatus
from gateway.protocol import agent_methods as wire
from gateway.protocol.frames import AGENT, MAX_MESSAGE_BYTES
from gateway.protocol.shapes import ToolResult
from gateway.protocol.wire import Nothing
from gateway.runtime.connections import Connection
from gateway.runtime.dispatch import Proposal
from gateway.runtime.gateway import Gateway
from gateway.server.methods.encoding import read_cursor, write_cursor
from gateway.server.methods.table import Method, Pace, tabulate
from gateway.server.methods.views import (
    view_answer,
    view_call,
    view_conversation,
    view_grant,
    view_message,
    view_model,
    view_open_turn,
    view_snapshot,
    view_tool,
)

REQUESTS_IN_FLIGHT = 32
"""protocol.md section 2, per connection."""


class AgentMethods:
    """The handlers. `agent_origin` is where `/v1` is served."""

    def __init__(self, gateway: Gateway, *, agent_origin: str, console_origin: str) -> None:
        self._gateway = gateway
        self._agent_origin = agent_origin
        self._console_origin = console_origin

    def table(self) -> Mapping[str, Method[Connection]]:
        """Every method of protocol.md section 5."""
        return tabulate(
            AGENT,
            {
                "session/describe": (self.describe_session, Pace.AT_ONCE),
                "conversations/open": (self.open_conversation, Pace.IN_ORDER),
                "conversations/list": (self.list_conversations, Pace.AT_ONCE),
                "conversations/rename": (self.rename_conversation, Pace.IN_ORDER),
                "conversations/delete": (self.delete_conversation, Pace.IN_ORDER),
                "conversations/export": (self.export_conversation, Pace.AT_ONCE),
                "conversations/fork": (self.fork_conversation, Pace.IN_ORDER),
                "messages/append": (self.append_message, Pace.IN_ORDER),
                "tools/describe": (self.describe_tools, Pace.AT_ONCE),
                "turns/begin": (self.begin_turn, Pace.IN_ORDER),
                "turns/refresh": (self.refresh_turn, Pace.IN_ORDER),
                "turns/end": (self.end_turn, Pace.IN_ORDER),
                "turns/cancel": (self.cancel_turn, Pace.AT_ONCE),
                "tools/invoke": (self.invoke_tool, Pace.WAITING),
                "tools/cancel": (self.cancel_call, Pace.AT_ONCE),
                "tools/list-calls": (self.list_calls, Pace.AT_ONCE),
                "inference/token": (self.mint_token, Pace.AT_ONCE),
                "grants/list": (self.list_grants, Pace.AT_ONCE),
                "grants/revoke": (self.revoke_grant, Pace.AT_ONCE),
            },
        )

    # ── session ──

    async def describe_session(self, caller: Connection, _params: Nothing) -> wire.SessionDescription:
        """Who this is, on which connection, and what it may ask."""
        session = caller.session
        limits = self._gateway.ports.policy.limits(session.principal.profile)
        return wire.SessionDescription(
            session=wire.AgentSession(
                id=session.id,
                principal=session.principal.id,
                principal_name=session.principal.name,
                profile=session.principal.profile,
                labels=session.labels,
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
            console_origin=self._console_origin,
        )

    # ── conversations ──

    async def open_conversation(self, caller: Connection, params: wire.ConversationOpening) -> wire.ConversationOpened:
        """A new conversation, or one's own again, with its open turn re-bound to this connection where nobody holds it."""
        conversations, session = self._gateway.conversations, caller.session
        if params.conversation_id is None:
            created = await conversations.create(session, params.title)
            return wire.ConversationOpened(conversation=view_conversation(created), messages=())
        open_turn = await self._gateway.turns.look_in(caller, params.conversation_id, take_over=params.take_over)
        return wire.ConversationOpened(
            conversation=view_conversation(await conversations.describe(session, params.conversation_id)),
            messages=tuple(map(view_message, await conversations.messages(session, params.conversation_id))),
            open_turn=None if open_turn is None else view_open_turn(open_turn),
        )

    async def list_conversations(self, caller: Connection, params: wire.ConversationPage) -> wire.ConversationList:
        """One's own, most recently used first."""
        page, following = await self._gateway.conversations.list(caller.session, read_cursor(params.cursor))
        return wire.ConversationList(
            conversations=tuple(map(view_conversation, page)),
            next_cursor=write_cursor(following),
        )

    async def rename_conversation(self, caller: Connection, params: wire.ConversationTitle) -> wire.ConversationHead:
        """Another title."""
        conversations = self._gateway.conversations
        await conversations.rename(caller.session, params.conversation_id, params.title)
        record = await conversations.describe(caller.session, params.conversation_id)
        return wire.ConversationHead(conversation=view_conversation(record))

    async def delete_conversation(self, caller: Connection, params: wire.ConversationRef) -> Nothing:
        """Its messages go; the audit log stays."""
        await self._gateway.conversations.delete(caller.session, params.conversation_id)
        return Nothing()

    async def export_conversation(self, caller: Connection, params: wire.ConversationRef) -> wire.ConversationExport:
        """Everything its owner may see, as one value."""
        conversations, session = self._gateway.conversations, caller.session
        calls = await self._gateway.dispatcher.list_calls(session, params.conversation_id)
        return wire.ConversationExport(
            format="countersign.conversation.v1",
            exported_at=rfc3339(self._gateway.ports.clock.now()),
            conversation=view_conversation(await conversations.describe(session, params.conversation_id)),
            messages=tuple(map(view_message, await conversations.messages(session, params.conversation_id))),
            calls=tuple(map(view_call, calls)),
        )

    async def fork_conversation(self, caller: Connection, params: wire.ConversationFork) -> wire.ConversationForked:
        """A copy of everything before a turn."""
        conversations, session = self._gateway.conversations, caller.session
        copy = await conversations.fork(session, params.conversation_id, params.from_turn)
        return wire.ConversationForked(
            conversation=view_conversation(copy),
            messages=tuple(map(view_message, await conversations.messages(session, copy.id))),
        )

    async def append_message(self, caller: Connection, params: wire.MessageAppending) -> wire.MessageAppended:
        """Store a claim about what was said."""
        message = params.message
        index = await self._gateway.conversations.append_message(
            caller.session,
            params.conversation_id,
            params.turn_id,
            message.role,
            message.content,
            [call.to_members() for call in message.tool_calls or ()],
        )
        return wire.MessageAppended(index=index)

    # ── turns ──

    async def begin_turn(self, caller: Connection, params: wire.TurnBeginning) -> wire.SnapshotIssued:
        """Open a turn on this connection."""
        snapshot = await self._gateway.turns.begin(
            caller,
            params.conversation_id,
            message=None if params.message is None else params.message.content,
            model_id=params.model_id,
        )
        return wire.SnapshotIssued(snapshot=view_snapshot(snapshot))

    async def refresh_turn(self, caller: Connection, params: wire.TurnRef) -> wire.SnapshotIssued:
        """A new snapshot for the open turn."""
        snapshot = await self._gateway.turns.refresh(caller, params.conversation_id, params.turn_id)
        return wire.SnapshotIssued(snapshot=view_snapshot(snapshot))

    async def end_turn(self, caller: Connection, params: wire.TurnEnding) -> Nothing:
        """The loop is done."""
        await self._gateway.turns.end(caller.session, params.conversation_id, params.turn_id, params.usage)
        return Nothing()

    async def cancel_turn(self, caller: Connection, params: wire.TurnRef) -> wire.TurnCancelled:
        """Stop the turn, its calls and its inference."""
        cancelled = await self._gateway.turns.cancel(caller.session, params.conversation_id, params.turn_id)
        return wire.TurnCancelled(cancelled=tuple(cancelled))

    # ── tools ──

    async def describe_tools(self, caller: Connection, params: wire.ConversationRef) -> wire.ToolList:
        """What a turn would publish now."""
        tools = await self._gateway.turns.describe_tools(caller.session, params.conversation_id)
        return wire.ToolList(tools=tuple(map(view_tool, tools)))

    async def invoke_tool(self, caller: Connection, params: wire.ToolRequest) -> ToolResult:
        """Propose a call; answered when it is closed."""
        call = params.call
        answer = await self._gateway.dispatcher.invoke(
            caller,
            Proposal(
                conversation_id=params.conversation_id,
                turn_id=params.turn_id,
                snapshot_id=params.snapshot_id,
                snapshot_digest=params.snapshot_digest,
                call=ToolCall(call.id, call.name, call.arguments),
                model_id=None if params.model is None else params.model.id,
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
        return wire.CallList(calls=tuple(view_call(call, asked.get(call.call_id)) for call in calls))

    async def _pending(self, caller: Connection, conversation_id: str) -> Sequence[Approval]:
        approvals = await self._gateway.approvals.list(caller.session.principal.id)
        return [
            approval
            for approval in approvals
            if approval.conversation_id == conversation_id and approval.status is ApprovalStatus.PENDING
        ]

    # ── inference and grants ──

    async def mint_token(self, caller: Connection, params: wire.InferenceTokenRequest) -> wire.InferenceToken:
        """A token for `/v1`, for this turn and model only."""
        session = caller.session
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
        """The grants this session acts under."""
        grants = await self._gateway.grants.of_session(caller.session.id)
        return wire.GrantList(grants=tuple(map(view_grant, grants)))

    async def revoke_grant(self, caller: Connection, params: wire.GrantRef) -> Nothing:
        """Give one up: that only narrows what this session may do."""
        await self._gateway.grants.revoke_own(caller.session, params.grant_id)
        return Nothing()
