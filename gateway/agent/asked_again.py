"""A wish that asks for the same in another way: how many those are that were shown, or which those are that were counted.

Of "how many are that?" and "show me them" a small model makes up a number, or says that nothing was asked for.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import Word, words_of

_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEADS: Final = rf"(?:(?:{any_of((*VOCABULARY.cues, *VOCABULARY.follow_leads, *VOCABULARY.fillers))})[,.!:]? )*"
_END: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, *VOCABULARY.repeating_tails))}))*[?.! ]*\Z"
_COUNTED: Final = re.compile(rf"^{_LEADS}(?:{any_of(VOCABULARY.counted_again)}){_END}", _FLAGS)
_SHOWN: Final = re.compile(rf"^{_LEADS}(?:{any_of(VOCABULARY.shown_again)}){_END}", _FLAGS)
_OF: Final = r"(?:of (?:the |my |our )?)?"
_WHICH: Final = re.compile(rf"^{_LEADS}(?:which|what) {_OF}([^\n]+)\Z", _FLAGS)
_OPEN: Final = any_of((*VOCABULARY.still_words, *VOCABULARY.inside_words, *VOCABULARY.leading_prepositions))
_WHAT_IS: Final = re.compile(
    rf"^{_LEADS}(?:what (?:{any_of(VOCABULARY.classifying_words)})|what['’]s|whats) ((?:{_OPEN}) [^\n]+)\Z", _FLAGS
)
_ARTICLES: Final = any_of(VOCABULARY.asked_articles)
_SHOWS: Final = any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs))
_LISTS: Final = re.compile(
    rf"^{_LEADS}(?:list|find|(?:{_SHOWS})(?: me| us)?)(?: (?:{_ARTICLES}))* ([^\n]+)\Z",
    _FLAGS,
)
_MANY: Final = re.compile(rf"^{_LEADS}(?:how many|count)(?: (?:{_ARTICLES}))* {_OF}([^\n]+)\Z", _FLAGS)
_VERBS: Final = frozenset((*VOCABULARY.helpers, *VOCABULARY.yes_no_words))
_BEHIND_NOUN: Final = frozenset((*_VERBS, *VOCABULARY.leading_prepositions, *VOCABULARY.inside_words))
_QUESTIONS: Final = frozenset(VOCABULARY.asking_words)
_SINGULAR: Final = re.compile(r"(?:['’]s|ss|us|is)\Z")
_FEWEST_LETTERS: Final = 4
"""Letters of a plural; "has" and "its" are none."""


def asked_again(text: str, wish: str) -> str:
    """The wish before, for the number of what it asked to see, or to see what it counted; empty where it is not that."""
    which, listed = _WHICH.search(wish), _LISTS.search(wish)
    if _COUNTED.search(text):
        if found := _WHAT_IS.search(wish):
            return f"how many are {found[1]}"
        if which:
            return f"how many {which[1]}" if _are_several(which[1]) else ""
        return f"how many {listed[1]}" if listed and _names_several(listed[1]) else ""
    if _SHOWN.search(text):
        if found := _MANY.search(wish):
            return f"which {found[1]}" if _names_several(found[1]) else ""
        return wish if which and _are_several(which[1]) else ""
    return ""


def _are_several(text: str) -> bool:
    """Whether a question is about several things: its verb stands behind them. "What makes bread rise?" is about one."""
    words = words_of(text)
    return any(_is_plural(text, word) and behind.bare in _VERBS for word, behind in pairwise(words[:3]))


def _names_several(text: str) -> bool:
    """Whether an order begins with a word for several things, or with one that tells more of them: "open tasks in a.txt"."""
    words = words_of(text)
    if not words or words[0].bare in _QUESTIONS or words[0].bare.endswith(("'s", "’s")):
        return False
    is_noun = len(words) == 2 or (len(words) > 2 and words[2].bare in _BEHIND_NOUN)
    return _is_plural(text, words[0]) or (is_noun and _is_plural(text, words[1]))


def _is_plural(text: str, word: Word) -> bool:
    """Whether a word ends as a plural does, and is no name, no file and no verb of every sentence."""
    written, bare = text[word.start : word.end], word.bare
    is_long = len(bare) >= _FEWEST_LETTERS and bare not in _BEHIND_NOUN
    is_name = written[0].isupper() or is_thing(written)
    return is_long and not is_name and bare.endswith("s") and _SINGULAR.search(bare) is None
