"""What operators do about people and their sessions: change a profile, suspend, resume, remove, lower or end a session.

Taking authority away holds at once: what a profile or a label gave was given to sessions, so those end, or are judged again.
Giving it from a console takes a passkey that answered a moment ago, as adding a passkey does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import PrincipalProfileChanged, PrincipalRemoved, PrincipalResumed, PrincipalSuspended
from gateway.core.model import Principal, Session
from gateway.core.vocabulary import Label, Profile
from gateway.runtime.asking import ChangeLock
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import Clock, ConsoleSession, Ledger, PeopleRecords
from gateway.runtime.sessions import Sessions
from gateway.runtime.turns import Turns


@dataclass(frozen=True, slots=True)
class EnrolledPerson:
    """A person, how many passkeys they have, when one of them was last used (epoch milliseconds), and how many agent sessions of
    theirs are alive."""

    person: Principal
    passkeys: int
    last_used_at: int | None
    sessions: int


class People:
    """The people of this gateway, by name or id. A person who was removed stays in the record and has no passkey."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: PeopleRecords,
        sessions: Sessions,
        connections: ConnectionRegistry,
        exposures: Exposures,
        turns: Turns,
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._sessions = sessions
        self._connections = connections
        self._exposures = exposures
        self._turns = turns
        self._clock = clock
        # "Never the last operator" holds only if one change is looked at after the other.
        self._changing = ChangeLock()

    async def list(self) -> Sequence[EnrolledPerson]:
        """Everybody who was ever enrolled, oldest first."""
        return [await self._describe(person) for person in await self._records.principals()]

    async def change_profile(self, named: str, profile: Profile, by: ConsoleSession | None = None) -> Principal:
        """Give a person another profile. Their sessions end: they sign in again as what they are now. Enrolment links that are
        open are void, for one may be in their hands and say what they were.

        `by` is the operator's console that asks for it; more than the person had takes its passkey. Raises NotFound, and Refused
        `lastOperator` or `stepUpRequired`.
        """
        async with self._changing:
            person = await self._find(named)
            if profile.reads_all:
                self._require_fresh(by)
            if profile is not Profile.OPERATOR:
                await self._require_another_operator(person)
            with self._connections.barring(person.id):
                await self._sessions.end_all(
                    person.id, "changed", PrincipalProfileChanged(self._clock.now(), person.id, profile, _id(by))
                )
        return replace(person, profile=profile)

    async def suspend(self, named: str, by: ConsoleSession | None = None) -> Principal:
        """Keep a person out until they are resumed: their sessions end, and what they approved among others does not count.
        Enrolment links that are open are void. Raises NotFound, and Refused `lastOperator` or `isSuspended`."""
        async with self._changing:
            person = await self._find(named)
            if person.suspended:
                raise Refused("isSuspended", f"{person.name} is suspended already", 409)
            await self._require_another_operator(person)
            with self._connections.barring(person.id):
                await self._sessions.end_all(person.id, "suspended", PrincipalSuspended(self._clock.now(), person.id, _id(by)))
        return replace(person, suspended=True)

    async def resume(self, named: str, by: ConsoleSession | None = None) -> Principal:
        """Let a suspended person sign in again, as what they were; from a console that takes its passkey. Raises NotFound, and
        Refused `notSuspended` or `stepUpRequired`."""
        async with self._changing:
            person = await self._find(named)
            if not person.suspended:
                raise Refused("notSuspended", f"{person.name} is not suspended", 409)
            self._require_fresh(by)
            await self._ledger.append(PrincipalResumed(self._clock.now(), person.id, person.profile, _id(by)))
        return replace(person, suspended=False)

    async def remove(self, named: str, by: ConsoleSession | None = None) -> Principal:
        """Take a person's passkeys and end their sessions. Enrolment links that are open are void, whatever name they were
        printed for: a name is what somebody typed, and whoever holds a link can enrol.

        Raises NotFound, and Refused `lastOperator`.
        """
        async with self._changing:
            person = await self._find(named)
            await self._require_another_operator(person)
            with self._connections.barring(person.id):
                await self._sessions.end_all(person.id, "removed", PrincipalRemoved(self._clock.now(), person.id, _id(by)))
        return person

    def sessions(self) -> Sequence[tuple[Session, Label]]:
        """Every agent session that is alive in this process, with the label it has now."""
        return [(session, Label(self._exposures.subject(session).label)) for session in self._connections.sessions()]

    async def downgrade(self, session_id: str, label: Label) -> None:
        """Raise a live session's label, so that it may do less: its snapshots are void, its grants end, and what waits or
        streams is judged again. Raises NotFound."""
        session = self._find_session(session_id)
        await self._exposures.downgrade(session, label)
        self._turns.revoke_snapshots("downgraded", session_id)
        self._turns.judge_waiting()

    async def end_session(self, session_id: str) -> None:
        """End a live session; the console session that lent it goes on. Raises NotFound."""
        await self._sessions.end_agent(self._find_session(session_id), "endedByOperator")

    # ── inside ──

    def _find_session(self, session_id: str) -> Session:
        session = next((each for each in self._connections.sessions() if each.id == session_id), None)
        if session is None:
            raise NotFound("no such session is alive")
        return session

    def _require_fresh(self, by: ConsoleSession | None) -> None:
        if by is not None:
            self._sessions.require_fresh(by)

    async def _describe(self, person: Principal) -> EnrolledPerson:
        passkeys = await self._records.passkeys(person.id)
        used = [passkey.last_used_at or passkey.created_at for passkey in passkeys]
        sessions = sum(session.principal.id == person.id for session in self._connections.sessions())
        return EnrolledPerson(person, len(passkeys), max(used, default=None), sessions)

    async def _find(self, named: str) -> Principal:
        people = await self._records.principals()
        found = [person for person in people if person.id == named] or [
            person for person in people if person.name == named and await self._records.passkeys(person.id)
        ]
        if len(found) != 1:
            known = "nobody" if not found else "more than one person"
            raise NotFound(f"{known} is called that; `countersign people list` shows names and ids")
        return found[0]

    async def _require_another_operator(self, person: Principal) -> None:
        if person.profile is not Profile.OPERATOR or person.suspended:
            return
        for other in await self._records.principals():
            if other.id == person.id or other.suspended or other.profile is not Profile.OPERATOR:
                continue
            if await self._records.passkeys(other.id):
                return
        raise Refused("lastOperator", "nobody else here is an operator; enrol another one first", 409)


def _id(console: ConsoleSession | None) -> str | None:
    return None if console is None else console.principal.id
