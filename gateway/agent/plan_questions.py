"""Questions that are about what lies here by what they ask: how it is run, who does what on Thursday, what was decided.

They have no "my" and no "the" that tells them from questions about the world, and a small model makes their answers up.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from gateway.agent.affairs import is_one_question, question_in
from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

README: Final = "*readme*"
"""Where it stands how something is run."""

_HERE: Final = frozenset(VOCABULARY.project_words)
_VERBS: Final = frozenset(VOCABULARY.project_verbs)
_PLANNED: Final = frozenset((*VOCABULARY.plan_questions, "what"))
_NAMED_DAYS: Final = frozenset((*VOCABULARY.weekdays, "weekend"))
_DAYS: Final = _NAMED_DAYS | {"tomorrow", "today", "tonight"}
_SETTLING: Final = frozenset(VOCABULARY.settling_verbs)
_SPEAKERS: Final = frozenset(VOCABULARY.speakers)
_BEINGS: Final = frozenset((*VOCABULARY.past_helpers, "is"))
_UNTOLD: Final = frozenset((*VOCABULARY.world_nouns, *VOCABULARY.world_verbs, *VOCABULARY.advice_modals, "a", "an"))
_PLAIN: Final = frozenset(
    (
        *(*VOCABULARY.phrase_ends, *VOCABULARY.link_words, *VOCABULARY.light_words, *VOCABULARY.weak_words, *VOCABULARY.fillers),
        *(*VOCABULARY.asking_words, *VOCABULARY.attributes, *VOCABULARY.passing_words, *VOCABULARY.measures),
    )
)
_MOST: Final = 3


def plan_queries(wish: str) -> list[str]:
    """What to look for to answer such a question; nothing for any other wish."""
    question = question_in(wish)
    words = words_of(question)
    bare = [word.bare for word in words]
    if not is_one_question(words):
        return []
    if bare[0] == "how":
        verbs = [stem(word) for word in bare if word in _VERBS]
        is_here = not _HERE.isdisjoint(bare) and not (_SPEAKERS | _BEINGS).isdisjoint(bare)
        return [README, verbs[0]] if verbs and is_here else []
    telling = [question[word.start : word.end].strip("?!.,") for word in words[1:] if word.bare not in _PLAIN]
    names = [word for word in telling if word[0].isupper() and word.lower() not in _DAYS]
    if bare[0] == "what" and not _SPEAKERS.isdisjoint(bare) and bare[-2] == "for" and names == telling[-1:]:
        # "What should I get for Ellie?"
        return names
    if bare[0] not in _PLANNED or not _UNTOLD.isdisjoint(bare):
        return []
    days = [word for word in telling if word.lower() in _DAYS]
    others = [stem(word.lower()) for word in telling if word not in days and word.lower() not in _SETTLING]
    is_settled = any(one in _BEINGS and two in _SETTLING for one, two in pairwise(bare))
    is_day = len(days) == 1 and (bool(others) or days[0].lower() in _NAMED_DAYS)
    return [*days, *others][:_MOST] if is_day or (is_settled and others) else []
