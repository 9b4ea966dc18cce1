"""Tools that do nothing, so that what is measured is the gateway. Named to it by `COUNTERSIGN_TOOLS_MODULES`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from gateway.adapters.tools import tool

PAGE = "x" * 4096


@tool(category="read", trust="trusted", summary="Echo {text}")
async def echo(text: Annotated[str, "anything"]) -> str:
    """Give the text back."""
    return text


@tool(category="read", trust="trusted", summary="Echo {text} from a thread")
def echo_in_thread(text: Annotated[str, "anything"]) -> str:
    """Give the text back, the way every function that may block runs."""
    return text


@tool(category="read", trust="trusted", summary="Page {text}")
async def page(text: Annotated[str, "ignored"]) -> str:
    """Give 4 KB."""
    return PAGE


@tool(category="read", trust="trusted", summary="Nap {text}")
async def nap(text: Annotated[str, "ignored"]) -> str:
    """Take a second."""
    await asyncio.sleep(1)
    return text
