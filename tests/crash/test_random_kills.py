"""Killed at random moments while it works: no effect twice, none without its record, no answer lost. `make kills` does more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.kills import Tally, kill_at_random

KILLS = 4


@pytest.mark.requirement("002-11", "kills at random moments double no effect, hide none and lose no answer")
async def test_kills_at_random_moments_double_no_effect_hide_none_and_lose_no_answer(tmp_path: Path) -> None:
    tally = await kill_at_random(tmp_path / "home", kills=KILLS, callers=6, seed=7)
    assert (tally.doubled, tally.silent, tally.lost) == ([], [], []), tally.line()
    assert tally.kills == KILLS
    assert tally.effects > 0
    # What was started and has no answer is the difference; a count that sees nothing would see none of the three either.
    assert tally.calls >= tally.effects


def test_what_breaks_the_promise_is_said() -> None:
    assert Tally(kills=1, effects=2).holds
    assert not Tally(doubled=["cnv call"]).holds
    assert not Tally(silent=["cnv call"]).holds
    assert not Tally(lost=["cnv call"]).holds
