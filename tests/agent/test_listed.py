"""What a folder holds is told from its listing, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.figures import ResultSource
from gateway.agent.limits import LIMITS
from gateway.agent.listed import answer_listing
from tests.agent.scripted import COPY
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("listed")


@pytest.mark.parametrize("case", VECTORS["listings"], ids=lambda case: f"{case['wish']} {case['text'][:40]}")
def test_what_a_folder_holds_is_told_without_a_model(case: dict[str, Any]) -> None:
    source = ResultSource(case["name"], case["text"], whole=True, has_lines=False)
    assert answer_listing(case["wish"], source, COPY) == case["answer"]


def test_a_long_listing_says_how_much_of_it_is_left_out() -> None:
    case = VECTORS["long"]
    said = answer_listing(case["wish"], ResultSource(case["name"], case["text"], whole=True, has_lines=False), COPY)
    assert said is not None
    assert said.startswith("There are 120 entries in `photos`:\n\n```\n- photo-001.jpg")
    assert said.endswith(COPY.say("leftOut", rest=str(120 - LIMITS.excerpt_lines)))
