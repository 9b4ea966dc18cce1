"""A question about what the person attached with it, such as one about the rent in January beside a table.

What was attached is in no file of the workspace, so nothing is looked for there. It is answered as if it had just been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.agent.acts import READING, asked_acts, is_thing
from gateway.agent.asked import is_for_another
from gateway.agent.further import pointed_reading
from gateway.agent.levels import LEVELS, is_log, leveled
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.ranking import terms_in
from gateway.agent.read_before import read_again
from gateway.agent.reading import reader_among
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of
from gateway.core.local_tools import ATTACHMENT

_NAME: Final = "name"
_CONTENT: Final = frozenset(VOCABULARY.content_verbs)
_ASKING: Final = frozenset((*VOCABULARY.asking_words, *VOCABULARY.content_verbs))
_POINTING: Final = frozenset((*VOCABULARY.file_references, *VOCABULARY.places))
_UNTELLING: Final = frozenset((*VOCABULARY.light_words, *VOCABULARY.common_terms, *VOCABULARY.content_verbs))
_TODAY: Final = frozenset(("date", "day", "time", "now", *VOCABULARY.near_days))


def attached_for(wish: str, messages: Sequence[Message], turn_id: str, tools: Sequence[Tool]) -> ToolMessage | None:
    """What was attached right before this turn and a question is about, as if a tool had read it; None for any other wish."""
    reader = reader_among(tools)
    if reader is None:
        return None
    for each in reversed([message for message in messages if isinstance(message, ToolMessage)]):
        if each.turn_id == turn_id or each.call["name"] != ATTACHMENT:
            return None
        # Its first line says what it is; an image has no other.
        _, _, text = each.result["content"].partition("\n")
        call = {**each.call, "name": reader[0], "arguments": {reader[1]: each.call["arguments"][_NAME]}}
        read = replace(each, call=call, result={**each.result, "content": text})
        is_asked = (
            _asks_of_it(wish, tools, text) or pointed_reading(wish, [read], tools) or read_again(wish, [read], turn_id, tools)
        )
        if text and is_asked:
            return read
    return None


def _asks_of_it(wish: str, tools: Sequence[Tool], text: str) -> bool:
    """Whether a wish names nothing else than what came with it: "summarise", "what went wrong here?", or "how many errors?"
    beside a log."""
    words = words_of(wish)
    bare = {word.bare for word in words}
    is_other = any(is_thing(wish[word.start : word.end]) for word in words) or any(
        each.act != READING for each in asked_acts(wish)
    )
    if is_other or is_for_another(wish, tools) or not _TODAY.isdisjoint(bare):
        return False
    is_pointed = not bare.isdisjoint(_POINTING) and not bare.isdisjoint(_ASKING)
    is_of_log = not LEVELS.isdisjoint(leveled(terms_in(wish))) and is_log("", text)
    return is_pointed or is_of_log or (not bare.isdisjoint(_CONTENT) and bare <= _UNTELLING)
