"""An export has every call that its filter finds, or is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core.budget import DAY_MS
from gateway.core.call_files import CallFormat
from gateway.core.errors import InvalidParams, LedgerUnavailable
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Profile
from gateway.protocol.audit_methods import CallFilter
from gateway.server import call_files
from gateway.server.call_files import CallFiles
from gateway.server.methods.call_filters import LONGEST_DAYS, CallFilters
from tests.fakes.call_history import MemoryCallHistory
from tests.fakes.clock import FakeClock
from tests.fakes.history import OPERATOR, History
from tests.fakes.ledger import MemoryLedger


class UnreadHistory(MemoryCallHistory):
    """One that has not read the whole log yet."""

    async def unread(self) -> int:
        """In the middle of a long log."""
        return 1_234


async def files_of(history: type[MemoryCallHistory] = MemoryCallHistory) -> tuple[CallFiles, CallFilter]:
    ledger = MemoryLedger()
    told = History()
    for entries in told.whole():
        await ledger.append(*entries)
    filters = CallFilters(ledger, FakeClock(told.now), MemoryCallHistory(ledger))
    asked = CallFilter(since=rfc3339(told.now - 86_400_000))
    return CallFiles(history(ledger), filters, log="gateway.example/audit", version="1"), asked


async def test_the_pages_of_a_file_follow_each_other_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_files, "AT_ONCE", 3)
    files, asked = await files_of()
    file = await files.open(OPERATOR, CallFormat.JSONL, asked)
    lines = b"".join([piece async for piece in file.content]).splitlines()
    assert (file.calls, len(lines), len(set(lines))) == (8, 8, 8)


async def test_more_calls_than_a_file_may_have_are_none_and_how_many_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_files, "MOST_CALLS", 7)
    files, asked = await files_of()
    with pytest.raises(InvalidParams, match="these are 8 calls, and at most 7 are exported here"):
        await files.open(OPERATOR, CallFormat.CSV, asked)


async def test_what_is_not_read_yet_is_not_left_out_in_silence() -> None:
    files, asked = await files_of(UnreadHistory)
    with pytest.raises(LedgerUnavailable, match="1,234 records are still being read"):
        await files.open(OPERATOR, CallFormat.CSV, asked)


async def test_the_longest_time_that_ends_now_may_be_asked_for_by_a_clock_that_is_behind() -> None:
    clock = FakeClock(1_800_000_000_000)
    filters = CallFilters(ledger := MemoryLedger(), clock, MemoryCallHistory(ledger))
    longest = LONGEST_DAYS * DAY_MS
    for behind in (0, 5, 3_600_000):
        begin, end = await filters.span(OPERATOR, rfc3339(clock.now() - longest - behind), None, 1)
        assert end - begin == longest
    for since, until in ((clock.now() - longest - 2 * DAY_MS, None), (clock.now() - longest - 5, rfc3339(clock.now()))):
        with pytest.raises(InvalidParams, match="at most 400 days"):
            await filters.span(OPERATOR, rfc3339(since), until, 1)


@pytest.mark.parametrize("days_back", [1, 30, 500])
async def test_calls_of_before_the_clock_was_set_back_are_in_what_has_no_end(days_back: int) -> None:
    ledger, told = MemoryLedger(), History()
    for entries in told.whole():
        await ledger.append(*entries)
    history = MemoryCallHistory(ledger)
    now = told.now - days_back * DAY_MS
    filters = CallFilters(ledger, FakeClock(now), history)
    wanted = await filters.read(OPERATOR, None, {})
    # From a day before the time that the clock shows, as it would be without these calls.
    assert wanted.since == now + 1 - DAY_MS
    assert wanted.until <= now + 1 + LONGEST_DAYS * DAY_MS
    assert len(await history.page(wanted, None, 100)) == (8 if days_back < LONGEST_DAYS else 0)
    ended = await filters.read(OPERATOR, CallFilter(until=rfc3339(now)), {})
    assert (ended.until, await history.page(ended, None, 100)) == (now, [])


async def test_a_time_ends_now_for_whoever_has_no_later_calls() -> None:
    ledger, told = MemoryLedger(), History()
    for entries in told.whole():
        await ledger.append(*entries)
    now = told.now - DAY_MS
    filters = CallFilters(ledger, FakeClock(now), MemoryCallHistory(ledger))
    begin, end = await filters.span(replace(OPERATOR, id="prn_another", profile=Profile.GUEST), None, None, 1)
    assert (begin, end) == (now + 1 - DAY_MS, now + 1)
