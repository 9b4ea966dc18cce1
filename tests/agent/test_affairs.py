"""What is looked for to answer a question about the person's own affairs, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.affairs import apart_query, doubtful_query, kept_query, own_queries
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("affairs")
CASES = VECTORS["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["wish"])
def test_a_question_about_ones_own_affairs_shows_what_to_look_for(case: dict[str, Any]) -> None:
    assert own_queries(case["wish"]) == case["queries"]


def test_as_many_questions_about_the_world_look_for_nothing() -> None:
    assert sum(not case["queries"] for case in CASES) >= 30


@pytest.mark.parametrize("case", VECTORS["doubtful"], ids=lambda case: case["wish"])
def test_a_question_that_may_be_about_the_world_as_well_shows_what_could_be_looked_for(case: dict[str, Any]) -> None:
    assert doubtful_query(case["wish"]) == case["query"]


@pytest.mark.parametrize("case", VECTORS["apart"], ids=lambda case: case["wish"])
def test_a_word_without_an_article_may_be_the_name_of_something_here(case: dict[str, Any]) -> None:
    assert apart_query(case["wish"]) == case["query"]


@pytest.mark.parametrize("case", VECTORS["kept"], ids=lambda case: case["wish"])
def test_what_only_a_record_tells_is_looked_for(case: dict[str, Any]) -> None:
    assert kept_query(case["wish"]) == case["query"]
