"""How much of a conversation fits into a model's context.

Lengths are UTF-16 code units, which is what `length` means in the browser: both languages must cut at the same place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gateway.agent.browser import as_json
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage

_PER_MESSAGE = 8
"""Tokens that a message takes beside its text: role and separators of the chat template."""

_TURNS_AT_ONCE = 4
"""Dropping several turns at once keeps the prompt's beginning the same for a while, and with it the server's cache."""

_OMISSION = 64
"""Characters left for the sentence that says how much was left out."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What fits. `dropped` counts the earlier turns left out; `shortened` says that even the present one had to be cut."""

    messages: Sequence[Message]
    dropped: int
    shortened: bool


def length_of(text: str) -> int:
    """UTF-16 code units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def estimate_tokens(text: str) -> int:
    """Tokens of a text, roughly: four characters each. Measured counts replace it as soon as the model reports them."""
    return math.ceil(length_of(text) / 4)


def fit_messages(messages: Sequence[Message], max_tokens: int) -> Fitted:
    """The newest part of a conversation that fits.

    Whole turns go first, the oldest before the newer ones. The turn under way always stays; if it alone is too long, its
    results are cut, the latest last.
    """
    turns = split_turns(messages)
    dropped = 0
    while dropped < len(turns) - 1 and tokens_of(_joined(turns[dropped:])) > max_tokens:
        dropped = min(dropped + _TURNS_AT_ONCE, len(turns) - 1)
    kept = _joined(turns[dropped:])
    if tokens_of(kept) <= max_tokens:
        return Fitted(kept, dropped, shortened=False)
    return Fitted(_shorten_results(kept, max_tokens), dropped, shortened=True)


def split_turns(messages: Sequence[Message]) -> list[list[Message]]:
    """The conversation as its turns, in order."""
    turns: list[list[Message]] = []
    for message in messages:
        if turns and turns[-1][0].turn_id == message.turn_id:
            turns[-1].append(message)
        else:
            turns.append([message])
    return turns


def tokens_of(messages: Iterable[Message]) -> int:
    """Tokens of messages, roughly, with what the chat template puts around each."""
    return sum(_PER_MESSAGE + estimate_tokens(text_of(message)) for message in messages)


def beginning(text: str, length: int) -> str:
    """The first `length` characters, or one less where half of a pair would be left behind."""
    units = text.encode("utf-16-le", "surrogatepass")
    end = length * 2
    if end < len(units) and _is_between_halves(units, end):
        end -= 2
    return units[:end].decode("utf-16-le", "surrogatepass")


def cut(text: str, length: int) -> str:
    """The beginning of a text that is longer than `length`, saying how much is missing."""
    whole = length_of(text)
    if whole <= length:
        return text
    kept = beginning(text, length)
    return f"{kept}\n…[left out {whole - length_of(kept)} characters]"


def _is_between_halves(units: bytes, at: int) -> bool:
    return at > 0 and 0xD8 <= units[at - 1] <= 0xDB and 0xDC <= units[at + 1] <= 0xDF


def _joined(turns: Iterable[Iterable[Message]]) -> list[Message]:
    return [message for turn in turns for message in turn]


def text_of(message: Message) -> str:
    """What a message adds to a prompt."""
    match message:
        case ToolMessage(result=result):
            return result["content"]
        case UserMessage(content=content):
            return content
        case AssistantMessage(content=content, tool_calls=calls):
            return content + "".join(call["name"] + as_json(call["arguments"]) for call in calls)


def _shorten_results(messages: Sequence[Message], max_tokens: int) -> list[Message]:
    shortened = list(messages)
    for place, message in enumerate(messages):
        excess = tokens_of(shortened) - max_tokens
        if excess <= 0 or not isinstance(message, ToolMessage):
            continue
        content = message.result["content"]
        keep = max(0, length_of(content) - excess * 4 - _OMISSION)
        shortened[place] = replace(message, result={**message.result, "content": cut(content, keep)})
    return shortened
