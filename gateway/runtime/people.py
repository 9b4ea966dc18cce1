"""What an operator of this machine does about people and their sessions: change a profile, remove a person, lower a session.

Each takes authority away at once: what a profile or a label gave was given to sessions, so those end, or are judged again.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import PrincipalProfileChanged, PrincipalRemoved
from gateway.core.model import Principal, Session
from gateway.core.vocabulary import Label, Profile
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import Clock, Ledger, PeopleRecords
from gateway.runtime.sessions import Sessions
from gateway.runtime.turns import Turns


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

    async def list(self) -> Sequence[tuple[Principal, int]]:
        """Everybody who was ever enrolled, with the number of their passkeys."""
        return [(person, len(await self._records.passkeys(person.id))) for person in await self._records.principals()]

    async def change_profile(self, named: str, profile: Profile) -> Principal:
        """Give a person another profile. Their sessions end: they sign in again as what they are now. Enrolment links that are
        open are void, for one may be in their hands and say what they were.

        Raises NotFound, and Refused `lastOperator`.
        """
        person = await self._find(named)
        if profile is not Profile.OPERATOR:
            await self._require_another_operator(person)
        await self._ledger.append(PrincipalProfileChanged(self._clock.now(), person.id, profile))
        await self._sessions.end_all(person.id, "changed")
        return Principal(person.id, person.name, profile)

    async def remove(self, named: str) -> Principal:
        """Take a person's passkeys and end their sessions. Enrolment links that are open are void, whatever name they were
        printed for: a name is what somebody typed, and whoever holds a link can enrol.

        Raises NotFound, and Refused `lastOperator`.
        """
        person = await self._find(named)
        await self._require_another_operator(person)
        await self._ledger.append(PrincipalRemoved(self._clock.now(), person.id))
        await self._sessions.end_all(person.id, "removed")
        return person

    def sessions(self) -> Sequence[tuple[Session, Label]]:
        """Every agent session that is alive in this process, with the label it has now."""
        return [(session, Label(self._exposures.subject(session).label)) for session in self._connections.sessions()]

    async def downgrade(self, session_id: str, label: Label) -> None:
        """Raise a live session's label, so that it may do less: its snapshots are void, its grants end, and what waits or
        streams is judged again. Raises NotFound."""
        session = next((each for each in self._connections.sessions() if each.id == session_id), None)
        if session is None:
            raise NotFound("no such session is alive")
        await self._exposures.downgrade(session, label)
        self._turns.revoke_snapshots("downgraded", session_id)

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
        for other in await self._records.principals():
            if other.id != person.id and other.profile is Profile.OPERATOR and await self._records.passkeys(other.id):
                return
        if person.profile is Profile.OPERATOR:
            raise Refused("lastOperator", "nobody else here is an operator; enrol another one first", 409)
