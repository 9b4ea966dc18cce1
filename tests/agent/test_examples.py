"""Made examples, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.examples import make_example, with_examples
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("examples")


@pytest.mark.requirement("000-03", "each tool without an example gets one made of its schema")
@pytest.mark.parametrize("case", VECTORS["examples"], ids=name_of)
def test_an_example_is_made_of_what_a_tool_says(case: dict[str, Any]) -> None:
    assert make_example(case["tool"]) == case["expected"]


@pytest.mark.parametrize("case", VECTORS["mixed"], ids=name_of)
def test_made_examples_stand(case: dict[str, Any]) -> None:
    assert [shot["user"] for shot in with_examples(case["shots"], case["tools"])] == case["expected"]
