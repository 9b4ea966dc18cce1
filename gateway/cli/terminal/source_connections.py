"""Waiting for the sources that people added, so that the first turn has their tools."""

from __future__ import annotations

import asyncio
from typing import Final

from gateway.cli.terminal.screen import Screen
from gateway.core.sources import Standing
from gateway.runtime.ports import SourcePhase
from gateway.runtime.sources import Sources

PATIENCE_SECONDS: Final = 20.0
"""A server that is a program takes a second or two; one that is fetched first is there in a later turn."""

_LOOK_SECONDS: Final = 0.1


async def wait_for_sources(sources: Sources, screen: Screen, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until each source of which something may be called, or that was never seen, is there or is known not to be, and say
    which are not."""
    used = [
        view.source.name
        for view in await sources.list()
        if view.source.enabled and (not view.tools or any(tool.standing is Standing.IN_USE for tool in view.tools))
    ]
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    said: list[str] = []
    while (waiting := [name for name in used if sources.state(name).phase is SourcePhase.CONNECTING]) and loop.time() < until:
        if waiting != said:
            screen.progress(f"connecting to {', '.join(waiting)}; Ctrl-C leaves")
            said = waiting
        await asyncio.sleep(_LOOK_SECONDS)
    if said:
        screen.settle()
    for name in used:
        state = sources.state(name)
        match state.phase:
            case SourcePhase.READY:
                pass
            case SourcePhase.CONNECTING:
                screen.say(f"The source `{name}` is still connecting; its tools come when it is there.")
            case SourcePhase.NEEDS_SIGN_IN:
                screen.say(f"The source `{name}` needs a sign-in; `countersign sources sign-in {name}` says where.")
            case SourcePhase.AWAY | SourcePhase.OFF:
                screen.say(f"The source `{name}` is away: {state.why or 'it is not connected'}.")
