"""Tool results: how a call closed, how that is stored and read back, and what is reported where the outcome is not known."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from pydantic import ConfigDict, TypeAdapter, with_config
from pydantic.alias_generators import to_camel

from gateway.core.canonical import Json, canonical_bytes, canonical_text, digest_of_bytes
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.redaction import RedactedJson, RedactedText, cap_json, cap_text, redact_json, redact_text
from gateway.core.vocabulary import Outcome, Reason, Recovery, Trust

UNKNOWN_CONTENT: Final = (
    "The gateway stopped while this call was running. Whether it took effect is not known; it was not run again."
)


@with_config(ConfigDict(alias_generator=to_camel))
@dataclass(frozen=True, slots=True)
class ToolResult:
    """How a call closed, as recorded: everything of the wire result but `replayed`, `auditSeq` (the closing leaf's index)
    and the conversation's message. `result_digest` covers `content` and `structured`."""

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


_RECORD: Final = TypeAdapter(ToolResult)


def result_record(result: ToolResult) -> dict[str, Json]:
    """A result as payloads and replays keep it, in the wire's member names; `restore_result` reads it back."""
    # As Python values: `structured` is left as it is, so that what has no canonical JSON is refused where bytes are made.
    return _RECORD.dump_python(result, by_alias=True)


def restore_result(record: Mapping[str, Json]) -> ToolResult:
    """The result that `result_record` wrote down."""
    return _RECORD.validate_python(record)


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


def present_output(
    call_id: str,
    spec: ToolSpec,
    output: ToolOutput,
    *,
    receipt_id: str,
    duration_ms: int,
    cap: int,
    redact: Collection[str],
) -> ToolResult:
    """A tool's output as it may leave: redacted first, then capped to `cap` bytes each of text and structure, labelled."""
    structure = redact_json(output.structured, redact)
    text = _redact_text(output, structure, redact)
    content, cut = cap_text(text.text, cap)
    structured, dropped = cap_json(structure.value, cap)
    return ToolResult(
        call_id=call_id,
        outcome=Outcome.OK,
        reason=None,
        content=content,
        structured=structured,
        error=None,
        truncated=bool(cut) or dropped,
        redactions=text.count + structure.count,
        labels=tuple(sorted({*spec.labels, *output.labels})),
        trust=spec.trust,
        duration_ms=duration_ms,
        receipt_id=receipt_id,
        result_digest=digest_of_output(content, structured),
    )


def _redact_text(output: ToolOutput, structure: RedactedJson, redact: Collection[str]) -> RedactedText:
    """The text without what must not leave. JSON escapes hide the beginning of a credential (`\\nAKIA…` is one word to every
    pattern), so where the text is the structure's own JSON, it is written again from the redacted structure."""
    if output.structured is not None and output.text == orjson.dumps(output.structured).decode():
        return RedactedText(orjson.dumps(structure.value).decode(), 0)
    return redact_text(output.text, redact)


def digest_of_output(content: str, structured: Json) -> str:
    """The result digest: over what is handed out, so that the record and the reply can be compared."""
    structure = b"null" if structured is None else canonical_bytes(structured)
    return digest_of_bytes(b'{"content":%b,"structured":%b}' % (canonical_text(content), structure))
