"""Conversations: what was said, and the one turn that may be open.

Messages that a browser appends are stored as claimed; tool results come from the calls' own records. Neither is ever
authority. One process writes the database, so the copy in memory is the truth while a conversation is in use.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import orjson

from gateway.core.canonical import Json
from gateway.core.errors import InvalidParams, NotFound
from gateway.core.labels import Exposure
from gateway.core.ledger import (
    ConversationDeleted,
    ConversationOpened,
    ConversationRenamed,
    ConversationTainted,
    Message,
    MessageAppended,
)
from gateway.core.model import Session
from gateway.core.titles import is_plain, tidied
from gateway.core.untrusted_text import UntrustedTexts
from gateway.core.vocabulary import Role
from gateway.runtime.calls import ClosedCall
from gateway.runtime.conversation import CLOSED_REMEMBERED, Conversation, Turn
from gateway.runtime.exposures import Exposures
from gateway.runtime.forgotten import ForgottenCalls
from gateway.runtime.ports import (
    CallRecord,
    Clock,
    ConversationRecord,
    ConversationRecords,
    Entropy,
    FoundMessage,
    Ledger,
)
from gateway.runtime.quotas import Quotas
from gateway.runtime.untrusted_results import recall_results

IN_MEMORY = 2_000
"""Conversations kept in memory; idle ones beyond that are read again when needed."""

PAGE = 50
FOUND_PAGE = 20
"""Messages of one page of a search."""

MOST_WORDS = 8
"""Words that one search looks for: each is looked for in every message of the person."""

UNTITLED = "New conversation"


class Conversations:
    """The conversations of every principal; each method answers only to the owner."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: ConversationRecords,
        quotas: Quotas,
        exposures: Exposures,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self._ledger = ledger
        self._exposures = exposures
        self._records = records
        self._quotas = quotas
        self._clock = clock
        self._entropy = entropy
        self._open: OrderedDict[str, Conversation] = OrderedDict()
        self._loading: dict[str, asyncio.Task[Conversation | None]] = {}

    async def enter(self, session: Session, conversation_id: str) -> Conversation:
        """The session's own conversation. Raises NotFound for an unknown one and for somebody else's alike (row 2).

        Whoever enters may be told what is in it, so the session takes the conversation's label.
        """
        conversation = self._open.get(conversation_id) or await self._load(conversation_id)
        if conversation is None or conversation.principal_id != session.principal.id:
            raise NotFound("unknown conversation")
        if conversation_id in self._open:
            self._open.move_to_end(conversation_id)
        await self._exposures.read(session, conversation)
        return conversation

    async def restore(self, conversation_id: str) -> Conversation:
        """A conversation for recovery, whoever owns it. Raises NotFound."""
        conversation = self._open.get(conversation_id) or await self._load(conversation_id)
        if conversation is None:
            raise NotFound("unknown conversation")
        return conversation

    @asynccontextmanager
    async def hold(self, conversation: Conversation) -> AsyncGenerator[None]:
        """Nobody else begins a turn in it, adds to it or deletes it meanwhile. Raises NotFound where it was deleted while this
        waited."""
        async with conversation.beginning:
            if conversation.gone:
                raise NotFound("unknown conversation")
            yield

    def discard(self, conversation_id: str) -> None:
        """It was deleted: nobody finds it any more, and whoever has it in hand adds nothing to it."""
        conversation = self._open.pop(conversation_id, None)
        if conversation is not None:
            conversation.delete()

    def forget(self, conversation_id: str) -> None:
        """Let go of one whose content was erased, unless it is in use: what is left is read again."""
        held = self._open.get(conversation_id)
        if held is not None and held.idle:
            del self._open[conversation_id]

    def in_use(self) -> Sequence[Conversation]:
        """Everything in memory."""
        return tuple(self._open.values())

    async def create(self, session: Session, title: str | None) -> ConversationRecord:
        """A new, empty conversation. It starts at the session's label."""
        self._quotas.charge_storage(session)
        conversation_id = self._entropy.identifier("cnv_")
        title = tidied(title or "") or UNTITLED
        now, owner = self._clock.now(), session.principal.id
        exposure = Exposure(label=self._exposures.subject(session).label)
        await self._ledger.append(
            ConversationOpened(now, conversation_id, owner, title), *_tainted(now, conversation_id, owner, exposure)
        )
        self._keep(Conversation(conversation_id, owner, title, exposure, None, 0, 0))
        return await self.describe(session, conversation_id)

    async def describe(self, session: Session, conversation_id: str) -> ConversationRecord:
        """The head of one's own conversation."""
        record = await self._records.conversation(conversation_id)
        if record is None or record.principal_id != session.principal.id:
            raise NotFound("unknown conversation")
        return record

    async def messages(self, session: Session, conversation_id: str) -> Sequence[Message]:
        """What was said, in order: claimed messages and, between them, the results that the gateway recorded."""
        await self.enter(session, conversation_id)
        stored = await self._records.messages(conversation_id)
        calls = await self._records.calls(conversation_id)
        return interleave(stored, calls)

    async def list(
        self, session: Session, cursor: tuple[int, str] | None
    ) -> tuple[Sequence[ConversationRecord], tuple[int, str] | None]:
        """A page, most recently used first, and where the next one starts."""
        rows = await self._records.conversations(session.principal.id, before=cursor, limit=PAGE + 1)
        page = rows[:PAGE]
        following = (page[-1].updated_at, page[-1].id) if len(rows) > PAGE else None
        return page, following

    async def search(
        self, session: Session, text: str, cursor: tuple[int, str, int] | None
    ) -> tuple[Sequence[FoundMessage], tuple[int, str, int] | None]:
        """What was said with every word of the text in it, newest first, and where the next page starts.

        Conversations above the session's label are left out, whether they have the words or not: reading a line of one would
        raise the label of the session, and no search does that unasked.
        """
        words = text.split()
        if len(words) > MOST_WORDS:
            raise InvalidParams(f"at most {MOST_WORDS} words are looked for at once")
        label = self._exposures.subject(session).label
        rows = await self._records.find_messages(session.principal.id, words, label=label, before=cursor, limit=FOUND_PAGE + 1)
        page = rows[:FOUND_PAGE]
        last = page[-1].message if len(rows) > FOUND_PAGE else None
        following = None if last is None else (last.at, last.conversation_id, last.index)
        # A label rises in memory before it is on record.
        held = {each: conversation.exposure.label for each, conversation in self._open.items()}
        return [each for each in page if held.get(each.message.conversation_id, 0) <= label], following

    async def rename(self, session: Session, conversation_id: str, title: str) -> None:
        """Another title. Raises InvalidParams for one with what nobody sees: who writes a title wants all of it shown."""
        if not is_plain(title):
            raise InvalidParams("a title is one line, without control characters and without characters that turn others around")
        conversation = await self.enter(session, conversation_id)
        self._quotas.charge_storage(session)
        async with self.hold(conversation):
            await self._ledger.append(ConversationRenamed(self._clock.now(), conversation_id, session.principal.id, title))
            conversation.rename(title)

    async def delete(self, session: Session, conversation_id: str) -> None:
        """Its messages go; what it did stays in the audit log. A conversation with an open turn is not deleted."""
        conversation = await self.enter(session, conversation_id)
        async with self.hold(conversation):
            if not conversation.is_quiet:
                raise InvalidParams("the conversation has an open turn; end or cancel it first")
            await self._ledger.append(ConversationDeleted(self._clock.now(), conversation_id, session.principal.id))
            self.discard(conversation_id)

    async def fork(self, session: Session, conversation_id: str, from_turn: int) -> ConversationRecord:
        """A copy of everything before the turn with index `from_turn`. The copy starts with no call, grant or turn.

        Turns are counted as they are read: first those that the conversation inherited, then its own.
        """
        original = await self.enter(session, conversation_id)
        head = await self.describe(session, conversation_id)
        last = head.inherited_turns + head.turn_count
        if not 0 <= from_turn <= last:
            raise InvalidParams(f"`fromTurn` must lie between 0 and {last}")
        messages = await self.messages(session, conversation_id)
        places = place_turns(messages, await self._records.turn_indices(conversation_id), head.inherited_turns)
        kept = [message for message in messages if places[message.turn_id] < from_turn]
        self._quotas.charge_storage(session, sum(len(message.content.encode()) for message in kept), records=1 + len(kept))
        now = self._clock.now()
        copy_id = self._entropy.identifier("cnv_")
        owner = session.principal.id
        copies = [MessageAppended(now, owner, replace_place(message, copy_id, index)) for index, message in enumerate(kept)]
        opened = ConversationOpened(now, copy_id, owner, head.title, parent_id=conversation_id, fork_at=from_turn)
        # What the original had read, the copy has read: exposure never falls by forking, not even for a moment. It is taken
        # after the messages were, because it rises before a result can be read.
        exposure = Exposure(original.exposure.taint, max(original.exposure.label, self._exposures.subject(session).label))
        await self._ledger.append(opened, *_tainted(now, copy_id, owner, exposure), *copies)
        return await self.describe(session, copy_id)

    async def append_message(
        self,
        session: Session,
        conversation_id: str,
        turn_id: str,
        role: Role,
        content: str,
        tool_calls: Sequence[Mapping[str, Json]] = (),
    ) -> int:
        """Store what a browser says was said, as claimed. Gives the message's index."""
        if role not in (Role.USER, Role.ASSISTANT):
            raise InvalidParams("only `user` and `assistant` messages are taken from a browser")
        conversation = await self.enter(session, conversation_id)
        if not await self._knows_turn(conversation, turn_id):
            raise NotFound("unknown turn")
        await self._exposures.write(session, conversation)
        self._quotas.charge_storage(session, len(content.encode()) + sum(len(orjson.dumps(call)) for call in tool_calls))
        async with self.hold(conversation):
            message = self.claim(conversation, turn_id, role, content, tool_calls)
            await self._ledger.append(MessageAppended(message.at, session.principal.id, message))
        return message.index

    def claim(
        self,
        conversation: Conversation,
        turn_id: str,
        role: Role,
        content: str,
        tool_calls: Sequence[Mapping[str, Json]] = (),
    ) -> Message:
        """The next message of a conversation, as the browser claims it; the caller records it."""
        return Message(
            conversation_id=conversation.id,
            turn_id=turn_id,
            index=conversation.take_message_index(),
            role=role,
            content=content,
            provenance="claimed",
            at=self._clock.now(),
            tool_calls=tuple(tool_calls),
        )

    async def _knows_turn(self, conversation: Conversation, turn_id: str) -> bool:
        if conversation.turn is not None and conversation.turn.id == turn_id:
            return True
        return turn_id in await self._records.turn_indices(conversation.id)

    async def _load(self, conversation_id: str) -> Conversation | None:
        # Two messages for a conversation that is not in memory must end up with one copy of it, and the one that began to
        # read may be gone with its connection before the other has its answer.
        loading = self._loading.get(conversation_id)
        if loading is None:
            loading = self._loading[conversation_id] = asyncio.get_running_loop().create_task(self._read_in(conversation_id))
            loading.add_done_callback(lambda _: self._loading.pop(conversation_id, None))
        return await asyncio.shield(loading)

    async def _read_in(self, conversation_id: str) -> Conversation | None:
        conversation = await self._read(conversation_id)
        if conversation is not None:
            self._keep(conversation)
        return conversation

    async def _read(self, conversation_id: str) -> Conversation | None:
        record = await self._records.conversation(conversation_id)
        if record is None:
            return None
        calls = await self._records.calls(conversation_id)
        waiting = [open_ for open_ in await self._records.open_approvals() if open_.request.conversation_id == record.id]
        turn = None
        if record.open_turn_id is not None and record.open_turn_session_id is not None:
            turn = Turn(
                id=record.open_turn_id,
                index=record.open_turn_index or 0,
                session_id=record.open_turn_session_id,
                model_id=record.open_turn_model_id,
                snapshot=None,
                lineage=frozenset(open_.request.snapshot_id for open_ in waiting),
                calls=sum(call.turn_id == record.open_turn_id for call in calls),
            )
        untrusted = UntrustedTexts()
        if record.taint:
            copied = await self._records.messages(conversation_id) if record.inherited_turns else ()
            untrusted = await recall_results(calls, copied)
        return Conversation(
            id=record.id,
            principal_id=record.principal_id,
            title=record.title,
            untrusted=untrusted,
            exposure=Exposure(record.taint, record.label),
            turn=turn,
            turn_count=record.turn_count,
            message_count=record.message_count,
            # Those that are still open are no new calls either; one that waits for a person gets its call back beside it.
            closed={call.call_id: ClosedCall(call.request_digest, None, None) for call in calls[-CLOSED_REMEMBERED:]},
            forgotten=ForgottenCalls(call.call_id for call in calls[:-CLOSED_REMEMBERED]),
        )

    def _keep(self, conversation: Conversation) -> None:
        self._open[conversation.id] = conversation
        if len(self._open) > IN_MEMORY:
            for other in tuple(self._open.values())[: len(self._open) - IN_MEMORY]:
                if other.idle:
                    del self._open[other.id]


def _tainted(at: int, conversation_id: str, owner: str, exposure: Exposure) -> Sequence[ConversationTainted]:
    """What records the exposure that a new conversation begins with, if it begins with any."""
    if exposure == Exposure():
        return ()
    return (ConversationTainted(at, conversation_id, owner, exposure.taint, exposure.label, ""),)


def interleave(stored: Sequence[Message], calls: Sequence[CallRecord]) -> Sequence[Message]:
    """Claimed messages with the recorded results placed by time; a result says which call it answers."""
    results = [
        Message(
            conversation_id=call.conversation_id,
            turn_id=call.turn_id,
            index=-1,
            role=Role.TOOL,
            content=call.result.content,
            provenance=f"{'gateway/own' if call.result.own else 'gateway'}:{call.tool}",
            at=call.closed_at or call.received_at,
            call_id=call.call_id,
        )
        for call in calls
        if call.result is not None
    ]
    return sorted([*stored, *results], key=lambda message: message.at)


def place_turns(messages: Sequence[Message], own: Mapping[str, int], inherited: int) -> Mapping[str, int]:
    """Where each turn of these messages stands in the whole conversation; `own` are the indices of the turns held in it.

    Of an inherited turn only its messages are known, so those are counted as they come.
    """
    copied = dict.fromkeys(message.turn_id for message in messages if message.turn_id not in own)
    earlier = {turn_id: min(place, inherited - 1) for place, turn_id in enumerate(copied)}
    return earlier | {turn_id: inherited + index for turn_id, index in own.items()}


def replace_place(message: Message, conversation_id: str, index: int) -> Message:
    """The same message in another conversation. Copied results keep saying where they came from."""
    return Message(
        conversation_id=conversation_id,
        turn_id=message.turn_id,
        index=index,
        role=message.role,
        content=message.content,
        provenance=message.provenance,
        at=message.at,
        call_id=message.call_id,
        tool_calls=message.tool_calls,
    )
