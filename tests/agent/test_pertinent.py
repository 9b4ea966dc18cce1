"""Whether an answer can be one to its question, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.figures import ResultSource
from gateway.agent.pertinent import is_beside_question
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("pertinent")


def source(name: str, *, has_lines: bool = True) -> ResultSource:
    return ResultSource(name, VECTORS["files"][name], whole=True, has_lines=has_lines)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_an_answer_that_is_none_to_its_question_is_known(case: dict[str, Any]) -> None:
    assert is_beside_question(case["says"], case["asked"], source(case["file"])) is case["beside"]


def test_what_is_no_file_is_left_to_others() -> None:
    assert not is_beside_question("Birgit", "what is the wifi password?", source("home/wifi.md", has_lines=False))
