"""Markdown on the terminal, as it is written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.terminal.markdown import MarkdownStream

PLAIN = re.compile(r"\x1b\[[0-9;]*m")
BOLD, CODE, RED, GREEN, FAINT, OFF = "\x1b[1m", "\x1b[36m", "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"


def styled(text: str, size: int = 10_000) -> str:
    stream = MarkdownStream()
    pieces = [stream.feed(text[start : start + size]) for start in range(0, len(text), size)]
    return "".join(pieces) + stream.end()


CASES = {
    "words": ("It is so.\n", "It is so.\n"),
    "bold": ("It is **so**.", f"It is {BOLD}so{OFF}."),
    "bold at both ends": ("**so**", f"{BOLD}so{OFF}"),
    "code": ("see `a.txt`!", f"see {CODE}`a.txt`{OFF}!"),
    "a heading": ("# So\nit is", f"{BOLD}So{OFF}\nit is"),
    "a heading with code": ("## So `a`, b\n", f"{BOLD}So {CODE}`a`{OFF}{BOLD}, b{OFF}\n"),
    "a heading at the end": ("# So", f"{BOLD}So{OFF}"),
    "a list": ("- **one**: `a`\n* two\n", f"- {BOLD}one{OFF}: {CODE}`a`{OFF}\n* two\n"),
    "a block": ("```py\nx = **y**  # `z`\n```\nso", f"{FAINT}```py{OFF}\nx = **y**  # `z`\n{FAINT}```{OFF}\nso"),
    "a diff": ("```diff\n-a\n+b\n c\n```\n", f"{FAINT}```diff{OFF}\n{RED}-a{OFF}\n{GREEN}+b{OFF}\n c\n{FAINT}```{OFF}\n"),
    "a block at the end": ("```\nx\n```", f"{FAINT}```{OFF}\nx\n{FAINT}```{OFF}"),
    "a block in a longer one": (
        "````\n```\n# x\n````\n**y**",
        f"{FAINT}````{OFF}\n```\n# x\n{FAINT}````{OFF}\n{BOLD}y{OFF}",
    ),
    "a block that never ends": ("```\nx `y", f"{FAINT}```{OFF}\nx `y"),
    "powers": ("2 ** 3 ** 4, 2**3", "2 ** 3 ** 4, 2**3"),
    "patterns": ("**/*.py, src/**/x and *.txt, *.md", "**/*.py, src/**/x and *.txt, *.md"),
    "keywords": ("f(*args, **kwargs) and **more", "f(*args, **kwargs) and **more"),
    "an open mark": ("a `b and **c\nd", "a `b and **c\nd"),
    "no heading": ("#1 and\n#\n####### x", "#1 and\n#\n####### x"),
    "underscores": ("_a_ __init__", "_a_ __init__"),
}


@pytest.mark.parametrize("size", [1, 2, 3, 10_000])
@pytest.mark.parametrize(("text", "written"), CASES.values(), ids=list(CASES))
def test_marks_style_what_they_stand_around_however_the_text_comes(text: str, written: str, size: int) -> None:
    assert styled(text, size) == written


WRITTEN = st.lists(st.sampled_from([*"`*#~-+@ \nab.1", "**", "```", "```diff\n", "## "]), max_size=40).map("".join)


@given(WRITTEN, st.integers(1, 7))
def test_nothing_is_lost_but_marks_and_every_style_ends(text: str, size: int) -> None:
    written = styled(text, size)
    assert written == styled(text)
    bare = PLAIN.sub("", written)
    assert re.sub(r"[*#\s]", "", bare) == re.sub(r"[*#\s]", "", text)
    assert bare.count("\n") == text.count("\n")
    if "\x1b" in written:
        assert PLAIN.findall(written)[-1] == OFF


def test_a_mark_holds_back_no_more_than_some_words() -> None:
    stream = MarkdownStream()
    shown = stream.feed("`" + "x" * 500)
    assert len(shown) > 400
