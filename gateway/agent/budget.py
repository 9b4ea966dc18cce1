"""How much of a conversation fits into a model's context.

Lengths are UTF-16 code units, which is what `length` means in the browser: both languages must cut at the same place.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gateway.agent.kept import page_of
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, ToolMessage
from gateway.agent.render import text_of

PER_MESSAGE: Final = LIMITS.message_tokens
"""Tokens that a message takes beside its text: role and separators of the chat template."""

_TURNS_AT_ONCE: Final = LIMITS.turns_dropped_together
"""Dropping several turns at once keeps the prompt's beginning the same for a while, and with it the server's cache."""

_OMISSION: Final = LIMITS.omission_note_characters
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
    return math.ceil(length_of(text) / LIMITS.characters_per_token)


def fit_messages(messages: Sequence[Message], max_tokens: int) -> Fitted:
    """The newest part of a conversation that fits.

    Whole turns go first, the oldest before the newer ones. The turn under way always stays; if it alone is too long, its
    results are cut, the latest last.
    """
    turns = split_turns(messages)
    dropped = fewest_left_out(
        max(0, len(turns) - 1), lambda count: tokens_of(_joined(turns[count:])) <= max_tokens, at_once=_TURNS_AT_ONCE
    )
    kept = _joined(turns[dropped:])
    if tokens_of(kept) <= max_tokens:
        return Fitted(kept, dropped, shortened=False)
    return Fitted(_shorten_results(kept, max_tokens), dropped, shortened=True)


def fewest_left_out(most: int, fits: Callable[[int], bool], at_once: int = 1) -> int:
    """How many of at most so many entries to leave out, the oldest first and so many at once, until the rest fits; all of them
    where not even that does. Once something fits, it fits with more left out too."""
    if fits(0):
        return 0
    steps = range(1, math.ceil(most / at_once))
    return min(most, at_once * (1 + bisect_left(steps, True, key=lambda step: fits(step * at_once))))


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
    return sum(PER_MESSAGE + estimate_tokens(text_of(message)) for message in messages)


def tokens_of_prompt(prompt: Iterable[Mapping[str, Any]], count: Callable[[str], int] = estimate_tokens) -> int:
    """Tokens of a prompt as it is sent, by `count`, with what the chat template puts around each message."""
    return sum(PER_MESSAGE + count(message["content"]) for message in prompt)


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


def _shorten_results(messages: Sequence[Message], max_tokens: int) -> list[Message]:
    shortened = list(messages)
    for place, message in enumerate(messages):
        excess = tokens_of(shortened) - max_tokens
        if excess <= 0 or not isinstance(message, ToolMessage):
            continue
        page = page_of(message.result["content"])
        keep = max(0, length_of(page.text) - excess * LIMITS.characters_per_token - _OMISSION)
        # How to read on stays, for more of it is missing now.
        content = "\n".join(filter(None, (cut(page.text, keep), page.note)))
        shortened[place] = replace(message, result={**message.result, "content": content})
    return shortened
