"""The line at the prompt, key by key."""

from __future__ import annotations

import pytest

from gateway.cli.terminal.editor import LineEditor, LineState, columns_of

SAID = ("first", "second")


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("hello", "hello"),
        ("helo\x1b[Dl", "hello"),
        ("ello\x1b[Hh", "hello"),
        ("hell\x01\x05o", "hello"),
        ("hellp\x7fo", "hello"),
        ("\x7f\x1b[D\x1b[3~hello", "hello"),
        ("xhello\x1b[1~\x1b[3~", "hello"),
        ("xhello\x01\x04", "hello"),
        ("hello big world \x17\x17", "hello "),
        ("goodbye\x15hello", "hello"),
        ("hello, you\x02\x02\x02\x02\x02\x0b", "hello"),
        ("\x1b[A", "second"),
        ("\x1b[A\x1b[A\x1b[A", "first"),
        ("begun\x1b[A\x1b[B", "begun"),
        ("\x1bOA\x1bOB\x1b[B", ""),
        ("\x1b[A!\x1b[A\x1b[B", "second!"),
        ("a\x1b[200~one\r\ntwo\rthree\n\x1b[201~b", "aone\ntwo\nthree\nb"),
        ("\x1b[200~\x1b[31mred\x07\x1b[201~", "[31mred"),
        ("he\x1b[15~l\x1bxl\x0co", "hello"),
        ("日本\x1b[Dx", "日x本"),
        ("a\\b", "a\\b"),
        ("big world\x1bb\x1bbvery ", "very big world"),
        ("big world\x1b[1;5D\x1b[1;5D\x1b[1;5C!", "big! world"),
        ("big world\x01\x1bd", " world"),
        ("big world\x17\x01\x19", "worldbig "),
        ("one\x1b\ntwo", "one\ntwo"),
        ("cafe\u0301\x1b[D\x1b[3~!", "caf!"),
        ("\x12fir\x05", "first"),
        ("\x12s\x12\x05", "first"),
        ("\x12sec\x7f\x7f\x7ffi\x05!", "first!"),
        ("begun\x12first\x07", "begun"),
        ("begun\x12xyz\x05", "begun"),
    ],
)
def test_keys_do_what_they_do_in_other_shells(typed: str, text: str) -> None:
    editor = LineEditor(SAID)
    assert editor.take(typed) == (LineState.GOES_ON, "")
    assert editor.text == text


def test_return_says_the_line_and_leaves_the_rest_for_the_next() -> None:
    editor = LineEditor()
    assert editor.take("one\ntwo\n") == (LineState.SAID, "two\n")
    assert editor.text == "one"


@pytest.mark.requirement("000-33", "Ctrl-D ends the input on an empty line only")
def test_ctrl_d_ends_the_input_on_an_empty_line_only() -> None:
    assert LineEditor().take("\x04x") == (LineState.ENDED, "x")
    assert LineEditor().take("\x00") == (LineState.ENDED, "")
    assert LineEditor().take("x\x04") == (LineState.GOES_ON, "")


@pytest.mark.parametrize("key", ["\x1b[200~one\ntwo\n\x1b[201~", "\x1b[A", "\x1bOA", "\x1b[3~"])
def test_a_key_that_comes_in_pieces_is_waited_for(key: str) -> None:
    for cut in range(1, len(key)):
        whole, torn = LineEditor(SAID), LineEditor(SAID)
        state, rest = torn.take(key[:cut])
        assert state is LineState.GOES_ON
        assert rest == key[:cut]
        assert torn.take(rest + key[cut:]) == whole.take(key) == (LineState.GOES_ON, "")
        assert torn.text == whole.text


def test_whatever_is_typed_one_row_holds_it_with_the_cursor_in_sight() -> None:
    editor = LineEditor()
    editor.take("日本語 and " * 20 + "\x1b[D" * 37)
    for room in (8, 20, 39, 80):
        before, after = editor.show(room)
        assert columns_of(before + after) <= room
        assert (before + after) in editor.whole()
        assert before
        assert after


def test_what_would_draw_nothing_or_move_the_cursor_is_spelt_out() -> None:
    editor = LineEditor()
    editor.take("\x1b[200~a\nb\u202ec\\d\x1b[201~")
    assert editor.show(80) == ("a\\nb\\u202ec\\d", "")


def test_return_says_what_was_found() -> None:
    editor = LineEditor(SAID)
    assert editor.take("\x12fir\n") == (LineState.SAID, "")
    assert editor.text == "first"


def offer(before: str) -> tuple[str, tuple[str, ...]]:
    word = before.rsplit(" ", maxsplit=1)[-1]
    return word, tuple(name for name in ("notes/", "notes.md", "todo.txt") if name.startswith(word))


@pytest.mark.parametrize(
    ("typed", "text", "offers"),
    [
        ("read to\t", "read todo.txt ", ()),
        ("read no\t", "read notes", ()),
        ("read notes\t", "read notes", ("notes/", "notes.md")),
        ("read notes\t.", "read notes.", ()),
        ("read notes/\t", "read notes/", ()),
        ("read nothing\t", "read nothing", ()),
        ("read to now\x1bb\x02\t", "read todo.txt  now", ()),
    ],
)
def test_tab_goes_on_as_far_as_there_is_one_way_and_then_shows_the_ways(typed: str, text: str, offers: tuple[str, ...]) -> None:
    editor = LineEditor((), offer)
    editor.take(typed)
    assert (editor.text, editor.offers) == (text, offers)
