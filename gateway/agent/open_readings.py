"""What is still open, in the words by which rows are told apart: "how much do I still have to pay?" asks for the total of what is
not paid, "how many chores are left?" for the number of those that are not done.

It counts only where a column of yes and no, or the boxes of a list, say so; "how many teapots are left?" asks for a number of a
stock list.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.entries import entries_of
from gateway.agent.exclusions import exclusion_in, kept_rows
from gateway.agent.figures import ResultSource
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS

_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEADS: Final = any_of(VOCABULARY.obliged_leads)
_STILL_TO: Final = re.compile(
    rf"\b(?:still (?:{_LEADS}|to)|(?:{_LEADS}) still|(?:{any_of(VOCABULARY.yes_no_words)}) (?:still|yet) to) (?:be )?([a-z]+)",
    _FLAGS,
)
_LEFT: Final = re.compile(
    rf"\b(?:is|are) (?:still )?(?:{any_of(VOCABULARY.still_words)})(?= *[?.!]*$| (?:{any_of(VOCABULARY.leading_prepositions)}) )",
    _FLAGS,
)
_AMOUNT: Final = re.compile(r"\bhow much\b", _FLAGS)
_NEGATED: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.negated_words)})\b", _FLAGS)
_STATES: Final = ("done", "paid")
_PARTICIPLES: Final = {verb: form for form, verb in WISH_WORDS.irregular_forms.items()}


def with_open_read(wish: str, source: ResultSource) -> str:
    """A wish for what is still open as one for what is not done; the wish as it is where the file does not tell that."""
    readings = [_LEFT.sub(f"are not {state}", _STILL_TO.sub(_not_done, wish)) for state in _STATES]
    if readings[0] == wish and not (_AMOUNT.search(wish) and _NEGATED.search(wish)):
        return wish
    told = (_AMOUNT.sub("total", reading) for reading in readings)
    return next((reading for reading in told if _is_told(reading, source)), wish)


def _is_told(reading: str, source: ResultSource) -> bool:
    """Whether the file says of each row whether it is so."""
    exclusion, table = exclusion_in(reading), entries_of(source.text, source.name)
    return exclusion is not None and table is not None and kept_rows(exclusion, source.text, source.name, table) is not None


def _not_done(found: re.Match[str]) -> str:
    return f"not done {_PARTICIPLES.get(found[1].lower(), found[1])}"
