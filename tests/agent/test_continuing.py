"""Answers that were cut off, and go on."""

from __future__ import annotations

import pytest

from gateway.agent.continuing import continued, unfinished_word
from tests.agent.vectors import name_of, read_vectors

CASES = read_vectors("continuing")["cases"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_an_answer_goes_on_as_one_text(case: dict[str, str]) -> None:
    before = case["before"]
    assert before.removesuffix(unfinished_word(before)) == case["again"]
    assert continued(before, case["more"]) == case["whole"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_what_was_shown_of_it_is_never_taken_back(case: dict[str, str]) -> None:
    shown = case["before"]
    for end in range(len(case["more"]) + 1):
        longer = continued(case["before"], case["more"][:end])
        assert longer.startswith(shown)
        shown = longer
