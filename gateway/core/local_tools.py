"""Pseudo-tools of the agent loop: published, so that a model may see them, and never run by the gateway.

After antoinezambelli/forge (MIT), its ADR-013: a small model that has tools writes bare text where a call is due, unless one
of its tools is how text is said.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from gateway.core.model import PublishedTool, ToolSpec
from gateway.core.vocabulary import Category, PermissionMode

RESPOND: Final = ToolSpec(
    name="respond",
    title="Respond",
    description="Say something to the user in plain words. Use it to answer, and when no other tool is needed.",
    interface_id="agent",
    method_name="respond",
    param_schema={
        "type": "object",
        "properties": {"message": {"type": "string", "description": "What to say to the user."}},
        "required": ["message"],
        "additionalProperties": False,
    },
    category=Category.READ,
    source="agent",
    local=True,
)
"""`respond(message)`: how a model ends a turn in words while tools are offered."""

ATTACHMENT: Final = "read_attachment"
"""Called by a page for its person, and offered to no model and no other program. What is attached are its arguments, so nothing
of its result counts as said by whoever called it."""

LOCAL_NAMES: Final = frozenset({RESPOND.name})
"""Names that no tool of the gateway may have, for it would be taken for a pseudo-tool."""


def with_local_tools(tools: Sequence[PublishedTool], suppressed: Collection[str] = ()) -> tuple[PublishedTool, ...]:
    """What a snapshot offers, and after it the pseudo-tools that are not suppressed.

    Where no tool may be called there are none: a model without tools can only answer in words.
    """
    if RESPOND.name in suppressed or all(tool.permission is PermissionMode.FORBIDDEN for tool in tools):
        return tuple(tools)
    return (*tools, PublishedTool(RESPOND, PermissionMode.AUTO))
