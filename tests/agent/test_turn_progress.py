"""What a turn has done already, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.messages import ToolMessage, UserMessage
from gateway.agent.turn_progress import is_looping, is_repeat, progress_of
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("standing")


def closed_in(case: dict[str, Any]) -> list[ToolMessage]:
    return [ToolMessage("t", each["call"], each["result"]) for each in case["closed"]]


@pytest.mark.requirement("004-05", "a call that was made in the turn is recognised whatever the order of its members")
@pytest.mark.parametrize("case", VECTORS["repeats"], ids=name_of)
def test_a_call_is_known_again(case: dict[str, Any]) -> None:
    proposal = case["proposal"]
    assert is_repeat(proposal["name"], proposal["arguments"], closed_in(case), case["tools"]) is case["is"]


@pytest.mark.parametrize("case", VECTORS["circles"], ids=name_of)
def test_a_circle_is_noticed(case: dict[str, Any]) -> None:
    assert is_looping(closed_in(case)) is case["is"]


def test_what_the_person_added_to_a_turn_counts_among_their_words() -> None:
    said = [UserMessage("t", "list notes"), UserMessage("t", "also read a.txt"), UserMessage("later", "thanks")]
    assert progress_of(said, "t").message == "list notes\n\nalso read a.txt"
