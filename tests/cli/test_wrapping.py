"""Answers in a terminal, broken between words, as they are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.terminal.markdown import MarkdownStream
from gateway.cli.terminal.wrapping import WordWrap

STYLE = re.compile(r"\x1b\[[0-9;]*m")


def wrapped(text: str, width: int = 24, size: int = 10_000, before: str = "") -> str:
    wrap = WordWrap(before)
    pieces = [wrap.feed(text[start : start + size], width) for start in range(0, len(text), size)]
    return "".join(pieces) + wrap.end()


CASES = {
    "what has room stays": ("it is so and so", "it is so and so"),
    "a full row": ("the note is in the folder", "the note is in the\nfolder"),
    "a row that is full to the last column": ("the note is in a folder.", "the note is in a folder."),
    "several rows": ("a " * 20 + "b", ("a " * 12).strip() + "\n" + ("a " * 8) + "b"),
    "lines of its own": ("one\n\ntwo two two two two two two", "one\n\ntwo two two two two two\ntwo"),
    "an item of a list": ("- call Ana about the roof tomorrow", "- call Ana about the\n  roof tomorrow"),
    "a numbered item": ("12. call Ana about the roof tomorrow", "12. call Ana about the\n    roof tomorrow"),
    "an indented item": ("  * call Ana about the roof", "  * call Ana about the\n    roof"),
    "a block of code": (
        "```\nx = the_first(1, 2) + the_second(3, 4)\n```\nthe note is in the folder",
        "```\nx = the_first(1, 2) + the_second(3, 4)\n```\nthe note is in the\nfolder",
    ),
    "a block in a longer one": (
        "````\n```\na b c d e f g h i j k l m n o p\n````",
        "````\n```\na b c d e f g h i j k l m n o p\n````",
    ),
    "a row of a table": ("| one | two | three | four | five |", "| one | two | three | four | five |"),
    "a link longer than a row": (
        "see https://example.org/a/long/way/to/go for it",
        "see\nhttps://example.org/a/long/way/to/go for it",
    ),
    "writing without spaces": ("漢" * 13, "漢" * 12 + "\n漢"),
    "letters with accents": ("déjà vu à l'été près d'ici, là", "déjà vu à l'été près\nd'ici, là"),
}


@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize(("text", "written"), CASES.values(), ids=list(CASES))
def test_lines_break_between_words_however_the_text_comes(text: str, written: str, size: int) -> None:
    assert wrapped(text, size=size) == written


def test_a_style_takes_no_room() -> None:
    assert wrapped("the \x1b[1mnote is in the\x1b[0m folder") == "the \x1b[1mnote is in the\x1b[0m\nfolder"


def test_what_stands_before_an_answer_takes_room_in_its_first_row() -> None:
    assert wrapped("the note is in a folder.", before="Agent: ") == "the note is in a\nfolder."


def test_a_terminal_too_narrow_for_words_breaks_them_itself() -> None:
    assert wrapped("the note is in the folder", width=12) == "the note is in the folder"


def test_a_wider_terminal_gets_longer_rows_at_once() -> None:
    wrap = WordWrap("")
    first = wrap.feed("the note is in the folder of the notes, and ", 24)
    assert first + wrap.feed("it has more than one line of text in it", 60) + wrap.end() == (
        "the note is in the\nfolder of the notes, and it has more than one line of text\nin it"
    )


WRITTEN = st.lists(st.sampled_from([*"`|- \nabü漢.1", "word ", "```\n", "- "]), max_size=60).map("".join)


@given(WRITTEN, st.integers(1, 7), st.integers(20, 40))
def test_nothing_but_the_place_of_spaces_changes(text: str, size: int, width: int) -> None:
    markdown = MarkdownStream()
    styled = markdown.feed(text) + markdown.end()
    written = wrapped(styled, width=width, size=size)
    assert re.sub(r"\s", "", STYLE.sub("", written)) == re.sub(r"\s", "", STYLE.sub("", styled))
    assert STYLE.findall(written) == STYLE.findall(styled)
