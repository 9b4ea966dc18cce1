"""Rehearsals of drafts over the recorded decisions, one for each operator: with progress, and ended when nobody wants it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final, Protocol

from gateway.core.errors import Refused
from gateway.runtime.ports import PolicyDraft
from gateway.runtime.rehearsal import Rehearsal

PROGRESS_EVERY: Final = 1000
"""Calls judged between two words about how far it is."""

MOST_AT_ONCE: Final = 2
"""Rehearsals of one gateway: each reads the log and takes a processor."""


class Stopped(Exception):
    """Nobody waits for the rehearsal any more."""


class Rehearse(Protocol):
    """Puts a draft to the calls of the last days; blocks. Calls `tell` now and then, which may raise `Stopped`."""

    def __call__(self, draft: PolicyDraft, days: int, tell: Callable[[int], None], /) -> Rehearsal: ...


class Rehearsals:
    """Those under way, by the console connection that asked."""

    def __init__(self, run: Rehearse) -> None:
        self._run = run
        self._stops: dict[str, threading.Event] = {}

    async def rehearse(self, owner: str, draft: PolicyDraft, days: int, tell: Callable[[int], None]) -> Rehearsal:
        """The outcome; `tell` is called in the event loop. Raises Refused `tooManyRehearsals`, or `stopped` when it was."""
        if owner in self._stops or len(self._stops) >= MOST_AT_ONCE:
            raise Refused("tooManyRehearsals", "a rehearsal is under way; wait for it or stop it", 409)
        stop = self._stops[owner] = threading.Event()
        loop = asyncio.get_running_loop()

        def step(judged: int) -> None:
            if stop.is_set():
                raise Stopped
            if judged % PROGRESS_EVERY == 0:
                loop.call_soon_threadsafe(tell, judged)

        try:
            return await asyncio.to_thread(self._run, draft, days, step)
        except Stopped:
            raise Refused("stopped", "the rehearsal was stopped", 409) from None
        finally:
            # Also when the connection that waits for it is closed: the thread ends at its next step.
            stop.set()
            del self._stops[owner]

    def stop(self, owner: str) -> bool:
        """Stop what that connection asked for. Gives whether there was anything."""
        stop = self._stops.get(owner)
        if stop is not None:
            stop.set()
        return stop is not None
