"""Arithmetic in a wish, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.reckoning import reckoned_in
from tests.agent.scripted import COPY
from tests.agent.vectors import read_vectors


@pytest.mark.parametrize("case", read_vectors("reckoning")["cases"], ids=lambda case: case["wish"])
def test_a_sum_that_a_wish_holds_whole_is_worked_out(case: dict[str, Any]) -> None:
    assert reckoned_in(case["wish"], COPY) == case["said"]
