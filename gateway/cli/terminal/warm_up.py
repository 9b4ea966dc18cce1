"""What the person reads about the prompt that every conversation begins with."""

from __future__ import annotations

import asyncio

from gateway.adapters.inference.warm_prefix import PrefixState
from gateway.cli.terminal.screen import Screen


class WarmUpReport:
    """Waits for the model to have read its prompt, so that the first question does not come in between, and says how it did."""

    def __init__(self) -> None:
        self._warmth: asyncio.Future[PrefixState | None] = asyncio.get_running_loop().create_future()

    def warmed(self, prefix_state: PrefixState | None) -> None:
        """The model has read it, or will not."""
        if not self._warmth.done():
            self._warmth.set_result(prefix_state)

    async def report(self, screen: Screen) -> None:
        """Wait, and say where it came from."""
        screen.progress("the model reads which tools there are; Ctrl-C leaves")
        prefix_state = await self._warmth
        screen.settle()
        if prefix_state is None:
            screen.say("agent: no system-prompt cache: only a local model that answers has one")
        elif prefix_state.restored:
            screen.say(f"agent: loaded system-prompt cache ({prefix_state.tokens} tokens) \u2014 skipping prefill")
        elif prefix_state.kept:
            screen.say(f"agent: saved system-prompt cache ({prefix_state.tokens} tokens) for the next launch")
