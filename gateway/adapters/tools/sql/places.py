"""How many statements of one source run at the same time, and whose."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import ExitStack
from typing import Final

from gateway.adapters.tools.sql.engine import SqlFailed

MAX_AT_ONCE: Final = 4

OF_ONE_PERSON: Final = 2
"""So that one person's statements keep nobody else's waiting. So many previews too, whosever they are."""


class StatementPlaces:
    """The places of one source."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MAX_AT_ONCE)
        self._free_for = defaultdict[str | None, asyncio.Semaphore](lambda: asyncio.Semaphore(OF_ONE_PERSON))

    async def take(self, person_id: str | None, seconds: float) -> ExitStack:
        """A place, which is given back by closing this. Raises SqlFailed where there is none for so long."""
        try:
            async with asyncio.timeout(seconds):
                with ExitStack() as taking:
                    # One's own first: who waits for that is not in the line of all.
                    for place in (self._free_for[person_id], self._free):
                        await place.acquire()
                        taking.callback(place.release)
                    return taking.pop_all()
        except TimeoutError:
            raise SqlFailed("too many statements of this source are running already; try again", late=True) from None
