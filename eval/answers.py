"""Whether the words at the end of a turn hold what was asked for. Pure."""

from __future__ import annotations

import re
from typing import Final

from eval.cases import Case, Reply

ANSWER_CHARACTERS: Final = 800
"""An answer is not a whole file that has the answer in it somewhere."""

_SHORT: Final = 3
_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY: Final = re.compile(rf"(\d{{1,2}}) ({_MONTHS})")
_NUMBER: Final = re.compile(r"(\d+)(?:\.(\d+))?")
_GROUPS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

_DECLINES: Final = re.compile(
    r"\b(?:can't|cannot|can not|could not|couldn't|not able|unable|no tool|none of (?:my|the|these) tools|don't have|do not have"
    r"|there is no|there are no|nothing to do|did not understand|didn't understand|do not understand|don't understand"
    r"|not sure what|not clear|unclear|what do you mean|what would you like|how can i help|what i can do|i can (?!not)|instead"
    r"|could you (?:please )?(?:clarify|rephrase|say|explain))"
)


def is_answered(case: Case, said: str) -> bool:
    """Whether the words are such as the case asks for."""
    text = _plain(said)
    holds = all(any(holds_text(text, each) for each in spellings) for spellings in case.answer)
    holds = holds and not any(holds_text(text, each) for each in case.wrong)
    match case.reply:
        case Reply.ANY:
            return holds and (not case.answer or len(said) <= ANSWER_CHARACTERS)
        case Reply.TALKS:
            return bool(text) and holds
        case Reply.DECLINES:
            return declines(said)
        case Reply.TALKS_OR_DECLINES:
            return bool(text) and (holds or declines(said))


def declines(said: str) -> bool:
    """Whether the words say that this cannot be done, or was not understood, or what can be done instead."""
    return _DECLINES.search(_plain(said)) is not None


def holds_text(text: str, wanted: str) -> bool:
    """Whether a plain text holds another: a number as a number (1899 is 1,899.00 and not 11899), a short word as a whole word,
    a day in both its orders, anything else as it stands."""
    wanted = _plain(wanted)
    if number := _NUMBER.fullmatch(wanted):
        fraction = (number[2] or "").rstrip("0")
        tail = rf"\.{fraction}0*" if fraction else r"(?:\.0+)?"
        return re.search(rf"(?<![\d.]){number[1]}{tail}(?![\d]|\.\d)", text) is not None
    if day := _DAY.fullmatch(wanted):
        either = rf"{day[1]}(?:st|nd|rd|th)?(?: of)? {day[2]}|{day[2]} (?:the )?{day[1]}(?:st|nd|rd|th)?"
        return re.search(rf"\b(?:{either})\b", text) is not None
    if len(wanted) <= _SHORT and wanted.isalpha():
        return re.search(rf"\b{wanted}\b", text) is not None
    return wanted in text


def _plain(text: str) -> str:
    return _GROUPS.sub("", " ".join(text.casefold().replace("’", "'").split()))
