"""Which tools a wish asks for by its words, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.called_for import tools_called_for
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("called-for")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_wish_asks_for_a_tool_by_its_words(case: dict[str, Any]) -> None:
    called = tools_called_for(case["wish"], VECTORS["tools"], is_order=case["isOrder"])
    assert [tool["name"] for tool in called] == case["tools"]
