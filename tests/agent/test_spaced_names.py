"""Names with spaces are quoted before a wish is read, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.messages import AssistantMessage, UserMessage
from gateway.agent.spaced_names import quote_names, with_names_quoted
from tests.agent.vectors import name_of, read_vectors


@pytest.mark.parametrize("case", read_vectors("spaced-names")["cases"], ids=name_of)
def test_a_name_with_spaces_is_quoted(case: dict[str, Any]) -> None:
    assert quote_names(case["said"]) == case["quoted"]


def test_only_what_the_person_said_is_changed() -> None:
    said, answer = UserMessage("t", "open meeting notes.txt"), AssistantMessage("t", "open meeting notes.txt")
    assert with_names_quoted([said, answer]) == [UserMessage("t", 'open "meeting notes.txt"'), answer]
