"""What a model replied to which request. At temperature 0 the same request gets the same reply, so it is made only once.

Most guards change few requests; leaving one away then costs those few. A reply that is used again counts with the time that it
took when it was made.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from gateway.runtime.ports import InferenceBackend, InferenceStream, ModelInfo, ModelState


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply to a request, as the server sent it. `key` is the digest of weights and request."""

    key: str
    status: int
    content_type: str
    body: str
    seconds: float


_READER = TypeAdapter(Reply)


class Replies:
    """A file of replies, one JSON object a line. Half a line at its end is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Reply] = {}
        for line in path.read_bytes().splitlines() if path.exists() else ():
            with contextlib.suppress(ValidationError):
                reply = _READER.validate_json(line)
                self._known[reply.key] = reply

    def find(self, key: str) -> Reply | None:
        """The reply, if it was made before."""
        return self._known.get(key)

    def add(self, reply: Reply) -> None:
        """Keep a reply."""
        self._known[reply.key] = reply
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(b"\n" + orjson.dumps(asdict(reply)) + b"\n")


class Remembering:
    """The InferenceBackend port over another one. `seconds` is the time that replies took so far."""

    def __init__(self, backend: InferenceBackend, weights: str, replies: Replies) -> None:
        self._backend = backend
        self._weights = weights
        self._replies = replies
        self.seconds = 0.0

    async def models(self) -> Sequence[ModelInfo]:
        """The other's."""
        return await self._backend.models()

    def state(self) -> ModelState:
        """The other's."""
        return self._backend.state()

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """The reply that was made before, or a new one; one that is left before its end is not kept."""
        key = hashlib.sha256(b"\0".join((self._weights.encode(), path.encode(), body))).hexdigest()
        known = self._replies.find(key)
        if known is not None:
            self.seconds += known.seconds
            yield _Replayed(known)
            return
        began = time.monotonic()
        try:
            async with self._backend.ask(path, body) as answer:
                recording = _Recording(answer)
                yield recording
        finally:
            took = time.monotonic() - began
            self.seconds += took
        if recording.is_whole and answer.status == 200:
            text = b"".join(recording.heard).decode()
            self._replies.add(Reply(key, answer.status, answer.content_type, text, took))


class _Replayed:
    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.status = reply.status
        self.content_type = reply.content_type

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Event by event, as it came."""
        for event in self._reply.body.encode().split(b"\n\n"):
            yield event + b"\n\n"


class _Recording:
    def __init__(self, answer: InferenceStream) -> None:
        self._answer = answer
        self.status = answer.status
        self.content_type = answer.content_type
        self.heard: list[bytes] = []
        self.is_whole = False

    async def chunks(self) -> AsyncGenerator[bytes]:
        """As it comes, and kept."""
        async for chunk in self._answer.chunks():
            self.heard.append(chunk)
            yield chunk
        self.is_whole = True
