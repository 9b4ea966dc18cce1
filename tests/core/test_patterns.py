"""Within what an argument may vary: never more than what was on the screen (docs/SECURITY.md promise 5)."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.adapters.tools.builtin.paths import read_path, write_path
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.model import CallFacts
from gateway.core.patterns import Pattern, find_patterns, is_read_off
from gateway.core.vocabulary import PatternKind

IN_NOTES = Pattern("path", PatternKind.FOLDER, "notes")
AT_EXAMPLE = Pattern("url", PatternKind.HOST, "https://example.com")
AT_MOST_FIVE = Pattern("times", PatternKind.AT_MOST, 5)

parts = st.sampled_from(["notes", "notes2", "a.txt", "..", ".", "", "\\", "~", "N\u00f3tes", "notes\u200b", "%2e%2e", "x"])
paths = st.lists(parts, min_size=1, max_size=5).map("/".join)
urls = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["https://", "http://", "https:", "https:\\\\", "HTTPS://", "//", ""]),
        st.sampled_from(["example.com", "example.com:443", "Example.com", "example.com.evil.org", "a@example.com", "evil.org"]),
        st.sampled_from(
            ["", "/", "/a?b=c", "@evil.org/", "\\@evil.org", "#@evil.org", "?x", ".evil.org", ":80@evil.org", "/a b"]
        ),
    ),
)


@pytest.mark.parametrize(
    ("arguments", "facts", "offered"),
    [
        ({"path": "notes/a.txt", "content": "x/y"}, CallFacts(path="notes/a.txt"), [IN_NOTES]),
        ({"path": "a.txt"}, CallFacts(path="a.txt"), []),
        ({"path": "./notes/a.txt"}, CallFacts(path="notes/a.txt"), []),
        ({"path": "notes/a.txt"}, CallFacts(), []),
        ({"url": "https://example.com/a"}, CallFacts(host="example.com"), [AT_EXAMPLE]),
        ({"url": "https://example.com"}, CallFacts(host="example.com"), [AT_EXAMPLE]),
        ({"url": "https://example.com/a"}, CallFacts(host="evil.org"), []),
        ({"url": "https://me@example.com/a"}, CallFacts(host="example.com"), []),
        ({"times": 5, "urgent": True, "none": None, "zero": 0}, CallFacts(), [AT_MOST_FIVE]),
        (
            {"from": "notes/a", "to": "b/c/d"},
            CallFacts(path="notes/a", second_path="b/c/d"),
            [Pattern("from", PatternKind.FOLDER, "notes"), Pattern("to", PatternKind.FOLDER, "b/c")],
        ),
    ],
    ids=str,
)
def test_a_pattern_is_offered_where_the_tools_own_facts_say_what_the_argument_is(
    arguments: dict[str, Json], facts: CallFacts, offered: list[Pattern]
) -> None:
    found = find_patterns(arguments, facts)
    assert list(found) == offered
    assert all(pattern.holds(arguments[pattern.argument]) and is_read_off(pattern, arguments) for pattern in found)


@given(paths)
@example("notes/../letters/a.txt")
@example("notes\\..\\letters")
def test_what_a_folder_covers_is_below_it_for_every_reader_of_paths(path: str) -> None:
    if not IN_NOTES.holds(path):
        return
    assert path.startswith("notes/")
    assert posixpath.normpath(path) == path
    try:
        read = write_path(read_path(path))
    except ToolFailed:
        return
    assert read == path


@given(urls)
def test_what_a_host_covers_is_at_that_host_for_every_reader_of_urls(url: str) -> None:
    if not AT_EXAMPLE.holds(url):
        return
    read = urlsplit(url)
    assert (read.scheme, read.netloc) == ("https", "example.com")
    assert "\\" not in url


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (IN_NOTES, "notes"),
        (IN_NOTES, "notes/"),
        (IN_NOTES, "notes2/a.txt"),
        (IN_NOTES, "Notes/a.txt"),
        (IN_NOTES, "/notes/a.txt"),
        (IN_NOTES, ["notes/a.txt"]),
        (IN_NOTES, None),
        (AT_EXAMPLE, "http://example.com/"),
        (AT_EXAMPLE, "https://example.com:8443/"),
        (AT_EXAMPLE, "https://example.com.evil.org/"),
        (AT_EXAMPLE, "https://example.com@evil.org/"),
        (AT_EXAMPLE, 1),
        (AT_MOST_FIVE, 6),
        (AT_MOST_FIVE, -1),
        (AT_MOST_FIVE, 2.5),
        (AT_MOST_FIVE, "3"),
        (AT_MOST_FIVE, True),
    ],
    ids=str,
)
def test_what_is_not_plainly_inside_is_outside(pattern: Pattern, value: Any) -> None:
    assert not pattern.holds(value)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (IN_NOTES, "notes/b.txt"),
        (IN_NOTES, "notes/2026/b.txt"),
        (AT_EXAMPLE, "https://example.com/other?q=1"),
        (AT_MOST_FIVE, 0),
        (AT_MOST_FIVE, 5),
        (Pattern("share", PatternKind.AT_MOST, 2.5), 1),
    ],
    ids=str,
)
def test_what_was_displayed_is_covered(pattern: Pattern, value: Any) -> None:
    assert pattern.holds(value)


@pytest.mark.parametrize(
    "pattern",
    [Pattern("path", PatternKind.FOLDER, "notes"), Pattern("other", PatternKind.FOLDER, "notes/deep")],
    ids=str,
)
def test_a_wider_folder_than_the_shown_one_is_not_read_off_it(pattern: Pattern) -> None:
    assert not is_read_off(pattern, {"path": "notes/deep/a.txt"})
