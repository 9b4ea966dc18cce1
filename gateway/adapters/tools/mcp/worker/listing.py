"""The tools that a server lists, as offers: names and texts of untrusted origin, schemas that can be checked, a proposal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import jsonschema_rs
import mcp_types as types
from pydantic import ValidationError

from gateway.adapters.tools.mcp.wire import MAX_NAME, MAX_TOOL, MAX_TOOLS
from gateway.adapters.tools.mcp.worker.dialects import normalise, read_parameters, size_of
from gateway.adapters.tools.mcp.worker.inert import hides_something, inert_description, inert_line
from gateway.core.errors import Misconfigured
from gateway.core.vocabulary import Category

MAX_DESCRIPTION: Final = 2_000
MAX_TITLE: Final = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines about the tools of a server, and what their results are checked against, by the tool's own name."""

    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    outputs: dict[str, jsonschema_rs.Validator | None] = field(default_factory=dict[str, "jsonschema_rs.Validator | None"])


def read_listing(tools: Iterable[types.Tool], malformed: Mapping[str, str]) -> Listing:
    """What is told about these tools: each is offered, or refused in words. `malformed` are those that the SDK would not read."""
    known = tuple(tools)
    counts = Counter(tool.name for tool in known)
    by_name = {tool.name: tool for tool in known}
    listing = Listing()
    listing.lines.extend({"tell": "refused", "name": name, "why": why} for name, why in malformed.items())
    for name, count in counts.items():
        tool = by_name[name]
        try:
            _require_one(count)
            output = _read_output(tool)
            listing.lines.append(_describe(tool))
            listing.outputs[name] = output
        except Misconfigured as error:
            shown = inert_line(name, MAX_NAME) or "(no name)"
            listing.lines.append({"tell": "refused", "name": shown, "why": inert_line(error.message, 300)})
    return listing


def _require_one(count: int) -> None:
    if count > 1:
        # Nobody could tell which of them a call means.
        raise Misconfigured(f"it is listed {count} times")


def sift_tools(result: dict[str, Any], malformed: dict[str, str]) -> None:
    """Take the tools that the SDK would not read out of a list of tools, since it would read none of the list then.

    Each goes to `malformed` with what is wrong with it.
    """
    listed = result.get("tools")
    if "content" in result or not isinstance(listed, list):
        return
    kept: list[Any] = []
    for number, tool in enumerate(cast("list[Any]", listed)):
        fault = _find_fault(tool)
        if fault is None:
            kept.append(tool)
        elif len(malformed) < MAX_TOOLS:
            name = cast("dict[str, Any]", tool).get("name") if isinstance(tool, dict) else None
            shown = inert_line(name, MAX_NAME) if isinstance(name, str) else ""
            malformed[shown or f"(number {number + 1})"] = fault
    result["tools"] = kept


def _find_fault(tool: Any) -> str | None:
    schema = cast("dict[str, Any]", tool).get("inputSchema") if isinstance(tool, dict) else None
    if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object":
        return "a parameter schema must be of type `object`"
    try:
        types.Tool.model_validate(tool, by_name=False)
    except ValidationError as error:
        return f"it is not as the protocol says, at `{inert_line('.'.join(map(str, error.errors()[0]['loc'])), 100)}`"
    return None


def _describe(tool: types.Tool) -> dict[str, Any]:
    if not tool.name.strip() or len(tool.name) > MAX_NAME or hides_something(tool.name) or not tool.name.isprintable():
        raise Misconfigured(f"its name is empty, longer than {MAX_NAME} characters, or has characters that cannot be seen")
    proposed, because = propose(tool.annotations)
    title = tool.title or (tool.annotations.title if tool.annotations else None)
    described: dict[str, Any] = {
        "tell": "tool",
        "name": tool.name,
        "title": inert_line(title, MAX_TITLE) or None if title else None,
        "description": inert_description(tool.description or "", MAX_DESCRIPTION),
        "paramSchema": read_parameters(tool.input_schema),
        "outputSchema": None if tool.output_schema is None else normalise(tool.output_schema),
        "proposed": proposed.value,
        "because": because,
    }
    if size_of(described) > MAX_TOOL:
        raise Misconfigured(f"it takes more than {MAX_TOOL >> 10} KB to describe")
    return described


def _read_output(tool: types.Tool) -> jsonschema_rs.Validator | None:
    if tool.output_schema is None:
        return None
    schema: Mapping[str, Any] = normalise(tool.output_schema)
    if size_of(schema) > MAX_TOOL:
        raise Misconfigured(f"the schema of its results is larger than {MAX_TOOL >> 10} KB")
    try:
        # Offline: no reference leads out of it. The engine for patterns takes linear time.
        return jsonschema_rs.Draft202012Validator(dict(schema), offline=True, pattern_options=jsonschema_rs.RegexOptions())
    except (ValueError, jsonschema_rs.ReferencingError):
        raise Misconfigured("the schema of its results cannot be used") from None


def propose(annotations: types.ToolAnnotations | None) -> tuple[Category, str]:
    """A category from what a server says about its tool, and which of its words that comes from.

    The words are the server's own and prove nothing; without them a tool is taken for one that runs anything.
    """
    if annotations is None:
        return Category.EXECUTE, "no annotations"
    reads, destroys, open_world = annotations.read_only_hint, annotations.destructive_hint, annotations.open_world_hint
    if destroys:
        # Also of one that is said to read: of two words that contradict each other the worse one counts.
        return Category.DESTRUCTIVE, "readOnlyHint, destructiveHint" if reads else "destructiveHint"
    if open_world:
        return Category.NETWORK, "readOnlyHint, openWorldHint" if reads else "openWorldHint"
    if reads:
        return Category.READ, "readOnlyHint"
    if reads is False and destroys is False:
        return Category.WRITE, "readOnlyHint: false, destructiveHint: false"
    return Category.EXECUTE, "no annotation that says what it does"
