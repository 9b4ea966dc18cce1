"""Tells the policy what is true at the moment of a call: counts, tools that ran, the time, where its arguments came from. Only
what its rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

from gateway.core.canonical import Json
from gateway.core.model import Session
from gateway.core.moment import Moment, MomentFact
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import Clock, PolicyEngine, PolicySubject, QuotaRecords


class Moments:
    """Says whom the policy judges, and when."""

    def __init__(
        self,
        *,
        policy: PolicyEngine,
        exposures: Exposures,
        records: QuotaRecords,
        connections: ConnectionRegistry,
        clock: Clock,
        zone: tzinfo = UTC,
    ) -> None:
        """`zone` is the operator's, in which rules read the clock."""
        self._policy = policy
        self._exposures = exposures
        self._records = records
        self._connections = connections
        self._clock = clock
        self._zone = zone

    async def recall(self, session: Session) -> None:
        """Take up the session's history from before this process, once; afterwards it is counted in memory."""
        live = self._connections.live(session)
        if live.calls is None:
            calls, tools = await self._records.calls_in_session(session.id), await self._records.tools_in_session(session.id)
            # Another call may have taken it up, and counted on, while this one was reading.
            live.calls = max(calls, live.calls or 0)
            live.tools_used |= tools

    def subject(self, session: Session, conversation: Conversation, arguments: Mapping[str, Json] | None = None) -> PolicySubject:
        """The session's person at the label and the moment that hold now. `arguments` are those of a call, if it is about one."""
        subject, reads = self._exposures.subject(session), self._policy.reads
        if not reads:
            return subject
        return PolicySubject(subject.principal, subject.label, self._tell(session, conversation, reads, arguments or {}))

    def _tell(
        self, session: Session, conversation: Conversation, reads: frozenset[MomentFact], arguments: Mapping[str, Json]
    ) -> Moment:
        live, turn = self._connections.live(session), conversation.turn
        local = datetime.fromtimestamp(self._clock.now() / 1000, self._zone)
        return Moment(
            calls_in_turn=(0 if turn is None else turn.calls) if MomentFact.CALLS_IN_TURN in reads else None,
            calls_in_session=(live.calls or 0) if MomentFact.CALLS_IN_SESSION in reads else None,
            tools_used=frozenset(live.tools_used) if MomentFact.TOOLS_USED in reads else None,
            minute_of_day=local.hour * 60 + local.minute if MomentFact.MINUTE_OF_DAY in reads else None,
            weekday=local.isoweekday() if MomentFact.WEEKDAY in reads else None,
            arguments_from_untrusted=conversation.untrusted.compare(arguments).found
            if MomentFact.ARGUMENTS_FROM_UNTRUSTED in reads
            else None,
        )
