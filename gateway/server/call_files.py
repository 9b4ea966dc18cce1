"""Files of the calls that a filter finds, made for the console page by page while they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from gateway.core.call_files import CallFormat, writer_of
from gateway.core.call_files.described import Named
from gateway.core.errors import InvalidParams, LedgerUnavailable, Misconfigured
from gateway.core.model import Principal
from gateway.protocol.audit_methods import CallFilter
from gateway.runtime.ports import CallHistory
from gateway.server.methods.call_filters import CallFilters

MOST_CALLS: Final = 100_000
"""In one file; the page holds it until it is saved. It is said, and nothing is left out instead."""

AT_ONCE: Final = 500
"""Calls that are read and sent in one step."""


@dataclass(frozen=True, slots=True)
class CallFile:
    """A file that is about to be sent."""

    calls: int
    content: AsyncIterator[bytes]


class CallFiles:
    """Makes files for people who are signed in on the console."""

    def __init__(self, history: CallHistory, filters: CallFilters, *, log: str, version: str) -> None:
        self._history = history
        self._filters = filters
        self._log = log
        self._version = version

    async def open(self, principal: Principal, form: CallFormat, asked: CallFilter) -> CallFile:
        """The calls that the list shows under that filter, newest first. Raises InvalidParams where they are too many or
        the format needs what is not installed, and LedgerUnavailable while the history lacks some."""
        names = await self._filters.names()
        wanted = await self._filters.read(principal, asked, names)
        if unread := await self._history.unread():
            raise LedgerUnavailable(f"{unread:,} records are still being read; try again in a moment")
        calls = (await self._history.count(wanted)).total
        if calls > MOST_CALLS:
            raise InvalidParams(
                f"these are {calls:,} calls, and at most {MOST_CALLS:,} are exported here: choose a shorter time, or use"
                " `countersign audit export` on the gateway's machine"
            )

        try:
            writer = writer_of(form, Named(self._log, self._version, names))
        except Misconfigured as error:
            # A format that this gateway does not write is no fault of the gateway's.
            raise InvalidParams(error.message) from None

        async def write() -> AsyncIterator[bytes]:
            yield writer.head()
            place: tuple[int, int] | None = None
            while page := await self._history.page(wanted, place, AT_ONCE):
                yield writer.lines(page)
                place = page[-1].at, page[-1].position
            yield writer.tail()

        return CallFile(calls, write())
