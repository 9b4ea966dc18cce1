"""The words that a page can be answered with are a closed set, and it is what the gateway says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from gateway.core.refusals import RefusalReason
from gateway.core.vocabulary import ApproverStanding
from gateway.protocol.error_words import HTTP_WORDS, error_words

GATEWAY = Path(__file__).parents[2] / "gateway"


def words_given_to(name: str, place: int) -> Iterator[str]:
    """The literal words that stand at a place of the arguments, wherever something of that name is made."""
    for path in GATEWAY.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                given = node.args[place] if len(node.args) > place else None
                if isinstance(given, ast.Constant) and isinstance(given.value, str):
                    yield given.value


def test_every_reason_of_a_refusal_is_given_somewhere() -> None:
    standings = {each.value for each in ApproverStanding} - {ApproverStanding.MAY_APPROVE.value}
    assert {*words_given_to("Refused", 0), *standings} == set(get_args(RefusalReason))


def test_every_answer_over_http_has_a_word_of_the_closed_set() -> None:
    given = {*words_given_to("HttpError", 1), *words_given_to("HttpError", 3)}
    assert given <= set(error_words())
    assert set(HTTP_WORDS) <= given


def test_the_words_are_sorted_and_each_stands_once() -> None:
    assert list(error_words()) == sorted(set(error_words()))
