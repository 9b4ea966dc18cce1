"""The verbs with which a wish may begin: those that people ask with, and those of the tools that there are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import ACTS
from gateway.agent.messages import Tool
from gateway.agent.names import parts_of
from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_words import WISH_WORDS

_ACTS: Final = frozenset(verb for words in ACTS.values() for verb in words["verbs"])
_IMPERATIVES: Final = _ACTS.union(WISH_WORDS.imperatives, WISH_WORDS.synonyms, WISH_WORDS.commands)
_PLACES: Final = frozenset((*VOCABULARY.document_nouns, *VOCABULARY.folder_nouns, "text", "workspace"))
_COMMON: Final = frozenset(VOCABULARY.common_terms)
_DESCRIBED: Final = re.compile(r"([A-Z][a-z]+) (?:a|an|the) ", re.ASCII)
"""How a description begins that says what its tool does: "Start a timer"."""

_MIN_NOUN: Final = 3


@dataclass(frozen=True, slots=True)
class WishVerbs:
    """`all` are the verbs, `own` those for which there is a tool or an act, `nouns` what the tools are for, as stems, `subjects`
    the other words for that, but for files, and `forms` the verb of each form in -ing or -ed."""

    all: frozenset[str]
    own: frozenset[str]
    nouns: frozenset[str]
    subjects: frozenset[str]
    forms: Mapping[str, str]

    def gerund_of(self, word: str) -> str | None:
        """The verb of a form in -ing, if it is one."""
        return self.forms.get(word) if word.endswith("ing") else None


def wish_verbs(tools: Sequence[Tool]) -> WishVerbs:
    """The verbs for these tools."""
    names = [parts_of(tool["name"].rpartition("__")[2]) for tool in tools]
    described = [found[1].lower() for tool in tools if (found := _DESCRIBED.match(tool["description"]))]
    own = frozenset({*(parts[0] for parts in names if parts), *described}) - _COMMON
    every = _IMPERATIVES | own
    nouns = {part for parts in names for part in parts if part not in every and len(part) >= _MIN_NOUN}
    return WishVerbs(every, own | _ACTS, frozenset(map(stem, nouns)), _subjects_of(names), _forms_of(every))


def _subjects_of(names: Sequence[Sequence[str]]) -> frozenset[str]:
    said = {part for parts in names for part in parts[1:]}
    groups = [set(group) for group in VOCABULARY.same_things if not said.isdisjoint(group) and _PLACES.isdisjoint(group)]
    return frozenset(map(stem, said.union(*groups) - _PLACES))


def _forms_of(verbs: frozenset[str]) -> dict[str, str]:
    """Alphabetical, so that where two verbs share a form it is the same one in both languages."""
    forms: dict[str, str] = {}
    for verb in sorted(verbs):
        base = verb.removesuffix("e")
        for root in (base, f"{verb}{verb[-1]}"):
            forms |= {f"{root}ing": verb, f"{root}ed": verb}
        if verb.endswith("y"):
            forms[f"{verb[:-1]}ied"] = verb
    return forms | dict(WISH_WORDS.irregular_forms)
