"""Prose that plans and does nothing."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.nudges import MAX_NUDGES, looks_like_planning, nudge
from tests.agent.scripted import WORDS
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("nudges")


@pytest.mark.requirement("003-07", "prose that announces a step is planning, other prose is not")
@pytest.mark.parametrize("case", VECTORS["planning"], ids=lambda case: str(case["text"])[:40])
def test_only_announced_steps_are_planning(case: dict[str, Any]) -> None:
    assert looks_like_planning(case["text"], WORDS) is case["planning"]


@pytest.mark.parametrize("case", VECTORS["nudges"], ids=lambda case: str(case["number"]))
def test_each_nudge_has_its_words(case: dict[str, Any]) -> None:
    assert nudge(case["number"], WORDS) == case["message"]


def test_there_are_words_for_every_nudge() -> None:
    assert len(WORDS["nudges"]) == MAX_NUDGES == 3
