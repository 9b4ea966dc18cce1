"""Which files a wish compares, and what they come to, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.comparing import Measure, comparison_in, next_compared
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import ToolMessage
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("comparing")
TOOLS = VECTORS["tools"]


def read(path: str, content: str, truncated: bool = False) -> ToolMessage:
    result = {"outcome": "ok", "content": content, "trust": "untrusted", "truncated": truncated}
    return ToolMessage("t", {"id": "c", "name": "read_file", "arguments": {"path": path}}, result)


@pytest.mark.parametrize("case", VECTORS["wishes"], ids=lambda case: case["wish"])
def test_a_wish_shows_which_files_it_compares(case: dict[str, Any]) -> None:
    found = comparison_in(case["wish"], TOOLS)
    assert (found and list(found.files)) == case["files"]
    assert (found and found.measure) == (case["measure"] and Measure(case["measure"]))


@pytest.mark.parametrize("case", VECTORS["steps"], ids=name_of)
def test_all_files_are_read_and_then_compared(case: dict[str, Any]) -> None:
    comparison = comparison_in(case["wish"], TOOLS)
    assert comparison is not None
    step = next_compared(comparison, [read(*each) for each in case["read"]], TOOLS, COPY)
    told = [step.name, step.arguments] if isinstance(step, ProposedCall) else step
    assert told == case.get("call", case.get("says"))


def test_nothing_is_compared_where_no_tool_reads() -> None:
    assert comparison_in("compare a.txt and b.txt", TOOLS[:1]) is None
