"""What may be replied where a model is held to a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from gateway.agent.browser import ordered
from gateway.agent.copied import CopyableStrings, choices_for
from gateway.agent.messages import Tool
from gateway.agent.optional import spoken_arguments
from gateway.agent.ports import JsonSchema
from gateway.agent.render import required_of
from gateway.agent.vocabulary import VOCABULARY

_SHAPING: Final = VOCABULARY.schema_keywords
"""Keywords that a grammar is made from. The rest is for people, or for the gateway, which checks the whole schema."""


def action_schema(
    tools: Sequence[Tool],
    source: CopyableStrings,
    words: Mapping[str, Any],
    readable: CopyableStrings | None = None,
    wish: str = "",
    *,
    can_answer: bool = True,
) -> JsonSchema:
    """A call of one of these tools with arguments that fit it, or an answer, where that may be. Tools that only read may copy
    from `readable`, if that is given, the others from `source`. An optional argument is there where the `wish` speaks of it, with
    what it says.

    The order of members is the order in which a constrained model writes them.
    """
    calls = [
        _object({"tool": {"const": tool["name"]}, "arguments": given})
        for tool in tools
        if (given := _arguments_schema(tool, _source_for(tool, source, readable), words, wish)) is not None
    ]
    answer = _object({"answer": {"type": "string", "maxLength": words["action"]["answerLength"]}})
    return {"oneOf": [*calls, answer] if can_answer else calls}


def _source_for(tool: Tool, source: CopyableStrings, readable: CopyableStrings | None) -> CopyableStrings:
    return readable if readable is not None and tool["category"] == "read" else source


def _arguments_schema(tool: Tool, source: CopyableStrings, words: Mapping[str, Any], wish: str) -> JsonSchema | None:
    """The needed arguments of a tool and those that are spoken of; None when one would have to be something that nobody said."""
    properties = tool["paramSchema"].get("properties")
    known: Mapping[str, Any] = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else dict[str, Any]()
    members: dict[str, JsonSchema] = {}
    for name in required_of(tool["paramSchema"]):
        choices = choices_for(tool["name"], name, source, words)
        if choices is not None and not choices:
            return None
        members[name] = constrain(known.get(name)) if choices is None else {"enum": choices}
    members |= {name: {"enum": [value]} for name, value in spoken_arguments(tool["paramSchema"], wish, tool["name"]).items()}
    return _object(members)


def _object(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    members = ordered(properties)
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def constrain(schema: Any) -> JsonSchema:
    """A schema as far as constrained decoding can hold a model to it. References reach outside, so they free the value."""
    if not isinstance(schema, Mapping) or "$ref" in schema:
        return {}
    known = cast("Mapping[str, Any]", schema)
    shaped: dict[str, Any] = {keyword: known[keyword] for keyword in _SHAPING if keyword in known}
    if isinstance(known.get("properties"), Mapping):
        shaped["properties"] = ordered({name: constrain(member) for name, member in known["properties"].items()})
    if isinstance(known.get("items"), Mapping):
        shaped["items"] = constrain(known["items"])
    for keyword in ("anyOf", "oneOf"):
        if isinstance(known.get(keyword), list):
            shaped[keyword] = [constrain(option) for option in known[keyword]]
    return shaped
