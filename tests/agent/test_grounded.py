"""What a model says of a file, held to the file, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.copy import Copy
from gateway.agent.figures import ResultSource
from gateway.agent.grounded import is_made_up, narrowed, summary_of
from gateway.shipped import read_loop_file
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("grounded")
COPY = Copy(read_loop_file("copy"))


def source(name: str, *, has_lines: bool = True) -> ResultSource:
    return ResultSource(name, VECTORS["files"][name], whole=True, has_lines=has_lines)


@pytest.mark.parametrize("case", VECTORS["madeUp"], ids=name_of)
def test_an_answer_with_words_that_stand_nowhere_in_its_file_is_known(case: dict[str, Any]) -> None:
    assert is_made_up(case["says"], case["asked"], source(case["file"])) is case["made"]


@pytest.mark.parametrize("case", VECTORS["narrowed"], ids=name_of)
def test_an_answer_that_copies_a_file_is_cut_to_what_was_asked(case: dict[str, Any]) -> None:
    assert narrowed(case["says"], case["asked"]) == case["kept"]


@pytest.mark.parametrize("case", VECTORS["summaries"], ids=name_of)
def test_a_summary_that_is_none_gives_way_to_sentences_of_the_file(case: dict[str, Any]) -> None:
    assert summary_of(case["says"], case["asked"], source(case["file"]), COPY) == case["summary"]


def test_what_is_no_file_is_left_to_the_model() -> None:
    found = source("notes.txt", has_lines=False)
    assert not is_made_up("A holiday in Spain.", "what does it say?", found)
    assert summary_of("A holiday in Spain.", "summarise notes.txt", found, COPY) is None
