"""Tool results: how a call closed, how that is stored and read back, and what is reported where the outcome is not known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import orjson
from pydantic import ConfigDict, TypeAdapter, with_config
from pydantic.alias_generators import to_camel

from gateway.core.attachments import AttachmentReference, KeptAttachment, keep_attachments
from gateway.core.canonical import Json, canonical_bytes, canonical_text, digest_of_bytes, exceeds
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.pages import first_page_note, page_ends, page_size, with_note
from gateway.core.redaction import RedactedJson, RedactedText, cap_json, cap_text, redact_json, redact_text
from gateway.core.value_types import quick
from gateway.core.vocabulary import Outcome, Reason, Recovery, Trust

UNKNOWN_CONTENT: Final = (
    "The gateway stopped while this call was running. Whether it took effect is not known; it was not run again."
)

MAX_KEPT: Final = 8 * 1024 * 1024
"""Bytes of a result that are kept beyond what a model is given of it."""

_NOT_SHOWN: Final = 64 * 1024
"""Characters before a cut that are dropped once they were looked through: half a credential there is not recognised."""

MAX_FAILURE: Final = 2_000
"""Bytes of what a tool says of its failure that are handed out."""

_FAILURE_NOT_SHOWN: Final = 16 * 1024
"""As `_NOT_SHOWN`, for what a tool says of its failure: few say so much."""

_TOO_LARGE: Final = (
    f"[This result is JSON of more than {MAX_KEPT} bytes. It was not looked through for credentials, so nothing of it is shown: "
    "ask for less of it.]"
)


@with_config(ConfigDict(alias_generator=to_camel))
@dataclass(frozen=True, slots=True)
class KeptReference:
    """Where the whole of a result is that was too long: the id that reads it, its size in bytes and its digest."""

    id: str
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class KeptText:
    """The whole redacted text of a result that was too long. `page_bytes` is how much of it was given; `redacted` are the classes
    that were taken out of it."""

    id: str
    text: bytes
    page_bytes: int
    redacted: tuple[str, ...]

    @property
    def reference(self) -> KeptReference:
        """What the result's record says of it."""
        return KeptReference(self.id, len(self.text), digest_of_bytes(self.text))


@with_config(ConfigDict(alias_generator=to_camel))
@quick
@dataclass(frozen=True, slots=True)
class ToolResult:
    """How a call closed, as recorded: everything of the wire result but `replayed`, `auditSeq` (the closing leaf's index)
    and the conversation's message. `result_digest` covers `content` and `structured`; `kept` is there where `content` is only the
    first page of a text, `attachments` where bytes came with it. `own`: it is of the person's own workspace or record."""

    call_id: str
    outcome: Outcome
    reason: Reason | None
    content: str
    structured: Json
    error: str | None
    truncated: bool
    redactions: int
    labels: tuple[str, ...]
    trust: Trust
    duration_ms: int
    receipt_id: str
    result_digest: str
    kept: KeptReference | None = None
    attachments: tuple[AttachmentReference, ...] = ()
    own: bool = False


def result_record(result: ToolResult) -> dict[str, Json]:
    """A result as payloads and replays keep it, in the wire's member names; `restore_result` reads it back.

    Written out, because every call comes through here: pydantic takes four times as long for the same. `structured` is left as
    it is, so that what has no canonical JSON is refused where bytes are made.
    """
    record: dict[str, Json] = {
        "callId": result.call_id,
        "outcome": result.outcome.value,
        "reason": None if result.reason is None else result.reason.value,
        "content": result.content,
        "structured": result.structured,
        "error": result.error,
        "truncated": result.truncated,
        "redactions": result.redactions,
        "labels": result.labels,
        "trust": result.trust.value,
        "durationMs": result.duration_ms,
        "receiptId": result.receipt_id,
        "resultDigest": result.result_digest,
    }
    # Each is absent where there is none, as in every log written before there were such members.
    if result.kept is not None:
        record["kept"] = {"id": result.kept.id, "bytes": result.kept.bytes, "digest": result.kept.digest}
    if result.attachments:
        record["attachments"] = [
            {"id": each.id, "mediaType": each.media_type.value, "bytes": each.bytes, "digest": each.digest}
            for each in result.attachments
        ]
    if result.own:
        record["own"] = True
    return record


@cache
def _reader() -> TypeAdapter[ToolResult]:
    return TypeAdapter(ToolResult)


def restore_result(record: Mapping[str, Json]) -> ToolResult:
    """The result that `result_record` wrote down."""
    return _reader().validate_python(record)


_ADVICE: Final[Mapping[Recovery, str]] = {
    Recovery.PURE: " It only reads, so reading again is safe.",
    Recovery.IDEMPOTENT: " It has the same effect however often it runs, so it may be sent again.",
    Recovery.PROBE: " Check whether it took effect before you send it again.",
    Recovery.UNSAFE: " Look at what it left before you repeat it.",
}


def unknown_result(call_id: str, receipt_id: str, recovery: Recovery | None = None) -> ToolResult:
    """How a call whose outcome nobody knows is closed: the result that replays and the model see. `recovery`, where it is
    known, decides what they are told to do."""
    content = UNKNOWN_CONTENT + ("" if recovery is None else _ADVICE[recovery])
    return ToolResult(
        call_id=call_id,
        outcome=Outcome.EXECUTION_ERROR,
        reason=Reason.OUTCOME_UNKNOWN,
        content=content,
        structured=None,
        error=content,
        truncated=False,
        redactions=0,
        labels=(),
        trust=Trust.TRUSTED,
        duration_ms=0,
        receipt_id=receipt_id,
        result_digest=digest_of_output(content, None),
    )


def refused_result(
    call_id: str,
    outcome: Outcome,
    reason: Reason | None,
    message: str,
    *,
    receipt_id: str,
    duration_ms: int = 0,
) -> ToolResult:
    """How a call closes without output of a tool; `message` is the gateway's own sentence, for the model and the person."""
    return ToolResult(
        call_id=call_id,
        outcome=outcome,
        reason=reason,
        content=message,
        structured=None,
        error=message,
        truncated=False,
        redactions=0,
        labels=(),
        trust=Trust.TRUSTED,
        duration_ms=duration_ms,
        receipt_id=receipt_id,
        result_digest=digest_of_output(message, None),
    )


@quick
@dataclass(frozen=True, slots=True)
class BoundedOutput:
    """As much of an output as is looked through. `beyond`: bytes of the text that are not; `dropped`: the structure is not."""

    output: ToolOutput
    beyond: int = 0
    dropped: bool = False


@quick
@dataclass(frozen=True, slots=True)
class RedactedOutput:
    """A tool's output without what must not leave, and how much that was. `beyond` and `dropped` as of BoundedOutput."""

    text: str
    structured: Json
    labels: tuple[str, ...]
    trust: Trust
    count: int
    classes: tuple[str, ...]
    attached: tuple[bytes, ...]
    own: bool
    beyond: int = 0
    dropped: bool = False


@quick
@dataclass(frozen=True, slots=True)
class PresentedOutput:
    """What is handed out of an output, the whole of it where that is more and may be kept, and the bytes that came with it."""

    result: ToolResult
    kept: KeptText | None
    attachments: tuple[KeptAttachment, ...] = ()


def bound_output(output: ToolOutput) -> BoundedOutput:
    """An output without what is longer than anybody is ever given of it, so that nobody pays for looking through that."""
    structured, text, dropped, beyond = output.structured, output.text, False, 0
    if _is_longer(structured, MAX_KEPT):
        # Half a JSON value is another value. Where the text is that value, its escapes hide what no pattern finds then.
        structured, text, dropped = None, _TOO_LARGE if len(text) > MAX_KEPT else text, True
    if len(text) > MAX_KEPT + _NOT_SHOWN and not _is_json_of(text, structured):
        beyond = len(text[MAX_KEPT + _NOT_SHOWN :].encode("utf-8", "replace"))
        text = text[: MAX_KEPT + _NOT_SHOWN]
    if not (dropped or beyond):
        return BoundedOutput(output)
    return BoundedOutput(replace(output, text=text, structured=structured), beyond, dropped)


def redact_output(bounded: BoundedOutput, redact: Collection[str]) -> RedactedOutput:
    """The first step of letting an output out. Its time grows with the output's length."""
    output, beyond = bounded.output, bounded.beyond
    structure = redact_json(output.structured, redact)
    text = _redact_text(output, structure, redact)
    count, shown = text.count + structure.count, text.text
    if beyond:
        shown = shown[:-_NOT_SHOWN]
        beyond += len(text.text[len(shown) :].encode("utf-8", "replace"))
    return RedactedOutput(
        text=shown,
        structured=structure.value,
        labels=output.labels,
        trust=output.trust,
        count=count,
        classes=tuple(sorted(redact)),
        attached=output.attached,
        own=output.own,
        beyond=beyond,
        dropped=bounded.dropped,
    )


def present_output(
    call_id: str,
    spec: ToolSpec,
    output: RedactedOutput,
    *,
    receipt_id: str,
    duration_ms: int,
    cap: int,
    keep: Callable[[int], str | None],
) -> PresentedOutput:
    """A redacted output as it may leave: capped to `cap` bytes each of text and structure, labelled.

    A longer text is kept where `keep`, asked with its size in bytes, gives an id for it; its first page is handed out then.
    Bytes that came with it are kept in the same way.
    """
    attachments = keep_attachments(output.attached, keep)
    content, cut, kept = _first_page(output, cap, keep)
    structured, dropped = cap_json(output.structured, cap)
    result = ToolResult(
        call_id=call_id,
        outcome=Outcome.OK,
        reason=None,
        content=content,
        structured=structured,
        error=None,
        truncated=cut or dropped or output.dropped,
        redactions=output.count,
        labels=tuple(sorted({*spec.labels, *output.labels})),
        # An output may be trusted less than its tool, never more.
        trust=Trust.UNTRUSTED if Trust.UNTRUSTED in (spec.trust, output.trust) else Trust.TRUSTED,
        duration_ms=duration_ms,
        receipt_id=receipt_id,
        result_digest=digest_of_output(content, structured),
        kept=None if kept is None else kept.reference,
        attachments=tuple(attachment.reference for attachment in attachments),
        own=spec.own and output.own,
    )
    return PresentedOutput(result, kept, attachments)


def redact_failure(message: str, redact: Collection[str], cap: int) -> str:
    """What a tool says of its failure, as it may leave. Looked through a good way beyond where it is cut, and no further."""
    redacted = redact_text(message[: MAX_FAILURE + _FAILURE_NOT_SHOWN], redact).text
    shown, beyond = redacted, 0
    if len(message) > MAX_FAILURE + _FAILURE_NOT_SHOWN:
        shown = redacted[:-_FAILURE_NOT_SHOWN]
        beyond = len((redacted[len(shown) :] + message[MAX_FAILURE + _FAILURE_NOT_SHOWN :]).encode("utf-8", "replace"))
    return cap_text(shown, min(cap, MAX_FAILURE), beyond)[0]


def _first_page(output: RedactedOutput, cap: int, keep: Callable[[int], str | None]) -> tuple[str, bool, KeptText | None]:
    """What of the text is handed out, whether that is less than all, and all of it if it is kept."""
    content, cut = cap_text(output.text, cap, output.beyond)
    size = page_size(cap)
    if not cut or size is None:
        return content, bool(cut), None
    text = cap_text(output.text, MAX_KEPT, output.beyond)[0].encode()
    result_id = keep(len(text))
    if result_id is None:
        return content, True, None
    ends = page_ends(text, size)
    note = first_page_note(ends[0], len(text), result_id, len(ends))
    return with_note(text[: ends[0]].decode(), note), True, KeptText(result_id, text, size, output.classes)


def _is_longer(value: Json, limit: int) -> bool:
    """Whether the JSON text of a value certainly has more than `limit` characters: two quotes about each string and name, a colon
    and a comma beside each member, a comma beside each item."""
    return exceeds(value, limit, string=2, members=lambda them: sum(len(str(name)) + 4 for name in them))


def _is_json_of(text: str, structured: Json) -> bool:
    try:
        return structured is not None and text == orjson.dumps(structured).decode()
    except TypeError:  # what has no JSON text at all, such as half a character
        return False


def _redact_text(output: ToolOutput, structure: RedactedJson, redact: Collection[str]) -> RedactedText:
    """The text without what must not leave. JSON escapes hide the beginning of a credential (`\\nAKIA…` is one word to every
    pattern), so where the text is the structure's own JSON, it is written again from the redacted structure."""
    if _is_json_of(output.text, output.structured):
        return RedactedText(orjson.dumps(structure.value).decode(), 0)
    return redact_text(output.text, redact)


def digest_of_output(content: str, structured: Json) -> str:
    """The result digest: over what is handed out, so that the record and the reply can be compared."""
    structure = b"null" if structured is None else canonical_bytes(structured)
    return digest_of_bytes(b'{"content":%b,"structured":%b}' % (canonical_text(content), structure))
