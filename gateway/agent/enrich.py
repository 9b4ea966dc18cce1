"""Fill in what the model left empty and the person said: the day, the amount, and what "it" is.

Only empty arguments, never another value over one that is there; only what the words say without a doubt, so that two days or
two amounts fill nothing. Runs before the request is bound: the person is shown, and decides on, what was filled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum, auto
from typing import Any, Final, cast

from gateway.agent.days import find_days, iso_day, plain
from gateway.agent.focus import Focus
from gateway.agent.money import Money, find_money
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.core.canonical import Json


class _Kind(Enum):
    DAY = auto()
    AMOUNT = auto()
    CURRENCY = auto()


_DAYS: Final = frozenset(VOCABULARY.day_arguments)
_TIMES: Final = frozenset(VOCABULARY.time_arguments)
_AMOUNTS: Final = frozenset(VOCABULARY.amount_arguments)
_AHEAD: Final = frozenset(VOCABULARY.ahead_arguments)
"""Words of an argument's name by which its day is one to come."""

_END: Final = rf"(?= ?$| ?[.,;!?)]| (?:{any_of(VOCABULARY.words_after_it)})\b)"
_IT: Final = re.compile(rf"\bit\b|\b(?:this|that)\b{_END}", re.ASCII)
_SAID: Final = {
    slot: re.compile(rf"\b(?:{any_of(VOCABULARY.pointers)}) (?:{any_of(VOCABULARY.slot_nouns[slot.value])})\b", re.ASCII)
    for slot in Slot
}
_SEARCH_AGAIN: Final = re.compile(rf"^(?=(.*?\b(?:{any_of(VOCABULARY.search_verbs)})\b))\1.*\bagain\b", re.ASCII | re.DOTALL)
"""The first verb alone is looked for, and then "again": not every verb with every "again"."""

_POINTED: Final = (Slot.PATH, Slot.URL, Slot.ID)
"""What a bare "it" can be. A search is never "it"."""


def enrich(arguments: Mapping[str, Json], schema: Mapping[str, Any], message: str, focus: Focus, today: date) -> dict[str, Json]:
    """The arguments with the empty ones filled that the message answers. `today` is the day where the person is.

    Empty is missing, null or "". What is filled is of the type that the tool's schema asks for; the rest is checked, like
    everything else, by the gateway.
    """
    properties = _properties_of(schema)
    text = plain(message)
    filled = dict(arguments)
    for name, value in _spoken(properties, text, today, focus, arguments):
        fitting = _fitting(value, properties[name])
        if fitting is not None and _is_empty(arguments.get(name)):
            filled[name] = fitting
    return filled


def _spoken(
    properties: Mapping[str, Mapping[str, Any]], text: str, today: date, focus: Focus, arguments: Mapping[str, Json]
) -> list[tuple[str, Json | Money]]:
    """What the message says of each argument that it can be about."""
    said: list[tuple[str, Json | Money]] = []
    day_name = _single(properties, _Kind.DAY)
    ahead = day_name is not None and not _AHEAD.isdisjoint(parts_of(day_name))
    days = find_days(text, today, ahead=ahead)
    if day_name is not None and len(resolved := {each.day for each in days}) == 1 and (day := resolved.pop()) is not None:
        said.append((day_name, iso_day(day)))
    between = zip([0, *(each.end for each in days)], [*(each.start for each in days), len(text)], strict=True)
    text = " ".join(text[start:end] for start, end in between)
    if (money := find_money(text)) is not None:
        if (amount_name := _single(properties, _Kind.AMOUNT)) is not None:
            said.append((amount_name, money))
        if (currency_name := _single(properties, _Kind.CURRENCY)) is not None and money.currency is not None:
            said.append((currency_name, money.currency))
    return said + _pointed_at(properties, text, focus, arguments)


def _pointed_at(
    properties: Mapping[str, Mapping[str, Any]], text: str, focus: Focus, arguments: Mapping[str, Json]
) -> list[tuple[str, Json | Money]]:
    open_slots: dict[Slot, tuple[str, Json]] = {}
    for slot in Slot:
        name = _single(properties, slot)
        thing = getattr(focus, slot.value)
        if name is not None and thing is not None and _is_empty(arguments.get(name)):
            open_slots[slot] = (name, thing)
    said: list[tuple[str, Json | Money]] = [open_slots[slot] for slot in open_slots if _is_named(slot, text)]
    candidates = [open_slots[slot] for slot in _POINTED if slot in open_slots]
    # One "it" is one thing.
    if not said and len(candidates) == 1 and _IT.search(text):
        said += candidates
    return said


def _is_named(slot: Slot, text: str) -> bool:
    """Whether the message speaks of the thing of this kind, and not only of "it"."""
    return bool(_SAID[slot].search(text) or (slot is Slot.QUERY and _SEARCH_AGAIN.search(text)))


def _single(properties: Mapping[str, Mapping[str, Any]], kind: _Kind | Slot) -> str | None:
    """The only argument of its kind. Of two, such as where from and where to, the message does not say which it means."""
    names = [name for name, schema in properties.items() if _kind_of(name, schema) is kind]
    return names[0] if len(names) == 1 else None


def _kind_of(name: str, schema: Mapping[str, Any]) -> _Kind | Slot | None:
    match schema.get("format"):
        case "date":
            return _Kind.DAY
        case "uri" | "url":
            return Slot.URL
        case "date-time" | "time":
            return None
        case _:
            pass
    parts = parts_of(name)
    if not _DAYS.isdisjoint(parts):
        return _Kind.DAY if _TIMES.isdisjoint(parts) else None
    if "currency" in parts:
        return _Kind.CURRENCY
    return slot_of(name) if _AMOUNTS.isdisjoint(parts) else _Kind.AMOUNT


def _fitting(value: Json | Money, schema: Mapping[str, Any]) -> Json:
    """The value in a type that the schema takes, in its own spelling where it lists the values; else None."""
    types = _types_of(schema)
    options = [value] if not isinstance(value, Money) else [_number(value.amount), value.amount]
    for option in options:
        if types.isdisjoint(_types_like(option)):
            continue
        listed = schema.get("enum")
        if not isinstance(listed, list):
            return option
        for each in cast("Sequence[Json]", listed):
            if _is_same(each, option):
                return each
    return None


def _is_same(listed: Json, option: Json) -> bool:
    if isinstance(listed, str) and isinstance(option, str):
        return listed.lower() == option.lower()
    return _is_number(listed) and _is_number(option) and listed == option


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that a schema takes by its own words. References are not followed: what is not known is not filled."""
    given = schema.get("type")
    if isinstance(given, str):
        return frozenset({given})
    if isinstance(given, list):
        return frozenset(each for each in cast("Sequence[object]", given) if isinstance(each, str))
    branches = schema.get("oneOf") if schema.get("anyOf") is None else schema["anyOf"]
    if isinstance(branches, list):
        members = cast("Sequence[Json]", branches)
        return frozenset(each for member in members if isinstance(member, dict) for each in _types_of(cast("Json", member)))
    return frozenset()


def _types_like(value: Json) -> frozenset[str]:
    match value:
        case str():
            return frozenset({"string"})
        case int():
            return frozenset({"number", "integer"})
        case _:
            return frozenset({"number"})


def _number(amount: str) -> int | float:
    number = float(amount)
    return int(number) if number.is_integer() else number


def _properties_of(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    members = cast("dict[str, Any]", properties)
    return {name: cast("Mapping[str, Any]", member) for name, member in members.items() if isinstance(member, dict)}


def _is_empty(value: Json) -> bool:
    return value is None or value == ""
