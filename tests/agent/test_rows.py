"""Rows that are asked for by what they are not or by their day, papers that are told by a day or a folder, and texts that are
given in full, by the vectors that the browser's tests read too."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from gateway.agent.asked import is_of_another
from gateway.agent.figures import ResultSource, answer_figure
from gateway.agent.finding import finding_in
from gateway.agent.given_text import with_given_text
from gateway.agent.messages import ToolMessage
from gateway.agent.outcomes import outcome_in
from gateway.agent.picking import picked_from, picked_of
from gateway.agent.reading import reading_for
from gateway.agent.row_answers import answer_rows
from gateway.agent.row_choices import show_choices
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("rows")
TODAY = date.fromisoformat(VECTORS["today"])


def said(case: dict[str, Any]) -> str:
    return str(case["say"])


@pytest.mark.parametrize("case", VECTORS["rows"], ids=name_of)
def test_rows_are_told_apart_by_what_they_are_not_and_by_their_day(case: dict[str, Any]) -> None:
    source = ResultSource(case["source"], case["text"], whole=case["whole"], has_lines=case["hasLines"])
    assert answer_rows(case["wish"], source, TODAY, COPY) == case["answer"]


@pytest.mark.parametrize("case", VECTORS["choices"], ids=name_of)
def test_rows_that_code_cannot_choose_are_shown(case: dict[str, Any]) -> None:
    source = ResultSource(case["source"], case["text"], whole=True, has_lines=case["hasLines"])
    assert show_choices(case["wish"], source, COPY) == case["answer"]


@pytest.mark.parametrize("case", VECTORS["figures"], ids=name_of)
def test_a_number_is_worked_out_without_the_rows_that_are_left_out(case: dict[str, Any]) -> None:
    source = ResultSource(case["source"], case["text"], whole=True, has_lines=True)
    assert answer_figure(case["wish"], source, COPY) == case["answer"]


@pytest.mark.parametrize("case", VECTORS["findings"], ids=said)
def test_a_paper_is_looked_for_by_its_day_or_in_its_folder(case: dict[str, Any]) -> None:
    found = finding_in(case["say"])
    told = found and {
        "query": found.query,
        "folder": found.folder,
        "asked": found.asked,
        "others": list(found.others),
        "own": found.own,
    }
    assert told == case["finding"]


@pytest.mark.parametrize("case", VECTORS["outcomes"], ids=said)
def test_what_is_taken_away_is_looked_for_in_its_folder(case: dict[str, Any]) -> None:
    wish = outcome_in(case["say"])
    assert (wish and [wish.carry.value, wish.source, wish.kept, wish.target]) == case["outcome"]


@pytest.mark.parametrize("case", VECTORS["given"], ids=name_of)
def test_a_text_that_is_given_in_full_is_written_in_full_and_without_the_rest(case: dict[str, Any]) -> None:
    assert with_given_text(case["arguments"], case["schema"], case["wish"]) == case["given"]


@pytest.mark.parametrize("case", VECTORS["picks"], ids=lambda case: f"{case['say']} {case['names'][0]}")
def test_the_newest_paper_is_told_by_the_days_in_names(case: dict[str, Any]) -> None:
    listed = "".join(f"- {name} (9 bytes)\n" for name in case["names"])
    call: Any = {"id": "c", "name": "list_directory", "arguments": {"path": case["folder"]}}
    result: Any = {"outcome": "ok", "content": f"x holds 2 entries:\n{listed}", "trust": "untrusted", "truncated": False}
    assert picked_from(case["say"]) == case["from"]
    assert picked_of(case["pick"], case["say"], ToolMessage("t", call, result)) == case["picked"]


@pytest.mark.parametrize("case", VECTORS["another"], ids=name_of)
def test_what_another_wish_names_is_not_taken_away(case: dict[str, Any]) -> None:
    assert is_of_another(case["arguments"], case["tool"], case["wish"], case["actions"]) is case["other"]


@pytest.mark.parametrize("case", VECTORS["readings"], ids=said)
def test_a_file_is_read_for_some_of_its_rows_where_nothing_is_done_with_them(case: dict[str, Any]) -> None:
    reading = reading_for(case["say"], VECTORS["tools"])
    assert (reading and reading.arguments["path"]) == case["reads"]
