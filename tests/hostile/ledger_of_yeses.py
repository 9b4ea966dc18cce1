"""What an onlooker who sees every message knows must be true: who asked for what under which snapshot, and who said yes.

It knows protocol.md and nothing of the gateway's insides. `find_wrong` compares it with the lines that the tools left outside
the gateway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.harness.person import Person
from tests.harness.socket import Socket

NEEDS_A_YES = {"note", "erase", "administer"}


@dataclass(eq=False)
class Browser:
    """One browser of one person: two tabs of the shell and a console. `session_id` is new after every sign-in."""

    name: str
    person: Person
    principal: str
    session_id: str = ""
    tabs: list[Socket] = field(default_factory=list[Socket])
    console: Socket = field(init=False)


@dataclass(eq=False)
class Talk:
    """A conversation. `holder` is the socket that its newest snapshot was given to."""

    id: str
    principal: str
    turn_id: str | None = None
    snapshots: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    current: Mapping[str, Any] | None = None
    holder: Socket | None = None
    calls: dict[str, Call] = field(default_factory=dict[str, "Call"])

    def receive(self, snapshot: Mapping[str, Any], holder: Socket) -> None:
        """A snapshot was given out; from now on it is the only one that counts."""
        self.turn_id, self.current, self.holder = snapshot["turnId"], snapshot, holder
        self.snapshots.append(snapshot)

    def close_turn(self) -> None:
        """The turn is over, and what waits under it may not run any more."""
        self.turn_id = self.current = self.holder = None
        self.void_waiting()

    def void_waiting(self) -> None:
        """Whatever is not running yet has lost what it was asked under."""
        for call in self.calls.values():
            call.may_run = call.may_run and (call.approved or call.tool not in NEEDS_A_YES or call.covered)


@dataclass(eq=False)
class Call:
    """The first request under its id; later ones under the same id can only repeat it."""

    id: str
    talk: Talk
    tool: str
    arguments: Mapping[str, Any]
    session_id: str
    answer: asyncio.Future[Any]
    lawful: bool
    covered: bool = False
    may_run: bool = True
    approved: bool = False
    approval_id: str | None = None
    conflicts: int = 0

    @property
    def effect(self) -> str:
        """The line that it leaves when it runs."""
        times = f" {self.arguments.get('times', 1)}" if self.tool == "note" else ""
        return f"{self.tool} {self.arguments['what']}{times}"


@dataclass(eq=False)
class Standing:
    """A yes that lasts, as the person was shown it."""

    id: str
    talk: Talk
    session_id: str
    tool: str
    arguments: Mapping[str, Any]
    freed: frozenset[str]
    turn_id: str | None
    revoked: bool = False

    def covers(self, talk: Talk, session_id: str, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the same person would say that they had agreed to this."""
        shown = {"times": 1, **self.arguments}
        asked = {"times": 1, **arguments}
        return (
            not self.revoked
            and (self.talk, self.session_id, self.tool) == (talk, session_id, tool)
            and self.turn_id in (None, talk.turn_id)
            and all(asked[name] == shown[name] for name in shown if name not in self.freed)
        )


def find_wrong(talks: Sequence[Talk], effects: Sequence[str]) -> str | None:
    """The first effect that nobody allowed, or that happened twice. Effects are `conversation call what`."""
    by_id = {talk.id: talk for talk in talks}
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
            return f"nobody asked for it: {line}"
        if not call.lawful:
            return f"outside the open turn's snapshot: {line}"
        if effect != call.effect:
            return f"something else than was asked and shown: {line}"
        if call.tool in NEEDS_A_YES and not call.approved and not call.covered:
            return f"nobody said yes: {line}"
    return None
