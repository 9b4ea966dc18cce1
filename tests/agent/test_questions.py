"""Which wishes ask for an answer out of a content, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.questions import asks_about_content, asks_for_named, questions_in
from gateway.agent.reading import reading_for
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("questions")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_question_about_a_content_is_told_from_a_wish_to_see_it(case: dict[str, Any]) -> None:
    assert asks_about_content(case["wish"]) is case["asks"]


@pytest.mark.parametrize("case", VECTORS["readings"], ids=name_of)
def test_a_question_about_one_file_by_its_name_reads_it(case: dict[str, Any]) -> None:
    reading = reading_for(case["wish"], case["tools"])
    assert (reading and [reading.name, reading.arguments]) == case["call"]


@pytest.mark.parametrize("case", VECTORS["parts"], ids=name_of)
def test_further_questions_about_a_file_that_is_named_stand_by_themselves(case: dict[str, Any]) -> None:
    assert questions_in(case["wish"]) == case["parts"]


@pytest.mark.parametrize("case", VECTORS["named"], ids=name_of)
def test_a_question_what_is_in_a_file_may_call_it_by_words_of_its_name(case: dict[str, Any]) -> None:
    assert asks_for_named(case["wish"], case["file"]) is case["asks"]
