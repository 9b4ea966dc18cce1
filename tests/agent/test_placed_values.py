"""Numbers that stand in the results of something else, by the cases that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.placed_values import values_elsewhere
from tests.agent.test_claims import closed
from tests.agent.vectors import name_of, read_vectors


@pytest.mark.parametrize("case", read_vectors("placed-values")["cases"], ids=name_of)
def test_a_number_has_to_stand_with_what_was_asked_about(case: dict[str, Any]) -> None:
    calls = [
        {
            "tool": "read_file",
            "arguments": {"path": each["path"]},
            "outcome": each.get("outcome", "ok"),
            "content": each["content"],
        }
        for each in case["results"]
    ]
    assert values_elsewhere(case["says"], case["question"], closed(calls)) == case["elsewhere"]
