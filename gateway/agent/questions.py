"""Whether a wish asks for something out of a content, or to see the content itself."""

from __future__ import annotations

from typing import Final

from gateway.agent.acts import ACTS, READING, is_thing
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_ASKING: Final = frozenset(VOCABULARY.asking_words)
_EXPLAINING: Final = frozenset(VOCABULARY.explaining_verbs)
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


def asks_about_content(wish: str) -> bool:
    """Whether an answer out of the content is asked for, such as "when is the dentist in notes/todo.txt?".

    A wish for the content itself is answered by showing it.
    """
    words = words_of(wish)
    bare = {word.bare for word in words}
    about = [word for word in words if word.bare not in _WHOLE and not is_thing(wish[word.start : word.end])]
    return not bare.isdisjoint(_EXPLAINING) or (not bare.isdisjoint(_ASKING) and bool(about))
