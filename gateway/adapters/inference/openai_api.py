"""Speaking to an OpenAI-compatible server: raw bytes through, and a closed connection stops the answer.

llama.cpp's server stops generating within some 40 ms of losing a streaming client; without streaming it looks once a second.
So requests stream where they can. Redirects are not followed: they would send prompt and key to another host, or make this
machine send requests that the server itself may not.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import aiohttp
import orjson

from gateway.core.canonical import Json
from gateway.core.errors import InvalidRequest, MalformedJson, ModelUnavailable, NotFound
from gateway.runtime.ports import InferenceStream, ModelPhase

CONNECT_SECONDS: Final = 10.0

SILENCE_SECONDS: Final = 600.0
"""Between two pieces of an answer. llama.cpp sends a comment every 30 s; a large remote model may think for minutes."""

CHAT: Final = "/v1/chat/completions"
PATHS: Final = frozenset({CHAT, "/v1/completions", "/v1/embeddings"})
"""What may be asked. llama.cpp's server can do more (slots, adapters, loading files), which no caller needs."""

DOCUMENT_BYTES: Final = 4 << 20
"""A list of models; the longest public ones have some 500 KB."""


@dataclass(frozen=True, slots=True)
class ServerWords:
    """How errors speak of a server: what it is called, what to do when it does not answer, and what its key is read from."""

    title: str = "the model server"
    start: str = "check that it runs, and its URL"
    key_variable: str = "COUNTERSIGN_MODEL_KEY"


class OtherAnswer(ModelUnavailable):
    """Something answers there, and not as an OpenAI-compatible server does; one that does not list its models may be meant."""


class UpstreamResponse:
    """The InferenceStream port over an aiohttp response."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    @property
    def status(self) -> int:
        """HTTP status of the upstream."""
        return self._response.status

    @property
    def content_type(self) -> str:
        """Its media type, without parameters."""
        return self._response.content_type

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises ModelUnavailable when it breaks off."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError):
            raise ModelUnavailable("the model server broke off in the middle of an answer", ModelPhase.CRASHED) from None


class Upstream:
    """One server. Use between `open` and `close`, in one event loop."""

    def __init__(
        self, base: str, *, key: str, socket: Path | None = None, keep_alive: bool = False, words: ServerWords | None = None
    ) -> None:
        self._words = words or ServerWords()
        self._base = base.rstrip("/")
        self._headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._socket = socket
        self._keep_alive = keep_alive
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Make ready to ask; connects to nothing yet."""
        # llama.cpp closes an idle connection after 5 s, just when the next request may be on its way; a new one to a socket
        # on this machine costs nothing.
        connector = (
            aiohttp.UnixConnector(str(self._socket), force_close=True)
            if self._socket is not None
            else aiohttp.TCPConnector(force_close=not self._keep_alive)
        )
        timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)
        self._session = aiohttp.ClientSession(
            connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
        )

    async def close(self) -> None:
        """Drop every connection, answers under way included."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def probe(self, path: str, *, seconds: float, with_key: bool = True) -> int | None:
        """The status of a GET within `seconds`, None when there is no answer."""
        headers = self._headers if with_key else {}
        try:
            async with asyncio.timeout(seconds), self._get(path, headers) as response:
                return response.status
        except (aiohttp.ClientError, OSError):
            return None

    async def read_json(self, path: str, *, seconds: float) -> Any:
        """The JSON of a GET. Raises ModelUnavailable, as OtherAnswer where the answer is no JSON."""
        document, status = bytearray(), 0
        try:
            async with asyncio.timeout(seconds), self._get(path, self._headers) as response:
                self._check(response)
                async for chunk in response.content.iter_any():
                    document += chunk
                    if len(document) > DOCUMENT_BYTES:
                        raise self._unreachable()
                status = response.status
        except (aiohttp.ClientError, OSError):
            raise self._unreachable() from None
        try:
            return orjson.loads(document)
        except orjson.JSONDecodeError:
            why = f"{self._words.title} answers {path} with something else than JSON (status {status}); check its URL"
            raise OtherAnswer(why, ModelPhase.ABSENT) from None

    async def post_json(self, path: str, body: Json) -> tuple[int, Json]:
        """POST a JSON value; status and JSON of the whole answer, None for one that is no JSON. Raises ModelUnavailable."""
        async with self.ask(path, orjson.dumps(body)) as answer:
            document = bytearray()
            async for chunk in answer.chunks():
                document += chunk
                if len(document) > DOCUMENT_BYTES:
                    raise self._unreachable()
        try:
            return answer.status, orjson.loads(document)
        except orjson.JSONDecodeError:
            return answer.status, None

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST `body` and give the answer as it comes; leaving closes the connection. Raises ModelUnavailable."""
        headers = self._headers | {"Content-Type": "application/json"}
        try:
            response = await self._opened.post(self._base + path, data=body, headers=headers, allow_redirects=False)
        except (aiohttp.ClientError, OSError):
            raise self._unreachable() from None
        try:
            self._check(response)
            yield UpstreamResponse(response)
        finally:
            # Not `release`: that would read on to keep the connection, and the server would go on generating.
            response.close()

    def _get(self, path: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        return self._opened.get(self._base + path, headers=headers, allow_redirects=False)

    @property
    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise self._unreachable()
        return self._session

    def _check(self, response: aiohttp.ClientResponse) -> None:
        """What is not an answer to the request but a trouble between gateway and server. Raises ModelUnavailable."""
        words = self._words
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            # Nobody asked for that, and a few bytes can unpack into more than there is memory.
            raise ModelUnavailable(f"{words.title} answers in a compressed form, which is not read here", ModelPhase.ABSENT)
        match response.status:
            case 401 | 403:
                # Passed on, a browser would take it for its own sign-in, and some servers quote the key.
                raise ModelUnavailable(f"{words.title} refuses the key; check {words.key_variable}", ModelPhase.ABSENT)
            case 503:
                raise ModelUnavailable("the model is being loaded, or is busy; try again in a moment", ModelPhase.STARTING)
            case status if 300 <= status < 400:
                raise ModelUnavailable(
                    f"{words.title} answers with a redirect; set COUNTERSIGN_MODEL_URL to its end", ModelPhase.ABSENT
                )
            case _:
                return

    def _unreachable(self) -> ModelUnavailable:
        return ModelUnavailable(f"{self._words.title} does not answer; {self._words.start}", ModelPhase.CRASHED)


def check_path(path: str) -> None:
    """Raises NotFound for a path that must not be asked."""
    if path not in PATHS:
        raise NotFound(f"there is no `{path[:64]}`")


def with_members(body: bytes, members: Mapping[str, Json]) -> bytes:
    """A request's body with these members in place of its own. Raises MalformedJson, InvalidRequest."""
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedJson("the body is not JSON") from None
    if not isinstance(asked, dict):
        raise InvalidRequest("the body is not an object")
    return orjson.dumps({**cast("dict[str, Any]", asked), **members})
