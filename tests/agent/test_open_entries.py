"""What of a list is open or ticked, by the vectors that the browser's tests read too."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from gateway.agent.copy import Copy
from gateway.agent.figures import ResultSource
from gateway.agent.open_entries import entries_asked, open_queries
from gateway.agent.row_answers import answer_rows
from gateway.shipped import read_loop_file
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("open-entries")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["asked"])
def test_the_entries_that_are_open_or_ticked_answer(case: dict[str, Any]) -> None:
    rows = entries_asked(case["asked"], VECTORS["list"])
    assert (rows and [row.line for row in rows]) == case["lines"]
    assert list(open_queries(case["asked"])) == case["queries"]


def test_a_text_without_boxes_has_none() -> None:
    assert entries_asked("what do I still have to buy?", "bread\n- [ ] milk\n") is None


def test_that_nothing_is_open_is_said() -> None:
    done = ResultSource("a.md", "- [x] bread\n- [x] milk\n", whole=True, has_lines=True)
    said = answer_rows("what do I still have to buy?", done, date(2026, 3, 10), Copy(read_loop_file("copy")))
    assert said == "None of the 2 entries (`a.md`)"


def test_the_open_ones_are_told_with_their_places() -> None:
    listed = ResultSource("a.md", "- [x] bread\n- [ ] milk\n", whole=True, has_lines=True)
    said = answer_rows("what do I still have to buy?", listed, date(2026, 3, 10), Copy(read_loop_file("copy")))
    assert said == "1 entry (`a.md`, line 2):\n\n```\n[ ] milk\n```"
