"""What the loop says by itself, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors


@pytest.mark.requirement("004-06", "each outcome and reason has one sentence, the same in both languages")
@pytest.mark.parametrize("case", read_vectors("copy")["outcomes"], ids=name_of)
def test_what_became_of_a_call_is_said_in_the_same_words(case: dict[str, Any]) -> None:
    assert COPY.explain_outcome(case["tool"], case["result"]) == case["sentence"]
