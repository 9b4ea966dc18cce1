"""Which wishes ask for an answer out of a content, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.questions import asks_about_content
from tests.agent.vectors import name_of, read_vectors


@pytest.mark.parametrize("case", read_vectors("questions")["cases"], ids=name_of)
def test_a_question_about_a_content_is_told_from_a_wish_to_see_it(case: dict[str, Any]) -> None:
    assert asks_about_content(case["wish"]) is case["asks"]
