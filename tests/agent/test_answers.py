"""What the loop answers from a result by itself, by the vectors that the browser's tests read too."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from gateway.agent.answers import has_wrong_number, own_answer, with_place
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.figures import ResultSource, answer_figure
from gateway.agent.messages import ToolMessage
from gateway.agent.passages import fitting_passages, invents_number, missed_line, place_of, repeats_question
from tests.agent.scripted import COPY, WORDS
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("answers")
TODAY = date(2026, 3, 10)


def closed(call: list[Any], content: str) -> ToolMessage:
    name, arguments = call
    result = {"outcome": "ok", "content": content, "trust": "untrusted", "truncated": False}
    return ToolMessage("t", {"id": "c", "name": name, "arguments": arguments}, result)


@pytest.mark.parametrize("case", VECTORS["figures"], ids=name_of)
def test_a_number_is_worked_out_where_no_doubt_is_left(case: dict[str, Any]) -> None:
    source = ResultSource(case["source"], case["text"], whole=True, has_lines=case["hasLines"])
    assert answer_figure(case["wish"], source, COPY) == case["answer"]


def test_nothing_is_worked_out_from_a_part_of_a_result() -> None:
    assert (
        answer_figure("what is the sum of a.txt?", ResultSource("a.txt", "x 1\ny 2", whole=False, has_lines=True), COPY) is None
    )


@pytest.mark.parametrize("case", VECTORS["places"], ids=name_of)
def test_an_answer_stands_in_the_lines_that_hold_its_words(case: dict[str, Any]) -> None:
    place = place_of(case["answer"], case["question"], case["text"])
    assert (place and [place.first, place.last]) == case["place"]


@pytest.mark.parametrize("case", VECTORS["passages"], ids=name_of)
def test_of_a_long_text_the_passages_are_kept_that_answer(case: dict[str, Any]) -> None:
    fitting = fitting_passages(case["text"], case["question"], case["room"])
    assert fitting == case["fitting"]


@pytest.mark.parametrize("case", VECTORS["inventions"], ids=name_of)
def test_a_number_that_no_source_holds_is_made_up(case: dict[str, Any]) -> None:
    assert invents_number(case["answer"], case["sources"]) is case["invents"]


@pytest.mark.parametrize("case", VECTORS["numbers"], ids=name_of)
def test_a_number_is_held_against_what_the_question_speaks_of(case: dict[str, Any]) -> None:
    assert has_wrong_number(case["answer"], case["wish"], closed(case["call"], case["content"])) is case["wrong"]


@pytest.mark.parametrize("case", VECTORS["repeats"], ids=name_of)
def test_an_answer_says_more_than_its_question(case: dict[str, Any]) -> None:
    assert repeats_question(case["answer"], case["question"]) is case["repeats"]


@pytest.mark.parametrize("case", VECTORS["missed"], ids=name_of)
def test_a_line_that_the_question_points_at_is_not_passed_over(case: dict[str, Any]) -> None:
    assert missed_line(case["answer"], case["question"], case["text"], query=case["query"]) == case["line"]


@pytest.mark.parametrize("case", VECTORS["excerpts"], ids=name_of)
def test_a_content_is_shown_as_a_block_that_it_cannot_end(case: dict[str, Any]) -> None:
    excerpt = excerpt_of(case["text"])
    assert [excerpt.text, excerpt.left_out] == case["shown"]


@pytest.mark.parametrize("case", VECTORS["citations"], ids=name_of)
def test_a_place_is_told_in_lines_and_ranges(case: dict[str, Any]) -> None:
    assert cited(case["of"], case["lines"], case["column"]) == case["cited"]


@pytest.mark.parametrize("case", VECTORS["answers"], ids=name_of)
def test_the_loop_answers_by_itself_what_a_small_model_words_wrongly(case: dict[str, Any]) -> None:
    message = closed(case["call"], case["content"])
    assert own_answer(message, case["wish"], VECTORS["tools"], WORDS, COPY, TODAY) == case["answer"]


@pytest.mark.parametrize("case", VECTORS["placed"], ids=name_of)
def test_a_models_answer_is_given_its_place(case: dict[str, Any]) -> None:
    assert with_place(case["answer"], case["wish"], closed(case["call"], case["content"])) == case["said"]
