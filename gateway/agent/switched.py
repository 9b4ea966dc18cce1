"""Whether something is on, where a file has a setting for it: "is debug on?" of `{"debug": false}`.

A small model says yes to most of these questions, so code reads the value.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.affairs import question_in
from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.entries import telling
from gateway.agent.excerpts import cited
from gateway.agent.fields import Field, fields_in, spelt
from gateway.agent.figures import ResultSource
from gateway.agent.ranking import stands_in, terms_in
from gateway.agent.vocabulary import VOCABULARY, any_of

_OFF_OF: Final = VOCABULARY.switch_words
_ON: Final = frozenset((*_OFF_OF, "1"))
_OFF: Final = frozenset((*_OFF_OF.values(), "0"))
_STATES: Final = any_of((*_OFF_OF, *_OFF_OF.values()))
_PLACE: Final = rf"(?: (?:{any_of(VOCABULARY.setting_places)}) [^ ]+)?"
_LED: Final = rf"(?:(?:{any_of((*VOCABULARY.passing_words, 'turned', 'switched', 'set to'))}) )*"
_ASKED: Final = re.compile(
    rf"(?:{any_of(VOCABULARY.classifying_words)}) "
    rf"(?:(?:{any_of(VOCABULARY.plural_articles)}) )?(.+?)(?: (?:{any_of(VOCABULARY.switch_nouns)}))?"
    rf"{_PLACE} {_LED}({_STATES})(?: or (?:not|{_STATES}))?{_PLACE}[?.! ]*",
    re.IGNORECASE | re.ASCII,
)
_QUOTES: Final = "\"'"


def answer_switch(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """Yes or no, with the setting that says so; None where that is not asked, or where no setting or several say it."""
    asked = _ASKED.fullmatch(question_in(wish))
    terms = [term for word in asked[1].split() for term in telling(word.lower())] if asked else []
    if asked is None or not terms or not source.has_lines or not source.whole:
        return None
    fields = [each for each in fields_in(source.text, source.name) if _is_on(each) is not None]
    named = [each for each in fields if _names(each, terms, source.name)]
    inside = [each for each in fields if each.name.lower() in VOCABULARY.switch_keys and _belongs(each, terms, source.name)]
    # Of two that are called so the one is meant that belongs to nothing else: "debug", and not that of "staging".
    apart = [(_strange(each, terms), each) for each in named or inside]
    found = [each for count, each in apart if count == min(count for count, _ in apart)]
    if len(found) != 1:
        return None
    field, is_on = found[0], _is_on(found[0])
    said = copy.say("isSo" if is_on == (asked[2].lower() in _ON) else "isNotSo")
    label = ": ".join((*field.within[-1:], field.name, _value_of(field)))
    return f"{said} {label} {cited(source.name, [field.line])}"


def _value_of(field: Field) -> str:
    """A value without quotes around it, or a comma behind it."""
    return trim(trim(field.value).rstrip(",;")).strip(_QUOTES)


def _is_on(field: Field) -> bool | None:
    """Whether a setting is on; None of one that is neither on nor off."""
    value = _value_of(field).lower()
    return True if value in _ON else False if value in _OFF else None


def _names(field: Field, terms: list[str], file: str) -> bool:
    """Whether a setting is called so, what it belongs to counted in."""
    own = set(terms_in(spelt(field.name)))
    around = own.union(terms_in(" ".join((*map(spelt, field.within), file))))
    return any(stands_in(term, own) for term in terms) and all(stands_in(term, around) for term in terms)


def _strange(field: Field, terms: list[str]) -> int:
    """How much a setting belongs to that is not spoken of."""
    return sum(not any(stands_in(term, set(terms_in(spelt(each)))) for term in terms) for each in field.within)


def _belongs(field: Field, terms: list[str], file: str) -> bool:
    """Whether what is called so has the setting."""
    around = set(terms_in(" ".join((*map(spelt, field.within), file))))
    return all(stands_in(term, around) for term in terms)
