"""A tool's result as text and JSON: blocks joined, bytes replaced by what they are, links shown and never followed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, Final

import jsonschema_rs
import mcp_types as types
import orjson

from gateway.adapters.tools.mcp.wire import MAX_TEXT
from gateway.adapters.tools.mcp.worker.inert import inert_line, show_acting, show_acting_within
from gateway.core.attachments import MAX_ATTACHED, MAX_ATTACHMENTS
from gateway.core.canonical import MAX_DEPTH, canonical_bytes, parse
from gateway.core.errors import MalformedJson

MAX_ADDRESS: Final = 300
_MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}")
"""RFC 6838 section 4.2."""


class UnusableResult(Exception):
    """A result that is none; `message` says why in words for the model and the person."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def read_attached(result: types.CallToolResult) -> list[bytes]:
    """The bytes of a result that the gateway may keep, in their order; the text speaks of each, kept or not."""
    attached: list[bytes] = []
    left = MAX_ATTACHED
    for encoded in map(_encoded_of, result.content):
        if encoded is None or len(attached) == MAX_ATTACHMENTS or len(encoded) > left * 2:
            continue
        data = _decode(encoded)
        if data and len(data) <= left:
            left -= len(data)
            attached.append(data)
    return attached


def _encoded_of(block: types.ContentBlock) -> str | None:
    match block:
        case types.ImageContent() | types.AudioContent():
            return block.data
        case types.EmbeddedResource(resource=types.BlobResourceContents() as resource):
            return resource.blob
        case _:
            return None


def _decode(encoded: str) -> bytes | None:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None


def read_result(result: types.CallToolResult, validator: jsonschema_rs.Validator | None) -> tuple[str, Any]:
    """Text and structured content. Raises UnusableResult for structured content that is missing or misses its schema."""
    structured = None if result.is_error else _read_structured(result, validator)
    text = "\n".join(filter(None, map(_show_block, result.content)))
    if not text and structured is not None:
        text = orjson.dumps(structured).decode()
    return _cut(text), structured


def _read_structured(result: types.CallToolResult, validator: jsonschema_rs.Validator | None) -> Any:
    if "structured_content" not in result.model_fields_set or (validator is None and result.structured_content is None):
        if validator is not None:
            raise UnusableResult("the server promised structured content and gave none")
        return None
    try:
        raw = canonical_bytes(result.structured_content)
        parse(raw, max_depth=MAX_DEPTH)
    except (MalformedJson, RecursionError):
        raise UnusableResult("the server gave structured content that is not JSON, or is nested too deep") from None
    if validator is not None:
        try:
            fault = next(iter(validator.iter_errors(result.structured_content)), None)
        except ValueError:
            raise UnusableResult("the server gave structured content that cannot be checked") from None
        if fault is not None:
            at = "/".join(str(step) for step in fault.instance_path) or "its top"
            raise UnusableResult(f"the server gave structured content that misses its own schema, at {inert_line(at, 100)}")
    if len(raw) > MAX_TEXT:
        raise UnusableResult(f"the server gave structured content of {len(raw)} bytes, more than the {MAX_TEXT} that are taken")
    return show_acting_within(result.structured_content)


def _show_block(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return show_acting(block.text)
        case types.ImageContent() | types.AudioContent():
            return _show_bytes(block.mime_type, block.data)
        case types.ResourceLink():
            return f"[link to {inert_line(str(block.uri), MAX_ADDRESS)}, not followed]"
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return f"[resource {inert_line(str(resource.uri), MAX_ADDRESS)}]\n{show_acting(resource.text)}"
        case types.EmbeddedResource(resource=types.BlobResourceContents() as resource):
            return f"[resource {inert_line(str(resource.uri), MAX_ADDRESS)}]\n{_show_bytes(resource.mime_type, resource.blob)}"
        case _:
            return "[content of a kind that is not known here]"


def _show_bytes(media_type: str | None, encoded: str) -> str:
    kind = media_type if media_type and _MEDIA_TYPE.fullmatch(media_type) else "bytes of an unknown type"
    raw = _decode(encoded)
    if raw is None:
        return f"[{kind}, {len(encoded)} characters that are no base64]"
    return f"[{kind}, {len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}]"


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_TEXT:
        return raw.decode()
    return f"{raw[:MAX_TEXT].decode(errors='ignore')}\n[cut: {len(raw) - MAX_TEXT} more bytes]"
