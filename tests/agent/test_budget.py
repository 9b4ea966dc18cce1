"""What fits into a model's context, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.budget import cut, estimate_tokens, fit_messages, length_of, tokens_of
from gateway.agent.messages import UserMessage
from tests.agent.vectors import messages_from, name_of, read_vectors, written_as

VECTORS = read_vectors("budget")


@pytest.mark.parametrize("case", VECTORS["tokens"], ids=name_of)
def test_four_characters_are_a_token_rounded_up(case: dict[str, Any]) -> None:
    assert estimate_tokens(case["text"]) == case["tokens"]


@pytest.mark.requirement("004-11", "a text that is cut for the model says how much is missing")
@pytest.mark.parametrize("case", VECTORS["cuts"], ids=name_of)
def test_a_cut_text_says_how_much_is_missing(case: dict[str, Any]) -> None:
    assert cut(case["text"], case["length"]) == case["cut"]


@pytest.mark.parametrize("case", VECTORS["fits"], ids=name_of)
def test_the_newest_part_that_fits_is_kept(case: dict[str, Any]) -> None:
    fitted = fit_messages(messages_from(case["messages"]), case["maxTokens"])
    assert {
        "messages": written_as(fitted.messages),
        "dropped": fitted.dropped,
        "shortened": fitted.shortened,
    } == case["fitted"]


@given(st.text(), st.integers(0, 40))
def test_a_cut_text_keeps_a_beginning_and_tears_no_character(text: str, length: int) -> None:
    kept = cut(text, length).split("\n…[left out ")[0]
    assert text.startswith(kept)
    assert length_of(kept) <= length


@pytest.mark.requirement("004-11", "the turn under way keeps its place in the context")
@given(st.lists(st.integers(0, 2000), min_size=1, max_size=20), st.integers(0, 3000))
def test_the_present_turn_is_never_dropped(lengths: list[int], room: int) -> None:
    messages = [UserMessage(str(index), "y" * length) for index, length in enumerate(lengths)]
    fitted = fit_messages(messages, room)
    assert fitted.messages[-1].turn_id == str(len(lengths) - 1)
    assert len(fitted.messages) == len(lengths) - fitted.dropped
    assert fitted.shortened == (tokens_of(fitted.messages) > room)
