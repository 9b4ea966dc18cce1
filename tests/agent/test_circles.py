"""A text that says the same over and over, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.circles import goes_round, without_circles
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("circles")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_text_that_goes_round_is_kept_to_where_it_begins_to(case: dict[str, Any]) -> None:
    assert goes_round(case["text"]) == (case["kept"] is not None)
    assert without_circles(case["text"]) == (case["text"] if case["kept"] is None else case["kept"])
