"""Speaking to an OpenAI-compatible server: raw bytes through, and a closed connection stops the answer.

llama.cpp's server stops generating within some 40 ms of losing a streaming client; without streaming it looks once a second.
So requests stream where they can. Redirects are not followed: they would send prompt and key to another host, or make this
machine send requests that the server itself may not.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import SplitResult, urlsplit

import aiohttp
import orjson

from gateway.core.canonical import Json
from gateway.core.errors import InvalidRequest, MalformedJson, Misconfigured, ModelUnavailable, NotFound
from gateway.runtime.ports import Clock, InferenceStream, ModelInfo, ModelPhase, ModelState

CONNECT_SECONDS: Final = 10.0

SILENCE_SECONDS: Final = 600.0
"""Between two pieces of an answer. llama.cpp sends a comment every 30 s; a large remote model may think for minutes."""

LIST_SECONDS: Final = 5.0
LIST_AGAIN_SECONDS: Final = 10.0
"""Between two attempts to learn what an unreachable server offers, so that nobody waits for it on every page."""

CHAT: Final = "/v1/chat/completions"
PATHS: Final = frozenset({CHAT, "/v1/completions", "/v1/embeddings"})
"""What may be asked. llama.cpp's server can do more (slots, adapters, loading files), which no caller needs."""

REMOTE_OUTPUT_TOKENS: Final = 4096
LARGEST_CONTEXT: Final = 10_000_000
LONGEST_NAME: Final = 128
_LONGEST_HOST: Final = 64
"""Both become part of an id, which has at most 200 characters."""

DOCUMENT_BYTES: Final = 4 << 20
"""A list of models; the longest public ones have some 500 KB."""


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

    def __init__(self, base: str, *, key: str, socket: Path | None = None, keep_alive: bool = False) -> None:
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
        """The JSON of a GET. Raises ModelUnavailable."""
        try:
            async with asyncio.timeout(seconds), self._get(path, self._headers) as response:
                _check(response)
                document = bytearray()
                async for chunk in response.content.iter_any():
                    document += chunk
                    if len(document) > DOCUMENT_BYTES:
                        raise _unreachable()
                return orjson.loads(document)
        except (aiohttp.ClientError, OSError, orjson.JSONDecodeError):
            raise _unreachable() from None

    async def post_json(self, path: str, body: Json) -> tuple[int, Json]:
        """POST a JSON value; status and JSON of the whole answer, None for one that is no JSON. Raises ModelUnavailable."""
        async with self.ask(path, orjson.dumps(body)) as answer:
            document = bytearray()
            async for chunk in answer.chunks():
                document += chunk
                if len(document) > DOCUMENT_BYTES:
                    raise _unreachable()
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
            raise _unreachable() from None
        try:
            _check(response)
            yield UpstreamResponse(response)
        finally:
            # Not `release`: that would read on to keep the connection, and the server would go on generating.
            response.close()

    def _get(self, path: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        return self._opened.get(self._base + path, headers=headers, allow_redirects=False)

    @property
    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise _unreachable()
        return self._session


class RemoteBackend:
    """The InferenceBackend port over a server that an operator names. Its models count as remote, on this machine too.

    Which server answers at a URL, even on loopback, is not known here; weights have no digest, so `id` names host and model.
    """

    def __init__(self, url: str, *, model: str, key: str, context_tokens: int, clock: Clock) -> None:
        """`url` with or without its `/v1`; an empty `model` takes the first one that the server lists."""
        parts = _split(url)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise Misconfigured("COUNTERSIGN_MODEL_URL must be a base URL like http://localhost:11434/v1")
        if parts.username is not None or parts.password is not None:
            raise Misconfigured("COUNTERSIGN_MODEL_URL must not hold a password; set COUNTERSIGN_MODEL_KEY")
        if not _is_name(model):
            raise Misconfigured(f"a model's name is at most {LONGEST_NAME} characters that can be seen")
        self._host = parts.netloc
        self._model = model
        self._context_tokens = context_tokens
        self._clock = clock
        self._upstream = Upstream(url.rstrip("/").removesuffix("/v1"), key=key, keep_alive=True)
        self._info: ModelInfo | None = None
        self._asked_at: float | None = None
        self._state = ModelState(ModelPhase.STARTING, f"the model server at {self._host} has not been asked yet")

    async def start(self) -> None:
        """Make ready, and learn what the server offers if it answers now."""
        await self._upstream.open()
        await self._learn()

    async def stop(self) -> None:
        """Close every connection."""
        await self._upstream.close()
        self._state = ModelState(ModelPhase.STOPPED, "the gateway is stopping")

    async def models(self) -> Sequence[ModelInfo]:
        """The one model; nothing while an unnamed one cannot be learned."""
        if self._state.phase is not ModelPhase.READY:
            await self._learn()
        if self._info is not None:
            return (self._info,)
        return (self._describe(self._model, {}),) if self._model else ()

    def state(self) -> ModelState:
        """As of the last question."""
        return self._state

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST with the server's own name for the model. Raises ModelUnavailable."""
        check_path(path)
        models = await self.models()
        if not models:
            raise ModelUnavailable(self._state.detail, self._state.phase)
        try:
            async with self._upstream.ask(path, with_members(body, {"model": models[0].display_name})) as answer:
                self._state = ModelState(ModelPhase.READY, "")
                yield answer
        except ModelUnavailable as error:
            self._state = self._trouble(error)
            raise

    async def _learn(self) -> None:
        now = self._clock.monotonic()
        if self._asked_at is not None and now - self._asked_at < LIST_AGAIN_SECONDS:
            return
        self._asked_at = now
        try:
            listed = await self._upstream.read_json("/v1/models", seconds=LIST_SECONDS)
        except ModelUnavailable as error:
            self._state = self._trouble(error)
            return
        offers = _offers_of(listed)
        name = self._model or next(iter(offers), "")
        if not name:
            self._state = ModelState(ModelPhase.ABSENT, f"the model server at {self._host} lists no model")
            return
        self._info = self._describe(name, offers.get(name, {}))
        self._state = ModelState(ModelPhase.READY, "")

    def _trouble(self, error: ModelUnavailable) -> ModelState:
        return ModelState(ModelPhase(error.state), f"{self._host}: {error.message}")

    def _describe(self, name: str, offer: dict[str, Any]) -> ModelInfo:
        context = _context_of(offer) or self._context_tokens
        return ModelInfo(
            id=f"remote:{self._host[:_LONGEST_HOST]}:{name}",
            display_name=name,
            arch="unknown",
            context_tokens=context,
            output_tokens=min(REMOTE_OUTPUT_TOKENS, context),
            backend="openai-compatible",
            quantisation="unknown",
            supports_tools=True,
            licence="unknown",
            local=False,
        )


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        # Raises for a name that could not be looked up.
        (parts.hostname or "").encode("idna")
        return None if parts.port == 0 else parts
    except ValueError:
        return None


def check_path(path: str) -> None:
    """Raises NotFound for a path that must not be asked."""
    if path not in PATHS:
        raise NotFound(f"there is no `{path[:64]}`")


def _is_name(text: str) -> bool:
    return len(text) <= LONGEST_NAME and text.isprintable()


def _offers_of(listed: Any) -> dict[str, dict[str, Any]]:
    """Models by id, of any answer; what has no id is passed over."""
    offers: dict[str, dict[str, Any]] = {}
    match listed:
        case {"data": [*entries]}:
            for entry in entries:
                match entry:
                    case {"id": str(name)} if _is_name(name):
                        offers[name] = cast("dict[str, Any]", entry)
                    case _:
                        pass
        case _:
            pass
    return offers


def _context_of(offer: dict[str, Any]) -> int | None:
    """Context tokens, as vLLM, OpenRouter and llama.cpp say it; OpenAI does not."""
    match offer:
        case {"max_model_len": int(tokens)} | {"context_length": int(tokens)} | {"meta": {"n_ctx": int(tokens)}} if tokens > 1:
            # `true` is an integer too, and 1.
            return min(tokens, LARGEST_CONTEXT)
        case _:
            return None


def with_members(body: bytes, members: Mapping[str, Json]) -> bytes:
    """A request's body with these members in place of its own. Raises MalformedJson, InvalidRequest."""
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedJson("the body is not JSON") from None
    if not isinstance(asked, dict):
        raise InvalidRequest("the body is not an object")
    return orjson.dumps({**cast("dict[str, Any]", asked), **members})


def _check(response: aiohttp.ClientResponse) -> None:
    """What is not an answer to the request but a trouble between gateway and server. Raises ModelUnavailable."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        # Nobody asked for that, and a few bytes can unpack into more than there is memory.
        raise ModelUnavailable("the model server answers in a compressed form, which is not read here", ModelPhase.ABSENT)
    match response.status:
        case 401 | 403:
            # Passed on, a browser would take it for its own sign-in, and some servers quote the key.
            raise ModelUnavailable("the model server refuses the key; check COUNTERSIGN_MODEL_KEY", ModelPhase.ABSENT)
        case 503:
            raise ModelUnavailable("the model is being loaded, or is busy; try again in a moment", ModelPhase.STARTING)
        case status if 300 <= status < 400:
            raise ModelUnavailable(
                "the model server answers with a redirect; set COUNTERSIGN_MODEL_URL to its end", ModelPhase.ABSENT
            )
        case _:
            return


def _unreachable() -> ModelUnavailable:
    return ModelUnavailable("the model server does not answer; check that it runs, and its URL", ModelPhase.CRASHED)
