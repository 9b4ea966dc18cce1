"""Which payloads a log lacks, and which of those it says were erased.

A payload can be taken out of a log without any hash noticing: that is what makes erasing possible. So each erasure is a record
that names what it erased, and what nothing names was taken out by somebody. What is named has to be gone: a payload that is
there again came from an older copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core.canonical import Json
from gateway.core.ledger import ConversationDeleted, ErasureReason, MessageAppended, RecordsErased, RecordsLost
from gateway.core.members import text_of

Body = Mapping[str, Json]


class ErasureRecords:
    """Reads record after record. `whole`: all of the log is read, and not only some records of it."""

    def __init__(self, *, whole: bool) -> None:
        self.erased = 0
        """Payloads that a record says were erased."""
        self._whole = whole
        self._missing: dict[int, str | None] = {}
        """By index, with the conversation where it is the digest of a message."""
        self._messages: dict[str, set[int]] = {}
        self._there: set[int] = set()
        self._unnamed = 0
        """Payloads that recoveries erased which only counted them, as they did before they named them."""

    def check(self, index: int, body: Body, *, lacking: bool) -> str | None:
        """What is wrong with the next record, or None. `lacking`: it has the digest of a payload that is not there.

        Raises KeyError, TypeError and ValueError for a record that no gateway writes.
        """
        event = text_of(body, "event")
        if lacking:
            self._note_missing(index, text_of(body, "conversationId") if event == MessageAppended.EVENT else None)
        elif not self._whole:
            self._there.add(index)
        if event == RecordsErased.EVENT:
            return self._erase(index, body)
        if event == ConversationDeleted.EVENT:
            # The digests of its messages go with it; that record is what says so.
            for message in tuple(self._messages.get(text_of(body, "conversationId"), ())):
                self._name(message)
        elif event == RecordsLost.EVENT:
            counted = body["erased"]
            if type(counted) is not int:
                raise ValueError("a loss counts what it erased")
            self._unnamed += counted
        return None

    def name_later(self, body: Body) -> None:
        """A record behind those that are checked, which may say what was erased while they were read."""
        if body["event"] == RecordsErased.EVENT:
            for record in body["records"]:
                if record in self._missing:
                    self._name(record)
        elif body["event"] == ConversationDeleted.EVENT:
            for message in tuple(self._messages.get(body["conversationId"], ())):
                self._name(message)

    def find_taken(self) -> int | None:
        """The first record whose payload is not there, though nothing says that it was erased."""
        return min(self._missing) if len(self._missing) > self._unnamed else None

    def _note_missing(self, index: int, conversation_id: str | None) -> None:
        self._missing[index] = conversation_id
        if conversation_id is not None:
            self._messages.setdefault(conversation_id, set()).add(index)

    def _erase(self, index: int, body: Body) -> str | None:
        records: list[Json] = body["records"]
        reason = ErasureReason(body["reason"])
        if type(records) is not list or not records:
            raise ValueError("an erasure names what it erased")
        if reason is ErasureReason.DAMAGED:
            self._unnamed -= len(records)
        before = -1
        for record in records:
            if type(record) is not int or not before < record < index:
                raise ValueError("an erasure names records before it, in their order")
            before = record
            if record in self._missing:
                self._name(record)
            elif self._whole or record in self._there:
                return f"record {index} says that the payload of record {record} was erased, which it was not"
        return None

    def _name(self, record: int) -> None:
        conversation_id = self._missing.pop(record)
        if conversation_id is not None:
            self._messages[conversation_id].discard(record)
        self.erased += 1
