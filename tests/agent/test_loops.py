"""Going round in circles."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.loops import LoopDetector
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("loops")


@pytest.mark.parametrize("case", VECTORS["loops"], ids=lambda case: str(case["name"]))
def test_a_circle_is_noticed_the_second_time_round(case: dict[str, Any]) -> None:
    detector = LoopDetector()
    assert [detector.note(*step) for step in case["steps"]] == case["closes"]
