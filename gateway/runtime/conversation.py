"""One conversation in use and the turn that may be open in it. They change only by the methods here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.core.canonical import Json
from gateway.core.gate import Refuse, TurnState
from gateway.core.labels import Exposure
from gateway.core.model import ModelRef, Snapshot, ToolRequest
from gateway.core.untrusted_text import CopiedText, UntrustedTexts
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.calls import ClosedCall, InFlightCall
from gateway.runtime.forgotten import ForgottenCalls

DENIALS_PER_TURN = 3
"""After so many a turn asks its person nothing more; asking on and on is how people are worn down."""

INFERENCES_REMEMBERED = 256
"""Inference requests of a turn whose nonce a call may name; a loop of 8 rounds makes some 16."""


CLOSED_REMEMBERED = 128
"""Closed calls of a conversation that are known without asking the database: several turns of a loop with 8 rounds."""


class Revocable(Protocol):
    """Authority that a turn lent and takes back when it ends."""

    def revoke(self, reason: Reason) -> None:
        """Void it."""
        ...


@dataclass(eq=False, slots=True)
class Turn:
    """The open turn of a conversation. `snapshot` is None after a restart until the turn is re-bound.

    `revoked` are ids of snapshots that were announced as void. `model` is what the gateway knows of the model that was asked
    last; None while nothing was asked through the gateway.
    """

    id: str
    index: int
    session_id: str
    model_id: str | None
    snapshot: Snapshot | None
    lineage: frozenset[str]
    revoked: frozenset[str] = frozenset()
    denied: set[tuple[str, bytes]] = field(default_factory=set[tuple[str, bytes]])
    denials: int = 0
    calls: int = 0
    suspended: asyncio.TimerHandle | None = None
    lent: list[Revocable] = field(default_factory=list[Revocable])
    lending: int = 0
    """How much more is about to be lent, once it is on record."""

    model: ModelRef | None = None
    inferences: dict[str, ModelRef] = field(default_factory=dict[str, ModelRef])
    succeeded: set[str] = field(default_factory=set[str])
    """Ids of its calls that closed `ok`."""

    def publish(self, snapshot: Snapshot, lineage: frozenset[str]) -> None:
        """Put another snapshot in force; a grace period that was running is over."""
        self.snapshot = snapshot
        self.lineage = lineage
        self.resume()

    def was_rebound_since(self, snapshot: Snapshot) -> bool:
        """Whether another page took the turn after that snapshot was published, also where the same one has it again."""
        now = self.snapshot
        if now is None or now.connection_id != snapshot.connection_id:
            return True
        return now.id != snapshot.id and snapshot.id in self.lineage

    def revoke_snapshots(self) -> None:
        """Everything that was published in this turn so far allows nothing any more, whatever comes back later."""
        self.revoked |= self.lineage

    def suspend(self, timer: asyncio.TimerHandle) -> None:
        """Start counting down the grace period, anew if it was running."""
        self.resume()
        self.suspended = timer

    def resume(self) -> None:
        """Stop counting down the grace period."""
        if self.suspended is not None:
            self.suspended.cancel()
            self.suspended = None

    def note_denial(self, request: ToolRequest) -> None:
        """A person said no to this call."""
        self.denied.add((request.tool, request.arguments))
        self.denials += 1

    def allow_questions(self) -> None:
        """A person lets the turn ask again, also for what they turned down."""
        self.denied.clear()
        self.denials = 0

    @property
    def asks_nothing(self) -> bool:
        """Whether its person said no so often that they are asked nothing more."""
        return self.denials >= DENIALS_PER_TURN

    def may_ask(self, request: ToolRequest) -> Refuse | None:
        """Why a person is not asked about this call, if they are not: a no is an answer, and repeating the question is none."""
        if (request.tool, request.arguments) in self.denied:
            return Refuse(Outcome.DENIED_BY_USER, Reason.DENIED, "the person said no to exactly this call in this turn")
        if self.asks_nothing:
            message = f"the person said no {self.denials} times in this turn and is asked nothing more until they allow it"
            return Refuse(Outcome.DENIED_BY_USER, Reason.DENIED, message)
        return None

    def count_call(self) -> None:
        """One more call was proposed in this turn."""
        self.calls += 1

    def begin_lending(self) -> None:
        """Count what will be lent as soon as it is on record: many requests at once must not all find room for one."""
        self.lending += 1

    def end_lending(self) -> None:
        """It is lent, or came to nothing."""
        self.lending -= 1

    def lend(self, lent: Revocable, model: ModelRef) -> None:
        """Keep what has to be revoked with the turn, and which model it is for."""
        self.lent.append(lent)
        self.model_id = model.id
        self.model = model

    def begin_inference(self, model: ModelRef) -> None:
        """A model is asked, under a nonce that a call of this turn may name."""
        self.model = self.inferences[model.nonce] = model
        while len(self.inferences) > INFERENCES_REMEMBERED:
            del self.inferences[next(iter(self.inferences))]

    def vouch(self, nonce: str | None) -> ModelRef | None:
        """The model that the gateway itself asked: under that nonce, or last where none is named. A nonce that is none of
        this turn's is worth nothing, and what the gateway knows without it still counts. None if nothing was asked."""
        if nonce is None or self.model is None:
            return self.model
        known = self.inferences.get(nonce)
        return known if known is not None else ModelRef(self.model.id, self.model.backend, claimed=False)


@dataclass(eq=False, slots=True)
class Conversation:
    """A conversation in use. `in_flight` and `closed` know its call ids, the database those that it has `forgotten`; `untrusted`
    are the texts of its untrusted results. Whoever holds `beginning` may add to it, unless it is `gone`."""

    id: str
    principal_id: str
    title: str
    exposure: Exposure
    turn: Turn | None
    turn_count: int
    message_count: int
    beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    in_flight: dict[str, InFlightCall] = field(default_factory=dict[str, InFlightCall])
    closed: dict[str, ClosedCall] = field(default_factory=dict[str, ClosedCall])
    forgotten: ForgottenCalls = field(default_factory=ForgottenCalls)
    untrusted: UntrustedTexts = field(default_factory=UntrustedTexts)
    gone: bool = False
    """Deleted, while others may have it in hand still."""

    @property
    def is_quiet(self) -> bool:
        """Whether no turn is open in it and no call under way."""
        return self.turn is None and not self.in_flight

    @property
    def idle(self) -> bool:
        """Whether nothing of it would be lost with the copy in memory."""
        return self.is_quiet and not self.beginning.locked()

    def turn_state(self, now: int) -> TurnState:
        """What the gate asks about this moment."""
        turn = self.turn
        if turn is None:
            return TurnState(None, None, frozenset(), now)
        return TurnState(turn.id, turn.snapshot, turn.lineage, now)

    def rename(self, title: str) -> None:
        """Another title."""
        self.title = title

    def find_copies(self, arguments: Mapping[str, Json]) -> tuple[CopiedText, ...]:
        """What of a call's arguments an untrusted result held."""
        return self.untrusted.compare(arguments).copies

    def raise_exposure(self, exposure: Exposure) -> None:
        """It has seen more."""
        self.exposure = exposure

    def delete(self) -> None:
        """It was deleted on record; whoever has it in hand finds that out by `gone`."""
        self.gone = True

    # ── counters ──

    def take_message_index(self) -> int:
        """The index of the next message."""
        self.message_count += 1
        return self.message_count - 1

    def take_turn_index(self) -> int:
        """The index of the next turn."""
        self.turn_count += 1
        return self.turn_count - 1

    # ── the turn ──

    def open_turn(self, turn: Turn) -> None:
        """The turn that is open from here on."""
        self.turn = turn

    def close_turn(self, reason: Reason) -> Sequence[str]:
        """Everything of closing that must hold at once: what the turn lent is void, its calls are stopped. Gives their ids."""
        turn = self.turn
        if turn is None:
            return ()
        self.turn = None
        turn.resume()
        for lent in turn.lent:
            lent.revoke(reason)
        stopped = [call for call in self.in_flight.values() if call.request.turn_id == turn.id]
        for call in stopped:
            call.stop(reason)
        return [call.request.call_id for call in stopped]

    # ── calls ──

    def may_have_forgotten(self, call_id: str) -> bool:
        """Whether only the database can say if the id was ever seen here."""
        return self.forgotten.may_hold(call_id) and self.find_call(call_id) is None

    def find_call(self, call_id: str) -> InFlightCall | ClosedCall | None:
        """The call of that id, under way or closed; None for one that was never seen here, or was forgotten."""
        return self.in_flight.get(call_id) or self.closed.get(call_id)

    def begin_call(self, call: InFlightCall) -> None:
        """A call is under way."""
        self.in_flight[call.request.call_id] = call

    def close_call(self, call_id: str, closed: ClosedCall) -> None:
        """It is under way no longer, or its record came later than its answer."""
        self.in_flight.pop(call_id, None)
        self.remember(call_id, closed)

    def note_success(self, request: ToolRequest) -> None:
        """It closed `ok`, so that another call of its turn may follow it."""
        if self.turn is not None and self.turn.id == request.turn_id:
            self.turn.succeeded.add(request.call_id)

    def remember(self, call_id: str, closed: ClosedCall) -> None:
        """Know a closed call by heart, and forget the one that closed longest ago."""
        self.closed.pop(call_id, None)
        self.closed[call_id] = closed
        while len(self.closed) > CLOSED_REMEMBERED:
            # It is on record. If the ledger would not take it, nothing ran, or the intent is there and its outcome unknown.
            oldest = next(iter(self.closed))
            del self.closed[oldest]
            self.forgotten.add(oldest)
