"""The actions that a planner may choose from, and how each is read out of a model's object.

By default five, because fewer choices are right more often; the rest is opt-in. What the opt-in ones mean is up to the host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Any, Final

from gateway.agent.action_schema import constrain
from gateway.agent.limits import LIMITS
from gateway.agent.mistakes import MISTAKES
from gateway.agent.parse import ARGUMENTS, ParseFailure, arguments_of, tool_of
from gateway.agent.provenance import neutralise
from gateway.agent.render import fill
from gateway.core.canonical import Json


class ActionKind(StrEnum):
    """`type` of an action."""

    TOOL_CALL = "tool_call"
    FINAL_ANSWER = "final_answer"
    ASK_USER = "ask_user"
    STOP = "stop"
    THOUGHT = "thought"
    SPAWN_SUBAGENT = "spawn_subagent"
    JOIN_SUBAGENT = "join_subagent"
    CANCEL_SUBAGENT = "cancel_subagent"
    PUSH_GOAL = "push_goal"
    COMPLETE_GOAL = "complete_goal"
    SCHEDULE = "schedule"


DEFAULT_ACTIONS: Final = (
    ActionKind.TOOL_CALL,
    ActionKind.FINAL_ANSWER,
    ActionKind.ASK_USER,
    ActionKind.STOP,
    ActionKind.THOUGHT,
)
"""Requirement 001-06."""


class FieldForm(Enum):
    """What a field holds."""

    TEXT = auto()
    OBJECT = auto()


@dataclass(frozen=True, slots=True)
class ActionField:
    """One member of an action beside `id`, `type` and `createdAt`."""

    name: str
    form: FieldForm = FieldForm.TEXT
    required: bool = True


FIELDS: Final[Mapping[ActionKind, Sequence[ActionField]]] = {
    ActionKind.TOOL_CALL: (ActionField("toolName"), ActionField("arguments", FieldForm.OBJECT)),
    ActionKind.FINAL_ANSWER: (ActionField("content"),),
    ActionKind.ASK_USER: (ActionField("question"),),
    ActionKind.STOP: (ActionField("reason", required=False),),
    ActionKind.THOUGHT: (ActionField("content"),),
    ActionKind.SPAWN_SUBAGENT: (ActionField("task"), ActionField("role", required=False)),
    ActionKind.JOIN_SUBAGENT: (ActionField("subagentId"),),
    ActionKind.CANCEL_SUBAGENT: (ActionField("subagentId"), ActionField("reason", required=False)),
    ActionKind.PUSH_GOAL: (ActionField("goal"),),
    ActionKind.COMPLETE_GOAL: (ActionField("result", required=False),),
    ActionKind.SCHEDULE: (ActionField("task"), ActionField("at")),
}


@dataclass(frozen=True, slots=True)
class Action:
    """What a planner decided. `created_at` is RFC 3339, or None when neither the model nor a clock says."""

    id: str
    kind: ActionKind
    fields: Mapping[str, Json]
    created_at: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The action as the browser's planner gives it."""
        stamp = {} if self.created_at is None else {"createdAt": self.created_at}
        return {"id": self.id, "type": self.kind.value, **stamp, **self.fields}


@dataclass(frozen=True, slots=True)
class PlannerTool:
    """A tool as the planner shows it. `input_schema` is JSON Schema."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionDefaults:
    """What an action gets that comes without: an id, and the time if there is a clock."""

    new_id: Callable[[], str]
    now: Callable[[], str | None]


def read_action(
    value: dict[str, Json], kinds: Sequence[ActionKind], tools: Collection[str], stamps: ActionDefaults
) -> Action | ParseFailure:
    """A model's object as an action of this vocabulary, or the reason why it is none. Other members are left behind."""
    value = _translate(value, tools)
    kind = value.get("type")
    if kind not in kinds:
        return ParseFailure(fill(MISTAKES.other_kind, {"kinds": ", ".join(kinds)}.get))
    fields: dict[str, Json] = {}
    for field in FIELDS[ActionKind(kind)]:
        given = _read_field(field, value)
        if isinstance(given, ParseFailure):
            return given
        if given is not None:
            fields[field.name] = given
    if kind == ActionKind.TOOL_CALL and fields["toolName"] not in tools:
        known = ", ".join(list(tools)[:_MOST_NAMED])
        return ParseFailure(fill(MISTAKES.unknown_tool, {"tool": _inline(fields["toolName"]), "tools": known}.get))
    own_id, own_time = value.get("id"), value.get("createdAt")
    return Action(
        own_id if isinstance(own_id, str) and _ID.fullmatch(own_id) else stamps.new_id(),
        ActionKind(kind),
        fields,
        own_time if isinstance(own_time, str) and _TIME.fullmatch(own_time) else stamps.now(),
    )


def shape_of(kind: ActionKind) -> str:
    """An action as an example of its form, on one line."""
    members = [f'"type":"{kind.value}"']
    for field in FIELDS[kind]:
        blank = "{…}" if field.form is FieldForm.OBJECT else '"…"'
        members.append(f'"{field.name}":{blank}')
    return f"{{{','.join(members)}}}"


def planner_schema(kinds: Sequence[ActionKind], tools: Sequence[PlannerTool]) -> dict[str, Any]:
    """JSON Schema of one action of this vocabulary, for runtimes that constrain decoding."""
    options: list[dict[str, Any]] = []
    for kind in kinds:
        if kind is ActionKind.TOOL_CALL:
            options += [_call_schema(tool) for tool in tools]
        else:
            options.append(_object({field.name: {"type": "string"} for field in FIELDS[kind]}, kind))
    return {"oneOf": options}


_MOST_NAMED: Final = LIMITS.planner_named_tools
_INLINE_LENGTH: Final = LIMITS.planner_name_characters
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})")
_UNPRINTED = re.compile(r"[\x00-\x20\x7f`]+")
_OWN_MEMBERS = ("id", "type", "createdAt")


def _translate(value: dict[str, Json], tools: Collection[str]) -> dict[str, Json]:
    """What models write for an action when they mean one: a tool's name as `type`, or one of the short shapes."""
    kind = value.get("type")
    if isinstance(kind, str) and kind in tools and kind not in FIELDS:
        if any(key in value for key in ARGUMENTS):
            return {**value, "type": "tool_call", "toolName": kind}
        given = {name: member for name, member in value.items() if name not in _OWN_MEMBERS}
        return {**value, "type": "tool_call", "toolName": kind, "arguments": given}
    if kind is None or kind == "function":
        if tool_of(value) is not None:
            return {**value, "type": "tool_call"}
        if "answer" in value:
            return {**value, "type": "final_answer", "content": value["answer"]}
    return value


def _read_field(field: ActionField, value: dict[str, Json]) -> Json | ParseFailure:
    """A field's value; None for one that may be missing and is."""
    if field.form is FieldForm.OBJECT:
        return (
            arguments_of(value)
            if any(value.get(key) is not None for key in ARGUMENTS)
            else ParseFailure(fill(MISTAKES.missing_field, {"field": field.name}.get))
        )
    given = tool_of(value) if field.name == "toolName" else value.get(field.name)
    if given is None:
        return ParseFailure(fill(MISTAKES.missing_field, {"field": field.name}.get)) if field.required else None
    if not isinstance(given, str):
        return ParseFailure(fill(MISTAKES.other_field, {"field": field.name}.get))
    if given.strip(" \t\r\n"):
        return given
    return ParseFailure(fill(MISTAKES.empty_field, {"field": field.name}.get)) if field.required else None


def _call_schema(tool: PlannerTool) -> dict[str, Any]:
    arguments = {"type": "object", **constrain(tool.input_schema)}
    return _object({"toolName": {"const": tool.name}, "arguments": arguments}, ActionKind.TOOL_CALL)


def _object(properties: Mapping[str, Any], kind: ActionKind) -> dict[str, Any]:
    required = ["type", *(field.name for field in FIELDS[kind] if field.required)]
    members = {"type": {"const": kind.value}, **properties}
    return {"type": "object", "properties": members, "required": required, "additionalProperties": False}


def _inline(text: str) -> str:
    """What a model named, short and on one line, where it is told that there is no such thing."""
    return neutralise(_UNPRINTED.sub(" ", text)[:_INLINE_LENGTH])
