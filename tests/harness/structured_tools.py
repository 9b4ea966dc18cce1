"""A tool whose result is data, with a credential under any name."""

from __future__ import annotations

from typing import Annotated

from gateway.adapters.tools import ToolContext, ToolOutput, tool

SECRET = "hunter2Zx9QvLq"


@tool(category="read", trust="trusted", summary="Disclose {name}")
def disclose(name: Annotated[str, "name of a member"], context: ToolContext) -> ToolOutput:
    """Give an object with a credential under that name."""
    del context
    return ToolOutput("done", {name: SECRET, "settings": [{name: {"is": SECRET}}]})
