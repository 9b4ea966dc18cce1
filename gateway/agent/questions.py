"""Whether a wish asks for something out of a content, or to see the content itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import ACTS, READING, is_thing
from gateway.agent.ranking import stem, terms_in
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import Word, words_of

_ASKING: Final = frozenset(VOCABULARY.asking_words)
_EXPLAINING: Final = frozenset(VOCABULARY.explaining_verbs)
_SUMMARY: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.summary_words)})\b", re.ASCII | re.IGNORECASE)
_OPENING: Final = frozenset((*VOCABULARY.yes_no_words, "count")) - {"will"}
_NEXT: Final = re.compile(
    rf"(?:,? and|[,;?]) (?=(?:{any_of({*VOCABULARY.question_openers, *VOCABULARY.yes_no_words})}) \S)", re.ASCII | re.IGNORECASE
)
"""Before a further question."""

_CONTENT: Final = frozenset({"what", "what's"})
_INSIDE: Final = frozenset({"in", "on"})
_LISTS: Final = frozenset(map(stem, VOCABULARY.list_nouns))
_LEADING: Final = frozenset((*VOCABULARY.fillers, *VOCABULARY.cues))
_CHANGING: Final = frozenset(verb for act, words in ACTS.items() if act != READING for verb in words["verbs"])
_WHOLE: Final = frozenset(
    (
        *VOCABULARY.whole_words,
        *VOCABULARY.asking_words,
        *VOCABULARY.common_terms,
        *VOCABULARY.fillers,
        *VOCABULARY.cues,
        *ACTS[READING]["verbs"],
    )
)
"""Words of a wish for the whole content: "what does a.txt say" asks for no part of it."""


def questions_in(wish: str) -> list[str]:
    """The questions of a wish, of which the first names what they are about: "is milk on a.txt and who brings bread?" has two."""
    cuts = [found for found in _NEXT.finditer(wish) if any(map(is_thing, wish[: found.start()].split(" ")))]
    starts = [0, *(cut.end() for cut in cuts)]
    return [wish[start:end] for start, end in zip(starts, [*(cut.start() for cut in cuts), len(wish)], strict=True)]


def asks_about_content(wish: str) -> bool:
    """Whether an answer out of the content is asked for, such as "when is the dentist in notes/todo.txt?".

    A wish for the content itself is answered by showing it.
    """
    words = words_of(wish)
    bare = {word.bare for word in words}
    is_asking = not bare.isdisjoint(_ASKING) or _asks_yes_or_no(wish, words)
    is_told = not bare.isdisjoint(_EXPLAINING) or asks_for_summary(wish)
    return is_told or (is_asking and bool(_parts_asked(wish, words)))


def asks_for_summary(wish: str) -> bool:
    """Whether a text is to be told in short."""
    return _SUMMARY.search(wish) is not None


def asks_for_whole(wish: str) -> bool:
    """Whether it asks what a content is, and for no part of it: "show me what's in a.txt"."""
    words = words_of(wish)
    return not _CONTENT.isdisjoint(word.bare for word in words) and not _parts_asked(wish, words)


def asks_for_named(wish: str, name: str) -> bool:
    """The same of a file that it calls by words of its name: "what is on my shopping list", of `notes/shopping.md`."""
    words = words_of(wish)
    said, parts = {word.bare for word in words}, {stem(word.bare) for word in _parts_asked(wish, words)}
    is_inside = not said.isdisjoint(_CONTENT) and not said.isdisjoint(_INSIDE) and not any(map(is_thing, wish.split(" ")))
    called = parts.intersection(terms_in(name))
    return is_inside and bool(called) and parts - called <= _LISTS


def _parts_asked(wish: str, words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.bare not in _WHOLE and not is_thing(wish[word.start : word.end])]


def _asks_yes_or_no(wish: str, words: Sequence[Word]) -> bool:
    """Whether it begins as a question for yes or no, or for a count, and that not of the file itself: "is milk on a.txt?"."""
    said = [word for word in words if word.bare not in _LEADING]
    if not said or said[0].bare not in _OPENING or not _CHANGING.isdisjoint(word.bare for word in said):
        return False
    subject = next((word for word in said[1:] if word.bare not in _WHOLE), None)
    return subject is not None and not is_thing(wish[subject.start : subject.end])
