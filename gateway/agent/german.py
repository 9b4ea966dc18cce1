"""A wish in German as the loop reads it: its frame in English, while names, things and texts stay as the person wrote them.

What the loop tells of a wish by its words it tells of English ones. A wish that no pattern of `loop/german.json` holds stays as
it is, and the model has it in the person's own words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gateway.agent.acts import is_thing
from gateway.agent.messages import Message, UserMessage
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import QUOTED
from gateway.shipped import read_loop_file

_GERMAN: Final[Mapping[str, Any]] = read_loop_file("german")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LETTER: Final = re.compile("[äöüß]")
_MARKERS: Final = frozenset(_GERMAN["markers"])
_ORDERS: Final = frozenset(_GERMAN["orders"])
_DENYING: Final = frozenset(_GERMAN["denying"])
_FOREIGN: Final = frozenset(_GERMAN["foreign"])
_LEAD: Final = re.compile(f"^(?:{'|'.join(_GERMAN['leads'])})", re.IGNORECASE)
_END: Final = re.compile(r"[?.! ]+\Z")
_ASKED_VERBS: Final[Mapping[str, str]] = _GERMAN["askedVerbs"]
_ASKED: Final = re.compile(rf"{_GERMAN['asked']} ({'|'.join(_ASKED_VERBS)})", re.IGNORECASE)
_INFINITIVE: Final = re.compile(rf"(.+) ({'|'.join(_ASKED_VERBS)})", re.IGNORECASE)
"""An order as signs have it: "a.txt nicht löschen"."""

_ASKER: Final = re.compile("|".join(_GERMAN["askers"]), re.IGNORECASE)
_ASKS: Final = re.compile(rf"(?:{_ASKER.pattern}) ", re.IGNORECASE)
"""How a question begins, and what somebody tells: both have the verb at their end too."""

_FRAMES: Final = [(re.compile(pattern, re.IGNORECASE), english) for pattern, english in _GERMAN["frames"]]
_JOINT: Final = re.compile(_GERMAN["joint"], re.IGNORECASE)
_BLANK: Final = re.compile(r'("?)\$([0-9])')
_WORDS: Final[Mapping[str, str]] = _GERMAN["words"]
_NOUNS: Final = frozenset(_GERMAN["nouns"])
_LEADING: Final = frozenset(_GERMAN["leadingNouns"])
_NEGATION: Final = rf"{_GERMAN['negation']}(?=[\s,]|\Z)"
_NOT: Final = re.compile(rf"(?P<quoted>{QUOTED.pattern})|(?:\A|\s){_NEGATION}", re.IGNORECASE)
_NOT_AT_ALL: Final = re.compile(rf"\S+ {_NEGATION}", re.IGNORECASE)
_SAYING: Final = frozenset(_GERMAN["saying"])
"""Orders in whose text a "not" may stand as well."""

_OPENERS: Final = frozenset(VOCABULARY.question_openers)
_TAIL: Final = re.compile("[,;:]*\\Z")
_ORDINAL: Final = re.compile(r"[0-9]{1,2}\.")
_LISTS: Final = re.compile(_GERMAN["lists"], re.IGNORECASE)
_FEWEST: Final = 2
"""Words of German that a wish has at least."""


def is_german(wish: str) -> bool:
    """Whether somebody speaks German here: two words that are no English ones, an order in the first or the last place, or a
    "not", and no word that is only English."""
    said = [word.lower() for word in _WORD.findall(QUOTED.sub(" ", wish))]
    # Letters that English has not stand in names too, so that they are a second sign at most.
    has_letter = any(_LETTER.search(word) and word not in _MARKERS for word in said)
    # "Was ist" begins no English sentence, though its first word is an English one too.
    is_asked = (
        said[:1] != [] and said[0] not in _MARKERS and _ASKER.fullmatch(said[0]) and said[1:2] != [] and said[1] in _MARKERS
    )
    count = sum(word in _MARKERS for word in said) + (said[:1] != [] and said[0] in _ORDERS) + has_letter + bool(is_asked)
    is_order = said[-1:] != [] and said[-1] in _ASKED_VERBS
    return (count >= _FEWEST or is_order or not _DENYING.isdisjoint(said)) and _FOREIGN.isdisjoint(said)


def in_english(wish: str) -> str:
    """The wish with its frame in English; itself where it is no German, or none that is known."""
    if not is_german(wish):
        return wish
    said = _END.sub("", wish)
    while (lead := _LEAD.match(said)) is not None:
        said = said[lead.end() :]
    asked = _ASKED.fullmatch(said) or (None if _ASKS.match(said) else _INFINITIVE.fullmatch(said))
    if asked is not None:
        said = f"{_ASKED_VERBS[asked[2].lower()]} {asked[1]}"
    told = [_framed(part) for part in _JOINT.split(said)]
    if None not in told:
        return " and ".join(each for each in told if each is not None)
    # An order that no pattern holds is still one not to do something.
    spared = [word for word in said.split(" ") if is_thing(word)]
    return f"do not change {' '.join(spared)}" if spared and _denies(said) else wish


def _denies(said: str) -> bool:
    """Whether it is an order with a "not"."""
    return _without_not(said) != said and not _ASKS.match(said)


def _without_not(said: str) -> str:
    return _NOT.sub(lambda found: found["quoted"] or "", said)


def with_frames_in_english(messages: Sequence[Message]) -> list[Message]:
    """The same messages, with what the person said in German as `in_english` has it."""
    return [replace(each, content=in_english(each.content)) if isinstance(each, UserMessage) else each for each in messages]


def _framed(said: str) -> str | None:
    """One wish with its frame in English; None where no pattern holds it. An order not to do something begins with that: a "not"
    after the name of a file would be lost."""
    told = _frame(said)
    order = _without_not(said)
    verb = "" if told is None else told.partition(" ")[0]
    if order == said or verb in _OPENERS or (verb in _SAYING and _NOT_AT_ALL.match(said) is None):
        return told
    spared = _frame(order)
    return None if spared is None else f"do not {spared}"


def _frame(said: str) -> str | None:
    for pattern, english in _FRAMES:
        if (found := pattern.fullmatch(said)) is not None:
            return _BLANK.sub(lambda blank, held=found: f"{blank[1]}{_told(blank, held)}", english)
    return None


def _told(blank: re.Match[str], held: re.Match[str]) -> str:
    """What stands in a blank. A text in quotes is the person's own."""
    text = held[int(blank[2])]
    return text if blank[1] else _phrase(text)


def _phrase(text: str) -> str:
    """Words of a wish, with those that only frame it in English. A noun after its article is written small, as English has it:
    in capitals it would be taken for a name. Any other word that is written large is one: "Manuel Neue"."""
    told: list[str] = []
    is_led = False
    for at, word in enumerate(text.split(" ")):
        bare = _TAIL.sub("", word.lower())
        listed = None if is_thing(word) else _LISTS.fullmatch(word)
        if is_thing(word) or '"' in word:
            told.append(word)
        elif listed is not None:
            told.append(f"{listed[1].lower()} list")
        else:
            tail, written = word[len(bare) :], bare if is_led else word[: len(bare)]
            is_name = at > 0 and bare not in _NOUNS and written[:1].isupper() and not written.isupper()
            told.append(f"{written if is_name else _WORDS.get(bare, written)}{tail}")
        is_led = bare in _LEADING or (is_led and _ORDINAL.fullmatch(word) is not None)
    return " ".join(told)
