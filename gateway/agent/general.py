"""Questions about how something is done, what something is, or why: a verb in one of them asks for nothing.

"How do I sort a list in JavaScript" has the verbs of two tools and wants neither; "what is in my list" wants one.
"""

from __future__ import annotations

from typing import Final

from gateway.agent.acts import READING, asked_acts
from gateway.agent.affairs import question_in
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import words_of

_EXPLAINING: Final = frozenset(VOCABULARY.explaining_verbs)
_LISTENERS: Final = frozenset(WISH_WORDS.sharing)
_DOING: Final = frozenset(("do", "does", "to", *VOCABULARY.advice_modals))
"""What stands after "how" where the way is asked for, and not how much it is or how it was."""

_BEINGS: Final = frozenset((*VOCABULARY.classifying_words, "do", "does"))


def asks_how(wish: str) -> bool:
    """Whether it asks how something is done or works: "how do I …", "explain how to …". How much it is, or how it was, is another
    question, and one that goes on with an order, "… and save it in a.txt", is none."""
    words = _told(wish)
    is_how = words[:1] == ["how"] and not _DOING.isdisjoint(words[1:2])
    return is_how and all(each.act == READING for each in asked_acts(wish))


def asks_what(wish: str) -> bool:
    """Whether it asks what something is or does, or why: "what is the difference between a list and a tuple"."""
    words = _told(wish)
    is_what = words[:1] == ["what"] and not _BEINGS.isdisjoint(words[1:2])
    return is_what or words[:1] in (["what's"], ["why"])


def asks_live(wish: str) -> bool:
    """Whether it asks for what changes from day to day: "what's the weather in Paris". A text about it is another wish: "a poem
    about the weather"."""
    said = [word.bare for word in words_of(question_in(wish))]
    is_text = not {"a", "an"}.isdisjoint(said)
    spoken = f" {' '.join(said)} "
    return not is_text and any(f" {phrase} " in spoken for phrase in VOCABULARY.live_phrases)


def _told(wish: str) -> list[str]:
    """The words of the one question that it is, without what leads into it; none where it is more than one sentence."""
    words = [word.bare for word in words_of(question_in(wish))]
    if _EXPLAINING.isdisjoint(words[:1]):
        return words
    rest = words[2:] if words[1:2] == ["to"] else words[1:]
    return rest if _LISTENERS.isdisjoint(rest[:1]) else rest[1:]
