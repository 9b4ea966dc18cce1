"""What a model may say of a turn, in many words, by the vectors that the browser's tests read too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from gateway.agent.claims import TurnRecord, without_false_claims
from gateway.agent.holding import ShownBeginning, hold_to_record
from gateway.agent.messages import ToolMessage
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("paraphrases")


def closed(calls: Sequence[dict[str, Any]]) -> list[ToolMessage]:
    return [
        ToolMessage(
            "trn_1",
            {"id": f"c{number}", "name": each["tool"], "arguments": each["arguments"]},
            {"outcome": each["outcome"], "content": each["content"], "trust": "untrusted", "truncated": False},
        )
        for number, each in enumerate(calls)
    ]


def sentences(kind: str) -> Iterator[Any]:
    for group in VECTORS["groups"]:
        for text in group[kind]:
            yield pytest.param(group, text, id=f"{group['name']}: {text}")


def kept_of(group: dict[str, Any], text: str) -> str:
    return without_false_claims(text, TurnRecord(group["message"], closed(group["calls"]), [], VECTORS["tools"]))


@pytest.mark.parametrize(("group", "text"), list(sentences("false")))
def test_a_claim_without_a_record_is_not_shown_in_whatever_words(group: dict[str, Any], text: str) -> None:
    assert kept_of(group, text).strip("`\n") == ""


@pytest.mark.parametrize(("group", "text"), list(sentences("true")))
def test_what_is_no_claim_or_is_on_record_is_shown_as_it_is(group: dict[str, Any], text: str) -> None:
    assert kept_of(group, text) == text


@pytest.mark.parametrize("case", VECTORS["unread"], ids=name_of)
def test_what_is_told_of_a_file_needs_a_reading(case: dict[str, Any]) -> None:
    tools: list[dict[str, Any]] = VECTORS["readers"] if case["hasReader"] else []
    record = TurnRecord(case["message"], closed(case["calls"]), closed(case["earlier"]), tools, case.get("wish", ""))
    assert hold_to_record(case["text"], record, COPY) == case["kept"]


@pytest.mark.parametrize("case", VECTORS["shown"], ids=name_of)
def test_what_is_being_written_is_shown_up_to_the_first_doubt(case: dict[str, Any]) -> None:
    beginning = ShownBeginning(TurnRecord(case["message"], closed(case["calls"]), [], VECTORS["readers"]))
    text, shown, all_shown = "", "", list[str]()
    for piece in case["pieces"]:
        text += piece
        shown += text[len(shown) : beginning.length(text)]
        all_shown.append(shown)
    assert all_shown == case["shown"]
