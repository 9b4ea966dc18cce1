"""Several parts of the terminal that wait for one keyboard."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Generator

from gateway.cli.terminal.keyboard import Keyboard
from tests.harness.terminal import PATIENCE


async def test_a_reader_that_is_cancelled_late_leaves_the_keyboard_to_the_one_after_it() -> None:
    master, slave = os.openpty()
    try:
        with os.fdopen(slave) as terminal:
            keyboard = Keyboard(terminal)
            question = asyncio.ensure_future(keyboard.read_line())
            await asyncio.sleep(0)
            prompt = asyncio.ensure_future(keyboard.read_line())
            await asyncio.sleep(0)
            question.cancel()
            await asyncio.gather(question, return_exceptions=True)
            os.write(master, b"still there?\n")
            async with asyncio.timeout(PATIENCE):
                assert await prompt == "still there?"
    finally:
        os.close(master)


async def test_what_is_typed_goes_to_the_one_that_came_last_and_the_rest_to_the_one_before() -> None:
    master, slave = os.openpty()
    try:
        with os.fdopen(slave) as terminal:
            keyboard = Keyboard(terminal)
            first = asyncio.ensure_future(keyboard.read_line())
            await asyncio.sleep(0)
            second = asyncio.ensure_future(keyboard.read_line())
            await asyncio.sleep(0)
            async with asyncio.timeout(PATIENCE):
                os.write(master, b"one\n")
                assert await second == "one"
                os.write(master, b"two\n")
                assert await first == "two"
    finally:
        os.close(master)


@contextlib.contextmanager
def typed(text: bytes) -> Generator[Keyboard]:
    """A keyboard on which that was typed ahead."""
    master, slave = os.openpty()
    try:
        with os.fdopen(slave) as terminal:
            os.write(master, text)
            yield Keyboard(terminal)
    finally:
        os.close(master)


async def test_additions_are_whole_lines_that_say_also_and_the_others_wait() -> None:
    with typed(b"next\nalso one\nAnd also two\nalsoever\nalso not ended") as keyboard:
        assert keyboard.take_additions() == ["also one", "And also two"]
        assert keyboard.take_additions() == []
        async with asyncio.timeout(PATIENCE):
            assert [await keyboard.read_line(), await keyboard.read_line()] == ["next", "alsoever"]


async def test_an_addition_is_no_answer_to_a_question_and_nothing_typed_before_one_is() -> None:
    with typed(b"y\nalso one\ny\n") as keyboard:
        keyboard.forget()
        asked = asyncio.ensure_future(keyboard.read_line())
        await asyncio.sleep(0.05)
        assert not asked.done()
        asked.cancel()
        assert keyboard.take_additions() == ["also one"]


async def test_a_ctrl_d_that_is_typed_ahead_stays_for_the_prompt() -> None:
    with typed(b"also one\n\x04") as keyboard:
        assert keyboard.take_additions() == ["also one"]
        assert keyboard.take_additions() == []
        async with asyncio.timeout(PATIENCE):
            assert await keyboard.read_line() is None
