"""What of a list is still open, and what is ticked: "what do I still have to buy?", "what still has to be done in todo.txt?".

A small model tells the ticked entries for the open ones. The boxes of a list say which is which, and the verb how the list of
somebody is called that does not name it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.affairs import TASKS, question_in
from gateway.agent.entries import filled_lines, is_ticked
from gateway.agent.tables import TableRow
from gateway.agent.vocabulary import VOCABULARY, any_of

OPEN: Final = "what is not done?"
"""What is asked of a list that was found by what it is for."""

_FLAGS: Final = re.IGNORECASE | re.ASCII
_BEGINS: Final = r"\A(?:what|which)\b"
_LEFT: Final = any_of(VOCABULARY.still_words)
_OBLIGED: Final = any_of(VOCABULARY.obliged_words)
_STILL: Final = re.compile(rf"{_BEGINS}(?=.*\b(?:{_LEFT})\b).*\b(?:{_OBLIGED})\b", _FLAGS)
_TICKED: Final = re.compile(rf"{_BEGINS}(?!.*\b(?:not|{_LEFT})\b).*\b(?:{any_of(VOCABULARY.ticked_words)})\b", _FLAGS)
_VERB: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.obliged_leads)})(?: still)? ([a-z]+)\b", _FLAGS)
_FEWEST: Final = 2


def asks_open(wish: str) -> bool:
    """Whether it asks for what is not done yet."""
    question = question_in(wish)
    return question == OPEN or _STILL.search(question) is not None


def entries_asked(wish: str, text: str) -> Sequence[TableRow] | None:
    """The entries with an open box, or with a ticked one, that a wish asks for; None where it asks for neither, and where the
    text has no boxes."""
    is_open, boxed = asks_open(wish), boxed_in(text)
    if len(boxed) < _FEWEST or not (is_open or _TICKED.search(question_in(wish))):
        return None
    return [row for row in boxed if is_ticked(row) is not is_open]


def boxed_in(text: str) -> Sequence[TableRow]:
    """The entries of a text that have a box."""
    return [row for row in filled_lines(text) if is_ticked(row) is not None]


def open_queries(wish: str) -> Sequence[str]:
    """What to look for to answer what somebody still has to do, buy or pack: names of such a list; nothing for another wish."""
    found = _VERB.search(question_in(wish)) if asks_open(wish) else None
    verb = found[1].lower() if found else ""
    names = next((names for names in VOCABULARY.lists_for.values() if verb in names), ())
    return TASKS if verb == "do" else [f"*{name}*" for name in names]
