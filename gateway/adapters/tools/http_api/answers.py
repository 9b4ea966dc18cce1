"""What an API answered, as a result: one JSON object, like a program's. An error status is a result too: the API has answered.

Everything in it is untrusted. The operator's secrets are taken out of it, should the API send them back.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

import orjson

from gateway.adapters.tools.builtin.fetching import HttpAnswer
from gateway.adapters.tools.http_api.wording import tell
from gateway.adapters.tools.outputs import make_encodable
from gateway.core.attachments import MediaType, media_type_of
from gateway.core.canonical import Json, parse
from gateway.core.effects import escape
from gateway.core.errors import MalformedJson
from gateway.core.model import ToolOutput
from gateway.runtime.ports import ArgumentFault

MAX_TOLD_FAULTS: Final = 5

_HEADERS: Final = frozenset(
    {
        *(
            "allow",
            "content-language",
            "content-range",
            "deprecation",
            "etag",
            "last-modified",
            "link",
            "location",
            "retry-after",
        ),
        *("sunset", "x-next-page", "x-page", "x-per-page", "x-prev-page", "x-request-id", "x-total", "x-total-count"),
    }
)
_LIMIT_HEADERS: Final = ("ratelimit", "x-ratelimit", "x-rate-limit")

_TEXTS: Final = ("application/xml", "application/javascript", "application/x-www-form-urlencoded", "+xml")

_CHARSETS: Final = frozenset({"ascii", "utf-8", "iso8859-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"})
"""Python's names of the encodings an answer may claim; anything else is read as UTF-8."""


class AnswerChecker(Protocol):
    """What the document says about answers."""

    def find_mismatches(self, status: int, media_type: str, body: Json) -> Sequence[ArgumentFault]:
        """Where the body of an answer is not what the document says. `body` is None where it was no JSON."""
        ...


@dataclass(frozen=True, slots=True)
class _Body:
    """The body as JSON where it is JSON, and how it is shown."""

    shown: Json
    value: Json = None
    fault: str = ""


def read_answer(answer: HttpAnswer, secrets: Sequence[tuple[str, str]], checker: AnswerChecker, method: str) -> ToolOutput:
    """The result of a call."""
    media_type = escape(answer.media_type)[:100]
    record: dict[str, Json] = {"status": answer.status}
    if headers := _read_headers(answer):
        record["headers"] = headers
    if answer.data or not answer.complete:
        body = _read_body(answer)
        record["mediaType"] = media_type
        record["body"] = body.shown
        faults = [body.fault] if body.fault else []
        if answer.complete:
            found = checker.find_mismatches(answer.status, answer.media_type.lower(), body.value)
            faults += [f"{fault.path or '/'} {fault.message}" for fault in found]
        else:
            record["complete"] = False
        if faults:
            record["mismatch"] = [tell(fault, 300) for fault in faults[:MAX_TOLD_FAULTS]]
    elif method != "HEAD":
        record["body"] = None
    structured = _without_secrets(record, secrets)
    return ToolOutput(orjson.dumps(structured).decode(), structured, attached=_find_image(answer, secrets))


def _find_image(answer: HttpAnswer, secrets: Sequence[tuple[str, str]]) -> tuple[bytes, ...]:
    """The body where it is an image by its first bytes, and shows no secret that the request carried."""
    if not answer.complete or media_type_of(answer.data) is MediaType.BYTES:
        return ()
    return () if any(secret.encode() in answer.data for secret, _ in secrets) else (answer.data,)


def _read_headers(answer: HttpAnswer) -> dict[str, Json]:
    told: dict[str, Json] = {}
    for name, value in answer.headers:
        lowered = name.lower()
        if (lowered in _HEADERS or lowered.startswith(_LIMIT_HEADERS)) and lowered not in told:
            told[tell(lowered, 100)] = tell(make_encodable(value), 500)
    return told


def _read_body(answer: HttpAnswer) -> _Body:
    kind = answer.media_type.lower()
    if kind == "application/json" or kind.endswith("+json"):
        text = _decode(answer)
        if not answer.complete:
            return _Body(text)
        try:
            value = parse(answer.data.removeprefix(b"\xef\xbb\xbf"))
        except MalformedJson as error:
            return _Body(text, fault=f"the body is no JSON that can be relied on: {error.message}")
        return _Body(value, value)
    if kind.startswith("text/") or kind.endswith(_TEXTS) or kind in _TEXTS:
        return _Body(_decode(answer))
    return _Body({"bytes": len(answer.data), "sha256": hashlib.sha256(answer.data).hexdigest()})


def _decode(answer: HttpAnswer) -> str:
    try:
        charset = codecs.lookup(answer.charset or "utf-8").name
    except (LookupError, ValueError):
        charset = "utf-8"
    # NUL is legal in none of the places where a result goes.
    return answer.data.decode(charset if charset in _CHARSETS else "utf-8", "replace").replace("\0", "\ufffd")


def _without_secrets(value: Json, secrets: Sequence[tuple[str, str]]) -> Json:
    match value:
        case str():
            for secret, word in secrets:
                value = value.replace(secret, word)
            return value
        case dict():
            members = cast("Mapping[str, Json]", value)
            return {_without_secrets(name, secrets): _without_secrets(inner, secrets) for name, inner in members.items()}
        case list():
            return [_without_secrets(each, secrets) for each in cast("list[Json]", value)]
        case _:
            return value
