"""The loop without some of its guards: each is left away where the loop takes it from, by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any, Final, TypeAlias
from unittest.mock import patch

from eval.contenders import Guard
from gateway.agent import (
    action_schema,
    answers,
    chained_lane,
    choosing,
    json_lane,
    native_lane,
    prompts,
    provenance,
    runner,
    wording,
)
from gateway.agent.messages import Tool
from gateway.agent.repair import RepairDialogue

_Seam: TypeAlias = tuple[ModuleType, str, Any]


def _always(value: Any) -> Callable[..., Any]:
    def answer(*_given: Any, **_more: Any) -> Any:
        return value

    return answer


def _first(given: Any, *_more: Any) -> Any:
    return given


def _take_all(_message: str, tools: Sequence[Tool], *_more: Any) -> Sequence[Tool]:
    return tools


def _every_argument(schema: Mapping[str, Any]) -> list[str]:
    return list(schema.get("properties", {}))


_SEAMS: Final[Mapping[Guard, Sequence[_Seam]]] = {
    # It is left out of the requests, where they are made.
    Guard.SCHEMA: (),
    Guard.CANDIDATES: ((json_lane, "select", _take_all), (chained_lane, "select", _take_all)),
    Guard.PROBE: ((json_lane, "has_cue", _always(False)), (json_lane, "wishes_in", _always([]))),
    Guard.REASON: ((json_lane, "is_asked_for", _always(True)),),
    Guard.INSISTING: ((json_lane, "tools_called_for", _always([])),),
    Guard.REPAIR: (
        (json_lane, "MAX_REPAIRS", 0),
        (choosing, "RepairDialogue", partial(RepairDialogue, 0)),
        (native_lane, "RepairDialogue", partial(RepairDialogue, 0)),
    ),
    Guard.READING: ((json_lane, "reading_for", _always(None)), (chained_lane, "reading_of_found", _always(None))),
    Guard.FINDING: (
        *(
            (json_lane, name, _always(None))
            for name in ("finding_in", "looking_for", "further_call", "left_open", "look_again", "picked_shown")
        ),
        (json_lane, "pointed_reading", _always(None)),
        (json_lane, "resolved", _first),
    ),
    Guard.FIGURES: ((answers, "asks_for_figure", _always(False)),),
    Guard.DOUBT: (
        *(
            (module, name, _always(False))
            for module in (json_lane, wording)
            for name in ("is_echo", "repeats_question", "has_wrong_number")
        ),
        (wording, "is_unfounded", _always(False)),
        (wording, "is_made_up", _always(False)),
        (wording, "summary_of", _always(None)),
        (wording, "narrowed", _first),
        (wording, "missed_quote", _always(None)),
    ),
    Guard.VALUES: ((json_lane, "complete", _first), (chained_lane, "complete", _first)),
    Guard.COPIED: ((action_schema, "choices_for", _always(None)),),
    Guard.OPTIONAL: ((action_schema, "required_of", _every_argument), (action_schema, "spoken_arguments", _always({}))),
    Guard.CLAIMS: (
        *((runner, name, _first) for name in ("hold_to_record", "without_false_claims")),
        (runner, "left_undone", _always([])),
    ),
    Guard.REPEATS: ((json_lane, "is_repeat", _always(False)), (chained_lane, "is_repeat", _always(False))),
    Guard.PLANS: ((choosing, "looks_like_planning", _always(False)),),
    Guard.MARKERS: tuple((module, "neutralise", _first) for module in (provenance, prompts, json_lane)),
    Guard.FOLLOWING: ((chained_lane, "may_follow", _always(True)), (chained_lane, "call_may_follow", _always(True))),
}


@contextlib.contextmanager
def leaving_away(guards: frozenset[Guard]) -> Generator[None]:
    """While this runs, the loop has these guards and no others."""
    with contextlib.ExitStack() as stack:
        for guard, seams in _SEAMS.items():
            for module, name, instead in seams if guard not in guards else ():
                stack.enter_context(patch.object(module, name, instead))
        yield
