"""The value that a question asks of a file, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.figures import ResultSource
from gateway.agent.looked_up import answer_value
from gateway.agent.plan_questions import plan_queries
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("looked-up")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_the_value_that_a_question_asks_of_a_file_is_looked_up(case: dict[str, Any]) -> None:
    source = ResultSource(case["file"], VECTORS["files"][case["file"]], whole=True, has_lines=True)
    assert answer_value(case["asked"], source) == case["answer"]


@pytest.mark.parametrize("case", VECTORS["plans"], ids=lambda case: case["asked"])
def test_a_question_of_plans_shows_what_to_look_for(case: dict[str, Any]) -> None:
    assert plan_queries(case["asked"]) == case["queries"]


def test_a_part_of_a_file_is_no_file() -> None:
    source = ResultSource("wifi.txt", VECTORS["files"]["wifi.txt"], whole=False, has_lines=True)
    assert answer_value("what's the guest password?", source) is None
