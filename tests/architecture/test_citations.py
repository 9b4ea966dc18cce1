"""Comments, docstrings and documents cite only what is in the repository."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
CASES = {int(number) for number in re.findall(r"^\| (\d+) \|", SECURITY, re.MULTILINE)}
PROMISES = {int(number) for number in re.findall(r"^(\d+)\. \*\*", SECURITY, re.MULTILINE)}
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", SECURITY)))

TEXT = {".py", ".ts", ".tsx", ".mjs", ".css", ".md", ".toml", ".cedar", ".json", ".sh", ".yaml", ".txt", ""}

FOREIGN = re.compile(r"(?<![\w/])(?:protocol|design|security|requirements)[.]md|\bresearc[h]/|security researc[h]")
DOCUMENT = re.compile(r"\b(?:docs|gateway)/[\w./-]*\.md\b")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@cache
def tracked() -> tuple[Path, ...]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = (ROOT / name for name in listed.stdout.splitlines())
    return tuple(path for path in paths if path.suffix in TEXT and path.is_file())


def citations(pattern: re.Pattern[str]) -> Iterator[tuple[Path, re.Match[str]]]:
    for path in tracked():
        for found in pattern.finditer(path.read_text(encoding="utf-8", errors="replace")):
            yield path, found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_nothing_cites_a_document_that_is_not_here() -> None:
    found = {f"{name(path)}: {match.group(0)}" for path, match in citations(FOREIGN)}
    found |= {f"{name(path)}: {match.group(0)}" for path, match in citations(DOCUMENT) if not (ROOT / match.group(0)).is_file()}
    assert found == set()


def test_every_link_of_a_document_leads_to_a_file() -> None:
    broken = {
        f"{name(path)}: {match.group(1)}"
        for path, match in citations(LINK)
        if path.suffix == ".md" and not (path.parent / match.group(1)).exists()
    }
    assert broken == set()


def test_decisions_are_numbered_in_order_and_none_is_told_twice() -> None:
    told = re.findall(r"^\*\*(\d+)\. (.+)$", (ROOT / "gateway" / "DECISIONS.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(number) for number, _ in told] == list(range(1, len(told) + 1))
    assert len({title for _, title in told}) == len(told)


def test_no_two_hostile_cases_share_a_number() -> None:
    numbers = re.findall(r"^\| (\d+) \|", SECURITY, re.MULTILINE)
    assert sorted({number for number in numbers if numbers.count(number) > 1}) == []


def test_a_section_that_is_cited_exists() -> None:
    headings = set(re.findall(r"^## (\d+)\.", (ROOT / "docs" / "PROTOCOL.md").read_text(encoding="utf-8"), re.MULTILINE))
    cited = citations(re.compile(r"PROTOCOL\.md,? sections? ((?:\d\b(?:, | and | to )?)+)"))
    unknown = {
        f"{name(path)}: {match.group(0)}" for path, match in cited if not set(re.findall(r"\d", match.group(1))) <= headings
    }
    assert unknown == set()


@pytest.mark.parametrize(("word", "known"), [("case", CASES), ("promise", PROMISES)])
def test_a_hostile_case_or_promise_that_is_cited_exists(word: str, known: set[int]) -> None:
    unknown: set[str] = set()
    for path, match in citations(re.compile(rf"SECURITY\.md {word}s? ((?:\d+(?:, | and | to )?)+)")):
        ends = {int(number) for number in re.findall(r"\d+", match.group(1))}
        if not ends <= known:
            unknown.add(f"{name(path)}: {match.group(0)}")
    assert unknown == set()


@pytest.mark.parametrize("test", TESTS)
def test_a_test_that_the_security_document_names_exists(test: str) -> None:
    path, _, function = test.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert function in defined


def test_every_hostile_case_names_a_test() -> None:
    untested = [line for line in SECURITY.splitlines() if re.match(r"\| \d+ \|", line) and "::test_" not in line]
    assert untested == []
