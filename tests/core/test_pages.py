"""Pages of long texts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.pages import (
    NOTE_BYTES,
    READER,
    SMALLEST_PAGE,
    first_page_note,
    next_page_note,
    page_ends,
    page_size,
    read_page,
    with_note,
)


@given(st.text(st.sampled_from("aé🙂\n"), max_size=400), st.integers(4, 50))
def test_the_pages_of_a_text_are_the_text(text: str, size: int) -> None:
    raw = text.encode()
    pages = [read_page(raw, size, page)[0] for page in range(1, len(page_ends(raw, size)) + 1)]
    assert "".join(pages) == text
    assert all(0 < len(page.encode()) <= size for page in pages[:-1])


def test_a_page_ends_with_a_line_where_one_ends_in_its_second_half() -> None:
    assert read_page(b"aaaa\nbbbb\ncccc\n", 12, 1) == ("aaaa\nbbbb\n", 2)
    assert read_page(b"a\n" + b"b" * 30, 12, 1) == ("a\n" + "b" * 10, 3)


@pytest.mark.parametrize("page", [-1, 0, 4, 10**9])
def test_a_page_that_is_not_there_is_empty(page: int) -> None:
    assert read_page(b"x" * 30, 10, page) == ("", 3)


def test_the_longest_note_fits_into_its_room() -> None:
    result_id, words = "res_" + "x" * 22, "w" * 100
    assert len(first_page_note(8 << 20, 8 << 20, result_id, 10**6).encode()) + 1 <= NOTE_BYTES
    note = next_page_note(10**6, 10**6 + 1, {"result_id": result_id, "search": words})
    assert len(note.encode()) + 1 <= NOTE_BYTES + len(json.dumps(words))


def test_a_cap_that_leaves_no_room_for_pages_has_none() -> None:
    assert page_size(NOTE_BYTES + SMALLEST_PAGE) == SMALLEST_PAGE
    assert page_size(NOTE_BYTES + SMALLEST_PAGE - 1) is None


def test_a_note_is_a_line_of_its_own_and_names_the_next_call() -> None:
    assert with_note("a", "[n]") == "a\n[n]"
    assert with_note("a\n", "[n]") == "a\n[n]"
    assert with_note("", "[n]") == "[n]"
    note = next_page_note(2, 3, {"result_id": "r", "search": 'a "b"'})
    called = note[note.index(READER) + len(READER) : note.rindex("}") + 1]
    assert json.loads(called) == {"result_id": "r", "search": 'a "b"', "page": 3}
    assert next_page_note(3, 3, {"result_id": "r"}) == "[page 3 of 3, the end]"
