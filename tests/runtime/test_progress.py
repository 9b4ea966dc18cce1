"""What a tool says of its progress, on its way to the event loop."""

from __future__ import annotations

import asyncio

import pytest

from gateway.runtime.progress import LINES_KEPT, SaidLines


async def test_case_303_of_a_flood_of_lines_the_newest_few_are_passed_on_at_once() -> None:
    told: list[tuple[str, float | None]] = []
    lines = SaidLines(lambda message, fraction: told.append((message, fraction)))
    for place in range(10_000):
        lines.add(f"line {place}", place / 5_000)
    assert told == []
    await asyncio.sleep(0)
    assert len(told) == LINES_KEPT
    assert told[-1] == ("line 9999", 1.0)
    lines.add("last", None)
    await asyncio.sleep(0)
    assert told[LINES_KEPT:] == [("last", None)]


async def test_odd_lines_are_put_right_and_a_fraction_that_is_no_number_is_the_tools_own_fault() -> None:
    told: list[tuple[str, float | None]] = []
    lines = SaidLines(lambda message, fraction: told.append((message, fraction)))
    lines.add(5, -1.0)  # pyright: ignore[reportArgumentType] - nothing keeps a tool from it
    await asyncio.sleep(0)
    assert told == [("5", 0.0)]
    with pytest.raises(TypeError):
        lines.add("line", "half")  # pyright: ignore[reportArgumentType] - the same
