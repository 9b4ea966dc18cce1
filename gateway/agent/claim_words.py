"""The words by which a model claims an act, read once from `loop/claims.json`, which the loop in the browser reads too.

What each list is for stands where it is used. A missing or an unknown list stops the import with a TypeError.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from gateway.shipped import loop_fields

_Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoopClaims:
    """One field for each list of `loop/claims.json`. A verb is written with its forms, `write wrote written writing`, and with a
    `+` before each word of which one has to follow it. States, completions, events and places are regular expressions."""

    acts: Mapping[str, Mapping[str, Sequence[str]]]
    composing: _Words
    places: _Words
    text_nouns: _Words
    telling: _Words
    asking_helpers: _Words
    completions: _Words
    events: _Words
    marks: _Words
    whole: _Words
    openers: _Words
    adverbs: _Words
    be: _Words
    have: _Words
    past: _Words
    finite: _Words
    chained: _Words
    linking: _Words
    now_states: _Words
    passives: _Words
    unreal: _Words
    leading: _Words
    explained: _Words
    general_questions: _Words
    modals: _Words
    own: _Words
    implicatives: _Words
    reporting: _Words
    aspects: _Words
    raising: _Words
    negations: _Words
    harmless: _Words
    conditions: _Words
    times: _Words
    others: _Words
    machines: _Words
    determiners: _Words
    indefinites: _Words
    afterwards: _Words
    denials: _Words
    joints: _Words
    spelled: Mapping[str, str]
    plain: _Words
    excuses: _Words
    access: _Words
    about: _Words
    reported_nouns: _Words
    reported_links: _Words
    reported_places: _Words
    reported_counts: _Words
    reported_pronouns: _Words
    reported_doers: _Words
    reported_states: _Words
    any_change: _Words
    answering: _Words
    german: Mapping[str, Any]
    historic: _Words


CLAIMS: Final = LoopClaims(**loop_fields("claims"))
_WHOLE: Final = frozenset(CLAIMS.whole)
_BARE: Final = 3
"""Words of a clause that says no more than that something is done."""


class Form(Enum):
    """How a word stands for an act."""

    BASE = auto()
    """ "delete" """

    PAST = auto()
    """ "deleted" """

    SAME = auto()
    """ "put", which is both """

    GOING_ON = auto()
    """ "deleting" """

    STATE = auto()
    """What an act brings about: "gone"."""


@dataclass(frozen=True, slots=True)
class ActForm:
    """A form of one verb, and the words of which one has to follow; none where it stands for itself."""

    act: str
    form: Form
    particles: _Words


def _forms() -> Mapping[str, Sequence[ActForm]]:
    forms: dict[str, list[ActForm]] = {}
    for act, words in CLAIMS.acts.items():
        for verb in words["verbs"]:
            parts = verb.split(" ")
            particles = tuple(part[1:] for part in parts if part.startswith("+"))
            base, *past, going_on = [part for part in parts if not part.startswith("+")]
            spelled = {base: Form.BASE, **dict.fromkeys(past, Form.PAST), going_on: Form.GOING_ON}
            if base in past:
                spelled[base] = Form.SAME
            for word, form in spelled.items():
                forms.setdefault(word, []).append(ActForm(act, form, particles))
    return forms


FORMS: Final = _forms()


def any_phrase(phrases: Sequence[str]) -> re.Pattern[str]:
    """One of these phrases, as whole words of a clause."""
    return re.compile(rf"(?<!\S)(?:{'|'.join(phrases)})(?!\S)") if phrases else re.compile(r"(?!)")


def speaks_of_all(words: Sequence[str]) -> bool:
    """Whether a clause speaks of everything: "both are deleted"."""
    return not _WHOLE.isdisjoint(words)


def ends_all(words: Sequence[str]) -> bool:
    """Whether words for the end of work mean all that was asked for: "all is done", or a bare "Done"."""
    return len(words) <= _BARE or speaks_of_all(words)
