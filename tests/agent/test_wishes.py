"""The wishes of a message, read off its words, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.wishes import wishes_in
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("wishes")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_each_wish_stands_by_itself(case: dict[str, Any]) -> None:
    assert wishes_in(case["message"], VECTORS["tools"]) == case["wishes"]


def test_a_long_text_is_to_be_worked_on_and_not_taken_apart() -> None:
    assert wishes_in("open a.txt and delete b.txt; " * 80, VECTORS["tools"]) == []


WORDS = "and then also before after once you it them a.txt b/ read delete deleting to the lamp on 5 %"
MARKS = '"x" \' ` , ; : . - 1. first'
PIECES = st.sampled_from(["\n", *WORDS.split(), *MARKS.split()])


@given(st.lists(PIECES, max_size=24).map(" ".join))
def test_whatever_is_said_is_taken_apart_into_two_or_more_or_not_at_all(message: str) -> None:
    wishes = wishes_in(message, VECTORS["tools"])
    assert len(wishes) != 1
    assert len(set(wishes)) == len(wishes)
