"""What a model is told of a reply that could not be used, read once from `loop/mistakes.json`, which the browser reads too.

A missing or an unknown sentence stops the import with a TypeError.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gateway.shipped import loop_fields


@dataclass(frozen=True, slots=True)
class LoopMistakes:
    """One field for each sentence of `loop/mistakes.json`."""

    correction: str
    nothing: str
    not_accepted: str
    wrong_call: str
    call_in_prose: str
    empty_reply: str
    no_object: str
    endless_object: str
    too_long: str
    half_character: str
    too_deep: str
    no_json: str
    other_json: str
    doubled_member: str
    wild_number: str
    no_tool: str
    no_action: str
    other_arguments: str
    call_without_json: str
    call_with_other_json: str
    other_kind: str
    unknown_tool: str
    missing_field: str
    other_field: str
    empty_field: str


MISTAKES: Final = LoopMistakes(**loop_fields("mistakes"))
