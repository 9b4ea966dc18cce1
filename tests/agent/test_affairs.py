"""What is looked for to answer a question about the person's own affairs, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.affairs import apart_query, doubtful_query, kept_query, own_queries
from gateway.agent.named import named_thing, record_query, tells_figure
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


@pytest.mark.parametrize("case", VECTORS["named"], ids=lambda case: case["wish"])
def test_what_is_told_by_whom_it_is_for_is_looked_for_by_the_name(case: dict[str, Any]) -> None:
    assert (record_query(case["wish"]), named_thing(case["wish"])) == (case["query"], case["name"])


@pytest.mark.parametrize("case", VECTORS["figures"], ids=lambda case: case["text"])
def test_a_number_and_a_day_are_known_in_a_text(case: dict[str, Any]) -> None:
    assert tells_figure(case["text"]) == case["tells"]
