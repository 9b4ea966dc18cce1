"""The console's methods about people and their agent sessions (docs/PROTOCOL.md section 6), for operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.core.errors import InvalidParams
from gateway.core.model import Session
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Label, Profile
from gateway.protocol import people_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.people import EnrolledPerson, People
from gateway.runtime.timing import Timing
from gateway.server.access import Origins
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow
from gateway.server.methods.views import LABEL_NAMES
from gateway.server.qr import qr_rows


class PeopleMethods:
    """The handlers."""

    def __init__(self, people: People, passkeys: PasskeyCeremonies, origins: Origins, timing: Timing) -> None:
        self._people = people
        self._passkeys = passkeys
        self._origins = origins
        self._timing = timing

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        reads, changes = Concurrency.AT_ONCE, Concurrency.IN_ORDER

        def row(answer: Any, concurrency: Concurrency, *audit: str) -> MethodRow[ConsoleCaller]:
            return MethodRow(answer, concurrency, MethodPermission.OPERATOR, audit)

        ended = ("console-session:ended", "agent-session:ended")
        return {
            "people/list": row(self.list, reads),
            "people/invite": row(self.invite, changes, "enrolment:offered"),
            "people/set-profile": row(self.set_profile, changes, "principal:profile-changed", *ended),
            "people/suspend": row(self.suspend, changes, "principal:suspended", *ended),
            "people/resume": row(self.resume, changes, "principal:resumed"),
            "people/remove": row(self.remove, changes, "principal:removed", *ended),
            "sessions/list": row(self.list_sessions, reads),
            "sessions/end": row(self.end_session, reads, "agent-session:ended"),
            "sessions/restrict": row(self.restrict_session, changes, "agent-session:label-raised"),
        }

    async def list(self, _caller: ConsoleCaller, _params: Nothing) -> wire.PersonList:
        """Everybody."""
        return wire.PersonList(people=tuple(map(_view_person, await self._people.list())))

    async def invite(self, caller: ConsoleCaller, params: wire.Invitation) -> wire.InvitationLink:
        """A link for a new person."""
        profile, seconds = _require_enrolled(params.profile), self._timing.enrolment
        token = await self._passkeys.offer(params.name, profile, seconds=seconds, by=caller.session)
        link = self._origins.enrolment_link(token)
        return wire.InvitationLink(link=link, seconds=int(seconds), qr=qr_rows(link))

    async def set_profile(self, caller: ConsoleCaller, params: wire.ProfileChoice) -> Nothing:
        """Another profile."""
        await self._people.change_profile(params.principal, _require_enrolled(params.profile), caller.session)
        return Nothing()

    async def suspend(self, caller: ConsoleCaller, params: wire.PersonRef) -> Nothing:
        """Out, for now."""
        await self._people.suspend(params.principal, caller.session)
        return Nothing()

    async def resume(self, caller: ConsoleCaller, params: wire.PersonRef) -> Nothing:
        """In again."""
        await self._people.resume(params.principal, caller.session)
        return Nothing()

    async def remove(self, caller: ConsoleCaller, params: wire.PersonRef) -> Nothing:
        """Out, for good."""
        await self._people.remove(params.principal, caller.session)
        return Nothing()

    async def list_sessions(self, _caller: ConsoleCaller, _params: Nothing) -> wire.SessionList:
        """Agent sessions that are alive."""
        return wire.SessionList(sessions=tuple(_view_session(*each) for each in self._people.sessions()))

    async def end_session(self, _caller: ConsoleCaller, params: wire.SessionRef) -> Nothing:
        """End one."""
        await self._people.end_session(params.session_id)
        return Nothing()

    async def restrict_session(self, _caller: ConsoleCaller, params: wire.SessionLabelChoice) -> Nothing:
        """Let one do less."""
        labels = {name: Label(label) for label, name in LABEL_NAMES.items()}
        await self._people.downgrade(params.session_id, labels[params.label])
        return Nothing()


def _require_enrolled(profile: Profile) -> Profile:
    if profile is Profile.ANONYMOUS:
        raise InvalidParams("`profile` must be operator, guest or auditor: nobody is enrolled to be unknown")
    return profile


def _view_person(enrolled: EnrolledPerson) -> wire.WirePerson:
    return wire.WirePerson(
        id=enrolled.person.id,
        name=enrolled.person.name,
        profile=enrolled.person.profile,
        suspended=enrolled.person.suspended,
        passkeys=enrolled.passkeys,
        last_used_at=None if enrolled.last_used_at is None else rfc3339(enrolled.last_used_at),
        sessions=enrolled.sessions,
    )


def _view_session(session: Session, label: Label) -> wire.AliveSession:
    return wire.AliveSession(
        id=session.id,
        principal=session.principal.id,
        principal_name=session.principal.name,
        label=LABEL_NAMES[label],
        expires_at=rfc3339(session.expires_at),
    )
