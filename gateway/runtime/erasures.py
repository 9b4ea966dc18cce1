"""Erasing what is kept of a call, of a conversation or of a person. The log says that it was done, and every proof stays valid.

Only from the host's shell, or by an operator whose passkey answered a moment ago: an erasure takes what would tell of a misdeed,
so nobody may do it who works through an agent.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol, assert_never

from gateway.core.approval import Grant
from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import (
    CallSubject,
    ConversationDeleted,
    ConversationSubject,
    Entry,
    ErasureReason,
    ErasureSubject,
    GrantRevoked,
    PersonSubject,
    RecordsErased,
)
from gateway.runtime.asking import require_asker
from gateway.runtime.conversations import Conversations
from gateway.runtime.grants import Grants
from gateway.runtime.ports import (
    CallRecords,
    CallState,
    Clock,
    ConsoleSession,
    ErasureRecordsReader,
    Ledger,
    PeopleRecords,
)
from gateway.runtime.sessions import Sessions

MOST_RETAINED_AT_ONCE: Final = 50
"""Calls whose time is up that are erased in one transaction: nobody else's commit waits long for it."""


class ErasingRecords(ErasureRecordsReader, CallRecords, PeopleRecords, Protocol):
    """What erasing reads."""


@dataclass(frozen=True, slots=True)
class Erased:
    """How many records lost their payloads, and which copies of the conversation are still there."""

    records: int
    copies: Sequence[str] = ()


class Erasures:
    """One erasure after another, each a transaction of its own."""

    def __init__(
        self,
        ledger: Ledger,
        records: ErasingRecords,
        conversations: Conversations,
        grants: Grants,
        sessions: Sessions,
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._conversations = conversations
        self._grants = grants
        self._sessions = sessions
        self._clock = clock

    async def find_call(self, call_id: str) -> CallSubject:
        """The call of that id, where it says enough. Raises NotFound, and Refused `ambiguous`."""
        found = await self._records.conversations_of_call(call_id)
        if not found:
            raise NotFound("there is no such call")
        if len(found) > 1:
            raise Refused("ambiguous", "more than one conversation has a call of that id; name the conversation, too", 409)
        return CallSubject(found[0], call_id)

    async def erase(self, subject: ErasureSubject, by: ConsoleSession | None = None) -> Erased:
        """Erase what is kept of it. `by` is the operator's console that asks for it, which takes its passkey.

        Raises NotFound where nothing is kept, and Refused `stepUpRequired`, `isOpen` or `isEnrolled`.
        """
        if by is not None:
            self._sessions.require_fresh(by)
        async with self._held(subject):
            require_asker()
            return await self._erase(subject, by)

    async def _erase(self, subject: ErasureSubject, by: ConsoleSession | None) -> Erased:
        await self._require_closed(subject)
        now, person = self._clock.now(), None if by is None else by.principal.id
        entries = await self._records.plan_erasure(subject, ErasureReason.REQUESTED, now, person)
        if not entries:
            raise NotFound("nothing is kept of that, or there is no such thing")
        copies = await self._records.copies_of(subject.conversation_id) if isinstance(subject, ConversationSubject) else ()
        # What an erased question allowed cannot be shown to anybody any more, so it allows nothing.
        await self._ledger.append(*await self._end_grants(subject), *await self._end_grants_of(entries, {subject}), *entries)
        for each in entries:
            if isinstance(each, ConversationDeleted):
                self._conversations.discard(each.id)
            elif isinstance(each, RecordsErased) and isinstance(each.subject, CallSubject | ConversationSubject):
                self._conversations.forget(each.subject.conversation_id)
        return Erased(sum(len(each.records) for each in entries if isinstance(each, RecordsErased)), copies)

    async def retain(self) -> int:
        """Erase the content of the calls that have been kept for long enough, some of them. Gives of how many."""
        now = self._clock.now()
        due = await self._records.due_calls(now, MOST_RETAINED_AT_ONCE)
        entries: list[Entry] = []
        done: set[ErasureSubject | None] = set()
        for call in due:
            # With a call go those that read on in its result, and their own time may be up as well.
            planned = [
                each for each in await self._records.plan_erasure(call, ErasureReason.RETENTION, now) if _of(each) not in done
            ]
            entries += [*await self._end_grants_of(planned, done), *planned]
            done.update(map(_of, planned))
        if entries:
            await self._ledger.append(*entries)
        for call in due:
            self._conversations.forget(call.conversation_id)
        return len(due)

    @asynccontextmanager
    async def _held(self, subject: ErasureSubject) -> AsyncGenerator[None]:
        """Nothing begins meanwhile in the conversation that it is, or is in. Raises Refused `isOpen`."""
        if isinstance(subject, PersonSubject):
            yield
            return
        try:
            conversation = await self._conversations.restore(subject.conversation_id)
        except NotFound:
            # Deleted before; what the log keeps of it may still be erased.
            yield
            return
        async with self._conversations.hold(conversation):
            if isinstance(subject, ConversationSubject) and not conversation.is_quiet:
                raise Refused("isOpen", "a turn or a call is open in it; end it, or its session, first", 409)
            yield

    async def _require_closed(self, subject: ErasureSubject) -> None:
        match subject:
            case CallSubject():
                call = await self._records.call(subject.conversation_id, subject.call_id)
                if call is None:
                    raise NotFound("there is no such call")
                if call.state is not CallState.CLOSED:
                    raise Refused("isOpen", "the call has not closed; cancel it first", 409)
                return
            case ConversationSubject():
                pass
            case PersonSubject():
                if all(person.id != subject.person_id for person in await self._records.principals()):
                    raise NotFound("nobody has that id; `countersign people list` shows names and ids")
                if await self._records.passkeys(subject.person_id):
                    raise Refused("isEnrolled", "they can still sign in; remove them first", 409)
            case _:
                assert_never(subject)
        if await self._records.open_turns(subject):
            raise Refused("isOpen", "a turn is open in it; end it, or its session, first", 409)

    async def _end_grants_of(self, entries: Sequence[Entry], done: Collection[ErasureSubject | None]) -> Sequence[GrantRevoked]:
        """Those that rest on the calls that these entries erase, without those of `done`."""
        calls = dict.fromkeys(subject for each in entries if isinstance(subject := _of(each), CallSubject))
        return [ended for call in calls if call not in done for ended in await self._end_grants(call)]

    async def _end_grants(self, subject: ErasureSubject) -> Sequence[GrantRevoked]:
        call = await self._records.call(subject.conversation_id, subject.call_id) if isinstance(subject, CallSubject) else None
        approval_id = None if call is None else call.approval_id

        def rests(grant: Grant) -> bool:
            match subject:
                case CallSubject():
                    return grant.approval_id == approval_id
                case ConversationSubject():
                    return grant.conversation_id == subject.conversation_id
                case PersonSubject():
                    return grant.principal_id == subject.person_id
                case _:
                    assert_never(subject)

        people = [person.id for person in await self._records.principals()]
        return [lapsed for person in people for lapsed in await self._grants.lapse(person, rests, "erased")]


def _of(entry: Entry) -> ErasureSubject | None:
    return entry.subject if isinstance(entry, RecordsErased) else None
