"""Claims in German: "das Bild ist verkleinert worden", "ich habe die Datei gelöscht".

Only what is plain is seen: a past participle at the end of a clause, with "ich habe" or with "ist" or "wurde", and one of the
things that tools are for. What denies, asks, plans or sets a condition is none, and neither is what a result says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.browser import as_json
from gateway.agent.claim_words import CLAIMS
from gateway.agent.recorded import can_do
from gateway.agent.unlisted import UnlistedBasis
from gateway.agent.words import Word, words_of

_GERMAN: Final[Any] = CLAIMS.german
_HELPERS: Final = frozenset(_GERMAN["helpers"])
_OWN: Final = frozenset(_GERMAN["own"])
_HAVE: Final = frozenset(_GERMAN["have"])
_TAILS: Final = frozenset(_GERMAN["tails"])
_HINDERING: Final = frozenset(_GERMAN["hindering"])
_THINGS: Final = frozenset(_GERMAN["things"])
_TELLING: Final = frozenset(_GERMAN["telling"])
_HISTORIC: Final = frozenset(_GERMAN["historic"])
_ACT_OF: Final = {word: act for act, words in _GERMAN["acts"].items() for word in words}
_PARTS: Final = re.compile(r"[,;:!](?= |$)|\.(?= |$)")
_PREFIXES: Final = "ver|be|er|ent|zer|über|unter|wider"
_PARTICIPLE: Final = re.compile(rf"[a-zäöüß]*ge[a-zäöüß]+(?:t|en)|[a-zäöüß]*(?:{_PREFIXES})[a-zäöüß]+(?:t|en)|[a-zäöüß]+iert")
_YEAR: Final = re.compile(r"1[0-9]{3}|20[0-9]{2}")


def claims_in_german(sentence: str, basis: UnlistedBasis) -> bool:
    """Whether a sentence claims in German what no call did."""
    return any(_claims(clause, basis) for clause in _PARTS.split(sentence))


def _claims(clause: str, basis: UnlistedBasis) -> bool:
    words = words_of(clause)
    said = {word.bare for word in words}
    done = _participle_in(words)
    if not done or done in _TELLING or not said.isdisjoint(_HINDERING | _HISTORIC) or any(map(_YEAR.fullmatch, said)):
        return False
    names = [bare_thing(clause[word.start : word.end]) for word in words]
    things = [name for name in names if is_thing(name)]
    is_own = not said.isdisjoint(_OWN) and not said.isdisjoint(_HAVE)
    has_thing = bool(things) or not said.isdisjoint(_THINGS)
    if not has_thing or not (is_own or not said.isdisjoint(_HELPERS)):
        return False
    if any(done in (word.bare for word in words_of(each.result["content"])) for each in basis.before):
        return False
    return not _is_recorded(done, things, basis)


def _participle_in(words: Sequence[Word]) -> str:
    """The participle that a clause ends with; empty where it ends otherwise."""
    bare = [word.bare for word in words]
    while bare and bare[-1] in _TAILS:
        bare.pop()
    return bare[-1] if bare and _PARTICIPLE.fullmatch(bare[-1]) else ""


def _is_recorded(done: str, things: Sequence[str], basis: UnlistedBasis) -> bool:
    """Whether a call can have done it. A verb that no list has may stand for any change of the turn."""
    act = _ACT_OF.get(done)
    calls = basis.changes if act is None else [each for each in basis.before if can_do(act, each, basis.tools)]
    told = "\n".join(f"{as_json(each.call['arguments'])} {each.result['content']}" for each in calls)
    return bool(calls) and all(thing in told or thing in basis.message for thing in things)
