"""Long texts in pages, so that whoever reads them gets a part that fits, and knows how to read on.

Sizes are bytes of UTF-8. The last line of every part that is not the end names the call that gives the next one:
`…[first 8030 of 20480 bytes. Next: read_result{"page":2,"result_id":"res_…"} of 3]`. The loop of the agent knows that line.
"""

from __future__ import annotations

from typing import Final

from gateway.core.canonical import Json, canonical_bytes

READER: Final = "read_result"
"""The tool that gives further pages."""

NOTE_BYTES: Final = 176
"""Room for the line that says how to read on, beside the words that were searched for: 30 bytes of sizes, 70 of the call."""

SMALLEST_PAGE: Final = 80
"""Bytes. Under a cap that leaves less, a text is only cut."""


def page_size(cap: int) -> int | None:
    """Bytes of a page under a cap that the line at its end fits into too; None where the cap is too small for pages."""
    size = cap - NOTE_BYTES
    return size if size >= SMALLEST_PAGE else None


def page_ends(raw: bytes, size: int) -> list[int]:
    """Where each page of at most `size` bytes ends: after a line if one ends in its second half, else between characters."""
    ends: list[int] = []
    start = 0
    while len(raw) - start > size:
        end = raw.rfind(b"\n", start + size // 2, start + size) + 1 or _before_character(raw, start + size)
        ends.append(end)
        start = end
    return [*ends, len(raw)]


def read_page(raw: bytes, size: int, page: int) -> tuple[str, int]:
    """A page of valid UTF-8, counted from 1, and how many there are; an empty text for a page that is not there."""
    ends = page_ends(raw, size)
    if not 1 <= page <= len(ends):
        return "", len(ends)
    return raw[0 if page == 1 else ends[page - 2] : ends[page - 1]].decode(), len(ends)


def first_page_note(read: int, whole: int, result_id: str, pages: int) -> str:
    """The last line of a result of which `read` of `whole` bytes are given."""
    return f"…[first {read} of {whole} bytes. Next: {_call({'page': 2, 'result_id': result_id})} of {pages}]"


def next_page_note(page: int, pages: int, arguments: dict[str, Json]) -> str:
    """The last line of a page; `arguments` are those of the call that gave it."""
    if page >= pages:
        return f"[page {page} of {pages}, the end]"
    return f"…[page {page} of {pages}. Next: {_call({**arguments, 'page': page + 1})}]"


def with_note(text: str, note: str) -> str:
    """A text and a line below it."""
    return f"{text}{note}" if not text or text.endswith("\n") else f"{text}\n{note}"


def _call(arguments: dict[str, Json]) -> str:
    return READER + canonical_bytes(arguments).decode()


def _before_character(raw: bytes, end: int) -> int:
    while raw[end] & 0xC0 == 0x80:  # a continuation byte: step back to where its character starts
        end -= 1
    return end
