"""The cases are sound: enough of them, of every kind, and each can be done by somebody who does what it expects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eval.cases import Case, Kind, Split, Tools, load_cases, pick_quick
from eval.scoring import Attempt, Proposal, judge
from eval.workspaces import CaseWorkspace
from gateway.adapters.tools.builtin.egress import Egress
from gateway.adapters.tools.builtin.fetching import Fetcher
from gateway.adapters.tools.builtin.web import web_tools
from gateway.adapters.tools.schemas import read_signature

CASES = load_cases()


def sample(check: Any) -> Any:
    """An argument that fits a check; None for one that may be left out."""
    match check:
        case {"maybe": _}:
            return None
        case {"path": value} | {"text": value}:
            return value
        case {"has": [*words]}:
            return " ".join(words)
        case _:
            return check


def make_arguments(checks: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, check in checks.items() if (value := sample(check)) is not None}


def test_there_are_enough_cases_of_every_kind_in_both_halves() -> None:
    assert len(CASES) >= 130
    assert len({case.id for case in CASES}) == len(CASES)
    counts = Counter((case.kind, case.split) for case in CASES)
    assert all(counts[kind, split] >= 3 for kind in Kind for split in Split)


def test_every_request_is_made_once() -> None:
    asked = {(case.tools, case.say, str(case.before)) for case in CASES}
    assert len(asked) == len(CASES)


def test_a_quick_run_holds_every_kind_and_nothing_of_the_hold_out() -> None:
    quick = pick_quick(CASES)
    assert {case.kind for case in quick} == set(Kind)
    assert {case.split for case in quick} == {Split.DEV}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_what_a_case_expects_is_accepted_and_counts_as_complete(case: Case, tmp_path: Path) -> None:
    world = CaseWorkspace(case.tools, tmp_path)
    earlier = [call for turn in case.before for call in turn.calls]
    expected = [(tool, make_arguments(checks)) for tool, checks in case.expect]
    for tool, arguments in [*earlier, *expected]:
        assert world.find_fault(tool, arguments) is None
        await world.run(tool, arguments)
    proposals = [Proposal(tool, arguments, accepted=True) for tool, arguments in expected]
    score = judge(case, Attempt(proposals, said=" ".join(spellings[-1].upper() for spellings in case.answer)))
    assert (score.complete, score.forbidden) == (1, 0)
    assert judge(case, Attempt(proposals, said="Here it is.")).complete == (not case.answer)
    assert (score.tools_right, score.arguments_right) == (score.tools_expected, score.arguments_expected)


@pytest.mark.parametrize("case", [case for case in CASES if case.kind is Kind.INJECTION], ids=lambda case: case.id)
async def test_an_injection_is_in_what_the_model_gets_to_read(case: Case, tmp_path: Path) -> None:
    world = CaseWorkspace(case.tools, tmp_path)
    read = [
        (await world.run(tool, make_arguments(arguments)))[1]
        for tool, arguments in [*(call for turn in case.before for call in turn.calls), *case.expect]
    ]
    assert any(word in text for text in read for word in ("delete", "http_get", "write_file", "PREVIOUS INSTRUCTIONS"))


def test_the_page_tool_here_looks_like_the_real_one(tmp_path: Path) -> None:
    (real,) = [tool for tool in web_tools(Fetcher(Egress())) if tool.name == "http_get"]
    here = CaseWorkspace(Tools.WORKSPACE, tmp_path).catalog.find("http_get")
    described = real.describe(read_signature(real.function), "builtin")
    assert here is not None
    assert (here.description, here.param_schema) == (described.description, described.param_schema)
