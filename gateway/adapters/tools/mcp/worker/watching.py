"""What both transports count and refuse: how fast and how much a server sends, and what it asks of us."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from gateway.adapters.tools.mcp.wire import RequestFailure
from gateway.adapters.tools.mcp.worker.listing import sift_tools

MAX_MESSAGE: Final = 8 << 20
"""Bytes of one message: an image of some 6 MB as base64."""

MESSAGES_AT_ONCE: Final = 2_000
MESSAGES_PER_SECOND: Final = 500

BYTES_AT_ONCE: Final = 64 << 20
BYTES_PER_SECOND: Final = 8 << 20

WRITE_SECONDS: Final = 10.0
"""How long a server may leave a message unread."""

ELICITATION: Final = "elicitation/create"

ASKED: Final = {
    "sampling/createMessage": "asked for an answer of the model (sampling), which is refused",
    ELICITATION: "asked the person for input (elicitation), which is refused",
    "roots/list": "asked for the folders of the client (roots), which is refused",
}

MOST_ASKED: Final = 20
"""Different sentences that are remembered of one connection."""


@dataclass(slots=True)
class Meter:
    """How much may come: so much at once, and so much more each second."""

    at_once: float
    per_second: float
    _left: float = field(init=False)
    _then: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._then = self.at_once, time.monotonic()

    def takes(self, amount: float = 1) -> bool:
        """Whether this much may still come."""
        self._left -= amount
        if self._left < 0:
            # Looked at only now, since most of what comes needs no clock.
            now = time.monotonic()
            self._left = min(self.at_once - amount, self._left + (now - self._then) * self.per_second)
            self._then = now
        return self._left >= 0

    def wait_for(self, amount: float = 1) -> float:
        """Take this much in any case, and give the seconds until it may come: what was taken before has its turn first."""
        return 0.0 if self.takes(amount) else -self._left / self.per_second


class Watch:
    """The limits of one connection. The first one that is broken ends it: `broken` is set, and `why` says which one."""

    def __init__(self, *, elicits: bool = False) -> None:
        self.elicits = elicits
        """Whether the person may be asked something."""
        self.why = ""
        self.broken = asyncio.Event()
        self.ended = asyncio.Event()
        """Set when nothing more can come from the server."""
        self.asked: dict[str, int] = {}
        """How often each thing was asked that is refused, by its sentence."""
        self.challenge = ""
        """What the server said last of a sign-in that it wants (`WWW-Authenticate`)."""
        self.detail = ""
        """What only the operator is told of why the last request was not sent."""
        self.malformed: dict[str, str] = {}
        """Tools that the SDK would not read, by name, with what is wrong with them."""
        self.token = secrets.token_hex(16)
        """Marks errors that a transport made itself, so that no server can make them."""
        self._messages = Meter(MESSAGES_AT_ONCE, MESSAGES_PER_SECOND)
        self._bytes = Meter(BYTES_AT_ONCE, BYTES_PER_SECOND)

    @property
    def is_over(self) -> bool:
        """Whether nothing more can come."""
        return self.broken.is_set() or self.ended.is_set()

    def end(self, why: str) -> None:
        """End the connection; the first reason counts."""
        if not self.broken.is_set():
            self.why = why
            self.broken.set()

    def tell_more(self, how: RequestFailure | None) -> dict[str, str]:
        """The further members of a line about a request that failed in this way."""
        if how is RequestFailure.UNAUTHORIZED:
            return {"challenge": self.challenge}
        return {"detail": self.detail} if how is RequestFailure.NOT_SENT and self.detail else {}

    def takes_bytes(self, count: int) -> bool:
        """Count bytes as they come in; False when it ends with these."""
        if not self._bytes.takes(count):
            self.end(f"it sent more than {BYTES_AT_ONCE >> 20} MB, faster than {BYTES_PER_SECOND >> 20} MB a second")
        return not self.broken.is_set()

    def takes_message(self, message: object) -> bool:
        """Count a message as it comes in; False when it ends with this one."""
        if not self._messages.takes():
            self.end(f"it sent more than {MESSAGES_AT_ONCE} messages, faster than {MESSAGES_PER_SECOND} a second")
        match message:
            case JSONRPCRequest():
                self.note_request(message.method)
            case JSONRPCResponse():
                sift_tools(message.result, self.malformed)
            case _:
                pass
        return not self.broken.is_set()

    def note_request(self, method: str) -> None:
        """Remember that the server asked for something that it does not get."""
        if method in ASKED and not (method == ELICITATION and self.elicits):
            self.note_asked(ASKED[method])

    def note_asked(self, sentence: str) -> None:
        """Remember what the server did, in words that follow `it`."""
        if sentence in self.asked or len(self.asked) < MOST_ASKED:
            self.asked[sentence] = self.asked.get(sentence, 0) + 1


class WatchedStream:
    """What a transport of the SDK reads, counted message by message."""

    def __init__(self, inner: Any, watch: Watch) -> None:
        self._inner = inner
        self._watch = watch

    @property
    def last_context(self) -> Any:
        """What the SDK's own streams carry beside a message."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises EndOfStream after the last one, or once a limit is broken."""
        try:
            item = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._watch.ended.set()
            raise
        await anyio.lowlevel.checkpoint()
        if not self._watch.takes_message(item.message if isinstance(item, SessionMessage) else None):
            raise anyio.EndOfStream
        return item

    async def aclose(self) -> None:
        """Close what is read from."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


class WatchedTransport:
    """A transport of the SDK whose messages are counted."""

    def __init__(self, inner: Any, watch: Watch) -> None:
        self._inner = inner
        self._watch = watch

    async def __aenter__(self) -> Any:
        read, write = await self._inner.__aenter__()
        return WatchedStream(read, self._watch), write

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._inner.__aexit__(*error)
