"""Which tools a model is shown this turn, where there are too many for all of them.

Up to `MANY` tools the choice is all of them: measured, showing fewer does not help a model that has examples, and a prompt that
changes from turn to turn costs the server's cache. Beyond that the words of the message decide (BM25 over names, descriptions
and examples). What is chosen are the snapshot's own objects in the snapshot's order, so that nothing about them can differ.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool
from gateway.agent.names import parts_of
from gateway.agent.vocabulary import VOCABULARY

MANY: Final = LIMITS.shown_tools

_NAME_WEIGHT: Final = LIMITS.name_weight
_SATURATION: Final = LIMITS.term_saturation
_LENGTH_SHARE: Final = LIMITS.length_share

_TERM: Final = re.compile(r"[^\W_]+")
_STEM: Final = re.compile(r"(.{3,}?)(?:ing|ed|es|s|e)", re.DOTALL)
_COMMON: Final = frozenset(VOCABULARY.common_terms)


def select(message: str, tools: Sequence[Tool], examples: Mapping[str, Sequence[str]], most: int = MANY) -> list[Tool]:
    """The tools to show: all, or the `most` likely ones. Pseudo-tools of the agent's own stay and do not count.

    `examples` are messages by the name of the tool that answers them.
    """
    own = [bool(tool.get("local")) for tool in tools]
    if own.count(False) <= most:
        return list(tools)
    scores = _score(_terms_in(message), [_document(tool, examples.get(tool["name"], ())) for tool in tools])
    ranked = sorted((at for at in range(len(tools)) if not own[at]), key=lambda at: -scores[at])
    chosen = set(ranked[:most])
    return [tool for at, tool in enumerate(tools) if own[at] or at in chosen]


def examples_in(words: Mapping[str, Any]) -> dict[str, list[str]]:
    """The examples of prompts.json, by tool."""
    examples: dict[str, list[str]] = {}
    for shot in words["action"]["shots"]:
        if "tool" in shot["reply"]:
            examples.setdefault(shot["reply"]["tool"], []).append(shot["user"])
    return examples


def _document(tool: Tool, examples: Sequence[str]) -> Counter[str]:
    terms = [*map(_stem, parts_of(tool["name"])), *map(_stem, parts_of(tool.get("title", "")))] * _NAME_WEIGHT
    return Counter([*terms, *_terms_in(tool["description"]), *(term for each in examples for term in _terms_in(each))])


def _terms_in(text: str) -> list[str]:
    found: list[str] = _TERM.findall(text.lower())
    return [_stem(term) for term in found if term not in _COMMON]


def _stem(term: str) -> str:
    ending = _STEM.fullmatch(term)
    return ending[1] if ending else term


def _score(query: Sequence[str], documents: Sequence[Counter[str]]) -> list[float]:
    lengths = [document.total() for document in documents]
    mean = max(1.0, sum(lengths) / len(lengths))
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
