"""What is filled into empty arguments, against the vectors that the browser's tests read too."""

from __future__ import annotations

import copy
import time
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.days import find_days, iso_day, plain
from gateway.agent.enrich import enrich
from gateway.agent.focus import Focus
from gateway.agent.money import find_money
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("enrich")


@pytest.mark.requirement("004-15", "empty arguments are filled from the message, given ones stay")
@pytest.mark.parametrize("case", VECTORS["enrich"], ids=name_of)
def test_what_is_empty_is_filled_with_what_was_said(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case["arguments"])
    today = date.fromisoformat(case["today"])
    enriched = enrich(case["arguments"], case["schema"], case["message"], Focus(**case["focus"]), today)
    assert enriched == case["enriched"]
    assert {name: type(value) for name, value in enriched.items()} == {
        name: type(value) for name, value in case["enriched"].items()
    }
    assert case["arguments"] == before


@pytest.mark.requirement("004-14", "named days become dates of the person's calendar")
@pytest.mark.parametrize("case", VECTORS["days"], ids=name_of)
def test_days_are_read_as_people_name_them(case: dict[str, Any]) -> None:
    found = find_days(plain(case["text"]), date.fromisoformat(case["today"]), ahead=case["ahead"])
    assert [each.day and iso_day(each.day) for each in found] == case["days"]


@pytest.mark.requirement("004-16", "the amount is read from the token that looks like money: 5$ two days ago is 5")
@pytest.mark.parametrize("case", VECTORS["money"], ids=name_of)
def test_the_amount_is_the_token_that_looks_like_money(case: dict[str, Any]) -> None:
    money = find_money(case["text"])
    assert (money and {"amount": money.amount, "currency": money.currency}) == case["money"]


def test_a_pasted_table_is_read_in_time_linear_in_its_length() -> None:
    """Ten seconds are many times what it takes; what is quadratic takes a minute."""
    schema = {"properties": {name: {"type": "string"} for name in ("date", "amount", "query")}}
    began = time.process_time()
    for cell in ("2026-11-20 ", "today ", "find ", "$1 "):
        enrich({}, schema, cell * (100_000 // len(cell)), Focus(query="rent"), date(2026, 11, 21))
    assert time.process_time() - began < 10


@pytest.mark.requirement("004-15", "no argument that has a value is changed")
@given(
    st.dictionaries(st.sampled_from(["date", "amount", "currency", "path"]), st.one_of(st.text(), st.integers())),
    st.text(alphabet="5$ .,€today3 march it"),
)
def test_nothing_that_is_there_is_ever_overwritten(arguments: dict[str, Any], message: str) -> None:
    schema = {"properties": {name: {"type": ["string", "number"]} for name in ("date", "amount", "currency", "path")}}
    enriched = enrich(arguments, schema, message, Focus(path="a.md"), date(2026, 11, 21))
    assert {name: enriched[name] for name, value in arguments.items() if value != ""} == {
        name: value for name, value in arguments.items() if value != ""
    }
