"""The clauses of a sentence, as plain words: without marks and emphasis, short forms written out, names of things as `#`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.browser import SPACE
from gateway.agent.claim_words import CLAIMS, any_phrase
from gateway.agent.words import bare_word

THING: Final = "#"
"""Stands for the name of a thing in a clause."""

_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufe0e\ufe0f\ufeff]")
_APOSTROPHE: Final = re.compile("[\u2018\u2019\u02bc\u00b4]")
_EMPHASIS: Final = re.compile("[*~`]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_MARK: Final = re.compile("|".join(CLAIMS.marks))
_PART: Final = re.compile("[\u2014\u2013\u2192\u21d2|=()\\[\\]{}<>\u2022]|--+")
_COLON: Final = re.compile("(?<=[A-Za-z]):(?=[A-Za-z])")
_SPACES: Final = re.compile(f"[{SPACE}]+")
_BREAKS: Final = re.compile("[,;:.!?\u2026]")
_ENDING: Final = re.compile("^(.+?)(n't|'ve|'m|'re|'ll|'s)$")
_FULL: Final = {"n't": "not", "'ve": "have", "'m": "am", "'re": "are", "'ll": "will", "'s": "is"}
_JOINTS: Final = frozenset(CLAIMS.joints)
_HARMLESS: Final = any_phrase(CLAIMS.harmless)


@dataclass(frozen=True, slots=True)
class ClaimClause:
    """The words of a clause in lower case, the things it names as they were written, and the words written with a capital."""

    words: Sequence[str]
    things: frozenset[str]
    names: frozenset[str]


def claim_clauses_of(sentence: str) -> list[ClaimClause]:
    """The clauses of a sentence that hold a word."""
    parts: list[list[tuple[str, str]]] = [[]]
    for chunk in _SPACES.split(_plain(sentence)):
        bare = bare_word(chunk)
        begins = chunk.lower().find(bare) if bare else len(chunk)
        if _BREAKS.search(chunk[:begins]) or not bare:
            parts.append([])
        if bare in _JOINTS:
            parts.append([])
        elif bare:
            parts[-1] += _words_in(chunk, bare)
            if _BREAKS.search(chunk[begins + len(bare) :]):
                parts.append([])
    return [clause for part in parts if part and (clause := _clause_of(part)).words]


def _plain(sentence: str) -> str:
    text = _APOSTROPHE.sub("'", _INVISIBLE.sub("", unicodedata.normalize("NFKC", sentence)))
    text = _PART.sub(" , ", _MARK.sub(" done , ", _EMPHASIS.sub("", text)))
    return _COLON.sub(": ", text)


def _words_in(chunk: str, bare: str) -> list[tuple[str, str]]:
    """The words of a chunk between white space, each with how it was written."""
    if (full := CLAIMS.spelled.get(bare)) is not None:
        return [(word, word) for word in full.split(" ")]
    short = _ENDING.match(bare)
    stem = bare_thing(chunk)
    stem = stem[: -len(short[2])] if short and stem.lower().endswith(short[2]) else stem
    word = THING if is_thing(stem) else short[1] if short else bare
    return [(word, stem), (_FULL[short[2]], "")] if short else [(word, stem)]


def _clause_of(part: Sequence[tuple[str, str]]) -> ClaimClause:
    words = _HARMLESS.sub(" ", " ".join(word for word, _ in part)).split(" ")
    things = frozenset(written for word, written in part if word == THING)
    names = frozenset(word for word, written in part[1:] if written[:1].isupper() and word not in (THING, "i"))
    return ClaimClause([word for word in words if word], things, names)
