"""What a turn's words are held against, by the vectors that the browser's tests read too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.agent.acts import asked_acts, is_named_in, left_undone
from gateway.agent.claims import TurnRecord, without_false_claims
from gateway.agent.messages import ToolMessage
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("claims")


def closed(calls: Sequence[dict[str, Any]]) -> list[ToolMessage]:
    return [
        ToolMessage(
            "trn_1",
            {"id": f"c{number}", "name": each["tool"], "arguments": each["arguments"]},
            {"outcome": each["outcome"], "content": each["content"], "trust": "untrusted", "truncated": False},
        )
        for number, each in enumerate(calls)
    ]


@pytest.mark.parametrize("case", VECTORS["asked"], ids=name_of)
def test_a_message_asks_for(case: dict[str, Any]) -> None:
    assert [[each.act, each.verb, list(each.things)] for each in asked_acts(case["message"])] == case["acts"]


@pytest.mark.parametrize("case", VECTORS["undone"], ids=name_of)
def test_a_turn_leaves_undone(case: dict[str, Any]) -> None:
    assert left_undone(case["message"], closed(case["calls"]), VECTORS["tools"]) == case["rest"]


@pytest.mark.parametrize("case", VECTORS["named"], ids=name_of)
def test_what_words_already_name_is_not_named_again(case: dict[str, Any]) -> None:
    assert is_named_in(case["said"], case["undone"]) is case["named"]


@pytest.mark.parametrize("case", VECTORS["kept"], ids=name_of)
def test_a_claim_stands_only_where_a_call_is_on_record(case: dict[str, Any]) -> None:
    record = TurnRecord(case["message"], closed(case["calls"]), closed(case["earlier"]), VECTORS["tools"])
    assert without_false_claims(case["text"], record) == case["kept"]
