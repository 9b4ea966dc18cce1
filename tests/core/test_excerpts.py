"""A piece of a text around what was looked for."""

from __future__ import annotations

from gateway.core.excerpts import excerpt_of


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert excerpt_of("one\n  two", ["two"]) == "one two"
    assert excerpt_of("", ["two"]) == ""


def test_a_long_text_is_shown_around_the_first_of_the_words() -> None:
    text = "a" * 100 + " Needle " + "b" * 200 + " pin"
    shown = excerpt_of(text, ["pin", "needle"], 60)
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert " Needle " in shown
    assert len(shown) == 62


def test_what_stands_at_an_end_fills_the_piece() -> None:
    text = "c" * 100 + " pin"
    assert excerpt_of(text, ["pin"], 50) == "…" + text[-50:]
    assert excerpt_of(text, ["nothing"], 50) == text[:50] + "…"
