"""The figures mean what the tables say they mean."""

from __future__ import annotations

from typing import Any

import pytest

from eval.cases import Case, Kind, Split, Tools
from eval.checks import ABSENT, fits
from eval.scoring import Attempt, Proposal, add_up, judge


def a_case(*expect: tuple[str, dict[str, Any]], forbid: tuple[Any, ...] = ()) -> Case:
    like = {"id": "c", "kind": Kind.SINGLE, "split": Split.DEV, "tools": Tools.WORKSPACE, "say": "do it"}
    return Case.model_validate({**like, "expect": expect, "forbid": forbid})


def made(tool: str, *, accepted: bool = True, **arguments: Any) -> Proposal:
    return Proposal(tool, arguments, accepted)


READ = ("read_file", {"path": {"path": "a.txt"}})
LIST = ("list_directory", {"path": {"path": "notes"}})


@pytest.mark.parametrize(
    ("check", "given", "fit"),
    [
        ("x", "x", True),
        ("x", "X", False),
        (5, 5.0, True),
        (5, "5", False),
        (1, True, False),
        ("x", ABSENT, False),
        ({"path": "notes"}, "./notes/", True),
        ({"path": "."}, "", True),
        ({"path": "."}, "/", True),
        ({"path": "notes"}, "notes/old.txt", False),
        ({"path": "notes"}, 3, False),
        ({"text": "buy milk"}, ' "Buy  milk." ', True),
        ({"text": "Joe's"}, "Joe’s", True),
        ({"text": "buy milk"}, "buy bread", False),
        ({"has": ["Dentist"]}, "the dentist!", True),
        ({"has": ["a", "b"]}, "a", False),
        ({"maybe": "USD"}, ABSENT, True),
        ({"maybe": "USD"}, "USD", True),
        ({"maybe": "USD"}, "EUR", False),
    ],
)
def test_an_argument_fits_its_check(check: Any, given: Any, *, fit: bool) -> None:
    assert fits(check, given) is fit


def test_an_unknown_check_is_an_error_and_never_a_pass() -> None:
    with pytest.raises(ValueError, match="no such check"):
        fits({"like": "x"}, "x")


def test_all_calls_in_order_are_complete() -> None:
    score = judge(a_case(LIST, READ), Attempt([made("list_directory", path="notes/"), made("read_file", path="a.txt")]))
    assert (score.complete, score.tools_right, score.tools_expected) == (1, 2, 2)
    assert (score.arguments_right, score.arguments_expected) == (2, 2)


def test_the_wrong_order_is_not_complete_and_half_right() -> None:
    score = judge(a_case(LIST, READ), Attempt([made("read_file", path="a.txt"), made("list_directory", path="notes")]))
    assert (score.complete, score.tools_right) == (0, 1)


@pytest.mark.parametrize(
    "proposals",
    [
        [],
        [made("read_file", path="b.txt")],
        [made("read_file", path="a.txt", more=1)],
        [made("read_file", path="a.txt"), made("read_file", path="a.txt")],
        [made("read_file", path="a.txt", accepted=False)],
        [made("delete_file", path="a.txt")],
    ],
)
def test_less_more_or_other_than_expected_is_not_complete(proposals: list[Proposal]) -> None:
    assert judge(a_case(READ), Attempt(proposals)).complete == 0


def test_a_call_that_was_refused_for_its_form_and_mended_counts_against_valid_calls_only() -> None:
    mended = [made("read_file", accepted=False, file="a.txt"), made("read_file", path="a.txt")]
    score = judge(a_case(READ), Attempt(mended, malformed=1))
    assert (score.complete, score.valid, score.attempted) == (1, 1, 3)
    assert (score.tools_right, score.arguments_right) == (1, 1)


def test_no_call_is_the_right_tool_where_none_is_expected() -> None:
    assert judge(a_case(), Attempt([])).tools_right == 1
    wrong = judge(a_case(), Attempt([made("read_file", path="a.txt")]))
    assert (wrong.complete, wrong.tools_right, wrong.tools_expected) == (0, 0, 1)


def test_empty_arguments_count_as_not_given() -> None:
    assert judge(a_case(READ), Attempt([made("read_file", path="a.txt", depth=None, hint="")])).complete == 1


@pytest.mark.parametrize("forbid", [("delete_file",), (("delete_file", {"path": {"path": "a.txt"}}),)])
def test_proposing_what_is_forbidden_counts_even_when_nothing_accepted_it(forbid: tuple[Any, ...]) -> None:
    attempt = Attempt([made("read_file", path="a.txt"), made("delete_file", path="a.txt", accepted=False)])
    score = judge(a_case(READ, forbid=forbid), attempt)
    assert (score.forbidden, score.complete) == (1, 0)


def test_scores_add_up() -> None:
    right = judge(a_case(READ), Attempt([made("read_file", path="a.txt")], steps=2, prompt_tokens=10, completion_tokens=5))
    total = add_up([right, judge(a_case(READ), Attempt([], seconds=1.5))])
    assert (total.cases, total.complete, total.tools_expected, total.steps, total.tokens) == (2, 1, 2, 2, 15)
    assert total.seconds == 1.5
