"""Going round in circles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.agent.loops import LoopDetector

VECTORS: dict[str, Any] = orjson.loads((Path(__file__).parents[1] / "vectors" / "agent" / "loops.json").read_bytes())


@pytest.mark.parametrize("case", VECTORS["loops"], ids=lambda case: str(case["name"]))
def test_a_circle_is_noticed_the_second_time_round(case: dict[str, Any]) -> None:
    detector = LoopDetector()
    assert [detector.note(*step) for step in case["steps"]] == case["closes"]
