"""A long file read to its end, where only the whole of it answers: a count, a sum, its last lines.

The gateway gives a long result in pages. A number that is worked out of the first of them would be wrong, so the loop reads on
as long as the turn has calls, and takes the pages for one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateway.agent.figures import asks_for_figure
from gateway.agent.kept import READER, page_of
from gateway.agent.lane import ProposedCall
from gateway.agent.line_places import lines_asked
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.parse import ParseFailure, read_object
from gateway.agent.reading import reader_among


def rest_call(wish: str, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads on in the file that was read last; None where a part of it will do, or where all of it was read."""
    first = _read_among(calls, tools)
    if first is None or not any(tool["name"] == READER for tool in tools):
        return None
    is_whole = asks_for_figure(wish) or lines_asked(wish) is not None
    arguments = page_of(calls[-1].result["content"]).next if is_whole else ""
    read = read_object(arguments) if arguments else None
    return None if read is None or isinstance(read, ParseFailure) else ProposedCall(READER, read)


def with_rest(message: ToolMessage, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ToolMessage:
    """A read of a file with the pages that were read after it, as one result; any other call as it is."""
    first = _read_among(calls, tools)
    if first is None or message not in calls[first:] or first == len(calls) - 1:
        return message
    pages = [page_of(each.result["content"]) for each in calls[first:]]
    is_cut = bool(pages[-1].next)
    result = {**calls[first].result, "content": "".join(page.text for page in pages), "truncated": is_cut}
    return replace(calls[first], result=result)


def _read_among(calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> int | None:
    """The place of the read that the last calls belong to: it, and nothing but pages of it after it."""
    reader = reader_among(tools)
    at = len(calls) - 1
    while at > 0 and calls[at].call["name"] == READER:
        at -= 1
    is_read = at >= 0 and reader is not None and calls[at].call["name"] == reader[0]
    return at if is_read and all(each.result["outcome"] == "ok" for each in calls[at:]) else None
