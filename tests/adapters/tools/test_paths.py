"""Paths as models write them (docs/SECURITY.md case 47)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.tools.builtin.paths import read_path, write_path
from gateway.core.errors import ToolFailed


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (".", ()),
        ("./", ()),
        ("notes", ("notes",)),
        ("notes/", ("notes",)),
        ("./notes/./old.txt", ("notes", "old.txt")),
        ("...", ("...",)),
        ("..a/b..", ("..a", "b..")),
        ("a b/ü", ("a b", "ü")),
        ("~", ("~",)),
        ("C:\\x", ("C:\\x",)),
        ("%2e%2e/x", ("%2e%2e", "x")),
    ],
)
def test_a_path_has_one_spelling(text: str, parts: tuple[str, ...]) -> None:
    assert read_path(text) == parts
    assert read_path(write_path(parts)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "..",
        "../x",
        "a/..",
        "a/../../x",
        "./../x",
        "a//b",
        "a//",
        "a\0b",
        "a\nb",
        "\x1b[2J",
        "\x7f",
        "a/\ud800",
        "x" * 256,
        "ü" * 128,
        "a/" * 600,
        ".countersign-1/x",
        "a/.countersign-",
    ],
)
def test_what_is_not_plainly_inside_is_refused(text: str) -> None:
    with pytest.raises(ToolFailed):
        read_path(text)


@given(st.text(alphabet=st.sampled_from("./ab\0\n~\\") | st.characters()))
def test_no_path_leads_up_or_has_two_spellings(text: str) -> None:
    try:
        parts = read_path(text)
    except ToolFailed:
        return
    assert ".." not in parts
    assert not any(part in ("", ".") or "/" in part or "\0" in part for part in parts)
    assert read_path(write_path(parts)) == parts
