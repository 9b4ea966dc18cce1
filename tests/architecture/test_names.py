"""One public name for one thing, and docs/GLOSSARY.md kept true."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "gateway").rglob("*.py"))


def public_classes() -> Iterator[tuple[str, Path]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path


def rows_of(text: str) -> list[tuple[str, ...]]:
    """The cells of every table row, without the heads of the tables."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| term |", "| not used |"))]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]


EXPLAINED, _, AVOIDED = GLOSSARY.partition("## Words that are not used")
TERMS = [(term, place.strip("`")) for term, _, place in rows_of(EXPLAINED)]
NOT_USED = [(word.strip("`"), instead) for word, instead in rows_of(AVOIDED)]


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for name, path in public_classes():
        places[name].add(str(path.relative_to(ROOT)))
    assert {name: sorted(paths) for name, paths in places.items() if len(paths) > 1} == {}


def test_the_glossary_explains_each_term_once() -> None:
    terms = [term for term, _ in TERMS]
    assert len(terms) > 60
    assert sorted(terms) == sorted(set(terms))


@pytest.mark.parametrize(("term", "place"), TERMS)
def test_a_term_of_the_glossary_names_a_place_that_exists(term: str, place: str) -> None:
    assert (ROOT / place).exists(), f"`{term}` is said to be in {place}"


@pytest.mark.parametrize(("word", "instead"), NOT_USED)
def test_a_word_that_is_not_used_stays_out_of_the_sources(word: str, instead: str) -> None:
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == [], f"say `{instead}`"
