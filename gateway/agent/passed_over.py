"""What a wish names and deletes not, though it deletes something else by name: the file that is to be read, or that is needed.

Where a message is not taken apart into its wishes, a small model takes the first name for the one that is to go. So each name
goes with the verb before it: of "I need trip.md, and could you also delete offer.txt" only `offer.txt` may be deleted.
"""

from __future__ import annotations

from typing import Final

from gateway.agent.acts import ACTS, bare_thing, is_thing
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import words_of

_TAKING: Final = frozenset((*VOCABULARY.discarding_verbs, *VOCABULARY.taking_words))
_VERBS: Final = _TAKING.union(WISH_WORDS.imperatives, VOCABULARY.having_verbs, *(words["verbs"] for words in ACTS.values()))
_NOUN_LEADS: Final = frozenset((*VOCABULARY.pointing_words, *VOCABULARY.kept_leads))
_BACK: Final = frozenset(VOCABULARY.file_references)


def is_passed_over(path: str, wish: str) -> bool:
    """Whether the wish names `path` and deletes only others of what it names. False where it is not said which go."""
    named, taken = set[str](), set[str]()
    is_taking, words = False, words_of(wish)
    bare = ["", *(word.bare for word in words), ""]
    for before, word, after in zip(bare, words, bare[2:], strict=False):
        thing = bare_thing(wish[word.start : word.end])
        if is_thing(thing):
            named.add(thing)
            taken |= {thing} if is_taking else set()
        elif word.bare in _VERBS and before not in _NOUN_LEADS:
            is_taking = word.bare in _TAKING
            if is_taking and after in _BACK:
                # "Read a.txt and delete it."
                taken |= named
    return bool(taken) and path in named - taken
