"""What "it" is: the file, page, search or thing that the last call was about.

The focus comes from what was called, which the person saw, and from results only where the gateway trusts them: a file cannot
say which file "delete it" means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from gateway.agent.budget import length_of
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Call, Result
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.parse import ParseFailure, read_object
from gateway.agent.vocabulary import VOCABULARY
from gateway.core.canonical import MAX_INTEGER, Json

_MAX_LENGTH: Final = LIMITS.focus_characters
"""Characters of a focused value. Longer ones are texts, not names of things."""

_MAX_RESULT: Final = LIMITS.focus_result_characters
"""Characters of a result that is read for the thing it made."""

_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_ENDING: Final = frozenset(VOCABULARY.removing_verbs)
"""Verbs after which a thing is no longer where it was."""


@dataclass(frozen=True, slots=True)
class Focus:
    """At most one thing of each kind."""

    path: str | None = None
    url: str | None = None
    query: str | None = None
    id: str | int | None = None


NOTHING: Final = Focus()


def update_focus(call: Call, result: Result, focus: Focus) -> Focus:
    """The focus once a call has closed. What did not succeed changes nothing."""
    if result["outcome"] != "ok":
        return focus
    pointed = _things_in(call["arguments"])
    if not _ENDING.isdisjoint(parts_of(call["name"])):
        gone = {slot.value: None for slot, values in pointed.items() if getattr(focus, slot.value) in values}
        return replace(focus, **gone)
    made = _things_in(_read(result)) if result["trust"] == "trusted" else {}
    return replace(focus, **{slot.value: values[0] for slot, values in (pointed | made).items() if len(values) == 1})


def _things_in(members: Mapping[str, Json]) -> dict[Slot, Sequence[str | int]]:
    things: dict[Slot, list[str | int]] = {}
    for name, value in members.items():
        slot = slot_of(name)
        if slot is not None and _can_be_focused(slot, value):
            things.setdefault(slot, []).append(value)
    return cast("dict[Slot, Sequence[str | int]]", things)


def _can_be_focused(slot: Slot, value: Json) -> bool:
    if isinstance(value, str):
        return value != "" and length_of(value) <= _MAX_LENGTH and not _UNPRINTABLE.search(value)
    return slot is Slot.ID and type(value) is int and abs(value) <= MAX_INTEGER


def _read(result: Result) -> Mapping[str, Any]:
    content: str = result["content"]
    if length_of(content) > _MAX_RESULT:
        return {}
    value = read_object(content)
    return {} if isinstance(value, ParseFailure) else value
