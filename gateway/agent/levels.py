"""Words that say how bad something is, in a log and in a question: "WARN" and "warnings" are one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gateway.agent.passages import lines_of
from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY

_LEVEL_OF: Final = {stem(word): stem(level) for level, words in VOCABULARY.log_levels.items() for word in words}
LEVELS: Final = frozenset(_LEVEL_OF.values())

_LOGGED: Final = re.compile(r"(?:^|/)logs?/|\.log\Z", re.IGNORECASE)
"""The name of a file in which each line tells of something that happened."""

_TIMED: Final = re.compile(
    r"[\[(]?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]?|[A-Z][a-z]{2} +[0-9]{1,2} |)[0-9]{2}:[0-9]{2}:[0-9]{2}|\[?[A-Z]{4,8}\b[\]:]"
)
"""How such a line begins, whatever its file is called."""


def leveled(terms: Iterable[str]) -> set[str]:
    """Terms, with one for all words that say that something is as bad."""
    return {_LEVEL_OF.get(term, term) for term in terms}


def tells_all(wanted: set[str], held: set[str]) -> bool:
    """Whether a line has all that is wanted; of "errors and warnings", one."""
    levels = wanted & LEVELS
    return wanted - LEVELS <= held and (not levels or not levels.isdisjoint(held))


def is_log(name: str, text: str) -> bool:
    """Whether each line of a file tells of something that happened: by its name, or by how most of its lines begin."""
    lines = [line for line in lines_of(text) if line]
    return _LOGGED.search(name) is not None or 2 * sum(map(bool, map(_TIMED.match, lines))) > len(lines)
