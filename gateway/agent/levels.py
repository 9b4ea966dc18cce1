"""Words that say how bad something is, in a log and in a question: "WARN" and "warnings" are one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY

_LEVEL_OF: Final = {stem(word): stem(level) for level, words in VOCABULARY.log_levels.items() for word in words}
LEVELS: Final = frozenset(_LEVEL_OF.values())


def leveled(terms: Iterable[str]) -> set[str]:
    """Terms, with one for all words that say that something is as bad."""
    return {_LEVEL_OF.get(term, term) for term in terms}
