"""A wish in German is read and answered, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.german import in_english, with_frames_in_english
from gateway.agent.german_words import in_german
from gateway.agent.messages import AssistantMessage, UserMessage
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("german")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_the_frame_of_a_wish_in_german_is_read_in_english(case: dict[str, Any]) -> None:
    assert in_english(case["said"]) == case["english"]


@pytest.mark.parametrize("case", VECTORS["sayings"], ids=lambda case: case["english"])
def test_what_the_loop_says_is_said_in_german(case: dict[str, Any]) -> None:
    assert in_german(case["english"]) == case["german"]


def test_only_what_the_person_said_is_read_in_english() -> None:
    said, answer = UserMessage("t", "Wo ist der Hund?"), AssistantMessage("t", "Wo ist der Hund?")
    assert with_frames_in_english([said, answer]) == [UserMessage("t", "where is the hund?"), answer]
