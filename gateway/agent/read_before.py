"""A question right after a file was read, whose words stand in that file: "how much is the hotel in total?", "who was there?".

What a small model remembers of a file is no answer, so it is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import READING, asked_acts, is_thing
from gateway.agent.affairs import is_one_question, question_in
from gateway.agent.asked import is_for_another
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.ranking import stem, terms_in
from gateway.agent.reading import reader_among
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_UNTELLING: Final = frozenset(
    (
        *VOCABULARY.light_words,
        *VOCABULARY.common_terms,
        *VOCABULARY.asking_words,
        *VOCABULARY.figure_nouns,
        *VOCABULARY.phrase_ends,
        *VOCABULARY.link_words,
        *VOCABULARY.measures,
        *VOCABULARY.fillers,
        *(word for words in VOCABULARY.figures.values() for word in words),
    )
)
"""Words that tell nothing of what a question is about."""

_OPEN: Final = frozenset(stem(word) for word in VOCABULARY.still_words)
"""What boxes of a list say without the word: "how many are open?"."""

_THERE: Final = frozenset({"there"})
"""What points at what was read where nothing else does."""

_ANY: Final = frozenset({"a", "an"})
_DEFINES: Final = 3
"""Words of a question what something is by itself: "what is garlic"."""

_TODAY: Final = frozenset(("date", "day", "time", "now", *VOCABULARY.near_days))
"""Words by which a question may be about the day on which it is asked."""


def read_again(wish: str, messages: Sequence[Message], turn_id: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads the file which the call before this turn read, where a question is about what it says; None for any
    other wish."""
    reader = reader_among(tools)
    last = next((each for each in reversed(messages) if isinstance(each, ToolMessage)), None)
    if reader is None or last is None or last.turn_id == turn_id or last.call["name"] != reader[0]:
        return None
    words = words_of(question_in(wish))
    bare = [word.bare for word in words]
    is_plain = is_one_question(words) and not any(is_thing(wish[word.start : word.end]) for word in words_of(wish))
    is_general = not _ANY.isdisjoint(bare) or (bare[:1] == ["what"] and len(bare) <= _DEFINES)
    is_other = is_general or any(each.act != READING for each in asked_acts(wish)) or is_for_another(wish, tools)
    if last.result["outcome"] != "ok" or not is_plain or is_other or not _TODAY.isdisjoint(bare):
        return None
    told = {term for word in bare if word not in _UNTELLING for term in terms_in(word)}
    is_about_it = bool(told) or not _THERE.isdisjoint(bare)
    said = _OPEN.union(terms_in(last.result["content"]))
    return ProposedCall(reader[0], last.call["arguments"]) if is_about_it and told <= said else None
