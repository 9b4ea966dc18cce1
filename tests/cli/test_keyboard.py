"""Several parts of the terminal that wait for one keyboard."""

from __future__ import annotations

import asyncio
import os

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
