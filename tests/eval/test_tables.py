"""The tables say what the scores are, and change nothing but what stands between their marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.cases import Split, load_cases
from eval.contenders import PLAIN, WHOLE
from eval.scoring import Attempt, Proposal
from eval.tables import BEGIN, END, Measured, rank_of, replace_between_marks, write_tables

CASES = [case for case in load_cases() if case.say in ("hello", "good morning!", "list the reports folder")]
NOTHING = Attempt((), steps=1, prompt_tokens=90, completion_tokens=10, seconds=2.0)
WRONG = Attempt([Proposal("delete_file", {"path": "x"}, accepted=True)], steps=3)
BY_CONTENDER = {
    WHOLE.name: [(case, NOTHING) for case in CASES],
    PLAIN.name: [(case, WRONG) for case in CASES],
}


def test_the_rank_is_the_share_of_complete_hold_out_cases() -> None:
    held_out = [case for case in CASES if case.split is Split.HOLD_OUT]
    assert len(held_out) == 2
    assert rank_of(BY_CONTENDER[WHOLE.name]) == 50
    assert rank_of(BY_CONTENDER[PLAIN.name]) == 0


def test_a_table_has_a_row_per_contender_and_a_row_per_kind() -> None:
    text = write_tables([Measured("Tiny", BY_CONTENDER, 500_000_000, "2026-03-10")], "2 × processor")
    assert "### Tiny" in text
    assert "3 cases, temperature 0, 2026-03-10, 2 × processor. The model server took 500 MB at most." in text
    none = "0 of 0 | 0 of 0 | 0 of 0"
    assert f"| the loop | 50 % | 100 % | 67 % | – | 67 % | – | 0 of 3 | 3 of 3 | 0 of 2 | {none} | 1.0 | 100 | 2.0 |" in text
    assert f"| plain prompting | 0 % | 0 % | 0 % | 100 % | 0 % | – | 0 of 3 | 3 of 3 | 2 of 2 | {none} | 3.0 | 0 | 0.0 |" in text
    assert "| no tool at all | 2 | 100 % | 100 % | 0 % | 0 % |" in text


def test_only_what_is_between_the_marks_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "MODELS.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    replace_between_marks(path, "new")
    assert path.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_a_file_without_marks_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "MODELS.md"
    path.write_text("before\n")
    with pytest.raises(ValueError, match="no marks"):
        replace_between_marks(path, "new")
    assert path.read_text() == "before\n"
