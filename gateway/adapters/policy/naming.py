"""The names that a schema declares, and the nearest of them to a name that it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_COMMENT: Final = re.compile(r"//[^\n]*")
_ENTITY: Final = re.compile(r"\bentity\s+(?P<names>\w+(?:\s*,\s*\w+)*)\s*(?:enum\s*\[(?P<ids>[^\]]*)\])?")
_ACTION: Final = re.compile(r'\baction\s+(?P<names>[\w"]+(?:\s*,\s*[\w"]+)*)')
_ATTRIBUTE: Final = re.compile(r'(?<![:\w])"?(\w+)"?\s*\??\s*:(?!:)')
_WORD: Final = re.compile(r"\w+")

_IN_ENUM: Final = re.compile(r'entity `(?P<type>[\w:]+)::"(?P<name>[^"]*)"` is of an enumerated entity type.*', re.DOTALL)
_ACTIONS: Final = re.compile(r'unrecognized action `[\w:]+::"(?P<name>[^"]*)"`')
_TYPES: Final = re.compile(r"unrecognized entity type `(?:\w+::)*(?P<name>\w+)`")
_ATTRIBUTES: Final = re.compile(r"attribute `(?:\w+\.)*(?P<name>\w+)` (?:in|on) .* not found", re.DOTALL)

_CLOSE: Final = 0.6


@dataclass(frozen=True, slots=True)
class SchemaNames:
    """What a schema declares, by plain names: types of entities, the ids of those that are enumerated, actions, attributes."""

    types: frozenset[str]
    enumerated: dict[str, tuple[str, ...]]
    actions: frozenset[str]
    attributes: frozenset[str]


def read_schema_names(schema: str) -> SchemaNames:
    """The names in the text of a schema that loads."""
    text = _COMMENT.sub("", schema)
    types: set[str] = set()
    enumerated: dict[str, tuple[str, ...]] = {}
    for found in _ENTITY.finditer(text):
        names = _WORD.findall(found["names"])
        types.update(names)
        if found["ids"] is not None:
            enumerated |= dict.fromkeys(names, tuple(re.findall(r'"([^"]*)"', found["ids"])))
    actions = {name for found in _ACTION.finditer(text) for name in _WORD.findall(found["names"])}
    return SchemaNames(frozenset(types), enumerated, frozenset(actions), frozenset(_ATTRIBUTE.findall(text)))


def find_nearest(name: str, known: Iterable[str], cutoff: float = _CLOSE) -> str | None:
    """The known name that is most like this one, None where none is enough: 1 is the same name."""
    spelt = {each.lower(): each for each in sorted(known, reverse=True)}
    # Imported by the first name that is no name.
    import difflib

    close = difflib.get_close_matches(name.lower(), spelt, n=1, cutoff=cutoff)
    return spelt[close[0]] if close else None


def suggest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, empty where nothing known is like it."""
    nearest = None if name in (names := tuple(known)) else find_nearest(name, names)
    return "" if nearest is None else f"; did you mean `{nearest}`?"


def explain_unknown(message: str, schema: SchemaNames) -> str:
    """What Cedar's validator said, with the nearest right name where it complains of an unknown one."""
    if found := _IN_ENUM.search(message):
        kind = found["type"].rpartition("::")[2]
        known = schema.enumerated.get(kind, ())
        advice = suggest(found["name"], known) or f"; there are {', '.join(f'`{each}`' for each in known)}"
        told = f'there is no `{found["type"]}::"{found["name"]}"`{advice}'
        return message[: found.start()] + told
    for pattern, known in ((_ACTIONS, schema.actions), (_TYPES, schema.types), (_ATTRIBUTES, schema.attributes)):
        if found := pattern.search(message):
            return message + suggest(found["name"], known)
    return message
