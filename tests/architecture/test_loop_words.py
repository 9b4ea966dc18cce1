"""The loop's words stand in `loop/`, once for both languages, and in no source file of either."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.shipped import read_loop_file

ROOT = Path(__file__).parents[2]
PYTHON = sorted((ROOT / "gateway" / "agent").glob("*.py"))
TYPESCRIPT = sorted((ROOT / "web" / "src" / "agent").glob("*.ts"))

MANY = 6
"""So many words in one literal are data."""

SHARED = 4
"""So many words of one list of the vocabulary are that list; fewer are grammar wherever they stand."""

SENTENCE = 12
"""Characters of what is a sentence, and no name."""

_COMMENTS = re.compile(r'^[ \t]*"""[^"]*"""|^[ \t]*/\*.*?\*/|^[ \t]*(?:#|//)[^\n]*', re.MULTILINE | re.DOTALL)
_WORD = r"[A-Za-z][\w ]*"
_MEMBER = rf"""(?:["'`]{_WORD}["'`](?:\s*:\s*["'\d][^,\n]*)?|{_WORD}:\s*["'\d-][^,\n]*)"""
_LITERALS = (
    re.compile(rf"{_MEMBER}(?:\s*,\s*{_MEMBER})+"),  # a list, a set or a mapping
    re.compile(rf"{_WORD}(?:\|{_WORD})+"),  # the alternatives of a regular expression
    re.compile(r"""["'`](?P<words>[^"'`\n]+)["'`](?=\s*\.split\()"""),  # words in one text
)


def collections_in(source: str) -> Iterator[frozenset[str]]:
    """The words of each literal collection."""
    code = _COMMENTS.sub("", source)
    for listed in _LITERALS[0].finditer(code):
        members = re.split(r",\s*", listed[0])
        yield frozenset(re.match(rf"[\"'`]?({_WORD})", member.strip())[1] for member in members)  # type: ignore[index] - the list was found by that word
    for listed in _LITERALS[1].finditer(code):
        yield frozenset(listed[0].split("|"))
    for listed in _LITERALS[2].finditer(code):
        yield frozenset(listed["words"].split())


def lists_in(value: Any) -> Iterator[frozenset[str]]:
    """The lists of the vocabulary, those inside a list or a mapping too, and the words that a mapping explains."""
    match value:
        case [*members]:
            yield frozenset(member for member in members if isinstance(member, str))
        case {**named}:
            members = list(named.values())
            if not any(isinstance(member, list) for member in members):
                yield frozenset(named)
        case _:
            members = []
    for member in members:
        yield from lists_in(member)


VOCABULARY = list(lists_in(list(read_loop_file("vocabulary").values())))


def sentences_in(value: Any) -> Iterator[str]:
    """The longest part between the blanks of each sentence, where it has two words."""
    match value:
        case str():
            part = max(re.split(r"\{\w+\}", value), key=len).strip()
            if len(part) >= SENTENCE and " " in part:
                yield part
        case [*members]:
            for member in members:
                yield from sentences_in(member)
        case {**members}:
            for member in members.values():
                yield from sentences_in(member)
        case _:
            pass


SENTENCES = [sentence for name in ("prompts", "copy", "mistakes") for sentence in sentences_in(read_loop_file(name))]


@pytest.mark.parametrize("path", [*PYTHON, *TYPESCRIPT], ids=lambda path: path.name)
def test_no_list_of_the_vocabulary_stands_in_a_source_file(path: Path) -> None:
    found = [words & listed for words in collections_in(path.read_text(encoding="utf-8")) for listed in VOCABULARY]
    assert [sorted(words) for words in found if len(words) >= SHARED] == []


@pytest.mark.parametrize("path", [*PYTHON, *TYPESCRIPT], ids=lambda path: path.name)
def test_no_sentence_of_the_loop_stands_in_a_source_file(path: Path) -> None:
    code = _COMMENTS.sub("", path.read_text(encoding="utf-8"))
    assert [sentence for sentence in SENTENCES if sentence in code] == []


def test_no_list_of_words_stands_in_both_languages() -> None:
    python, typescript = (
        {words: path.name for path in paths for words in collections_in(path.read_text(encoding="utf-8")) if len(words) >= MANY}
        for paths in (PYTHON, TYPESCRIPT)
    )
    assert {(python[words], typescript[words]): sorted(words) for words in python.keys() & typescript.keys()} == {}


@pytest.mark.parametrize(
    "source",
    [
        '_CUES = frozenset({"and", "then", "also", "plus", "next", "so"})',
        "const CUES = [\n  'and', 'then',\n  'also', 'plus', 'next', 'so',\n];",
        'const CUES = "and then also plus next so".split(\n  " ",\n);',
        r"const CUES = /\b(?:and|then|also|plus|next|so)\b/;",
        'const CUES = { and: "1", then: "2", also: "3", plus: "4", next: "5", so: "6" };',
        '_CUES = {"and": 1, "then": 2, "also": 3,\n    "plus": 4, "next": 5, "so": 6}',
    ],
    ids=["set", "list", "text", "alternatives", "object", "mapping"],
)
def test_a_list_is_found_however_it_is_written(source: str) -> None:
    assert frozenset({"and", "then", "also", "plus", "next", "so"}) in set(collections_in(source))
