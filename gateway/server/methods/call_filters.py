"""What somebody asks of the calls of the log, as the history understands it: bounded in time, and no more than they may see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.core.budget import DAY_MS
from gateway.core.errors import InvalidParams
from gateway.core.model import Principal
from gateway.core.times import read_rfc3339
from gateway.protocol import audit_methods as wire
from gateway.runtime.call_filters import AskedCalls, read_filter
from gateway.runtime.ports import CallHistory, Clock, HistoryFilter, PeopleRecords

LONGEST_DAYS: Final = 400
"""A year with room to compare its ends. What is asked is bounded in time, so that no question reads a log of many years."""

LIST_DAYS: Final = 1


class CallFilters:
    """Reads filters."""

    def __init__(self, records: PeopleRecords, clock: Clock, history: CallHistory) -> None:
        self._records = records
        self._clock = clock
        self._history = history

    async def read(self, principal: Principal, asked: wire.CallFilter | None, names: Mapping[str, str]) -> HistoryFilter:
        """The filter for this person. Raises InvalidParams for a time or an outcome that is none."""
        wanted = asked or wire.CallFilter()
        since, until = await self.span(principal, wanted.since, wanted.until, LIST_DAYS)
        members = wanted.model_dump(by_alias=False, exclude={"since", "until"})
        return read_filter(AskedCalls(**members), since, until, names, owner_of(principal))

    async def span(self, principal: Principal, since: str | None, until: str | None, days: int) -> tuple[int, int]:
        """In epoch milliseconds. What has no end ends now, or with the newest call where the clock was set back since: that one
        began later than now. Raises InvalidParams for a time that ends before it begins, or is too long."""
        try:
            end = self._clock.now() + 1 if until is None else read_rfc3339(until)
            begin = max(end - days * DAY_MS, 0) if since is None else read_rfc3339(since)
        except ValueError:
            raise InvalidParams("`since` and `until` must be times") from None
        if begin >= end:
            raise InvalidParams("`until` must be later than `since`")
        longest = LONGEST_DAYS * DAY_MS
        if until is None and end - begin <= longest + DAY_MS:
            # Whoever asks for the longest time that ends now asked a moment ago, by a clock of their own.
            begin = max(begin, end - longest)
        if end - begin > longest:
            raise InvalidParams(f"at most {LONGEST_DAYS} days can be asked about at once")
        newest = None if until is not None else await self._history.newest_after(end - 1, owner_of(principal))
        return begin, end if newest is None else min(newest + 1, end + longest)

    async def names(self) -> Mapping[str, str]:
        """What people are called, by their ids."""
        return {person.id: person.name for person in await self._records.principals()}


def owner_of(principal: Principal) -> str | None:
    """Whose calls this person may see; None for everybody's."""
    return None if principal.profile.reads_all else principal.id
