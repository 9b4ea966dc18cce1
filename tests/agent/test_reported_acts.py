"""Claims in the third person, in turns that ask for no change, by sentences that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.claims import TurnRecord, without_false_claims
from tests.agent.test_claims import closed
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("reported-acts")
TOOLS = [{"name": "read_file", "category": "read"}, {"name": "move_file", "category": "write"}]
CLAIMS = [*VECTORS["claims"]["before"], *VECTORS["claims"]["after"]]
HARMLESS = [*VECTORS["harmless"]["before"], *VECTORS["harmless"]["after"]]


def kept_of(text: str, message: str, result: str, tool: str = "read_file") -> str:
    calls = [{"tool": tool, "arguments": {"path": "diary.txt"}, "outcome": "ok", "content": result}]
    return without_false_claims(text, TurnRecord(message, closed(calls if result else []), [], TOOLS))


@pytest.mark.parametrize("context", VECTORS["contexts"], ids=lambda context: context["message"])
def test_a_report_of_an_act_needs_a_record_also_where_no_act_was_asked_for(context: dict[str, Any]) -> None:
    passed = [claim for claim in CLAIMS if kept_of(claim, context["message"], context["result"]) == claim]
    assert passed == VECTORS["passes"]
    assert len(CLAIMS) >= 100
    assert len(passed) / len(CLAIMS) < 0.15


@pytest.mark.parametrize("message", ["what does mail/ben.txt say?", "thanks", "when was it?"])
def test_what_a_result_says_and_what_reports_no_act_is_shown(message: str) -> None:
    dropped = [each["says"] for each in HARMLESS if kept_of(each["says"], message, each.get("result", "none")) != each["says"]]
    assert dropped == []
    assert len(HARMLESS) >= 100


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The file was renamed.", "The file was renamed."),
        ("The list has been updated.", "The list has been updated."),
        ("The email has been sent to Ana.", ""),
        ("The list now has milk.", "The list now has milk."),
    ],
)
def test_beside_a_change_that_was_made_only_another_kind_of_act_is_a_claim(text: str, kept: str) -> None:
    assert kept_of(text, "thanks", "moved", tool="move_file") == kept


def test_a_text_that_was_asked_for_may_tell_of_acts() -> None:
    assert kept_of("The letter has been sent.", "write a poem about a letter", "") == "The letter has been sent."


def test_a_long_text_is_a_draft() -> None:
    text = f"The letter has been sent. {'It rained. ' * 20}".strip()
    assert kept_of(text, "thanks", "") == text


@pytest.mark.parametrize("said", VECTORS["told"], ids=str)
def test_what_opens_a_sentence_and_who_does_it_is_looked_at(said: dict[str, Any]) -> None:
    assert kept_of(said["says"], "thanks", "") == said["kept"]
