"""The reference model of the state machine test: the requests, snapshots, approvals and grants that were sent and received.

It is written against docs/PROTOCOL.md and uses no code of the gateway. `find_violation` compares it with the effects that the
tools recorded outside the gateway.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.harness.person import Person
from tests.harness.socket import Socket

NEEDS_APPROVAL = {"note", "erase", "administer"}

DENIALS_PER_TURN = 3
"""After as many noes a turn asks nothing more (docs/PROTOCOL.md)."""

DENIALS_PER_SESSION = 6
"""After as many noes in a row a session asks nothing more, whatever its turns and conversations."""


@dataclass(eq=False)
class TrackedBrowser:
    """One browser of one person: two tabs of the shell and a console. `session_id` is new after every sign-in."""

    name: str
    person: Person
    principal: str
    session_id: str = ""
    tabs: list[Socket] = field(default_factory=list[Socket])
    console: Socket = field(init=False)


@dataclass(eq=False)
class TrackedConversation:
    """A conversation. `holder` is the socket that its newest snapshot was issued to."""

    id: str
    principal: str
    turn_id: str | None = None
    snapshots: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    current: Mapping[str, Any] | None = None
    holder: Socket | None = None
    calls: dict[str, TrackedCall] = field(default_factory=dict[str, "TrackedCall"])
    denied: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Mapping[str, Any]]])

    def allows_question(self, call: TrackedCall) -> bool:
        """Whether this turn may ask: not after a no to the same call, and not after too many of them."""
        return (call.tool, call.arguments) not in self.denied and len(self.denied) < DENIALS_PER_TURN

    def receive(self, snapshot: Mapping[str, Any], holder: Socket) -> None:
        """Record a new snapshot; it replaces the one before."""
        if snapshot["turnId"] != self.turn_id:
            self.denied.clear()
        self.turn_id, self.current, self.holder = snapshot["turnId"], snapshot, holder
        self.snapshots.append(snapshot)

    def close_turn(self) -> None:
        """Record the end of the turn; calls that wait for an approval may not run any more."""
        self.turn_id = self.current = self.holder = None
        self.invalidate_waiting()

    def invalidate_waiting(self) -> None:
        """Calls that wait for an approval may not run any more: their snapshot is not valid now."""
        for call in self.calls.values():
            call.may_run = call.may_run and (call.approved or call.tool not in NEEDS_APPROVAL or call.covered)


@dataclass(eq=False)
class TrackedCall:
    """The first request with its call id. `permitted`: it named the current snapshot, on the socket that holds it."""

    id: str
    conversation: TrackedConversation
    tool: str
    arguments: Mapping[str, Any]
    session_id: str
    turn_id: str | None
    answer: asyncio.Future[Any]
    permitted: bool
    covered: bool = False
    may_run: bool = True
    approved: bool = False
    approval_id: str | None = None
    conflicts: int = 0

    @property
    def effect(self) -> str:
        """The line that the tool writes when it runs."""
        times = f" {self.arguments.get('times', 1)}" if self.tool == "note" else ""
        return f"{self.tool} {self.arguments['what']}{times}"


class TrackedDenials:
    """The noes in a row of every session, which outlive turns, conversations and connections."""

    def __init__(self) -> None:
        self._in_a_row: Counter[str] = Counter()

    def note_denial(self, call: TrackedCall) -> None:
        """Record that the person said no, or that a passkey proved nothing; it counts in the turn that asked, too."""
        self._in_a_row[call.session_id] += 1
        if call.turn_id == call.conversation.turn_id:
            call.conversation.denied.append((call.tool, call.arguments))

    def note_approval(self, call: TrackedCall) -> None:
        """Record that the person said yes, and the call runs."""
        self._in_a_row[call.session_id] = 0

    def may_ask(self, call: TrackedCall) -> bool:
        """Whether the person may be asked about this call."""
        return self._in_a_row[call.session_id] < DENIALS_PER_SESSION and call.conversation.allows_question(call)

    def allow(self, session_id: str, conversations: Sequence[TrackedConversation]) -> None:
        """Record that the person lets the session ask again."""
        self._in_a_row[session_id] = 0
        for conversation in conversations:
            if conversation.current is not None and conversation.current["sessionId"] == session_id:
                conversation.denied.clear()


@dataclass(eq=False)
class TrackedGrant:
    """A grant, as the console described it to the person."""

    id: str
    conversation: TrackedConversation
    session_id: str
    tool: str
    arguments: Mapping[str, Any]
    freed: frozenset[str]
    turn_id: str | None
    revoked: bool = False

    def covers(self, conversation: TrackedConversation, session_id: str, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the grant covers this call, by what the person was shown."""
        shown = {"times": 1, **self.arguments}
        asked = {"times": 1, **arguments}
        return (
            not self.revoked
            and (self.conversation, self.session_id, self.tool) == (conversation, session_id, tool)
            and self.turn_id in (None, conversation.turn_id)
            and all(asked[name] == shown[name] for name in shown if name not in self.freed)
        )


def find_violation(conversations: Sequence[TrackedConversation], effects: Sequence[str]) -> str | None:
    """The first effect that was not allowed, or that happened twice. Each effect is a line `conversation call what`."""
    by_id = {each.id: each for each in conversations}
    seen: set[tuple[str, str]] = set()
    for line in effects:
        conversation_id, call_id, effect = line.split(" ", 2)
        if conversation_id not in by_id:
            continue
        if (conversation_id, call_id) in seen:
            return f"ran twice: {line}"
        seen.add((conversation_id, call_id))
        call = by_id[conversation_id].calls.get(call_id)
        if call is None:
            return f"was never requested: {line}"
        if not call.permitted:
            return f"outside the open turn's snapshot: {line}"
        if effect != call.effect:
            return f"differs from the request and the statement: {line}"
        if call.tool in NEEDS_APPROVAL and not call.approved and not call.covered:
            return f"was not approved: {line}"
    return None
