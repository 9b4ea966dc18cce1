"""What is looked for to answer a question about the person's own affairs, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.affairs import own_queries
from tests.agent.vectors import read_vectors

CASES = read_vectors("affairs")["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["wish"])
def test_a_question_about_ones_own_affairs_shows_what_to_look_for(case: dict[str, Any]) -> None:
    assert own_queries(case["wish"]) == case["queries"]


def test_as_many_questions_about_the_world_look_for_nothing() -> None:
    assert sum(not case["queries"] for case in CASES) >= 30
