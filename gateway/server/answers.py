"""Answers under way: how many of them a session has, and those that go on while their page is loaded again.

A page that is loaded again loses its answer in mid-stream, asks for it once more in the same turn, and would pay for it twice.
So an answer whose page is gone, socket and all, or has lost its turn to another page, goes on for as long as its turn waits to be
re-bound. The same request of the same turn gets it from its first byte; another request of that turn, or the turn's end, ends it.
A page that only has had enough is still connected and holds its turn, and its answer ends at once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gateway.runtime.inference import InferenceBroker, Lease
from gateway.server.responses import HttpError, refuse_as_openai

STREAMS_PER_SESSION = 4
"""Concurrent answers of one session. A turn needs one; a sidecar with one slot queues the others."""

KEPT_BYTES: Final = 4 << 20
"""Bytes of an answer that can be given again: some 20,000 streamed tokens."""

KEPT_SECONDS: Final = 30.0
"""How long an answer waits for its page: as long as a turn, unless an operator lets turns wait longer."""

PARTING_SECONDS: Final = 0.5
"""A page that is left closes its socket and its requests together; the gateway may hear of the request first."""

_LOST = HttpError(502, "model_error", "the model broke off")


class LiveAnswer:
    """One streamed answer as far as it has come. Its `Relay` feeds it and ends it; one `KeptReply` at a time reads it."""

    def __init__(self, lease: Lease, asked: bytes) -> None:
        self.asked = asked
        self._lease = lease
        self._page = lease.turn.snapshot
        self._reader: KeptReply | None = None
        self._messages: list[Message] = []
        self._bytes = 0
        self._receiver: Send | None = None
        self._is_over = False
        self._is_given_up = False
        self._grown = asyncio.Event()
        self._stirred = asyncio.Event()

    @property
    def stands(self) -> bool:
        """Whether all of it so far is here, and may still be given."""
        return not self._is_given_up and self._bytes <= KEPT_BYTES and not self._lease.revoked.is_set()

    # ── whoever feeds it ──

    def attach(self, send: Send) -> Send:
        """Pass everything on to the peer that asked, and keep it. Gives what to send with."""
        self._receiver = send
        return self._take

    async def _take(self, message: Message) -> None:
        self._bytes += len(message.get("body", b""))
        if self._bytes <= KEPT_BYTES:
            self._messages.append(message)
        else:
            self._messages.clear()
            if self._receiver is None:
                self.end_for_good()
        self._grown.set()
        if self._receiver is not None:
            await self._receiver(message)

    def end(self, *, is_whole: bool) -> None:
        """Nothing more comes. What broke off is asked for anew."""
        self._is_over = True
        self._is_given_up |= not is_whole
        self._grown.set()

    async def outlive_its_page(self, broker: InferenceBroker, ends: tuple[asyncio.Future[Any], ...]) -> None:
        """The peer that asked is gone. Return once the answer is of no use to anybody, or one of the `ends` has come."""
        self._receiver = None
        while self.stands:
            is_here = self._is_here(broker)
            seconds = None if self._reader is not None else PARTING_SECONDS if is_here else KEPT_SECONDS
            self._stirred.clear()
            stirred = asyncio.ensure_future(self._stirred.wait())
            done, _ = await asyncio.wait({*ends, stirred}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            stirred.cancel()
            if not done and not (is_here and not self._is_here(broker)):
                self.end_for_good()
            if not done.isdisjoint(ends):
                return

    # ── whoever reads it ──

    def is_left(self, broker: InferenceBroker) -> bool:
        """Whether nobody reads it: its peer is gone, or its page, of which the socket may be missed first, or its turn was taken
        by another page, which may be heard of before the end of the request."""
        return (self._receiver is None and self._reader is None) or not self._is_here(broker)

    def read_by(self, reader: KeptReply, lease: Lease) -> None:
        """A page has come for it. Whoever read it before reads no more of it."""
        self._reader = reader
        self._page = lease.turn.snapshot
        self._grown.set()
        self._stirred.set()

    async def follow(self, reader: KeptReply, send: Send) -> bool:
        """Send all of it from its start, and what still comes, until no more does, or another one reads it. Gives whether there
        was anything to send."""
        place = 0
        while True:
            while place < len(self._messages):
                await send(self._messages[place])
                place += 1
            if self._is_over or self._is_given_up or self._reader is not reader:
                break
            self._grown.clear()
            await self._grown.wait()
        if self._messages and self._messages[-1].get("more_body", True):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return place > 0

    def leave(self, reader: KeptReply) -> None:
        """The page that read it is gone, before the end. What another one reads now is no longer its own."""
        if self._reader is reader:
            self._reader = None
            self._stirred.set()

    def give_up(self, reader: KeptReply) -> None:
        """Whoever read it has all of it, and nobody will ask for it again."""
        if self._reader is reader:
            self.end_for_good()

    def end_for_good(self) -> None:
        """It is given to nobody any more."""
        self._is_given_up = True
        self._grown.set()
        self._stirred.set()

    def _is_here(self, broker: InferenceBroker) -> bool:
        """Whether the page that reads it, or did last, is connected and has held the turn ever since."""
        page, turn = self._page, self._lease.turn
        return page is not None and not turn.was_rebound_since(page) and broker.has_connection(self._lease, page.connection_id)


class AnswerPlace:
    """One of the answers that a session may have under way."""

    def __init__(self, taken: Counter[str], session_id: str) -> None:
        self._taken = taken
        self._session_id = session_id

    def leave(self) -> None:
        """It has ended. Called once."""
        self._taken[self._session_id] -= 1
        if not self._taken[self._session_id]:
            del self._taken[self._session_id]


class Streams:
    """The number of concurrent answers of each session, and the answers that wait for their page, one for each turn."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._kept: dict[str, LiveAnswer] = {}
        self._told: tuple[str, int] | None = None

    def is_news(self, turn_id: str, status: int) -> bool:
        """Whether this error of the model is another one than the last: a turn asks again after one, and a line tells of all."""
        last, self._told = self._told, (turn_id, status)
        return last != self._told

    def take_place(self, session_id: str) -> AnswerPlace | None:
        """Count one more answer of a session from now on, or None where it has enough. Looked at and counted in one step: many
        requests at once must not all find room for one."""
        if self._open[session_id] >= STREAMS_PER_SESSION:
            return None
        self._open[session_id] += 1
        return AnswerPlace(self._open, session_id)

    def keep(self, turn_id: str, answer: LiveAnswer) -> None:
        """An answer begins, and may have to wait for its page."""
        self._kept[turn_id] = answer

    def forget_later(self, turn_id: str, answer: LiveAnswer) -> None:
        """No more of it comes. One that is complete waits on for a page that has not come yet."""
        asyncio.get_running_loop().call_later(KEPT_SECONDS, self._forget, turn_id, answer)

    def take_up(self, turn_id: str, asked: bytes, broker: InferenceBroker) -> LiveAnswer | None:
        """The answer of this turn that waits, if just this was asked. A turn that asks something else needs it no more."""
        answer = self._kept.get(turn_id)
        if answer is None or not answer.is_left(broker):
            return None
        if answer.stands and answer.asked == asked:
            return answer
        answer.end_for_good()
        return None

    def _forget(self, turn_id: str, answer: LiveAnswer) -> None:
        if self._kept.get(turn_id) is answer:
            del self._kept[turn_id]


class KeptReply(Response):
    """The answer to a request that was asked before: what the model has written since. What it took is on the first one's
    account."""

    def __init__(self, answer: LiveAnswer, lease: Lease) -> None:
        super().__init__()
        self._answer = answer
        answer.read_by(self, lease)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        following = asyncio.ensure_future(self._answer.follow(self, send))
        gone = asyncio.ensure_future(wait_for_disconnect(receive))
        try:
            await asyncio.wait((following, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if following.done():
                self._answer.give_up(self)
            else:
                self._answer.leave(self)
            for racer in (following, gone):
                racer.cancel()
            await asyncio.gather(following, gone, return_exceptions=True)
        if not following.cancelled() and not following.result():
            await refuse_as_openai(_LOST)(scope, receive, send)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return once the peer is gone."""
    message: Message = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await receive()
