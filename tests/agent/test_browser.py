"""JSON and white space as the browser has them. What it writes is held to the vectors of those who write it."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.browser import as_json, ordered, trim


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": [1, True, None], "2": {}, "10": "x", "1": []}, '{"1":[],"2":{},"10":"x","b":[1,true,null]}'),
        ([1.0, -0.0, 0.1, 1e-6, 1.25e-5, 1e-7, -2.5e-10], "[1,0,0.1,0.000001,0.0000125,1e-7,-2.5e-10]"),
        ("\u2028 \x7f é 😀 \n\x01", '"\u2028 \x7f é 😀 \\n\\u0001"'),
        ("half \ud83d, half \ude00, whole \ud83d\ude00", '"half \\ud83d, half \\ude00, whole 😀"'),
    ],
)
def test_json_is_written_as_the_browser_writes_it(value: Any, written: str) -> None:
    assert as_json(value) == written


def test_a_hundred_thousand_names_are_put_in_order_at_once() -> None:
    names = {str(number): number for number in reversed(range(100_000))}
    assert list(ordered(names)) == sorted(names, key=int)


def test_white_space_is_what_the_browser_takes_for_it() -> None:
    assert trim("\ufeff\u00a0\u2003\u3000 a\u0085 \v") == "a\u0085"
    assert trim("\x1c\x1f") == "\x1c\x1f"
