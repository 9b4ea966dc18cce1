"""What the person hears of the prompt that every conversation begins with."""

from __future__ import annotations

import asyncio

from gateway.adapters.inference.warmth import Warmth
from gateway.cli.terminal.screen import Screen


class Warming:
    """Waits for the model to have read its prompt, so that the first question does not come in between, and says how it did."""

    def __init__(self) -> None:
        self._warmth: asyncio.Future[Warmth | None] = asyncio.get_running_loop().create_future()

    def warmed(self, warmth: Warmth | None) -> None:
        """The model has read it, or will not."""
        if not self._warmth.done():
            self._warmth.set_result(warmth)

    async def tell(self, screen: Screen) -> None:
        """Wait, and say where it came from."""
        screen.progress("the model reads which tools there are; Ctrl-C leaves")
        warmth = await self._warmth
        screen.settle()
        if warmth is None:
            screen.say("agent: no system-prompt cache: only a local model that answers has one")
        elif warmth.restored:
            screen.say(f"agent: loaded system-prompt cache ({warmth.tokens} tokens) \u2014 skipping prefill")
        elif warmth.kept:
            screen.say(f"agent: saved system-prompt cache ({warmth.tokens} tokens) for the next launch")
