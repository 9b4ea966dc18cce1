"""The gateway's tools and answers in the words of the Model Context Protocol."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final, assert_never, cast

from mcp_types import CallToolResult, ImageContent, TextContent, Tool, ToolAnnotations, ToolExecution

from gateway.core.attachments import KeptAttachment, MediaType
from gateway.core.canonical import Json
from gateway.core.model import PublishedTool, ToolSpec
from gateway.core.results import ToolResult
from gateway.core.vocabulary import Category, Outcome, Reason, Recovery
from gateway.runtime.calls import CallAnswer

PREFIX: Final = "countersign/"
"""Of the names that results and tools carry in `_meta`."""


def describe_tool(tool: PublishedTool) -> Tool:
    """A tool of a list. The annotations are hints that follow from its category; what it needs is in `_meta`."""
    spec = tool.spec
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=dict(spec.param_schema),
        annotations=_annotate(spec),
        execution=ToolExecution(task_support="optional"),
        _meta={f"{PREFIX}permission": tool.permission.value, f"{PREFIX}category": spec.category.value},
    )


def describe_answer(tool: str, answer: CallAnswer, attachments: Sequence[KeptAttachment]) -> CallToolResult:
    """How a call closed, with the images among its attachments. Whatever is no result is an error, in words that tell a person's
    no, the policy's, a question that ran out of time and an outcome that nobody knows apart."""
    result = answer.result
    meta: dict[str, Any] = {
        f"{PREFIX}outcome": result.outcome.value,
        f"{PREFIX}receipt": result.receipt_id,
        f"{PREFIX}trust": result.trust.value,
    }
    if result.reason is not None:
        meta[f"{PREFIX}reason"] = result.reason.value
    if answer.closing_index is not None:
        meta[f"{PREFIX}auditSeq"] = answer.closing_index
    if answer.replayed:
        meta[f"{PREFIX}replayed"] = True
    is_error = result.outcome is not Outcome.OK
    text = _explain(tool, result) if is_error else result.content
    return CallToolResult(
        content=[TextContent(type="text", text=text), *(image for each in attachments for image in _describe_image(each))],
        structured_content=_structure(result.structured),
        is_error=is_error,
        _meta=meta,
    )


def _describe_image(attachment: KeptAttachment) -> Sequence[ImageContent]:
    """Other bytes are spoken of in the text alone: no client could do anything with them."""
    kind = attachment.reference.media_type
    if kind is MediaType.BYTES:
        return ()
    return (ImageContent(type="image", data=base64.b64encode(attachment.data).decode(), mime_type=kind.value),)


def _structure(structured: Json) -> dict[str, Json] | None:
    """Revisions before 2026-07-28 take an object only; anything else is in the text as it is."""
    return cast("dict[str, Json]", structured) if isinstance(structured, dict) else None


def _annotate(spec: ToolSpec) -> ToolAnnotations:
    category = spec.category
    return ToolAnnotations(
        title=spec.title,
        read_only_hint=category is Category.READ,
        destructive_hint=category in (Category.DESTRUCTIVE, Category.EXECUTE, Category.ADMIN),
        idempotent_hint=spec.recovery in (Recovery.PURE, Recovery.IDEMPOTENT),
        open_world_hint=spec.network or category is Category.NETWORK,
    )


def _explain(tool: str, result: ToolResult) -> str:
    reason = "" if result.reason is None else f", reason {result.reason.value}"
    said = result.error or result.content
    more = f"\n{said}" if said else ""
    return f"{_headline(f'`{tool}`', result)}{more}\n[outcome {result.outcome.value}{reason}]"


def _headline(tool: str, result: ToolResult) -> str:
    match result.outcome:
        case Outcome.OK:
            return f"{tool} is done."
        case Outcome.DENIED_BY_USER:
            return f"The person said no, so {tool} did not run. Do not ask for the same again."
        case Outcome.STEP_UP_FAILED:
            return f"No passkey confirmed {tool}, so it did not run."
        case Outcome.TIMED_OUT if result.reason is Reason.APPROVAL_EXPIRED:
            return f"Nobody answered in time whether {tool} may run, so it did not run. That is no refusal."
        case Outcome.TIMED_OUT:
            return f"{tool} took too long and was stopped. It may have done part of its work."
        case Outcome.CANCELLED:
            return f"{tool} was cancelled."
        case Outcome.INVALID_ARGUMENTS:
            return f"{tool} did not run: its arguments do not fit its schema."
        case Outcome.UNKNOWN_TOOL:
            return f"There is no tool {tool} here."
        case Outcome.REFUSED_BY_POLICY:
            return f"The gateway refused {tool}, so it did not run; nobody was asked."
        case Outcome.EXECUTION_ERROR if result.reason is Reason.OUTCOME_UNKNOWN:
            return f"Whether {tool} took effect is not known. Do not repeat it before that has been looked up."
        case Outcome.EXECUTION_ERROR:
            return f"{tool} failed."
        case _:
            assert_never(result.outcome)
