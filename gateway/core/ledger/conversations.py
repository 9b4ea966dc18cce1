"""Conversations, their messages, and what entered them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from gateway.core.audit import Leaf, header
from gateway.core.canonical import Json, digest_of_bytes, own_bytes
from gateway.core.ledger.erasures import ErasureReason
from gateway.core.vocabulary import Role

IMPORTED: Final = "imported"
"""The provenance of a message that was said elsewhere, if it was said at all."""

__all__ = [
    "IMPORTED",
    "ConversationDeleted",
    "ConversationOpened",
    "ConversationRenamed",
    "ConversationTainted",
    "ImportedFrom",
    "Message",
    "MessageAppended",
]


@dataclass(frozen=True, slots=True)
class ImportedFrom:
    """What a file says of the conversation that was imported from it: which program wrote it, and from when to when it ran."""

    source: str
    begun_at: int
    used_at: int


@dataclass(frozen=True, slots=True)
class ConversationOpened:
    """A new conversation: empty, forked (`parent_id`, `fork_at` turn index), or imported (`imported`, `fork_at` turns)."""

    EVENT: ClassVar[str] = "conversation:opened"

    at: int
    id: str
    principal_id: str
    title: str
    parent_id: str | None = None
    fork_at: int | None = None
    imported: ImportedFrom | None = None

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "conversationId": self.id,
                "parentId": self.parent_id,
                "forkAt": self.fork_at,
                **({} if self.imported is None else {"importedFrom": self.imported.source}),
            }
        )


@dataclass(frozen=True, slots=True)
class ConversationRenamed:
    """Another title."""

    at: int
    id: str
    principal_id: str
    title: str

    def leaf(self) -> None:
        """None: a title is the person's own note, no authority depends on it, and without the text nothing is left to say."""


@dataclass(frozen=True, slots=True)
class ConversationDeleted:
    """Its messages are gone; audit leaves stay."""

    EVENT: ClassVar[str] = "conversation:deleted"

    at: int
    id: str
    principal_id: str
    erased: ErasureReason | None = None
    """Why nothing of it may come back; None where its person deleted it. Not on record: what is erased of the log is another
    entry, where there is any."""

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "conversationId": self.id})


@dataclass(frozen=True, slots=True)
class ConversationTainted:
    """Untrusted or labelled content entered; `taint` and `label` only rise."""

    EVENT: ClassVar[str] = "conversation:tainted"

    at: int
    id: str
    principal_id: str
    taint: int
    label: int
    call_id: str

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "conversationId": self.id,
                "callId": self.call_id,
                "taint": self.taint,
                "label": self.label,
            }
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `provenance` is `claimed` for what a browser sent, `imported` for what it took from a file,
    and `gateway:` with the tool's name for results."""

    conversation_id: str
    turn_id: str
    index: int
    role: Role
    content: str
    provenance: str
    at: int
    call_id: str | None = None
    tool_calls: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class MessageAppended:
    """A message was stored. Only its role, length and hash reach the audit log."""

    EVENT: ClassVar[str] = "message:appended"

    at: int
    principal_id: str
    message: Message

    def leaf(self) -> Leaf:
        message = self.message
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "conversationId": message.conversation_id,
                "turnId": message.turn_id,
                "index": message.index,
                "role": message.role.value,
                "length": len(message.content),
            },
            own_bytes({"digest": digest_of_bytes(message.content.encode())}),
        )


ConversationEntry = ConversationOpened | ConversationRenamed | ConversationDeleted | ConversationTainted | MessageAppended
