"""Turns and their snapshots: what may be called now, by whom, until when.

A turn belongs to a session; its current snapshot belongs to one connection. Losing the connection suspends the turn for a
grace period, a re-bind gives it a new snapshot in the same lineage, a refresh starts a new lineage, and closing a turn is
final: its calls are stopped and its inference leases void.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, LedgerUnavailable, NotFound
from gateway.core.ledger import MessageAppended, SnapshotIssued, TurnBegun, TurnEnded
from gateway.core.model import PublishedTool, PublishedTools, Session, Snapshot, ToolSpec
from gateway.core.vocabulary import Reason, Role
from gateway.runtime.connections import Connection, ConnectionRegistry
from gateway.runtime.conversation import Conversation, Turn
from gateway.runtime.conversations import Conversations
from gateway.runtime.exposures import Exposures
from gateway.runtime.moments import Moments
from gateway.runtime.notices import SnapshotRevokedNotice
from gateway.runtime.obstacles import ToolObstacle, find_obstacles
from gateway.runtime.ports import Clock, Entropy, Ledger, PolicyEngine, PolicyVerdict, Toolbox
from gateway.runtime.publications import Publications
from gateway.runtime.quotas import Quotas
from gateway.runtime.tasks import Tasks
from gateway.runtime.timing import Timing


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """What `conversations/open` says about an open turn. `snapshot` is set when this connection now holds it."""

    id: str
    index: int
    model_id: str | None
    snapshot: Snapshot | None


class Turns:
    """Opens, re-binds and closes turns."""

    def __init__(
        self,
        *,
        conversations: Conversations,
        quotas: Quotas,
        policy: PolicyEngine,
        toolbox: Toolbox,
        exposures: Exposures,
        moments: Moments,
        ledger: Ledger,
        connections: ConnectionRegistry,
        clock: Clock,
        entropy: Entropy,
        tasks: Tasks,
        timing: Timing,
    ) -> None:
        self._conversations = conversations
        self._quotas = quotas
        self._policy = policy
        self._publications = Publications(policy=policy, toolbox=toolbox)
        self._exposures = exposures
        self._ledger = ledger
        self._connections = connections
        self._clock = clock
        self._moments = moments
        self._entropy = entropy
        self._timing = timing
        self._tasks = tasks
        self._unrecorded: dict[str, TurnEnded] = {}
        self._replaced: list[Callable[[], None]] = []
        connections.on_lost(self._suspend_turns_of)

    def on_replaced(self, judge_again: Callable[[], None]) -> None:
        """Register what is judged again when calls may have gone stale with a snapshot; wired once, at composition."""
        self._replaced.append(judge_again)

    # ── what agents ask ──

    async def describe_tools(self, session: Session, conversation_id: str) -> Sequence[PublishedTool]:
        """The tools as they would be published now; bound to nothing."""
        conversation = await self._conversations.enter(session, conversation_id)
        await self._moments.recall(session)
        return self._publish(session, conversation)

    async def find_obstacles(
        self, session: Session, conversation_id: str, tools: Sequence[PublishedTool]
    ) -> Sequence[ToolObstacle]:
        """Why those of these tools cannot be called that nobody can call now."""
        conversation = await self._conversations.enter(session, conversation_id)
        await self._moments.recall(session)
        exposure, subject = conversation.exposure, self._moments.subject(session, conversation)

        def judge(spec: ToolSpec) -> PolicyVerdict:
            return self._policy.judge(subject, spec, None, taint=exposure.taint, label=exposure.label)

        return find_obstacles(tools, judge)

    async def begin(
        self, connection: Connection, conversation_id: str, *, message: str | None = None, model_id: str | None = None
    ) -> Snapshot:
        """Open a turn, ending the one before, and give its first snapshot."""
        session = connection.session
        conversation = await self._conversations.enter(session, conversation_id)
        self._quotas.charge_storage(session, len((message or "").encode()), records=3)
        # Of tabs that begin at once the last one wins, and each of the others is ended, in memory and on record.
        async with self._conversations.hold(conversation):
            return await self._begin(connection, conversation, message, model_id)

    async def _begin(
        self, connection: Connection, conversation: Conversation, message: str | None, model_id: str | None
    ) -> Snapshot:
        session = connection.session
        await self._close(conversation, "superseded")
        await self._exposures.write(session, conversation)
        await self._moments.recall(session)
        turn_id = self._entropy.identifier("trn_")
        index = conversation.take_turn_index()
        snapshot = self._issue(connection, conversation, turn_id, index)
        turn = Turn(turn_id, index, session.id, model_id, snapshot, frozenset({snapshot.id}))
        entries = [TurnBegun(self._clock.now(), session.principal.id, snapshot, model_id)]
        messages = [self._conversations.claim(conversation, turn_id, Role.USER, message)] if message is not None else []
        await self._ledger.append(*entries, *(MessageAppended(each.at, session.principal.id, each) for each in messages))
        conversation.open_turn(turn)
        self._end_with_session(conversation, turn)
        self._suspend_unheld(conversation, turn)
        return snapshot

    async def refresh(self, connection: Connection, conversation_id: str, turn_id: str) -> Snapshot:
        """A new snapshot for the same open turn; the old one, and calls that wait under it, go stale."""
        conversation, turn = await self._own_turn(connection.session, conversation_id, turn_id)
        self._quotas.charge_storage(connection.session)
        await self._moments.recall(connection.session)
        snapshot = self._issue(connection, conversation, turn.id, turn.index)
        await self._ledger.append(SnapshotIssued(self._clock.now(), connection.session.principal.id, snapshot, "refresh"))
        self._replace(turn, snapshot, frozenset({snapshot.id}), connection)
        self.judge_waiting()
        self._suspend_unheld(conversation, turn)
        return snapshot

    async def rebind(self, connection: Connection, conversation_id: str, *, take_over: bool = False) -> OpenTurn | None:
        """The open turn, if there is one. Re-binds it to this connection when its own is lost, or when asked to take over."""
        session = connection.session
        conversation = await self._conversations.enter(session, conversation_id)
        turn = conversation.turn
        if turn is None:
            return None
        if turn.session_id == session.id and (take_over or self._holder(turn) is None):
            self._quotas.charge_storage(session)
            await self._moments.recall(session)
            snapshot = self._issue(connection, conversation, turn.id, turn.index)
            await self._ledger.append(SnapshotIssued(self._clock.now(), session.principal.id, snapshot, "rebind"))
            if conversation.turn is not turn:
                return await self.rebind(connection, conversation_id)
            self._replace(turn, snapshot, turn.lineage | {snapshot.id}, connection)
            self._end_with_session(conversation, turn)
            self._suspend_unheld(conversation, turn)
        mine = turn.snapshot if turn.snapshot is not None and turn.snapshot.connection_id == connection.id else None
        return OpenTurn(turn.id, turn.index, turn.model_id, mine)

    async def end(self, session: Session, conversation_id: str, turn_id: str, usage: Mapping[str, Json] | None) -> None:
        """The loop says that it is done. Ending a turn that is not open any more changes nothing."""
        conversation = await self._conversations.enter(session, conversation_id)
        if self._is_last(conversation, turn_id):
            await self._close(conversation, "ended", usage)

    async def cancel(self, session: Session, conversation_id: str, turn_id: str) -> Sequence[str]:
        """Stop the turn, its calls and its inference. Gives the ids of the calls that were under way."""
        conversation = await self._conversations.enter(session, conversation_id)
        return await self._close(conversation, "cancelled") if self._is_last(conversation, turn_id) else ()

    async def open_turn(self, session: Session, conversation_id: str, turn_id: str) -> tuple[Conversation, Turn]:
        """The session's own open turn. Raises NotFound."""
        return await self._own_turn(session, conversation_id, turn_id)

    # ── what the gateway does by itself ──

    def revoke_snapshots(self, reason: str, session_id: str | None = None) -> None:
        """The policy or the tools changed: every open snapshot, or those of one session, is void for good, and its connection
        is told."""
        for conversation in self._conversations.in_use():
            turn = conversation.turn
            if turn is None or session_id not in (None, turn.session_id):
                continue
            turn.revoke_snapshots()
            if turn.snapshot is not None:
                self._tell(turn, SnapshotRevokedNotice(turn.snapshot.id, reason))

    def judge_waiting(self) -> None:
        """What waits under a snapshot that is void or replaced can no longer run: withdraw it now, and not after an answer."""
        for judge_again in self._replaced:
            judge_again()

    def resume_suspended(self, conversation: Conversation, waited: float) -> None:
        """After a restart: an open turn has its grace period, for its connection is gone, less the seconds that it `waited` since
        an earlier start."""
        turn = conversation.turn
        if turn is not None:
            self._end_with_session(conversation, turn)
            self._suspend(conversation, turn, waited)

    def stop(self) -> None:
        """The gateway stops: no grace period runs out any more."""
        for conversation in self._conversations.in_use():
            if conversation.turn is not None:
                conversation.turn.resume()

    # ── inside ──

    def _publish(self, session: Session, conversation: Conversation) -> PublishedTools:
        return self._publications.publish(self._moments.subject(session, conversation), conversation.exposure)

    def _issue(self, connection: Connection, conversation: Conversation, turn_id: str, index: int) -> Snapshot:
        now = self._clock.now()
        return Snapshot(
            id=self._entropy.identifier("snp_"),
            session_id=connection.session.id,
            connection_id=connection.id,
            conversation_id=conversation.id,
            turn_id=turn_id,
            turn_index=index,
            issued_at=now,
            expires_at=min(now + int(self._timing.snapshot * 1000), connection.session.expires_at),
            policy_version=self._policy.version,
            tools=self._publish(connection.session, conversation),
        )

    def _replace(self, turn: Turn, snapshot: Snapshot, lineage: frozenset[str], connection: Connection) -> None:
        before = turn.snapshot
        holder = self._holder(turn)
        turn.publish(snapshot, lineage)
        if before is not None and holder is not None and holder.id != connection.id:
            holder.outbox.put(SnapshotRevokedNotice(before.id, "rebound"))

    def _tell(self, turn: Turn, notice: SnapshotRevokedNotice) -> None:
        """The connection that holds the snapshot. To tell the others of its session too would be a message for every pair of
        them: a thousand tabs of one person took a minute of the event loop."""
        holder = self._holder(turn)
        if holder is None:
            self._connections.notify(turn.session_id, notice)
        else:
            holder.outbox.put(notice)

    def _holder(self, turn: Turn) -> Connection | None:
        if turn.snapshot is None:
            return None
        return self._connections.connection(turn.session_id, turn.snapshot.connection_id)

    async def _own_turn(self, session: Session, conversation_id: str, turn_id: str) -> tuple[Conversation, Turn]:
        conversation = await self._conversations.enter(session, conversation_id)
        turn = conversation.turn
        if turn is None or turn.id != turn_id or turn.session_id != session.id:
            raise NotFound("that turn is not open")
        return conversation, turn

    async def _close(self, conversation: Conversation, reason: str, usage: Mapping[str, Json] | None = None) -> Sequence[str]:
        """End the open turn, which takes its authority away at once, or put the end of the last one on record where it is not."""
        turn = conversation.turn
        if turn is None:
            if (unrecorded := self._unrecorded.pop(conversation.id, None)) is not None:
                await self._put_on_record(unrecorded)
            return ()
        stopped = conversation.close_turn(Reason.SESSION_ENDED)
        self._connections.remove_session_end(turn.session_id, turn.id)
        await self._put_on_record(
            TurnEnded(self._clock.now(), conversation.principal_id, conversation.id, turn.id, reason, usage)
        )
        return stopped

    def _is_last(self, conversation: Conversation, turn_id: str) -> bool:
        """Whether that turn is open, or was the last one and its end is not on record."""
        unrecorded = self._unrecorded.get(conversation.id)
        last = conversation.turn.id if conversation.turn is not None else None if unrecorded is None else unrecorded.turn_id
        return last == turn_id

    def _end_with_session(self, conversation: Conversation, turn: Turn) -> None:
        session_id = turn.session_id

        def ending(_reason: Reason) -> None:
            if conversation.turn is turn:
                self._close_later(conversation, "sessionEnded")

        self._connections.on_session_end(session_id, turn.id, ending)

    def _close_later(self, conversation: Conversation, reason: str) -> None:
        turn = conversation.turn
        if turn is None:
            return
        conversation.close_turn(Reason.SESSION_ENDED)
        entry = TurnEnded(self._clock.now(), conversation.principal_id, conversation.id, turn.id, reason)
        self._connections.remove_session_end(turn.session_id, turn.id)
        self._tasks.spawn(self._record(entry))

    async def _put_on_record(self, entry: TurnEnded) -> None:
        """Raises LedgerUnavailable: the turn has ended all the same, and whoever ends it again or begins the next one has its end
        recorded, or the next start has."""
        try:
            await self._ledger.append(entry)
        except LedgerUnavailable as error:
            self._unrecorded[entry.conversation_id] = entry
            raise LedgerUnavailable(f"the turn has ended; {error.message}") from None

    async def _record(self, entry: TurnEnded) -> None:
        with suppress(GatewayError):
            await self._put_on_record(entry)

    def _suspend_turns_of(self, connection: Connection) -> None:
        for conversation in self._conversations.in_use():
            turn = conversation.turn
            if turn is not None and turn.snapshot is not None and turn.snapshot.connection_id == connection.id:
                self._suspend(conversation, turn)

    def _suspend_unheld(self, conversation: Conversation, turn: Turn) -> None:
        """The connection may have gone while its snapshot was on the way to the disk."""
        if conversation.turn is turn and self._holder(turn) is None:
            self._suspend(conversation, turn)

    def _suspend(self, conversation: Conversation, turn: Turn, waited: float = 0.0) -> None:
        left = max(0.0, self._timing.grace - waited)
        turn.suspend(asyncio.get_running_loop().call_later(left, self._give_up, conversation, turn))

    def _give_up(self, conversation: Conversation, turn: Turn) -> None:
        if conversation.turn is turn:
            self._close_later(conversation, "connectionLost")
