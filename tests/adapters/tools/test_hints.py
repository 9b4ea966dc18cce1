"""What `countersign doctor` says of commands that will not do what their author thought."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.tools.tool_file.command import read_template, read_vector
from gateway.adapters.tools.tool_file.hints import hints_about


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A folder of programs: `cat`, `grep`, `head`, `tail`."""
    for name in ("cat", "grep", "head", "tail"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    return str(tmp_path)


def missing_in(template: str, path: str) -> list[str]:
    hints = hints_about(read_template(template, [], {}), path)
    return [hint.split("`")[1] for hint in hints if hint.startswith("there is no program")]


@pytest.mark.parametrize(
    ("template", "missing"),
    [
        ('cat "$path"', []),
        ('printf "%s" "$text"', []),
        ('pytest -xvs "$node" 2>&1 | tail -60', ["pytest"]),
        ('rg --color=never "$pattern" | head -40', ["rg"]),
        ("LANG=C nope x; cat y && other || grep z", ["nope", "other"]),
        ("cd notes && if grep -q x y; then third; fi", ["third"]),
        ('echo "a | b; c" | cat', []),
        ('x=$(whence "$y"); cat "$x"', ["whence"]),
        ('"$program" x | $other', []),
        ("go() { cat x; }; go", []),
        ("set -o pipefail; cat x |\\\n  fourth", ["fourth"]),
        ("cat > out.txt < in.txt", []),
        ("/bin/sh -c true; /nowhere/at/all", ["/nowhere/at/all"]),
        ("cat <<X\nit's text\nX", []),
    ],
)
def test_programs_that_are_not_there_are_named_where_it_is_plain_that_they_are_run(
    path: str, template: str, missing: list[str]
) -> None:
    assert missing_in(template, path) == missing


def test_a_program_without_a_shell_is_looked_for_too(path: str) -> None:
    assert hints_about(read_vector(["cat", "--", "x"], {}), path) == ()
    assert hints_about(read_vector(["pytest", "--", "x"], {}), path) == (
        f"there is no program `pytest` in {path}, where programs are looked for",
    )


@pytest.mark.parametrize(
    ("template", "is_told"),
    [
        ("grep x y | tail -3", True),
        ("cat x; grep x y 2>&1 | tail -3", True),
        ("set -o pipefail; grep x y | tail -3", False),
        ("grep x y | tail; exit ${PIPESTATUS[0]}", False),
        ("grep 'a|b' y || cat z", False),
        ("cat x >| y", False),
    ],
)
def test_a_pipe_that_hides_an_exit_code_is_told(path: str, template: str, is_told: bool) -> None:
    hints = hints_about(read_template(template, [], {}), path)
    assert any("last program in the pipe" in hint for hint in hints) is is_told
