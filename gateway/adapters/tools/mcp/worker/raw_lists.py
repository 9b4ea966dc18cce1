"""A list of tools one of which no reader of JSON takes: halves of characters, arrays in arrays without end.

The parser would refuse the whole message then, and with it every other tool of the server. So the list is taken apart by its
brackets, without reading what stands in them, and what cannot be read is left out by name.
"""

from __future__ import annotations

import re
from typing import Final

from pydantic_core import from_json

from gateway.adapters.tools.mcp.wire import MAX_NAME, MAX_TOOLS
from gateway.adapters.tools.mcp.worker.inert import inert_line

_SCHEMA: Final = b'"inputSchema"'
"""Stands in every list of tools."""

_TEXT: Final = rb'"(?:[^"\\]|\\.)*+"'
_TOKEN: Final = re.compile(_TEXT + rb"|[\[\]{},]", re.DOTALL)
_OPENS_LIST: Final = re.compile(rb"\s*:\s*\[")
_HAS_TEXT: Final = re.compile(rb"\s*:\s*(" + _TEXT + rb")", re.DOTALL)

_MEMBER: Final = 2
"""How many brackets are open around `tools`: those of the message and of its `result`."""


def leave_out_unreadable(message: bytes, malformed: dict[str, str]) -> bytes:
    """The message, without those tools of a list that cannot be read; each goes to `malformed` with what is wrong with it."""
    if _SCHEMA not in message or _find_fault(message) is None:
        return message
    return _take_apart(message, malformed)


def _take_apart(message: bytes, malformed: dict[str, str]) -> bytes:
    depth, begins, name = 0, -1, b""
    start = -1
    kept: list[bytes] = []
    for number, token in enumerate(_TOKEN.finditer(message)):
        mark, at, end = token[0], token.start(), token.end()
        is_inside = start >= 0
        if mark in (b"[", b"{"):
            depth += 1
        elif mark in (b"]", b"}"):
            depth -= 1
        if not is_inside:
            if depth == _MEMBER and mark == b'"tools"' and (opening := _OPENS_LIST.match(message, end)):
                start = begins = opening.end()
        elif depth == _MEMBER + 2 and mark == b'"name"' and not name and (told := _HAS_TEXT.match(message, end)):
            name = told[1]
        elif (depth == _MEMBER + 1 and mark == b",") or depth == _MEMBER:
            tool = message[begins:at]
            fault = _find_fault(b"[[[" + tool + b"]]]") if tool.strip() else None
            if fault is None:
                kept.append(tool)
            elif len(malformed) < MAX_TOOLS:
                malformed[_show_name(name) or f"(number {number})"] = f"it cannot be read: {fault}"
            begins, name = end, b""
            if depth == _MEMBER:
                return message[:start] + b",".join(kept) + message[at:]
    return message


def _find_fault(raw: bytes) -> str | None:
    try:
        from_json(raw)
    except ValueError as error:
        return inert_line(str(error).partition(" at line ")[0], 100)
    return None


def _show_name(raw: bytes) -> str:
    try:
        return inert_line(from_json(raw), MAX_NAME) if raw else ""
    except ValueError:
        return ""
