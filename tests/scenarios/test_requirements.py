"""Every requirement has a test that names it, or a written reason for having none; never both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.requirements import REQUIREMENTS, Requirement

ROOT = Path(__file__).parents[2]
ID = re.compile(r"\b00[0-4]-\d\d[a-z]?\b")


def files_with_tests() -> Iterator[Path]:
    for folder, pattern in (("tests", "test_*.py"), ("web/tests", "*.test.ts"), ("web/tests", "*.test.tsx")):
        yield from (ROOT / folder).rglob(pattern)


@pytest.fixture(scope="module")
def named() -> dict[str, set[str]]:
    """Which files name which requirement."""
    found: dict[str, set[str]] = {}
    for path in files_with_tests():
        for requirement in ID.findall(path.read_text(encoding="utf-8")):
            found.setdefault(requirement, set()).add(str(path.relative_to(ROOT)))
    return found


def test_ids_are_unique_and_in_order() -> None:
    ids = [requirement.id for requirement in REQUIREMENTS]
    assert ids == sorted(set(ids))


def test_tests_name_no_requirement_that_does_not_exist(named: dict[str, set[str]]) -> None:
    known = {requirement.id for requirement in REQUIREMENTS}
    assert {name: files for name, files in named.items() if name not in known} == {}


@pytest.mark.parametrize("requirement", [each for each in REQUIREMENTS if each.untested is None], ids=lambda each: each.id)
def test_a_requirement_without_a_reason_is_named_by_a_test(requirement: Requirement, named: dict[str, set[str]]) -> None:
    assert named.get(requirement.id), f"{requirement.says}: nobody tests it, and nobody says why"


@pytest.mark.parametrize("requirement", [each for each in REQUIREMENTS if each.untested is not None], ids=lambda each: each.id)
def test_a_requirement_with_a_reason_is_named_by_none(requirement: Requirement, named: dict[str, set[str]]) -> None:
    assert requirement.untested
    assert not named.get(requirement.id), f"{requirement.id} is tested, so its reason is out of date"
