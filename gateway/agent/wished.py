"""Which acts a message may be about, seen more widely than the wishes that the loop takes apart: what an answer says of such an
act needs a record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import READING, is_thing
from gateway.agent.claim_words import CLAIMS, FORMS, Form, any_phrase
from gateway.agent.ranking import stem, terms_in
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import QUOTED, words_of

OTHER: Final = "other"
"""An act that no list has a verb for."""

_SENTENCE: Final = re.compile(r"[^.!?;\n]+(?:[.!?](?=\S)[^.!?;\n]*)*[?]?")
_SEGMENT: Final = re.compile(rf"[,:](?=\s)|\b(?:{'|'.join(VOCABULARY.cues)})\b", re.IGNORECASE)
_PLACES: Final = any_phrase(CLAIMS.places)
_TEXTS: Final = frozenset(CLAIMS.text_nouns)
_COMPOSING: Final = frozenset(CLAIMS.composing)
_TELLING: Final = frozenset(CLAIMS.telling)
_LEADING: Final = frozenset((*VOCABULARY.fillers, *VOCABULARY.cues, *CLAIMS.leading))
_HOW: Final = frozenset(CLAIMS.explained)
_QUESTIONS: Final = frozenset((*VOCABULARY.question_words, *VOCABULARY.asking_words)) - {"should"}
_ASKING: Final = frozenset(CLAIMS.asking_helpers)
_NOT: Final = frozenset(VOCABULARY.negations)


@dataclass(frozen=True, slots=True)
class MessageActs:
    """The acts that a message asks for, those it asks about, whether it asks for any change, the stems of its words, whether
    the answer is a text that is made up, and the terms by which it names what is to be changed."""

    wished: frozenset[str]
    asked_about: frozenset[str]
    is_change: bool
    stems: frozenset[str]
    is_text: bool
    objects: frozenset[str]


def acts_of(message: str) -> MessageActs:
    """What acts a message is about, by its words. Quoted words ask for nothing."""
    text = QUOTED.sub(lambda quoted: f" {quoted[0][1:-1]} " if is_thing(quoted[0][1:-1]) else " ", message)
    words = words_of(text)
    names_thing = any(is_thing(text[word.start : word.end]) for word in words)
    lowered = " ".join(word.bare for word in words)
    has_object = names_thing or _PLACES.search(lowered) is not None
    is_text = not names_thing and not _TEXTS.isdisjoint(lowered.split(" "))
    wished: set[str] = set()
    asked: set[str] = set()
    objects: set[str] = set()
    other = False
    for sentence in _SENTENCE.findall(text):
        bare = [word.bare for word in words_of(sentence)]
        if not _HOW.isdisjoint(bare[:4]):
            continue
        if bare and bare[0] in _ASKING:
            asked.update(each.act for word in bare for each in FORMS.get(word, ()))
            continue
        for segment in _SEGMENT.split(sentence):
            said = [word.bare for word in words_of(segment)]
            found = _asked_in(said, has_object=has_object, is_text=is_text)
            is_denied = not _NOT.isdisjoint(said) or "n't" in segment or "n’t" in segment
            (asked if is_denied else wished).update(found)
            is_other = not found and not is_denied and has_object and _may_ask(said)
            other = other or is_other
            if is_other or not found <= {READING}:
                objects.update(term for word in said if word not in FORMS for term in terms_in(word))
    wished -= {READING}
    changes = frozenset((*wished, OTHER)) if other else frozenset(wished)
    stems = frozenset(undoubled(stem(word.bare)) for word in words)
    first = next((word.bare for word in words if word.bare not in _LEADING), "")
    makes_text = is_text or (not has_object and (first in _TELLING or first in _COMPOSING))
    return MessageActs(changes, frozenset(asked), bool(changes), stems, makes_text, frozenset(objects))


def undoubled(text: str) -> str:
    """A stem without the second of two like letters at its end: "dimm" as "dim"."""
    return text[:-1] if len(text) > 2 and text[-1] == text[-2] else text


def _asked_in(said: Sequence[str], *, has_object: bool, is_text: bool) -> set[str]:
    found: set[str] = set()
    for place, word in enumerate(said):
        begins = place == 0 or said[place - 1] in _LEADING or all(each in _LEADING for each in said[:place])
        is_asking = begins and said[0] not in _QUESTIONS
        if is_asking and not is_text and (has_object or word not in _COMPOSING):
            for each in FORMS.get(word, ()):
                if each.form in (Form.BASE, Form.SAME) and (not each.particles or not set(each.particles).isdisjoint(said)):
                    found.add(each.act)
    return found


def _may_ask(said: Sequence[str]) -> bool:
    first = next((word for word in said if word not in _LEADING), None)
    return first is not None and first not in _TELLING and first not in _QUESTIONS and not is_thing(first)
