"""How much a model gets of one result: a share of what is left of its context where the result stands.

The messages themselves keep the whole, for the person and for whatever the loop looks up. What is left out is said in the last
line, with the call that reads on from there: the gateway has the whole under the id that the result names, or that of its call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gateway.agent.browser import as_json
from gateway.agent.budget import beginning, estimate_tokens, length_of, tokens_of
from gateway.agent.kept import READER, KeptPage, page_of
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.parse import ParseFailure, read_object

_SHARE: Final = LIMITS.result_share
"""Of what is left."""

_LEAST_SHARE: Final = LIMITS.result_least_share
"""Of all the room: with less of a result a model can do nothing, so older turns make room for it."""

_NOTE: Final = LIMITS.result_note_characters
"""Characters left for the line that says how to read on."""

_FURTHER: Final = ("page", "result_id", "search")
"""Arguments of a call that reads on that say which text it is about."""


@dataclass(frozen=True, slots=True)
class SharedRoom:
    """Messages with their results cut to their share. `is_new`: one was cut that no model has been shown yet."""

    messages: Sequence[Message]
    is_new: bool


def share_room(messages: Sequence[Message], limit: int, tools: Sequence[Tool]) -> SharedRoom:
    """What a model gets of a conversation that has `limit` tokens of room. How to read on is said where `tools` can do it."""
    can_read_on = any(tool["name"] == READER for tool in tools)
    used, shared = 0, list[Message]()
    is_new = False
    for message in messages:
        given = message
        if isinstance(message, ToolMessage):
            room = math.floor(max((limit - used) * _SHARE, limit * _LEAST_SHARE))
            given = _cut_to(message, room, can_read_on=can_read_on)
        is_new = given is not message or (is_new and isinstance(message, ToolMessage))
        used += tokens_of([given])
        shared.append(given)
    return SharedRoom(shared, is_new)


def may_be_cut(content: str, context_tokens: int) -> bool:
    """Whether a result is so long that a model with that context may get a part of it only."""
    return estimate_tokens(content) * 2 > context_tokens * _LEAST_SHARE


def _cut_to(message: ToolMessage, tokens: int, *, can_read_on: bool) -> ToolMessage:
    content = message.result["content"]
    page = page_of(content)
    keep = max(0, tokens * LIMITS.characters_per_token - _NOTE)
    if estimate_tokens(content) <= tokens or length_of(page.text) <= keep:
        return message
    text = _tidy_beginning(page.text, keep)
    note = _note_after(text, message, page) if can_read_on and message.result["outcome"] == "ok" else ""
    missing = length_of(page.text) - length_of(text)
    lines = (text.removesuffix("\n"), note or f"…[left out {missing} characters]")
    return replace(message, result={**message.result, "content": "\n".join(filter(None, lines))})


def _tidy_beginning(text: str, length: int) -> str:
    """At most so many characters: up to the end of a line, else of a word, where one ends in the second half of them."""
    kept = beginning(text, length)
    for mark in ("\n", " "):
        tidy = kept[: kept.rfind(mark) + 1]
        if length_of(tidy) * 2 >= length:
            return tidy
    return kept


def _note_after(text: str, message: ToolMessage, page: KeptPage) -> str:
    """The line that says how much of the result this is, and which call gives what follows."""
    which = _text_of_result(message, page)
    start = int(which.get("after", 0))
    after = start + _bytes_of(text)
    arguments: dict[str, Any] = {"after": after, **{name: which[name] for name in _FURTHER if name in which}}
    return f"…[first {after} of {start + _bytes_of(page.text)} bytes. Next: {READER}{as_json(arguments)}]"


def _text_of_result(message: ToolMessage, page: KeptPage) -> Mapping[str, Any]:
    """The arguments of the call that gives this very text again."""
    if message.call["name"] == READER:
        return message.call["arguments"]
    named = read_object(page.next) if page.next else {}
    kept_id = None if isinstance(named, ParseFailure) else named.get("result_id")
    return {"result_id": kept_id or message.call["id"]}


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
