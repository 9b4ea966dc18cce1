"""Conversations that were held elsewhere, taken over from a file that a person picked.

A browser reads the file, and a browser may be hostile: what it sends is text of unknown origin and nothing else. It becomes
messages that say so, in a conversation that has read untrusted content from its first moment. No call, grant, approval or turn
comes with it, whatever the text tells of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.core.errors import InvalidParams
from gateway.core.labels import Exposure
from gateway.core.ledger import (
    IMPORTED,
    ConversationOpened,
    ConversationTainted,
    ImportedFrom,
    Message,
    MessageAppended,
)
from gateway.core.model import Session
from gateway.core.titles import tidied
from gateway.core.vocabulary import Label, Role
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import Clock, Entropy, Ledger
from gateway.runtime.quotas import Quotas

UNTITLED = "Imported conversation"


@dataclass(frozen=True, slots=True)
class SaidElsewhere:
    """One message of a file: what it says was said by whom, and when. Not every program writes down the times."""

    role: Role
    content: str
    at: int | None = None


class ConversationImports:
    """Takes over conversations, each as a whole or not at all."""

    def __init__(self, *, ledger: Ledger, quotas: Quotas, exposures: Exposures, clock: Clock, entropy: Entropy) -> None:
        self._ledger = ledger
        self._quotas = quotas
        self._exposures = exposures
        self._clock = clock
        self._entropy = entropy

    async def take_over(
        self, session: Session, source: str, title: str, said: Sequence[SaidElsewhere], label: Label = Label.PUBLIC
    ) -> str:
        """A new conversation of the session's person with these messages; gives its id. `source` is the program that the file is
        of, and `label` what the file calls it: it can make the conversation more confidential than the session, never less."""
        if any(each.role not in (Role.USER, Role.ASSISTANT) for each in said):
            raise InvalidParams("only `user` and `assistant` messages are imported")
        if any("\0" in text for text in (title, *(each.content for each in said))):
            raise InvalidParams("no text has the character U+0000")
        self._quotas.charge_storage(session, sum(len(each.content.encode()) for each in said), records=1 + len(said))
        now, owner = self._clock.now(), session.principal.id
        conversation_id = self._entropy.identifier("cnv_")
        messages = self._place(conversation_id, said, now)
        turns = len({message.turn_id for message in messages})
        imported = ImportedFrom(source, begun_at=messages[0].at, used_at=messages[-1].at)
        label = max(label, Label(self._exposures.subject(session).label))
        exposure = Exposure(taint=1, label=label)
        await self._ledger.append(
            ConversationOpened(now, conversation_id, owner, tidied(title) or UNTITLED, fork_at=turns, imported=imported),
            ConversationTainted(now, conversation_id, owner, exposure.taint, exposure.label, ""),
            *(MessageAppended(now, owner, message) for message in messages),
        )
        return conversation_id

    def _place(self, conversation_id: str, said: Sequence[SaidElsewhere], now: int) -> Sequence[Message]:
        """The messages in their order, whatever times the file gives them: none is later than now or earlier than the one
        before it. A turn begins with each message of a person."""
        times = [each.at for each in said if each.at is not None]
        at = max(0, min([now, *times[:1]]))
        turn_id = self._entropy.identifier("trn_")
        messages: list[Message] = []
        for index, each in enumerate(said):
            if each.role is Role.USER and index > 0:
                turn_id = self._entropy.identifier("trn_")
            at = max(at, min(now, at if each.at is None else each.at))
            messages.append(Message(conversation_id, turn_id, index, each.role, each.content, IMPORTED, at))
        return messages
