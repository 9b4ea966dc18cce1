"""Claims of acts whose verb is in no list, in both languages, by sentences that the browser's tests read too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.agent.claims import TurnRecord, without_false_claims
from tests.agent.test_claims import closed
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("open-acts")
CLAIMS = [*VECTORS["claims"]["before"], *VECTORS["claims"]["after"]]
HARMLESS = [*VECTORS["harmless"]["before"], *VECTORS["harmless"]["after"]]


def shown(sentences: Sequence[str], message: str, calls: Sequence[dict[str, Any]]) -> list[str]:
    record = TurnRecord(message, closed([{**each, "outcome": "ok"} for each in calls]), [], VECTORS["tools"])
    return [each for each in sentences if without_false_claims(each, record) == each]


@pytest.mark.parametrize("context", VECTORS["contexts"], ids=name_of)
def test_a_claim_in_a_verb_that_no_list_has_needs_a_record(context: dict[str, Any]) -> None:
    passed = shown(CLAIMS, context["message"], context["calls"])
    assert passed == VECTORS["passes"][context["name"]]


@pytest.mark.parametrize("context", VECTORS["contexts"], ids=name_of)
def test_what_claims_no_act_is_shown(context: dict[str, Any]) -> None:
    kept = shown(HARMLESS, context["message"], context["calls"])
    assert [each for each in HARMLESS if each not in kept] == VECTORS["dropped"]


@pytest.mark.parametrize("case", VECTORS["recorded"], ids=lambda case: case["message"])
def test_what_a_call_did_is_told_in_any_words(case: dict[str, Any]) -> None:
    assert shown(case["says"], case["message"], [case["call"]]) == case["says"]


@pytest.mark.parametrize("case", VECTORS["told"], ids=lambda case: case["says"])
def test_a_claim_is_held_against_what_the_turn_has_of_it(case: dict[str, Any]) -> None:
    assert bool(shown([case["says"]], case["message"], case["calls"])) is case["shown"]
