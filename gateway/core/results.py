"""Tool results as they are written down, read back, and made up where the truth is not known."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, cast

import orjson

from gateway.core.canonical import Json, canonical_bytes, canonical_text, digest_of_bytes
from gateway.core.ledger import CallFoundUnknown, ToolResult
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.redaction import RedactedJson, RedactedText, cap_json, cap_text, redact_json, redact_text
from gateway.core.vocabulary import Outcome, Reason, Trust

UNKNOWN_CONTENT: Final = (
    "The gateway stopped while this call was running. Whether it took effect is not known; it was not run again."
)


def unknown_result(entry: CallFoundUnknown) -> ToolResult:
    """How a call whose outcome nobody knows is closed: the result that replays and the model see."""
    return ToolResult(
        call_id=entry.call_id,
        outcome=Outcome.EXECUTION_ERROR,
        reason=Reason.OUTCOME_UNKNOWN,
        content=UNKNOWN_CONTENT,
        structured=None,
        error=UNKNOWN_CONTENT,
        truncated=False,
        redactions=0,
        labels=(),
        trust=Trust.TRUSTED,
        duration_ms=0,
        receipt_id=entry.receipt_id,
        result_digest=digest_of_output(UNKNOWN_CONTENT, None),
    )


def result_record(result: ToolResult) -> dict[str, Json]:
    """A result as payloads and replays keep it; `restore_result` reads it back."""
    return {
        "callId": result.call_id,
        "outcome": result.outcome.value,
        "reason": None if result.reason is None else result.reason.value,
        "content": result.content,
        "structured": result.structured,
        "error": result.error,
        "truncated": result.truncated,
        "redactions": result.redactions,
        "labels": list(result.labels),
        "trust": result.trust.value,
        "durationMs": result.duration_ms,
        "receiptId": result.receipt_id,
        "resultDigest": result.result_digest,
    }


def restore_result(record: Mapping[str, Json]) -> ToolResult:
    """The result that `result_record` wrote down."""
    return ToolResult(
        call_id=record["callId"],
        outcome=Outcome(record["outcome"]),
        reason=None if record["reason"] is None else Reason(record["reason"]),
        content=record["content"],
        structured=record["structured"],
        error=record["error"],
        truncated=record["truncated"],
        redactions=record["redactions"],
        labels=tuple(cast("list[str]", record["labels"])),
        trust=Trust(record["trust"]),
        duration_ms=record["durationMs"],
        receipt_id=record["receiptId"],
        result_digest=record["resultDigest"],
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
