"""Erasures: which records lost their payloads, about whom or what, and why.

A record of its own names them by their index, so that whoever verifies the log can tell what was erased from what somebody took
out. It holds no text: who, which conversation and which call are ids that stand in the erased records' bodies already.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from gateway.core.audit import Leaf, header

__all__ = [
    "MOST_ERASED_AT_ONCE",
    "CallSubject",
    "ConversationSubject",
    "ErasedMessage",
    "ErasureReason",
    "ErasureSubject",
    "PersonSubject",
    "RecordsErased",
]

MOST_ERASED_AT_ONCE: Final = 1_000
"""Records that one entry names: some six kilobytes. More are named by further entries, in the same transaction."""


class ErasureReason(StrEnum):
    """Why payloads were erased."""

    REQUESTED = "requested"
    """Somebody who may asked for it."""
    RETENTION = "retention"
    """The policy or a setting says how long they may be kept."""
    RESTORED = "restored"
    """They had been erased before, and an older copy of the database brought them back."""
    DAMAGED = "damaged"
    """They were not what had been recorded."""


@dataclass(frozen=True, slots=True)
class CallSubject:
    """One call: its arguments, statements, answers and result."""

    conversation_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class ConversationSubject:
    """A conversation with everything that was said and done in it."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class PersonSubject:
    """A person: all their conversations, and what they are called."""

    person_id: str


ErasureSubject = CallSubject | ConversationSubject | PersonSubject


@dataclass(frozen=True, slots=True)
class ErasedMessage:
    """A message that held an erased call, and what is left of it: `tool_calls` is canonical JSON."""

    conversation_id: str
    index: int
    content: str
    tool_calls: str


@dataclass(frozen=True, slots=True)
class RecordsErased:
    """Salt and payload of these records are gone, and what the tables kept of their content. `by` is the operator who asked for
    it on the console; None for the command line and for what the gateway does by itself."""

    EVENT: ClassVar[str] = "records:erased"

    at: int
    reason: ErasureReason
    records: tuple[int, ...]
    """Ascending."""
    subject: ErasureSubject | None = None
    """None where the records are of nothing in particular."""
    by: str | None = None
    messages: tuple[ErasedMessage, ...] = ()
    """In the tables only."""

    def leaf(self) -> Leaf:
        subject = self.subject
        call = subject if isinstance(subject, CallSubject) else None
        conversation = subject if isinstance(subject, ConversationSubject) else call
        return Leaf(
            {
                **header(self.EVENT, self.at, self.by),
                "reason": self.reason.value,
                "personId": subject.person_id if isinstance(subject, PersonSubject) else None,
                "conversationId": None if conversation is None else conversation.conversation_id,
                "callId": None if call is None else call.call_id,
                "records": list(self.records),
            }
        )


ErasureEntry = RecordsErased
"""The one entry of its subject."""
