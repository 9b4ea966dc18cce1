"""Which tools a model is shown, against the vectors that the browser's tests read too."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.candidates import MANY, examples_in, select
from gateway.shipped import read_loop_file
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("candidates")
WORDS = read_loop_file("prompts")


@pytest.mark.requirement("004-13", "of more tools than the limit those are shown that the message speaks of")
@pytest.mark.parametrize("case", VECTORS["select"], ids=name_of)
def test_the_likely_tools_are_shown(case: dict[str, Any]) -> None:
    shown = select(case["message"], case["tools"], case["examples"], case["most"])
    assert [tool["name"] for tool in shown] == case["chosen"]


@given(st.text(), st.lists(st.text(min_size=1, max_size=9), max_size=30, unique=True), st.integers(0, 12))
def test_what_is_shown_are_the_snapshots_own_objects_in_its_order(message: str, names: list[str], most: int) -> None:
    tools = [{"name": name, "description": f"{name} does {name[::-1]}", "local": len(name) == 9} for name in names]
    before = copy.deepcopy(tools)
    shown = select(message, tools, {}, most)
    places = [next(at for at, tool in enumerate(tools) if tool is each) for each in shown]
    assert places == sorted(set(places))
    assert sum(not tool["local"] for tool in tools if tool in shown) == min(most, sum(not tool["local"] for tool in tools))
    assert [tool for tool in tools if tool["local"] and tool not in shown] == []
    assert tools == before
    assert select(message, tools, {}, most) == shown


def test_the_examples_are_those_that_the_prompt_shows() -> None:
    examples = examples_in(WORDS)
    assert "where is the dentist mentioned?" in examples["search_files"]
    assert len(examples["read_file"]) > 1
    assert all(examples.values())


def test_the_tools_that_come_with_the_product_are_always_all_shown() -> None:
    assert len(examples_in(WORDS)) < MANY
