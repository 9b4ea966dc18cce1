"""Optional arguments that a wish speaks of, with the values that it gives them.

Offered an argument that nobody asked for, a small model fills it with anything. So a tool's optional argument is offered only
where the wish names it, by a word of its name or its description, and then with what the wish says and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.finding import folder_in
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.ranking import stem, terms_in
from gateway.agent.render import required_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import QUOTED, Word, words_of
from gateway.core.canonical import Json

_NEAR: Final = 2
"""Words between an argument's name and its number."""

_NUMBER: Final = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,6})?")
_WHOLE: Final = re.compile(r"-?[0-9]+")
_FILLED: Final = frozenset((*VOCABULARY.day_arguments, *VOCABULARY.amount_arguments, "currency"))
"""Parts of names that are filled from the person's words afterwards."""

_LIMITS: Final = frozenset(VOCABULARY.limit_arguments)
_LIMITING: Final = frozenset(map(stem, VOCABULARY.limiting_words))
_NEGATIONS: Final = frozenset(VOCABULARY.negations)
_UNTELLING: Final = frozenset(map(stem, VOCABULARY.untelling_words))
_JOINING: Final = frozenset((*VOCABULARY.common_terms, *VOCABULARY.fillers, "as"))


def spoken_arguments(schema: Mapping[str, Any], wish: str, tool: str = "") -> dict[str, Json]:
    """The values that a wish gives to optional arguments of a tool's schema, by their names, in the schema's order.

    Words of the tool's own name in a description tell nothing: "make" of `make_backup` asks for a backup, and not to "make it
    smaller".
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    words = words_of(wish)
    needed = required_of(schema)
    known = {
        name: cast("Mapping[str, Any]", member)
        for name, member in cast("Mapping[str, Any]", properties).items()
        if name not in needed and isinstance(member, Mapping) and _FILLED.isdisjoint(parts_of(name))
    }
    called = set(map(stem, parts_of(tool)))
    said = {name: _spoken(name, member, wish, words, called) for name, member in known.items()}
    return {name: value for name, value in said.items() if value is not None}


def _spoken(name: str, schema: Mapping[str, Any], wish: str, words: Sequence[Word], called: set[str]) -> Json:
    terms = _terms_of(name, schema, called)
    listed = schema.get("enum")
    if isinstance(listed, list):
        bare = {word.bare for word in words}
        choices = [each for each in cast("list[Any]", listed) if isinstance(each, str) and each.lower() in bare]
        return choices[0] if len(choices) == 1 else None
    match schema.get("type"):
        case "integer" | "number" as kind:
            return _number(name, terms, words, whole=kind == "integer")
        case "boolean":
            at = next((place for place, word in enumerate(words) if stem(word.bare) in terms), None)
            return None if at is None else _NEGATIONS.isdisjoint(word.bare for word in words[max(0, at - 2) : at])
        case "string":
            if slot_of(name) is Slot.PATH:
                return folder_in(wish) or None
            return _text_after(name, wish, words)
        case _:
            return None


def _terms_of(name: str, schema: Mapping[str, Any], called: set[str]) -> set[str]:
    """What an argument is called in people's words."""
    described = schema.get("description")
    told = set(terms_in(described)) - called if isinstance(described, str) else set[str]()
    terms = {*map(stem, parts_of(name)), *told}
    return {term for term in terms if len(term) > 2 and term not in _UNTELLING}


def _number(name: str, terms: set[str], words: Sequence[Word], *, whole: bool) -> Json:
    """The one number that stands beside a word of the argument; for a limit beside "last", "first" or "top" too."""
    wanted = terms if _LIMITS.isdisjoint(parts_of(name)) else terms | _LIMITING
    telling = [at for at, word in enumerate(words) if stem(word.bare) in wanted]
    distances = {
        (min(abs(at - each) for each in telling), written)
        for at, word in enumerate(words)
        if telling and (written := _written(word.bare)) is not None
    }
    found = [written for distance, written in distances if distance == min(distances)[0] and distance <= _NEAR]
    if len(found) != 1:
        return None
    written = found[0]
    if whole or _WHOLE.fullmatch(written):
        return int(written) if _WHOLE.fullmatch(written) else None
    return float(written)


def _written(word: str) -> str | None:
    """A number in digits, from digits or a word for it. "A" and "an" are articles."""
    if _NUMBER.fullmatch(word):
        return word
    return str(VOCABULARY.number_words[word]) if len(word) > 2 and word in VOCABULARY.number_words else None


def _text_after(name: str, wish: str, words: Sequence[Word]) -> Json:
    """What stands after the argument's own name: quoted words, or one word."""
    parts = {stem(part) for part in parts_of(name) if len(part) > 2}
    for at, word in enumerate(words):
        if stem(word.bare) not in parts:
            continue
        quoted = next((found for found in QUOTED.finditer(wish) if word.end <= found.start() <= word.end + 4), None)
        if quoted is not None:
            return quoted[0][1:-1]
        after = next((each for each in words[at + 1 : at + 3] if each.bare not in _JOINING), None)
        if after is not None and (is_thing(wish[after.start : after.end]) or after.bare.isalnum()):
            return bare_thing(wish[after.start : after.end])
    return None
