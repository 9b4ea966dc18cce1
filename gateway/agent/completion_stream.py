"""A chat completion as servers really send it, read into the deltas of the loop.

Server-sent events or, from servers that do not stream, one JSON object. A reply is whole once it says `[DONE]` or why it
ended; an error inside it is the server's own, and its words are kept.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Final, cast

import orjson

from gateway.agent.limits import LIMITS
from gateway.agent.ports import ChatDelta, ChatFailure, ChatFailureKind, CutDelta, CutReason, TextDelta, Usage
from gateway.agent.stream_calls import CallSorter

_LINE: Final = 1 << 20
"""Bytes of one event; a server that sends more without a line end never meant to end it."""

_WHOLE: Final = 4 << 20
"""Bytes of a reply that is not streamed."""

_CUT: Final[Mapping[str, CutReason]] = {
    "length": CutReason.LENGTH,
    "max_tokens": CutReason.LENGTH,
    "content_filter": CutReason.FILTERED,
}
"""Reasons to end that leave a reply incomplete."""


class CompletionStream:
    """One reply. Give it the bytes as they come, and `finish` it at their end."""

    def __init__(self) -> None:
        self._rest = b""
        self._is_streamed: bool | None = None
        self._is_complete = False
        self._calls = CallSorter()

    def feed(self, piece: bytes) -> Generator[ChatDelta]:
        """What these bytes say. Raises ChatFailure."""
        self._rest += piece
        if self._is_streamed is None and (begun := self._rest.lstrip()):
            self._is_streamed = not begun.startswith(b"{")
        if self._is_streamed:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                yield from self._read_line(line)
        if len(self._rest) > (_LINE if self._is_streamed else _WHOLE):
            raise _garbled()

    def finish(self) -> Generator[ChatDelta]:
        """What was held back until the end. Raises ChatFailure where the reply is not whole."""
        if self._is_streamed is False:
            yield from self._read_chunk(self._rest)
            self._is_complete = True
        else:
            yield from self._read_line(self._rest)
        if not self._is_complete:
            kind = ChatFailureKind.UNREACHABLE if self._is_streamed is None else ChatFailureKind.BROKE_OFF
            raise ChatFailure(kind, "the reply broke off")

    def _read_line(self, line: bytes) -> Generator[ChatDelta]:
        if not line.startswith(b"data:"):
            return
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            self._is_complete = True
        elif data:
            yield from self._read_chunk(data)

    def _read_chunk(self, data: bytes) -> Generator[ChatDelta]:
        try:
            chunk = _object(orjson.loads(data))
        except orjson.JSONDecodeError:
            raise _garbled() from None
        error = chunk.get("error")
        if (isinstance(error, dict) or _text(error)) and not self._is_complete:
            raise failure_of(502, chunk)
        choice = _object(next(iter(_list(chunk.get("choices"))), None))
        said = _object(choice.get("delta")) or _object(choice.get("message"))
        if text := _words(said.get("content")) + _words(said.get("refusal")):
            yield TextDelta(text)
        yield from self._calls.read(_list(said.get("tool_calls")))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._is_complete = True
            if reason in _CUT:
                yield CutDelta(_CUT[reason])
        match _object(chunk.get("usage")):
            case {"prompt_tokens": int(prompt), "completion_tokens": int(completion)}:
                yield Usage(prompt, completion)
            case _:
                pass


def read_failure(status: int, body: bytes) -> ChatFailure:
    """An answer that is a refusal, with the server's own words where it has any."""
    try:
        return failure_of(status, _object(orjson.loads(body)))
    except orjson.JSONDecodeError:
        return failure_of(status, {})


def failure_of(status: int, body: Mapping[str, Any]) -> ChatFailure:
    """The same of a body that was read."""
    error, given = _object(body.get("error")), _words_of_error(body)
    message = given[: LIMITS.model_error_characters] or f"status {status}"
    if status in (401, 403):
        return ChatFailure(ChatFailureKind.UNAUTHORISED, message)
    if status == 503 or error.get("code") == "model_unavailable":
        return ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, message, _text(error.get("reason")) or None)
    if 0 < status < 500:
        return ChatFailure(ChatFailureKind.REFUSED, message)
    return ChatFailure(ChatFailureKind.FAILED if given else ChatFailureKind.UNREACHABLE, message)


def read_error_words(body: bytes) -> str:
    """The server's own words for an error, as long as they are; empty where it has none."""
    try:
        return _words_of_error(_object(orjson.loads(body)))
    except orjson.JSONDecodeError:
        return ""


def _words_of_error(body: Mapping[str, Any]) -> str:
    """Servers put their words in `error.message`, `error`, `message` or `detail`."""
    places = (_object(body.get("error")).get("message"), *map(body.get, ("error", "message", "detail")))
    return next((_text(each) for each in places if _text(each)), "")


def _garbled() -> ChatFailure:
    return ChatFailure(ChatFailureKind.UNREACHABLE, "the reply is garbled")


def _words(content: Any) -> str:
    """Text, or the text parts of a list of parts."""
    if isinstance(content, list):
        return "".join(_text(_object(part).get("text")) for part in cast("list[Any]", content))
    return _text(content)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
