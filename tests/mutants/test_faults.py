"""The faults still fit the code: each old text stands once, what it becomes is code, and its tests exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.mutants.faults import ROOT, SourceFault, UnusableFault, load_faults
from tests.mutants.tree import Tree, Verdict

FAULTS = load_faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_fits_the_code_and_names_tests_that_exist(fault: SourceFault) -> None:
    changed = fault.applied()
    if fault.file.endswith(".py"):
        ast.parse(changed)
    fault.check_tests()
    assert fault.why


def test_every_row_of_the_check_of_a_call_has_a_fault() -> None:
    """docs/PROTOCOL.md section 7. Rows and only they begin with a number in that section's one table."""
    section = (ROOT / "docs" / "PROTOCOL.md").read_text("utf-8").partition("\n## 7. ")[2].partition("\n## ")[0]
    documented = [int(number) for number in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
    assert documented == list(range(1, 18))
    assert {row for fault in FAULTS for row in fault.rows} == set(documented)


def test_a_fault_is_in_the_copy_only_and_only_for_its_time(tmp_path: Path) -> None:
    tree, fault = Tree(tmp_path), FAULTS[0]
    original = fault.applied().replace(fault.new, fault.old)
    with tree.holding(fault):
        assert (tree.root / fault.file).read_text() == fault.applied()
        assert fault.applied().replace(fault.new, fault.old) == original
    assert (tree.root / fault.file).read_text() == original


@pytest.mark.parametrize(("expression", "verdict"), [("True", Verdict.SURVIVED), ("False", Verdict.KILLED)])
def test_a_failing_test_of_the_copy_kills(tmp_path: Path, expression: str, verdict: Verdict) -> None:
    tree = Tree(tmp_path)
    (tree.root / "tests" / "test_made_up.py").write_text(f"def test_made_up():\n    assert {expression}\n")
    assert tree.run(["tests/test_made_up.py"], [], 120)[0] is verdict


def test_a_text_that_stands_twice_or_a_test_that_is_gone_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("a = 1\nb = 1\n")
    made_up = SourceFault("x", "code.py", "= 1", "= 2", "why", ("test_gone.py::test_x",))
    with pytest.raises(UnusableFault, match="2 times"):
        made_up.applied(tmp_path)
    with pytest.raises(UnusableFault, match=r"no test_gone\.py"):
        made_up.check_tests(tmp_path)
