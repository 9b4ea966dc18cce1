"""Tools that a label is about: one whose result is labelled high, and one that would carry it away.

Effects are recorded as by `tests.harness.effect_tools`.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from gateway.adapters.tools import ToolContext, tool
from tests.harness.effect_tools import record


@tool(category="read", trust="trusted", labels=("label:high",), summary="Confide")
def confide(context: ToolContext) -> str:
    """Give what is labelled high."""
    return record(context, "confide")


@tool(category="network", summary="Send {what} away")
def send(what: Annotated[str, "anything"], context: ToolContext) -> str:
    """Record a line; the category `network`."""
    return record(context, f"send {what}")


@tool(category="read", labels=("label:high",), summary="Hint until cancelled", timeout=20)
async def hint(context: ToolContext) -> str:
    """Report a credential as progress, then wait for the cancellation."""
    record(context, "hint")
    context.progress(f"token AKIAIOSFODNN7EXAMPLE {'x' * 600}", 0.5)
    await asyncio.Event().wait()
    return "never"
