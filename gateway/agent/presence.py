"""Whether something stands in a file, where just that is asked: "does prices.csv list a price for painting?".

A small model says yes to most of these questions, or misses the line. So the words are looked for by code: a line that has all of
them is a yes and is shown, a file that has none of them is a no. Whatever lies between is the model's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.affairs import question_in
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, numbered
from gateway.agent.figures import ResultSource
from gateway.agent.levels import leveled, tells_all
from gateway.agent.limits import LIMITS
from gateway.agent.passages import lines_of
from gateway.agent.ranking import stem, terms_in
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of

_HOLDING: Final = any_of(VOCABULARY.holding_verbs)
_IN: Final = r"(?:in|on|inside)(?: the)?(?: file| list)? ([^ ]+)"
_FORMS: Final = (
    re.compile(
        rf"^(?:does|do|did) (?:the )?([^ ]+) (?:{_HOLDING})(?: (?:anything|something))?(?: about| on)? (.+?)(?: (?:in|on) it)?$",
        re.IGNORECASE | re.ASCII,
    ),
    re.compile(rf"^(?:is|are) there (?:(?:anything|something) )?(?:(?:about|on|for) )?(.+) {_IN}$", re.IGNORECASE | re.ASCII),
    re.compile(rf"^(?:is|are) (.+?)(?: (?:{_HOLDING}))? {_IN}$", re.IGNORECASE | re.ASCII),
)
_WEAK: Final = frozenset(
    map(
        stem, (*VOCABULARY.attributes, *VOCABULARY.figure_nouns, *VOCABULARY.light_words, *VOCABULARY.common_terms, "any", "some")
    )
)
"""Words that say what kind of thing is looked for, and not which."""

_JUDGED: Final = frozenset(map(stem, VOCABULARY.judged_nouns))
"""What is there though no word says so: whether it is takes judgement."""

_COMPARING: Final = frozenset((*VOCABULARY.superlatives, *VOCABULARY.measures, *VOCABULARY.comparing_words))
_STATES: Final = frozenset(
    word for pairs in (VOCABULARY.switch_words, VOCABULARY.negated_words) for pair in pairs.items() for word in pair
)
"""What something is or is not, after its name. A line with both words may say that it is not: "backup enabled: false"."""

_MOST_WORDS: Final = 5
_SHORT: Final = 3
"""Letters of a word of which all are looked for."""


def answer_presence(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """Yes with the lines that say so, or no; None where that is not what a wish asks, or where it is in doubt."""
    what = _sought_in(wish)
    terms = {term for term in terms_in(what) if term not in _WEAK}
    if not source.has_lines or not terms:
        return None
    lines = lines_of(source.text)
    wanted = leveled(terms)
    places = [at for at, line in enumerate(lines, 1) if tells_all(wanted, leveled(terms_in(line)))]
    if places:
        shown = places[: LIMITS.closest_lines]
        return f"{copy.say('present')} {cited(source.name, shown)}:\n\n{numbered(lines, shown)}"
    is_absent = source.whole and not any(_beginning_of(term) in source.text.lower() for term in terms)
    # Code with a mistake in it does not say so.
    absent = "absent" if _JUDGED.isdisjoint(terms) else "unjudged"
    return copy.say(absent, file=source.name, what=what) if is_absent else None


def _beginning_of(term: str) -> str:
    """What other forms of a word begin with: of "city" what "cities" does."""
    return term[:-1] if len(term) > _SHORT else term


def _sought_in(wish: str) -> str:
    """The words that are asked for in a file which is named; empty for any other wish."""
    question = question_in(wish).rstrip(" ?!.")
    for form, places in zip(_FORMS, ((2, 1), (1, 2), (1, 2)), strict=True):
        found = form.match(question)
        if found is not None and is_thing(bare_thing(found[places[1]])):
            return found[places[0]] if _is_plain([word.bare for word in words_of(found[places[0]])]) else ""
    return ""


def _is_plain(said: Sequence[str]) -> bool:
    """Whether it only names something, and compares or denies nothing, nor asks for its state."""
    is_state = len(said) > 1 and said[-1] in _STATES
    return not is_state and len(said) <= _MOST_WORDS and _COMPARING.isdisjoint(said) and not any(map(is_thing, said))
