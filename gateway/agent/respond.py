"""`respond(message)`: how a model says "just text" while tools are offered. It never reaches the gateway.

After antoinezambelli/forge (MIT), its ADR-013, by way of a change proposed to Unsloth Studio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from gateway.agent.parse import read_object
from gateway.core.local_tools import RESPOND

RESPOND_TOOL: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {"name": RESPOND.name, "description": RESPOND.description, "parameters": RESPOND.param_schema},
}
"""The pseudo-tool as a provider is told of it, with the schema that the gateway publishes, to the byte."""


def inject_respond(tools: Sequence[Any] | None) -> tuple[Sequence[Any] | None, bool]:
    """The tools with the pseudo-tool after them, and whether a call of that name will mean it.

    Without tools nothing is added. A tool of that name keeps its meaning, unless it is the published pseudo-tool itself. The
    given list is never changed, and entries that are no tools are passed over.
    """
    if not tools:
        return tools, False
    for tool in tools:
        if _name_of(tool) == RESPOND.name:
            return tools, _is_local(tool)
    return [*tools, RESPOND_TOOL], True


def is_respond(call: Any, tools: Sequence[Any] = ()) -> bool:
    """Whether a proposed call is the pseudo-tool: a call's name, or a call in either of its shapes.

    A real tool of that name among `tools` keeps its meaning.
    """
    name = call if isinstance(call, str) else _name_of(call)
    return name == RESPOND.name and not any(_name_of(tool) == RESPOND.name and not _is_local(tool) for tool in tools)


def message_of(arguments: Any) -> str:
    """The text of a call's arguments, be they JSON or its object. Empty when there is none: the turn ends all the same."""
    given = read_object(arguments) if isinstance(arguments, str) else arguments
    message = cast("Mapping[Any, Any]", given).get("message") if isinstance(given, Mapping) else None
    return message if isinstance(message, str) and _is_unicode(message) else ""


def _name_of(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return None
    named = cast("Mapping[str, Any]", entry)
    function = named.get("function")
    return cast("Mapping[str, Any]", function).get("name") if isinstance(function, Mapping) else named.get("name")


def _is_local(tool: Mapping[str, Any]) -> bool:
    return tool is RESPOND_TOOL or tool.get("local") is True


def _is_unicode(text: str) -> bool:
    """Whether no half of a surrogate pair stands alone, which nothing after us could store."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
