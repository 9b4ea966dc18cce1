"""One reply of a model, read to its end: for the lanes and the planner alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, assert_never

from gateway.agent.browser import trim
from gateway.agent.budget import length_of
from gateway.agent.limits import LIMITS
from gateway.agent.parse import MAX_REPLY, ObjectScanner, ThoughtFilter
from gateway.agent.ports import CallDelta, ChatDelta, CutDelta, CutReason, TextDelta, Usage
from gateway.agent.trajectory import TokenIds

MAX_CALLS: Final = LIMITS.calls_per_reply
"""Calls of one reply that are read: as many as a message to the gateway can hold."""

MAX_PIECES: Final = LIMITS.reply_pieces
"""Most pieces of one reply that are read, so that a model which gives nothing without end keeps nobody waiting."""


class ReplyEnd(Enum):
    """How far a reply is read."""

    STREAM = auto()
    """Until the model ends it."""

    OBJECT = auto()
    """Until its first complete object."""

    AFTER_OBJECT = auto()
    """Until something follows its first complete object. A model that ends there by itself is let end, for its token counts
    come last."""


@dataclass(frozen=True, slots=True)
class HeardText:
    """A piece of a reply, thinking parted from what is said. Both may be empty."""

    thought: str
    said: str


@dataclass(slots=True)
class CallFragments:
    """A tool call as far as it was written."""

    name: str = ""
    arguments: str = ""


class ReplyReader:
    """What was read of one reply. `written` is its text as it came, `said` the same without the thinking at its beginning."""

    def __init__(self, end: ReplyEnd) -> None:
        self.written = ""
        self.said = ""
        self.calls: dict[int, CallFragments] = {}
        self.usage: Usage | None = None
        self.tokens: TokenIds | None = None
        self.cut: CutReason | None = None
        self.is_over = False
        self._end = end
        self._thoughts = ThoughtFilter()
        self._scanner = ObjectScanner()
        self._is_object_complete = False
        self._characters = 0
        self._pieces = 0

    def take(self, delta: ChatDelta) -> HeardText | None:
        """Read on; what was heard if the piece is one of the text."""
        match delta:
            case Usage():
                self.usage = delta
            case TokenIds():
                self.tokens = delta
            case CutDelta(why):
                self.cut = why
            case CallDelta(index, name, arguments):
                self._take_call(index, name, arguments)
            case TextDelta(text):
                return self._take_text(text)
            case _:
                assert_never(delta)
        return None

    def finish(self) -> HeardText:
        """What was held back until the end, because it could have been part of a tag."""
        heard = HeardText(*self._thoughts.finish())
        self.said += heard.said
        return heard

    def _take_call(self, index: int, name: str, arguments: str) -> None:
        has_place = 0 <= index < MAX_CALLS
        if not has_place:
            self.cut = CutReason.CALLS
        self.is_over = not self._has_room(name, arguments) or not has_place
        if not self.is_over:
            call = self.calls.setdefault(index, CallFragments())
            call.name += name
            call.arguments += arguments

    def _take_text(self, text: str) -> HeardText | None:
        has_room = self._has_room(text)
        thought, said = self._thoughts.feed(text)
        is_at_end = self._is_at_end(said)
        self.is_over = is_at_end or not has_room
        # What does not fit is left out, unless the object ends in it: that one is measured where it is read.
        if not has_room and not is_at_end:
            return None
        self.written += text
        self.said += said
        return HeardText(thought, said)

    def _has_room(self, *pieces: str) -> bool:
        """Whether these still belong to a reply that anybody would read."""
        self._pieces += 1
        self._characters += sum(map(length_of, pieces))
        return self._characters <= MAX_REPLY and self._pieces <= MAX_PIECES

    def _is_at_end(self, said: str) -> bool:
        if self._end is ReplyEnd.STREAM:
            return False
        follows = said
        if not self._is_object_complete:
            found = self._scanner.feed(said)
            if found is None:
                return False
            self._is_object_complete = True
            so_far = self.said + said
            follows = so_far[so_far.index(found) + len(found) :]
        return self._end is ReplyEnd.OBJECT or bool(trim(follows))


async def read_deltas(deltas: AsyncGenerator[ChatDelta], reader: ReplyReader) -> AsyncGenerator[HeardText]:
    """Read a reply with `reader` to its end, or as far as that one reads; then, and whenever this is closed, close `deltas`.

    Gives each piece of the text once the reader has it.
    """
    async with aclosing(deltas):
        async for delta in deltas:
            heard = reader.take(delta)
            if heard is not None:
                yield heard
            if reader.is_over:
                break
    yield reader.finish()
