"""Each guard that the evaluation leaves away is one that does something: left away, a request, a call or a word is another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from eval import loop
from eval.cases import load_cases
from eval.contenders import ABLATIONS, CONTENDERS, SAMPLED, WHOLE, Contender, Guard
from eval.scoring import Attempt
from eval.tables import Measured, changed_cases, idle_rows, write_tables
from eval.workspaces import CaseWorkspace
from gateway.adapters.inference.scripted import Reply, ScriptedBackend
from gateway.core.vocabulary import Tier

CASES = {case.say: case for case in load_cases()}


def a_call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


LISTING = a_call("list_directory", path="notes")
READING = a_call("read_file", path="notes/todo.txt")
DELETING = a_call("delete_file", path="notes/old.txt")
DELETE = "delete notes/old.txt"
BOTH = "read notes/todo.txt and then delete notes/old.txt"
SPLIT = {"requestedActions": ["read notes/todo.txt", "delete notes/old.txt"]}
PHONE = "When does the phone contract in bills/phone.txt run out?"

SCENES: Mapping[Guard, tuple[str, Sequence[dict[str, Any] | str]]] = {
    Guard.SCHEMA: ("hello", [{"answer": "Hello!"}]),
    Guard.CANDIDATES: ("set a timer for 5 minutes", [a_call("set_timer", minutes=5), "It rings."]),
    Guard.PROBE: (BOTH, [SPLIT, READING, DELETING]),
    Guard.REASON: ("tell me a joke", [LISTING, {"answer": "Two fish."}]),
    Guard.INSISTING: ("cross out t1", [{"answer": "It is out."}, a_call("delete_transaction", id="t1")]),
    Guard.REPAIR: (DELETE, ["no action", DELETING]),
    Guard.READING: (PHONE, ["On 31 August 2026."]),
    Guard.FINDING: ("when is the heating inspected?", ["On 18 March."]),
    Guard.FIGURES: ("add up all amounts in money/2026-03.csv", [a_call("read_file", path="money/2026-03.csv"), "It is 150."]),
    Guard.DOUBT: ("when is Mimi's injection due? inbox/vet.txt", ["On 7 May 1999."]),
    Guard.VALUES: ("12 yesterday at Nero, save it", [a_call("save_transaction", merchant="Nero", amount=12), "Saved."]),
    Guard.COPIED: (DELETE, [DELETING]),
    Guard.OPTIONAL: ("find the files that mention paper and ink", [a_call("search_files", query="paper and ink")]),
    Guard.CLAIMS: (DELETE, [{"answer": "I have deleted notes/old.txt."}]),
    Guard.REPEATS: (BOTH, [SPLIT, READING, READING, READING]),
    Guard.PLANS: ("hello", [{"answer": "I will list the directory for you."}, {"answer": "Hello!"}]),
    Guard.MARKERS: ("when is Mimi's injection due? inbox/vet.txt", ["On 2 April."]),
    Guard.FOLLOWING: (BOTH.partition(" and")[0], [READING, DELETING, {"answer": "Read."}]),
}


async def play(contender: Contender, say: str, replies: Sequence[dict[str, Any] | str], folder: Path) -> Attempt:
    """The last reply is given as often as it is asked for."""
    case = CASES.get(say) or CASES[DELETE].model_copy(update={"say": say})
    if say.startswith("12 yesterday"):
        case = CASES["coffee and bagel $12 at Joe's"].model_copy(update={"say": say})
    left = [each if isinstance(each, str) else orjson.dumps(each).decode() for each in replies]
    backend = ScriptedBackend(lambda _: Reply(left.pop(0) if len(left) > 1 else left[0]))
    assert contender.guards is not None
    return await loop.play(case, CaseWorkspace(case.tools, folder), backend, contender.guards, contender.tier or Tier.SINGLE)


def row(name: str) -> Contender:
    return next(each for each in CONTENDERS if each.name == name)


@pytest.mark.parametrize("guard", list(Guard))
async def test_a_guard_that_is_left_away_changes_what_is_asked_done_or_said(guard: Guard, tmp_path: Path) -> None:
    say, replies = SCENES[guard]
    away = next(each for each in ABLATIONS if str(guard) in each.name.split() and guard not in (each.guards or ()))
    beside = row(away.beside)
    assert beside.guards is not None
    assert away.guards == beside.guards - {guard}
    assert away.tier == beside.tier
    case = CASES[DELETE]
    outcomes = {
        each.name: [(case, await play(each, say, replies, tmp_path / str(place)))] for place, each in enumerate((beside, away))
    }
    measured = Measured("Tiny", {}, 0, "2026-03-10", outcomes)
    assert changed_cases(measured, away.name, away.beside) == 1
    again = await play(away, say, replies, tmp_path / "again")
    assert again == outcomes[away.name][0][1], "and not because no two runs are alike"


def test_a_row_that_changes_nothing_is_named_and_not_shown() -> None:
    case = CASES[DELETE]
    same, other = Attempt([], said="a", asked="1"), Attempt([], said="a", asked="2")
    sampled = {
        WHOLE.name: [(case, same)],
        "without probe": [(case, other)],
        "without figures": [(case, same)],
    }
    measured = Measured("Tiny", {}, 0, "2026-03-10", sampled)
    assert idle_rows(measured) == ["without figures"]
    text = write_tables([measured], "2 × processor")
    assert "1 cases, at most 1 of every kind" in text
    assert "| the loop | 1 of 1 |" in text
    assert "Left out, since in none of these cases it changes a request, a call or a word: without figures." in text
    assert "| without figures |" not in text


def test_only_rows_that_leave_something_away_or_change_the_tier_are_sampled() -> None:
    assert WHOLE not in SAMPLED
    assert {each.name for each in CONTENDERS if each not in SAMPLED} == {
        "the loop",
        "plain prompting",
        "examples and schema alone",
    }
