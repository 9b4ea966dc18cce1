"""What sessions and conversations have seen. It rises here, and nothing lowers it.

A tab that has been given labelled content can carry it anywhere: into another conversation, into a call, into a prompt. So a
label holds for the session as well, for every conversation that this session writes into afterwards, and for every session
that reads such a conversation. Taint stays with the conversation, for it says what the model there has read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gateway.core.labels import expose
from gateway.core.ledger import AgentSessionLabelRaised, ConversationTainted, Entry
from gateway.core.model import Session
from gateway.core.vocabulary import Label, Trust
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.grants import Grants
from gateway.runtime.ports import Clock, Ledger, PolicySubject

OnRise = Callable[[], None]
"""Judges again what was decided before a label rose or untrusted content came in. Must not wait."""


class Exposures:
    """Raises labels and taint, in memory at once and then on record."""

    def __init__(self, *, ledger: Ledger, grants: Grants, connections: ConnectionRegistry, clock: Clock) -> None:
        self._ledger = ledger
        self._grants = grants
        self._connections = connections
        self._clock = clock
        self._rising: list[OnRise] = []

    def on_rise(self, react: OnRise) -> None:
        """Register what is judged again when a label has risen or untrusted content came in; wired once, at composition."""
        self._rising.append(react)

    def subject(self, session: Session) -> PolicySubject:
        """Whom the policy judges: the session's person, at the label that the session has now."""
        return PolicySubject(session.principal, self._connections.live(session).label)

    async def let_in(
        self, conversation: Conversation, session_id: str, trust: Trust, labels: Iterable[str], call_id: str
    ) -> tuple[Entry, ...]:
        """Content of a call is about to reach a session: raise what it raises, and give what records that.

        Raised before anything is awaited: a call that is decided meanwhile must see what this one let in. The caller tells
        nobody of the content before its entries are on record, and keeps trying to record them.
        """
        before = conversation.exposure
        exposed = expose(before, trust, labels)
        risen = self._connections.raise_label(session_id, exposed.label, recorded=True)
        conversation.raise_exposure(exposed)
        if risen or exposed != before or trust is Trust.UNTRUSTED:
            self._judge_again()
        if not risen and exposed == before:
            # As for nearly every call: there is nothing to record.
            return ()
        now, owner = self._clock.now(), conversation.principal_id
        tainted = ConversationTainted(now, conversation.id, owner, exposed.taint, exposed.label, call_id)
        labelled = AgentSessionLabelRaised(now, session_id, owner, exposed.label, conversation.id)
        return (
            *((tainted,) if exposed != before else ()),
            *((labelled,) if risen else ()),
            *(await self._lapse(conversation, session_id) if risen or exposed.label > before.label else ()),
        )

    async def read(self, session: Session, conversation: Conversation) -> None:
        """The session is about to be told what is in a conversation: it takes the conversation's label, on record first."""
        live = self._connections.live(session)
        label = conversation.exposure.label
        if live.recorded_label >= label:
            return
        if self._connections.raise_label(session.id, label, recorded=False):
            self._judge_again()
        raised = AgentSessionLabelRaised(self._clock.now(), session.id, session.principal.id, label, conversation.id)
        await self._ledger.append(raised, *await self._lapse(conversation, session.id))
        live.recorded_label = max(live.recorded_label, label)

    async def write(self, session: Session, conversation: Conversation) -> None:
        """The session is about to put something into a conversation, which takes the session's label, on record first."""
        label = self._connections.live(session).label
        before = conversation.exposure
        if before.label >= label:
            return
        now, owner = self._clock.now(), conversation.principal_id
        tainted = ConversationTainted(now, conversation.id, owner, before.taint, label, "")
        await self._ledger.append(tainted, *await self._lapse(conversation, session.id))
        conversation.raise_exposure(expose(conversation.exposure, Trust.TRUSTED, (Label(label).mark,)))
        self._judge_again()

    async def downgrade(self, session: Session, label: Label) -> None:
        """An operator of this machine has the session treated as if it had seen what is labelled so."""
        live, owner = self._connections.live(session), session.principal.id
        # It forbids, so it holds before the disk has it, and where the disk does not take it. What an earlier try took back that
        # could not be recorded is taken back again, for the record.
        if live.recorded_label < live.label:
            await self._grants.reload(session.id)
        if self._connections.raise_label(session.id, label, recorded=False):
            self._judge_again()
        lapsed = await self._grants.lapse(owner, lambda grant: grant.session_id == session.id, "the session was downgraded")
        await self._ledger.append(AgentSessionLabelRaised(self._clock.now(), session.id, owner, int(label), None), *lapsed)
        live.recorded_label = max(live.recorded_label, int(label))

    def _judge_again(self) -> None:
        for react in self._rising:
            react()

    async def _lapse(self, conversation: Conversation, session_id: str) -> tuple[Entry, ...]:
        """What was granted before anybody knew what the session would hold covers nothing now."""
        return await self._grants.lapse(
            conversation.principal_id,
            lambda grant: conversation.id == grant.conversation_id or session_id == grant.session_id,
            "the label rose",
        )
