"""Prose that announces a step and takes none: how it is told from an answer, and what a model hears then.

Being told is rarely worth more than three tries; after that the loop says so calmly and stops. The words of an announcement
stand in prompts.json, under `planning`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.browser import trim
from gateway.agent.budget import length_of
from gateway.agent.limits import LIMITS
from gateway.agent.vocabulary import any_of

MAX_NUDGES: Final = LIMITS.nudges
"""Requirement 003-07."""

_LONGEST_PLAN: Final = LIMITS.plan_characters
"""Characters; who writes more than this has written something."""

_SENTENCE_END: Final = re.compile(r"[.!?:;…]+(?=[ \t\r\n]|$)|[\r\n]+")
_FLAGS: Final = re.IGNORECASE | re.ASCII
_NUMBERED: Final = re.compile(r"^(?:[0-9]{1,2}[.)]?(?=[ \t]|$)|[-*])?[ \t]*")


def looks_like_planning(text: str, words: Mapping[str, Any]) -> bool:
    """Whether a reply holds nothing but announced steps, each of which a tool would take. A question is an answer."""
    said = trim(text.replace("\u2019", "'"))
    if said.endswith("?") or length_of(said) > _LONGEST_PLAN:
        return False
    planning = words["planning"]
    announcement, filler = _announcement_of(planning), re.compile(f"(?:{any_of(planning['fillers'])})$", _FLAGS)
    parts = [_NUMBERED.sub("", part.strip(" \t")) for part in _SENTENCE_END.split(said)]
    told = [part for part in parts if part and not filler.match(part)]
    return bool(told) and all(announcement.match(part) for part in told)


def nudge(number: int, words: Mapping[str, Any]) -> dict[str, str]:
    """The message that a model gets the `number`-th time, from 1; the last words serve for all that follow."""
    said: Sequence[str] = words["nudges"]
    return {"role": "user", "content": said[min(number, len(said)) - 1]}


def _announcement_of(planning: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    before, who, between, does = (any_of(planning[each]) for each in ("before", "who", "between", "does"))
    return re.compile(rf"(?:(?:{before}),?[ \t]+){{0,3}}(?:{who})(?:[ \t]+(?:{between}))*[ \t]+(?:{does})\b", _FLAGS)
