"""A wish that asks for the same in another way: how many those are that were shown, or which those are that were counted.

Of "how many are that?" and "show me them" a small model makes up a number, or says that nothing was asked for.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import words_of

_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEADS: Final = rf"(?:(?:{any_of((*VOCABULARY.cues, *VOCABULARY.follow_leads, *VOCABULARY.fillers))})[,.!:]? )*"
_END: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, *VOCABULARY.repeating_tails))}))*[?.! ]*$"
_COUNTED: Final = re.compile(rf"^{_LEADS}(?:{any_of(VOCABULARY.counted_again)}){_END}", _FLAGS)
_SHOWN: Final = re.compile(rf"^{_LEADS}(?:{any_of(VOCABULARY.shown_again)}){_END}", _FLAGS)
_OF: Final = r"(?:of (?:the |my |our )?)?"
_WHICH: Final = re.compile(rf"^{_LEADS}(?:which|what) {_OF}(.+)$", _FLAGS)
_WHAT_IS: Final = re.compile(rf"^{_LEADS}(?:what (?:{any_of(VOCABULARY.classifying_words)})|what['’]s|whats) (.+)$", _FLAGS)
_ARTICLES: Final = any_of(VOCABULARY.asked_articles)
_SHOWS: Final = any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs))
_LISTS: Final = re.compile(
    rf"^{_LEADS}(?:list|find|(?:{_SHOWS})(?: me| us)?)(?: (?:{_ARTICLES}))* (.+)$",
    _FLAGS,
)
_MANY: Final = re.compile(rf"^{_LEADS}(?:how many|count)(?: (?:{_ARTICLES}))* {_OF}(.+)$", _FLAGS)


def asked_again(text: str, wish: str) -> str:
    """The wish before, for the number of what it asked to see, or to see what it counted; empty where it is not that."""
    if _COUNTED.search(text):
        if found := _WHAT_IS.search(wish):
            return f"how many are {found[1]}"
        found = _WHICH.search(wish) or _LISTS.search(wish)
        return f"how many {found[1]}" if found and not _names_thing(found[1]) else ""
    if _SHOWN.search(text):
        found = _MANY.search(wish)
        return f"which {found[1]}" if found else wish if _WHICH.search(wish) else ""
    return ""


def _names_thing(text: str) -> bool:
    """Whether its first word is the name of something: "read a.txt"."""
    words = words_of(text)
    return bool(words) and is_thing(text[words[0].start : words[0].end])
