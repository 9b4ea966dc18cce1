"""How much a model gets of one result, against the vectors that the browser's tests read too."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.budget import tokens_of
from gateway.agent.kept import READER, page_of
from gateway.agent.messages import ToolMessage, UserMessage
from gateway.agent.shares import may_be_cut, share_room
from tests.agent.vectors import messages_from, name_of, read_vectors

VECTORS = read_vectors("shares")
TOOLS = [{"name": READER}]


@pytest.mark.requirement("004-11", "a result takes a share of what is left of the context, and says how to read on")
@pytest.mark.parametrize("case", VECTORS["shares"], ids=name_of)
def test_a_model_gets_a_share_of_what_is_left(case: dict[str, Any]) -> None:
    shared = share_room(messages_from(case["messages"]), case["limit"], case["tools"])
    contents = [each.result["content"] for each in shared.messages if isinstance(each, ToolMessage)]
    assert (contents, shared.is_new) == (case["contents"], case["isNew"])


@pytest.mark.parametrize("case", VECTORS["lengths"], ids=name_of)
def test_a_result_may_be_cut_where_it_is_longer_than_half_of_the_least_share(case: dict[str, Any]) -> None:
    assert may_be_cut(case["content"], case["contextTokens"]) == case["maybe"]


@given(st.lists(st.text(min_size=1, max_size=3_000), min_size=1, max_size=6), st.integers(400, 4_000))
def test_what_is_shown_is_a_beginning_and_the_call_goes_on_right_behind_it(contents: list[str], limit: int) -> None:
    messages = [
        ToolMessage("t", {"id": f"c{at}", "name": "read", "arguments": {}}, {"outcome": "ok", "content": content})
        for at, content in enumerate(contents)
    ]
    shown = share_room([UserMessage("t", "go"), *messages], limit, TOOLS).messages[1:]
    for whole, part in zip(messages, shown, strict=True):
        assert isinstance(part, ToolMessage)
        if part is whole or page_of(whole.result["content"]).note:
            continue
        page = page_of(part.result["content"])
        found = re.search(r'"after":([0-9]+)', page.next)
        assert found is not None
        kept = whole.result["content"].encode("utf-8", "surrogatepass")[: int(found[1])].decode("utf-8", "surrogatepass")
        assert page.text.removesuffix("\n") == kept.removesuffix("\n")
    assert tokens_of(shown) <= tokens_of(messages)
