"""What every prompt is made of, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.render import as_entry, fill, signature_of, told
from tests.agent.scripted import WORDS
from tests.agent.vectors import messages_from, name_of, read_vectors

VECTORS = read_vectors("render")


@pytest.mark.parametrize("case", VECTORS["fills"], ids=name_of)
def test_a_sentence_is_filled_in_one_pass(case: dict[str, Any]) -> None:
    assert fill(case["sentence"], case["values"].get) == case["filled"]


@pytest.mark.parametrize("case", VECTORS["signatures"], ids=name_of)
def test_a_tool_is_shown_by_its_needed_arguments_and_its_first_sentence(case: dict[str, Any]) -> None:
    assert signature_of(case["tool"], case["description"], case["schema"]) == case["signature"]


@pytest.mark.parametrize("case", VECTORS["entries"], ids=name_of)
def test_no_line_of_an_entry_passes_for_another_entry(case: dict[str, Any]) -> None:
    assert as_entry(case["text"]) == case["entry"]


@pytest.mark.parametrize("case", VECTORS["messages"], ids=name_of)
def test_a_message_is_told_with_who_said_it(case: dict[str, Any]) -> None:
    assert told(messages_from([case["message"]])[0], WORDS) == case["told"]
