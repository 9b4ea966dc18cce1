"""How well texts answer a question: BM25 over terms, without a dictionary, alike in both languages."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from gateway.agent.limits import LIMITS
from gateway.agent.vocabulary import VOCABULARY

_SATURATION: Final = LIMITS.term_saturation
_LENGTH_SHARE: Final = LIMITS.length_share

_TERM: Final = re.compile(r"[^\W_]+")
_STEM: Final = re.compile(r"(.{3,}?)(?:ing|ed|es|s|e)", re.DOTALL)
_COMMON: Final = frozenset(VOCABULARY.common_terms)
_LEAST: Final = 4
"""Letters of a term that another one may go on from: "cancelled" and "cancel"."""


def terms_in(text: str) -> list[str]:
    """The words and figures of a text that tell something, each without its ending."""
    found: list[str] = _TERM.findall(text.lower())
    return [stem(term) for term in found if term not in _COMMON]


def stem(term: str) -> str:
    """A term without the ending of an English plural or verb."""
    ending = _STEM.fullmatch(term)
    return ending[1] if ending else term


def stands_in(term: str, held: set[str]) -> bool:
    """Whether a term is among those held, or one of the two goes on from the other."""
    return term in held or any(
        len(shorter) >= _LEAST and longer.startswith(shorter)
        for each in held
        for shorter, longer in [sorted((term, each), key=len)]
    )


def score(query: Sequence[str], documents: Sequence[Counter[str]]) -> list[float]:
    """How well each document, given as its terms, answers the query; 0 where it holds none of its terms."""
    lengths = [document.total() for document in documents]
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    scores = [0.0] * len(documents)
    for term in dict.fromkeys(query):
        rarity = _rarity(sum(term in document for document in documents), len(documents))
        for at, document in enumerate(documents):
            count = document[term]
            norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths[at] / mean)
            scores[at] += rarity * count * (_SATURATION + 1) / (count + norm)
    return scores


def _rarity(having: int, all_of_them: int) -> float:
    """Rounded, because logarithms differ in their last digit from one machine to the next, and the choice must not."""
    return math.floor(math.log(1 + (all_of_them - having + 0.5) / (having + 0.5)) * 1e6 + 0.5) / 1e6
