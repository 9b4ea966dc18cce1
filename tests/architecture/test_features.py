"""docs/FEATURES.md counts what is there, and names a test for each feature and each fault that was mended."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "FEATURES.md").read_text(encoding="utf-8")
FEATURES, FAULTS = (
    [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines() if re.match(r"\| \d+ \|", line)]
    for part in DOCUMENT.split("## What a review found")
)
NAMED = sorted(set(re.findall(r"`((?:web/)?tests/[\w/.-]+)::([^`]+)`", DOCUMENT)))
MOST = 56
IN_FULL = 50


def test_the_features_are_counted_and_nearly_all_are_there_in_full() -> None:
    assert [int(row[0].lstrip("| ")) for row in FEATURES] == list(range(1, MOST + 1))
    assert {row[2] for row in FEATURES} <= {"in full", "partly", "no"}
    assert sum(row[2] == "in full" for row in FEATURES) >= IN_FULL


def test_what_is_there_and_what_was_mended_names_a_test() -> None:
    assert [row for row in FEATURES if row[2] == "in full" and "::" not in row[-1]] == []
    assert [row for row in FAULTS if "::" not in row[-1]] == []
    assert len(FAULTS) == 14


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_test_that_is_named_exists(path: str, name: str) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".py"):
        defined = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in defined
    else:
        assert re.search(rf'\btest\("{re.escape(name)}"|^\s*\]\)\("{re.escape(name)}"', source, re.MULTILINE)
