"""Relays a model's answer to the browser: bytes as they come, until the answer ends or the lease is revoked.

Three events race: the end of the answer, a disconnect of the peer, and a revocation of the lease (sign-out, cancel, end of
the turn). In each case the upstream request is closed before this one ends, which makes the sidecar stop generating. The one
exception is a page that is loaded again: its answer goes on without a reader, until the page asks for it once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from dataclasses import replace

import orjson
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gateway.agent.completion_stream import read_error_words
from gateway.agent.limits import LIMITS
from gateway.core.errors import GatewayError
from gateway.core.redaction import RedactionClass, redact_text
from gateway.runtime.inference import InferenceBroker, Lease
from gateway.runtime.ports import InferenceStream
from gateway.runtime.usage import Reservation
from gateway.server.answers import AnswerPlace, LiveAnswer, Streams, wait_for_disconnect
from gateway.server.responses import HttpError, describe, openai_error, refuse_as_openai

CLOSING_SECONDS = 1.0
"""Seconds for a last event to a peer that may have stopped reading."""

EVENT_STREAM = "text/event-stream"

NONCE_HEADER = b"x-countersign-nonce"
"""What a call that comes of the answer may name in `model.nonce`."""

BYTES_PER_TOKEN = 4
"""Bytes per token of a prompt; the usual estimate for English and code."""

BYTES_PER_EVENT = 200
"""Bytes of one streamed token with its envelope, as llama.cpp and OpenAI write it."""

ANSWER_BYTES = 32 << 20
"""Bytes of one answer: far more than any model writes at once, and little enough for a client to hold."""

_WORDS_BYTES = 1 << 16
"""Bytes that are read of an error of the upstream's own."""

_WORDS_SECONDS = 5.0

_TAIL = 2048
"""Bytes at the end of an answer that contain its token counts."""

_PASSED_ON = (200, 400, 404, 413, 422, 429)
"""Upstream statuses that concern the request. Any other concerns the upstream, and the browser cannot correct it."""

_SERVER_ERROR = 500
"""From this status on an upstream speaks of itself. Below, some quote the key that they refuse."""

_PROMPT_TOKENS = re.compile(rb'"(?:prompt_tokens|prompt_n)":\s*(\d{1,9})')
_COMPLETION_TOKENS = re.compile(rb'"(?:completion_tokens|predicted_n)":\s*(\d{1,9})')

REVOKED = HttpError(
    403,
    "token_revoked",
    "this token no longer holds: its turn or its session has ended, or the model may not read what the conversation holds now",
)
_BROKEN = HttpError(502, "model_error", "the model broke off")

_log = logging.getLogger(__name__)


class _UpstreamFault(Exception):
    """The upstream answered with a status that concerns the upstream itself, or with a web page, or its answer had no end."""


class Relay(Response):
    """The answer to one request through `/v1`, as an ASGI app. Records how it ended."""

    def __init__(
        self,
        *,
        broker: InferenceBroker,
        streams: Streams,
        place: AnswerPlace,
        lease: Lease,
        path: str,
        body: bytes,
        nonce: str = "",
        recorded: asyncio.Future[Reservation],
        answer: LiveAnswer | None = None,
    ) -> None:
        """`recorded` is done once the tokens that the request may take are on record."""
        super().__init__()
        self._broker = broker
        self._streams = streams
        self._place = place
        self._lease = lease
        self._path = path
        self._asked = body
        self._nonce = nonce
        self._recorded = recorded
        self._answer = answer
        self._begun_as: str | None = None
        self._tail = b""
        self._passed_on = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        outcome = "aborted"
        if self._answer is not None:
            self._streams.keep(self._lease.turn.id, self._answer)
        try:
            outcome = await self._race(scope, receive, send if self._answer is None else self._answer.attach(send))
        finally:
            self._place.leave()
            if self._answer is not None:
                self._answer.end(is_whole=outcome == "completed")
                self._streams.forget_later(self._lease.turn.id, self._answer)
            await self._record(outcome)

    async def _race(self, scope: Scope, receive: Receive, send: Send) -> str:
        pump = asyncio.ensure_future(self._pump(send))
        gone = asyncio.ensure_future(wait_for_disconnect(receive))
        revoked = asyncio.ensure_future(self._lease.revoked.wait())
        racers = (pump, gone, revoked)
        try:
            await asyncio.wait(racers, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not pump.done() and not revoked.done() and self._answer is not None:
                await self._answer.outlive_its_page(self._broker, (pump, revoked))
        finally:
            for racer in racers:
                racer.cancel()
            # `pump` holds the upstream, and a cancelled task closes it only when it is awaited.
            await asyncio.gather(*racers, return_exceptions=True)
        if not pump.cancelled():
            error = pump.exception()
            if error is None:
                return "completed"
            await self._send_error(self._fault_of(error), scope, receive, send)
            return "failed"
        if self._lease.revoked.is_set():
            await self._send_error(REVOKED, scope, receive, send)
        return "aborted"

    async def _pump(self, send: Send) -> None:
        async with self._broker.backend.ask(self._path, self._asked) as stream:
            if stream.status not in _PASSED_ON:
                if self._streams.is_news(self._lease.turn.id, stream.status):
                    _log.warning("the model answered %d to %s", stream.status, self._path)
                said = await _words_of(stream) if stream.status >= _SERVER_ERROR else ""
                raise _UpstreamFault(f"the model's server answered with status {stream.status}" + (said and f": {said}"))
            if stream.content_type.startswith("text/html"):
                raise _UpstreamFault("what answers in the model's place is a web page; check its URL")
            # A cancelled answer must not take its record along.
            await asyncio.shield(self._recorded)
            is_events = stream.content_type.startswith(EVENT_STREAM)
            self._begun_as = EVENT_STREAM if is_events else "application/json"
            # nginx and other proxies would otherwise buffer an event stream.
            headers = [(b"content-type", self._begun_as.encode()), (b"x-accel-buffering", b"no")]
            if self._nonce:
                headers.append((NONCE_HEADER, self._nonce.encode()))
            await send({"type": "http.response.start", "status": stream.status, "headers": headers})
            async for chunk in stream.chunks():
                self._tail = (self._tail + chunk)[-_TAIL:]
                self._passed_on += len(chunk)
                if self._passed_on > ANSWER_BYTES:
                    _log.warning("the model did not come to an end within %d bytes", ANSWER_BYTES)
                    raise _UpstreamFault
                await send(_body(chunk, more=True))
        await send(_body(b"", more=False))

    async def _send_error(self, fault: HttpError, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reason. A JSON answer that had begun stays incomplete, so that the client does not take it for a whole one."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                if self._begun_as is None:
                    await refuse_as_openai(fault)(scope, receive, send)
                elif self._begun_as == EVENT_STREAM:
                    await send(_body(b"\n\ndata: %b\n\n" % orjson.dumps(openai_error(fault)), more=False))

    def _fault_of(self, error: BaseException) -> HttpError:
        if isinstance(error, GatewayError):
            return describe(error)
        if isinstance(error, _UpstreamFault):
            return replace(_BROKEN, message=str(error)) if str(error) else _BROKEN
        _log.error("the relay to the model failed", exc_info=error)
        return _BROKEN

    async def _record(self, outcome: str) -> None:
        try:
            await self._broker.finish(
                self._lease,
                outcome,
                _count(_PROMPT_TOKENS, self._tail),
                _count(_COMPLETION_TOKENS, self._tail),
                nonce=self._nonce,
                reserved=await self._recorded,
                estimated_tokens=len(self._asked) // BYTES_PER_TOKEN + self._passed_on // BYTES_PER_EVENT,
            )
        except GatewayError as error:
            # The answer is sent already. The ledger has the token's issue, with its session and model.
            _log.warning("the end of an inference request could not be recorded: %s", error.message)


async def _words_of(stream: InferenceStream) -> str:
    """What the upstream says of its error. That is hostile text, and may quote what it was sent: redacted first, cut second."""
    body = bytearray()
    with contextlib.suppress(TimeoutError, GatewayError):
        async with asyncio.timeout(_WORDS_SECONDS):
            async for chunk in stream.chunks():
                body += chunk[: _WORDS_BYTES - len(body)]
                if len(body) == _WORDS_BYTES:
                    break
    said = " ".join(read_error_words(bytes(body)).split())
    return redact_text(said, tuple(RedactionClass)).text[: LIMITS.model_error_characters]


def _body(chunk: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": chunk, "more_body": more}


def _count(pattern: re.Pattern[bytes], tail: bytes) -> int | None:
    # A model cannot forge these: its text is a JSON string, in which every quote is escaped.
    found = pattern.findall(tail)
    return int(found[-1]) if found else None
