"""The grants of a session. Uses, time and revocation narrow them; nothing here can widen one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.core.approval import Grant
from gateway.core.errors import LedgerUnavailable, NotFound
from gateway.core.ledger import GrantRevoked
from gateway.core.model import Session
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.ports import Clock, GrantRecords, Ledger


class Grants:
    """The grants of every live session, kept in step with the ledger."""

    def __init__(self, *, ledger: Ledger, records: GrantRecords, connections: ConnectionRegistry, clock: Clock) -> None:
        self._ledger = ledger
        self._records = records
        self._connections = connections
        self._clock = clock
        self._by_session: dict[str, dict[str, Grant]] = {}
        self._changes = 0

    async def of_session(self, session_id: str) -> Sequence[Grant]:
        """Every grant of the session that still covers something."""
        now = self._clock.now()
        return [grant for grant in (await self._load(session_id)).values() if grant.stands(now)]

    async def usable(self, session: Session) -> Sequence[Grant]:
        """Those that a call could still come for: the conversation is there, and the turn of a turn's grant is open."""
        usable = {grant.id for grant in await self._records.grants_of(session.principal.id)}
        return [grant for grant in await self.of_session(session.id) if grant.id in usable]

    async def of_principal(self, principal_id: str) -> Sequence[Grant]:
        """Every grant a person has given that still covers something, over all their sessions."""
        now = self._clock.now()
        grants = await self._records.grants_of(principal_id)
        return [grant for grant in grants if grant.stands(now)]

    def hold(self, grant: Grant) -> None:
        """Remember a grant that the ledger has just recorded."""
        self._changes += 1
        if grant.session_id in self._by_session:
            self._by_session[grant.session_id][grant.id] = grant

    def use(self, grant: Grant) -> None:
        """Count one use, before the record of it is awaited: two calls at once never share the last use."""
        held = self._by_session[grant.session_id]
        held[grant.id] = replace(held[grant.id], uses=held[grant.id].uses + 1)

    def unuse(self, grant: Grant) -> None:
        """The record of a use could not be written, so it was none."""
        held = self._by_session.get(grant.session_id, {})
        if grant.id in held:
            held[grant.id] = replace(held[grant.id], uses=held[grant.id].uses - 1)

    def drop(self, grant: Grant) -> None:
        """The ledger does not take it any more, or will not from now on."""
        self._changes += 1
        self._by_session.get(grant.session_id, {}).pop(grant.id, None)

    async def revoke_own(self, session: Session, grant_id: str) -> None:
        """An agent session gives up one of its own grants: that only narrows its authority. Raises NotFound."""
        grant = (await self._load(session.id)).get(grant_id)
        if grant is None:
            raise NotFound("unknown grant")
        await self._revoke(grant, "revoked by the agent session")

    async def revoke(self, principal_id: str, grant_id: str) -> None:
        """A person takes back a yes on the console. Raises NotFound."""
        grant = await self._records.grant(grant_id)
        if grant is None or grant.principal_id != principal_id:
            raise NotFound("unknown grant")
        await self._revoke(grant, "revoked by the person")

    async def lapse(self, principal_id: str, covers_nothing: Callable[[Grant], bool], reason: str) -> tuple[GrantRevoked, ...]:
        """Some of a person's grants cover nothing any more: they are out of memory at once, before anything is awaited.

        Gives what the caller records together with what ended them. Whatever is read back in between, the ledger refuses the
        use of a grant that it knows to be revoked.
        """
        for held in self._by_session.values():
            for grant in [*held.values()]:
                if grant.principal_id == principal_id and covers_nothing(grant):
                    del held[grant.id]
        self._changes += 1
        now = self._clock.now()
        given = await self._records.grants_of(principal_id)
        return tuple(
            GrantRevoked(now, grant.id, principal_id, reason) for grant in given if covers_nothing(grant) and grant.stands(now)
        )

    async def reload(self, session_id: str) -> None:
        """What was dropped of a session stands after all: take its grants from the record again."""
        if session_id in self._by_session:
            read = await self._records.grants(session_id)
            self._changes += 1
            held = self._by_session.get(session_id, {})
            for grant in read:
                held.setdefault(grant.id, grant)

    def forget(self, session_id: str) -> None:
        """The session has ended; its grants cover nothing any more because no request can come from it."""
        self._by_session.pop(session_id, None)

    async def _revoke(self, grant: Grant, reason: str) -> None:
        # Out of memory first: a yes that is being taken back must not serve a call that comes in meanwhile.
        held = self._by_session.get(grant.session_id, {}).get(grant.id)
        self.drop(grant)
        try:
            await self._ledger.append(GrantRevoked(self._clock.now(), grant.id, grant.principal_id, reason))
        except LedgerUnavailable:
            # It stands, and can be taken back later: forgotten here alone it would be back after a restart.
            if held is not None and (grants := self._by_session.get(grant.session_id)) is not None:
                grants.setdefault(grant.id, held)
            raise
        finally:
            self._changes += 1

    async def _load(self, session_id: str) -> dict[str, Grant]:
        while (held := self._by_session.get(session_id)) is None:
            changes = self._changes
            read = {grant.id: grant for grant in await self._records.grants(session_id)}
            # What was given or taken back while this was being read may be missing in it, or still there: read again.
            if changes == self._changes:
                held = self._by_session.setdefault(session_id, read)
                self._connections.on_session_end(session_id, "grants", lambda _: self.forget(session_id))
                break
        return held
