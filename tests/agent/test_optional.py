"""Optional arguments that a wish speaks of, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.action_schema import action_schema
from gateway.agent.copied import copyable_strings
from gateway.agent.optional import spoken_arguments
from tests.agent.scripted import WORDS
from tests.agent.vectors import name_of, read_vectors

CASES = read_vectors("optional")["cases"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_an_optional_argument_is_what_the_wish_says_of_it(case: dict[str, Any]) -> None:
    assert spoken_arguments(case["schema"], case["wish"], case.get("tool", "")) == case["spoken"]


@pytest.mark.requirement("000-22", "an optional argument can be given, and only where it is spoken of")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_model_can_write_the_optional_arguments_that_are_spoken_of_and_no_others(case: dict[str, Any]) -> None:
    tool = {"name": case.get("tool", "made_up"), "description": "d", "category": "read", "paramSchema": case["schema"]}
    options: Any = action_schema([tool], copyable_strings([]), WORDS, wish=case["wish"])["oneOf"]
    arguments = options[0]["properties"]["arguments"]
    needed = list(case["schema"].get("required", []))
    assert arguments["required"] == [*needed, *case["spoken"]]
    assert {name: arguments["properties"][name] for name in case["spoken"]} == {
        name: {"enum": [value]} for name, value in case["spoken"].items()
    }
