"""Quotas per turn, session and day (docs/PROTOCOL.md section 7, row 10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.budget import Exhausted, Quota, Tally, find_exhausted

ALLOWED = Tally(turn=2, session=5, day=10)

counts = st.integers(0, 20)
tallies = st.builds(Tally, counts, counts, counts)


@pytest.mark.parametrize(
    ("used", "quota"),
    [
        (Tally(0, 0, 0), None),
        (Tally(1, 4, 9), None),
        (Tally(2, 2, 2), Quota.TURN),
        (Tally(0, 5, 5), Quota.SESSION),
        (Tally(0, 0, 10), Quota.DAY),
        (Tally(3, 6, 11), Quota.TURN),
        (Tally(1, 6, 11), Quota.SESSION),
    ],
)
def test_the_narrowest_quota_that_is_used_up_is_named(used: Tally, quota: Quota | None) -> None:
    exhausted = find_exhausted(used, ALLOWED)
    assert (exhausted.quota if exhausted else None) is quota


@pytest.mark.requirement("002-67", "calls are limited per turn, per session and per person and day")
@given(tallies, tallies)
def test_a_call_is_within_quota_exactly_when_every_count_is_below_its_quota(used: Tally, allowed: Tally) -> None:
    roomy = used.turn < allowed.turn and used.session < allowed.session and used.day < allowed.day
    assert (find_exhausted(used, allowed) is None) is roomy


@given(tallies, tallies)
def test_using_more_never_frees_a_quota(used: Tally, allowed: Tally) -> None:
    more = Tally(used.turn + 1, used.session + 1, used.day + 1)
    if find_exhausted(used, allowed):
        assert find_exhausted(more, allowed)


def test_the_message_says_what_ran_out_and_how_much_there_was() -> None:
    assert Exhausted(Quota.TURN, 40).message == "this turn has used up its 40 tool calls"
