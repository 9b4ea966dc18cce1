"""HTML as text (docs/SECURITY.md case 53)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.tools.builtin.reading import MAX_MARKUP, read_html

BASE = "https://example.com/dir/page"


def text_of(markup: str) -> str:
    return read_html(markup, BASE).text


def test_a_page_becomes_its_title_and_its_paragraphs() -> None:
    reading = read_html(
        "<!doctype html><html><head><title>The  title</title><style>p{}</style></head>"
        "<body><!-- no --><h1>Head</h1><p>One &amp; two\n three<br>four</p><script>alert('<p>')</script>"
        "<ul><li>a</li><li>b</li></ul></body></html>",
        BASE,
    )
    assert reading.title == "The title"
    assert reading.text == "Head\n\nOne & two three\nfour\n\n- a\n\n- b"
    assert reading.complete


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a<b", "a"),
        ("a<!-- never ends", "a"),
        ("a<script>never ends", "a"),
        ("<p title='x > y'>z", "z"),
        ('<p title="x > y">z', "z"),
        ("<p don't>z", "z"),
        ("<SCRIPT>x</sCript >y", "y"),
        ("<script>x</scripture>y</script>z", "z"),
        ("<textarea><script></textarea>y", "y"),
        ("&lt;b&gt; &#x41;&#66; &nosuch;", "<b> AB &nosuch;"),
        ("&#" + "9" * 5_000 + ";", "&#" + "9" * 5_000 + ";"),
        ("<tr><td>a</td><td>b</td></tr>", "a | b |"),
        ("<img src=http://beacon.example/x.png alt=photo>y", "y"),
        ("<?php x ?>y<![CDATA[z]]>", "y"),
        ("<svg><text>x</text></svg>y", "y"),
    ],
)
def test_odd_markup_is_still_read(markup: str, text: str) -> None:
    assert text_of(markup) == text


@pytest.mark.parametrize(
    ("attribute", "shown"),
    [
        ('href="/a"', "x <https://example.com/a>"),
        ("href=b?c=1&amp;d", "x <https://example.com/dir/b?c=1&d>"),
        ("HREF = 'https://other.example/'", "x <https://other.example/>"),
        ("href='javascript:alert(1)'", "x"),
        ("href='java\nscript:alert(1)'", "x"),
        ("href='data:text/html,x'", "x"),
        ("href='http://[x'", "x"),
        ("href=" + "y" * 500, "x"),
        ("name=z", "x"),
    ],
)
def test_only_web_links_stand_behind_their_words(attribute: str, shown: str) -> None:
    assert text_of(f"<a {attribute}>x</a>") == shown


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a a=", "<a b='", "<a b=\"'", "<!--", "<!--x-", "<", "</", "<![", "<script>", "&#", "<title>", "<a =' ", "</script"],
)
def test_pages_that_keep_other_parsers_busy_for_hours_are_read(piece: str) -> None:
    """With work that grows by the square, these would outlive any test run."""
    read_html(piece * (MAX_MARKUP // len(piece)), BASE)


def test_only_the_beginning_of_a_huge_page_is_read() -> None:
    reading = read_html("<p>a</p>" + " " * MAX_MARKUP + "<p>b</p>", BASE)
    assert (reading.text, reading.complete) == ("a", False)


@given(st.text(alphabet=st.sampled_from("<>/!-='\" a&;#[]?scripttitle\n") | st.characters(), max_size=200))
def test_no_page_fails(markup: str) -> None:
    read_html(markup, BASE)
