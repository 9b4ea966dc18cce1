"""Reading on in a result that was too long: page by page, or the lines that hold some words.

The text belongs to one person and one conversation. Every other id gives the same answer, whether there is such a result or not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from io import StringIO
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput
from gateway.core.pages import SMALLEST_PAGE, next_page_note, page_size, read_page, with_note
from gateway.core.redaction import redact_text
from gateway.core.vocabulary import Category, Recovery, Trust
from gateway.runtime.ports import KeptResult, ToolContext

KeptTextReader: TypeAlias = Callable[[str, str, str], Awaitable[KeptResult | None]]
"""Of a person (principal id) and a conversation, the result of that id."""

MOST_FOUND: Final = 1_000
"""Places of one search."""

MAX_LINE: Final = 300
"""Characters of a line around what was searched for; a result of one long line has many such places."""

RESULT_CAP: Final = 1024 * 1024
"""Bytes: a page is as long as the part of the result that was handed out, whatever tool gave it."""

MAX_ID: Final = 64
MAX_PAGE: Final = 1_000_000
MAX_AFTER: Final = 8 * 1024 * 1024
MAX_WORDS: Final = 100
"""Characters to search for; they stand in the last line of each page too."""


def kept_tools(read_kept: KeptTextReader) -> list[AnyTool]:
    """The tool that reads kept results."""
    readers = WorkerThreads("result", 2)

    @tool(
        category=Category.READ,
        summary="Read page {page} of the long result {result_id}",
        # What the result was believed to be is what its pages are; an output may lower this, and nothing raises it.
        trust=Trust.TRUSTED,
        own=True,
        recovery=Recovery.PURE,
        result_cap=RESULT_CAP,
        interface="results",
    )
    async def read_result(
        result_id: Annotated[str, Field(description="Id that the end of a long result names", max_length=MAX_ID)],
        context: ToolContext,
        page: Annotated[int, Field(description="Which page", ge=1, le=MAX_PAGE)] = 1,
        search: Annotated[str, Field(description="Give only the lines that hold these words", max_length=MAX_WORDS)] = "",
        after: Annotated[int, Field(description="Leave out so many bytes of the page", ge=0, le=MAX_AFTER)] = 0,
    ) -> ToolOutput:
        """Read another page of a long result, or search in it."""
        found = await read_kept(context.principal.id, context.conversation_id, result_id)
        if found is None:
            raise ToolFailed("there is no long result of that id in this conversation")
        return await readers.submit(lambda: _read(found, result_id, page, search, after, context))

    return [read_result]


def _read(found: KeptResult, result_id: str, page: int, search: str, after: int, context: ToolContext) -> ToolOutput:
    raw, missing = found.kept.text, context.redact.difference(found.kept.redacted)
    if missing:
        # The policy asks for more now. Before the text is taken apart: no pattern knows half of a credential.
        raw = redact_text(raw.decode(), missing).text.encode()
    arguments: dict[str, Json] = {"result_id": result_id}
    complete = True
    if search.strip():
        arguments["search"] = search
        lines, complete = _find(raw.decode(), search.strip())
        raw = "\n".join(lines).encode()
        if not lines:
            return _output(found, "nothing found in it", {"id": result_id, "found": False})
    # The words stand in the last line too.
    allowed = (page_size(context.result_cap) or SMALLEST_PAGE) - len(canonical_bytes(search))
    text, pages = read_page(raw, max(min(found.kept.page_bytes, allowed), SMALLEST_PAGE), page)
    if page > pages:
        raise ToolFailed(f"it has {pages} {'page' if pages == 1 else 'pages'}")
    text = _leave_out(text, after)
    if page == pages and not complete:
        text = with_note(text, f"…[only the first {MOST_FOUND} places]")
    record: dict[str, Json] = {"id": result_id, "page": page, "pages": pages, "complete": complete}
    return _output(found, with_note(text, next_page_note(page, pages, arguments)), record)


def _leave_out(page: str, after: int) -> str:
    """A page without its first bytes: a reader that had less room than it is long goes on where it stopped."""
    raw = page.encode()
    if after and after >= len(raw):
        raise ToolFailed(f"that page has {len(raw)} bytes")
    # Between two characters, also where somebody counted wrongly: a piece of one is no text.
    return raw[after:].decode(errors="ignore")


def _output(found: KeptResult, text: str, record: dict[str, Json]) -> ToolOutput:
    return ToolOutput(text, record, found.labels, found.trust, own=found.own)


def _find(text: str, words: str) -> tuple[Sequence[str], bool]:
    """The lines that hold the words, whatever their case, with their numbers and the lines next to them; and whether these are
    all."""
    wanted = words.casefold()
    found: list[str] = []
    count, given, before, is_below = 0, 0, "", False
    # One line after another: a text of nothing but line ends would be millions of them at once.
    for place, ended in enumerate(StringIO(text, newline="\n"), start=1):
        line = ended.rstrip("\r\n")
        parts = list(_parts_around(line, wanted, MOST_FOUND - count)) if wanted in line.casefold() else []
        if parts:
            if given < place - 1:
                found.append(f"{place - 1}- {before}")
            found += [f"{place}: {part}" for part in parts]
            count += len(parts)
            if count >= MOST_FOUND:
                return found, False
        elif is_below:
            found.append(f"{place}- {line[:MAX_LINE]}")
        if parts or is_below:
            given = place
        before, is_below = line[:MAX_LINE], bool(parts)
    return found, True


def _parts_around(line: str, wanted: str, most: int) -> Iterator[str]:
    folded = line.casefold()
    at = folded.find(wanted)
    if len(line) <= MAX_LINE:
        yield line
        return
    # Where folding changed the length, places in the one are not those in the other.
    source = line if len(line) == len(folded) else folded
    while at >= 0 and most > 0:
        start = max(0, at - MAX_LINE // 2)
        end = max(start + MAX_LINE, at + len(wanted))
        yield ("…" if start else "") + source[start:end] + ("…" if end < len(source) else "")
        most -= 1
        at = folded.find(wanted, end)
