"""The tools that the conformance suite of MCP calls by name, as far as a gateway's tools can be what it expects."""

from __future__ import annotations

import asyncio

from gateway.adapters.tools import ToolContext, ToolFailed, tool


@tool(category="read", trust="trusted", summary="Answer with a text")
def test_simple_text(context: ToolContext) -> str:
    """Give the text that the suite expects."""
    return "This is a simple text response for testing."


@tool(category="read", trust="trusted", summary="Fail")
def test_error_handling(context: ToolContext) -> str:
    """Fail with the words that the suite expects."""
    raise ToolFailed("This tool intentionally returns an error for testing")


@tool(category="read", trust="trusted", summary="Report progress")
async def test_tool_with_progress(context: ToolContext) -> str:
    """Report progress three times."""
    for step in range(3):
        context.progress(f"step {step}", step / 2)
        await asyncio.sleep(0.05)
    return "done"
