"""Things that are told by whom they are for, from or of: "the quote for Kessler", "the phone number of Brandt".

How much such a thing is, how old it is, or which number it has, only a record tells. A name that the world knows, "the flight
from Berlin", or a word for what the world has one of, "the author of Dune", makes it no such thing.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.affairs import is_one_question, kept_query, question_in
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import words_of

_NAMED: Final = re.compile(
    rf"\bthe ((?:[a-z][a-z-]* ){{0,2}}?[a-z][a-z-]*) ({any_of(VOCABULARY.named_links)}) (?:(?:Mr|Mrs|Ms|Dr)\.? )?"
    r"([A-Z][A-Za-z0-9&-]{2,}(?: [A-Z][A-Za-z0-9&-]*)*)",
    re.ASCII,
)
_PLANNED: Final = re.compile(
    rf"\bthe ({any_of(VOCABULARY.plan_attributes)}) (?:{any_of(VOCABULARY.named_links)}) "
    r"([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){0,2})[?!.]*\Z",
    re.ASCII,
)
"""What only somebody's undertaking has, whose name needs no capital: "the deadline of project alpha"."""

_CHARGED: Final = re.compile(
    rf"\Awho (?:{any_of(VOCABULARY.charge_verbs)}) ([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){{1,2}})[?!.]*\Z", re.IGNORECASE | re.ASCII
)
"""Somebody's undertaking as well, of two words at least: "who leads project alpha"."""

_AT: Final = any_of(VOCABULARY.leading_prepositions)
_BEINGS: Final = any_of(VOCABULARY.classifying_words)
_KEPT: Final = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"\Awho (?:{any_of(WISH_WORDS.duty_verbs)}) ([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){{0,2}})[?!.]*\Z",
        (
            rf"\A(?:(?:{_AT}) )?(?:which|what) (?:{any_of(WISH_WORDS.kept_places)}) (?:{_BEINGS}) "
            rf"([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+)??)(?: (?:{_AT}|{any_of(VOCABULARY.standing_words)}))?[?!.]*\Z"
        ),
        (
            rf"\Ahow many ([a-z][a-z-]+) (?:{_BEINGS}|(?:have|has) been) (?:{any_of(WISH_WORDS.dealt_with)})"
            rf"(?: (?:{any_of(VOCABULARY.placeless_words)}))?[?!.]*\Z"
        ),
    )
)
"""What somebody keeps a list of: "who teaches maths?", "in which room is biology?", "how many pieces were ordered?"."""

_AGED: Final = re.compile(r"\Ahow old (?:is|are) ([A-Z][a-z]{2,})[?!.]*\Z", re.ASCII)
"""Somebody by one name, as one calls those whom one knows: "how old is Mira?"."""

_SWITCHES: Final = [word for pair in VOCABULARY.switch_words.items() for word in pair]
_SWITCHED: Final = re.compile(
    rf"\A(?:is|are) ([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){{0,2}}) "
    rf"(?:{any_of([word for word in _SWITCHES if word not in {*VOCABULARY.yes_marks, *VOCABULARY.no_marks}])})[?!.]*\Z",
    re.IGNORECASE | re.ASCII,
)
"""What somebody can switch: "is dark mode on?"."""

_OF_WORLD: Final = frozenset((*VOCABULARY.world_nouns, *VOCABULARY.superlatives, *VOCABULARY.world_verbs))
_DAYS: Final = (*VOCABULARY.weekdays, *(name for month in VOCABULARY.months for name in month))
_NO_NAMES: Final = frozenset((*VOCABULARY.phrase_ends, *VOCABULARY.link_words, *VOCABULARY.known_words, *_DAYS))
_WORLD_NAMES: Final = frozenset((*VOCABULARY.world_names, *VOCABULARY.world_nouns, *_DAYS))
_PAPERS: Final = frozenset(
    (*VOCABULARY.document_nouns, *VOCABULARY.named_papers, *VOCABULARY.dated_papers, *VOCABULARY.kept_things)
)
_ATTRIBUTES: Final = frozenset((*VOCABULARY.own_attributes, *VOCABULARY.plan_attributes))
_ONLY_PAPERS: Final = frozenset({"of", "by"})
"""Links that join as well what is of the world: "the tower of Pisa", "the film by Nolan"."""

_FIGURES: Final = re.compile(rf"[0-9]|\b(?:{any_of(_DAYS)})\b", re.IGNORECASE | re.ASCII)


def named_thing(wish: str) -> str:
    """The name by which a question tells a thing that is somebody's: "Kessler"; empty for any other wish."""
    return _thing_in(wish)[0]


def record_query(wish: str) -> str:
    """What to look for to answer a question that only a record answers, and no memory; empty for any other wish."""
    query = kept_query(wish)
    name, noun = _thing_in(wish)
    if query or not name:
        return query
    words = words_of(question_in(wish))
    is_measured = words[0].bare == "how" and words[1].bare in VOCABULARY.measures
    return name if is_measured or noun == "" or noun in _ATTRIBUTES else ""


def _thing_in(wish: str) -> tuple[str, str]:
    """The name by which a question tells a thing that is somebody's, and the thing, which is empty where it asks who has charge
    of it, whether it is on, or how old somebody is; both empty for any other wish."""
    question = question_in(wish)
    words = words_of(question)
    found = _NAMED.search(question)
    if not is_one_question(words) or not _OF_WORLD.isdisjoint(word.bare for word in words):
        return "", ""
    aged = _AGED.search(question)
    if aged is not None and aged[1].lower() not in _WORLD_NAMES:
        return aged[1], ""
    kept = next((each for form in _KEPT if (each := form.search(question))), None)
    planned, charged = _PLANNED.search(question), _CHARGED.search(question) or _SWITCHED.search(question) or kept
    noun, name = planned.groups() if planned else ("", charged[1] if charged else "")
    if name[:1].islower() and (_NO_NAMES | _WORLD_NAMES).isdisjoint(name.lower().split()):
        return name, noun
    if found is None:
        return "", ""
    noun, link, name = found.groups()
    is_own = link not in _ONLY_PAPERS or noun.rpartition(" ")[2] in _PAPERS or noun in _ATTRIBUTES
    is_of_world = any(word.bare in _WORLD_NAMES for word in words_of(name))
    return (name, noun) if is_own and not is_of_world else ("", "")


def tells_figure(text: str) -> bool:
    """Whether a text has a number, or the name of a day or a month."""
    return _FIGURES.search(text) is not None
