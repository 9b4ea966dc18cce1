"""The prompt of the agent at a pseudo-terminal: what is typed and when, and what of it is kept."""

from __future__ import annotations

import asyncio
import io
import os
import re
from pathlib import Path

from gateway.adapters.inference.scripted import Reply
from gateway.cli.terminal.completer import Completer
from gateway.cli.terminal.history import PromptHistory
from gateway.cli.terminal.keyboard import Keyboard
from gateway.cli.terminal.prompt import Prompt
from gateway.cli.terminal.screen import Screen
from tests.harness.terminal import PATIENCE, agent_command, call

QUESTION = r"Allow it\? \[y/t\(urn\)/s\(ession\)/N\] "


async def test_what_was_said_in_an_earlier_launch_is_called_back_and_searched(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("One."), Reply("Two."), Reply("Three.")) as at:
        async with at.open_terminal() as ada:
            await ada.expect(r"scripted, served by 127\.0\.0\.1:\d+")
            await ada.expect("you> ")
            ada.type("tell me one\n")
            await ada.expect(r"agent> One\.")
            await ada.expect("you> ")
            ada.type("exit\n")
            assert await ada.wait() == 0
        async with at.open_terminal() as ada:
            await ada.expect("you> ")
            ada.type("something else\n")
            await ada.expect(r"agent> Two\.")
            await ada.expect("you> ")
            ada.type("\x12tell")
            await ada.expect("search `tell`> tell me one")
            ada.type("\n")
            await ada.expect(r"agent> Three\.")
            ada.type("exit\n")
            assert await ada.wait() == 0
    said = [asked["messages"][-1]["content"] for asked in at.backend.asked]
    assert said == ["tell me one", "something else", "tell me one"]


async def test_tab_completes_commands_tools_and_files(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("Yes.")) as at, at.open_terminal() as ada:
        await ada.expect("you> ")
        ada.type("/insp\tpe\t\n")
        await ada.expect(r"│ peek runs by itself")
        await ada.expect("you> ")
        ada.type("think of notes/\t")
        await ada.expect(r"│ notes/ideas\.md")
        await ada.expect(r"│ notes/todo\.txt")
        ada.type("t\t\n")
        await ada.expect(r"agent> Yes\.")
        ada.type("exit\n")
        assert await ada.wait() == 0
    assert at.backend.asked[0]["messages"][-1]["content"] == "think of notes/todo.txt"


async def test_keys_that_are_pressed_during_a_turn_leave_no_trace_in_it_and_wait_for_the_prompt(tmp_path: Path) -> None:
    story = Reply("Once upon a time there was", stalls_after=3)
    async with agent_command(tmp_path, story, Reply("Yes.")) as at, at.open_terminal() as ada:
        await ada.expect("you> ")
        ada.type("tell me a story\n")
        await ada.expect("Once")
        ada.type("impatience")
        ada.type("\x03")
        await ada.expect("Stopping")
        stopped = ada.output
        await ada.expect("you> ")
        ada.type(" is typed\n")
        await ada.expect(r"agent> Yes\.")
        ada.type("exit\n")
        assert await ada.wait() == 0
    assert "\n …" not in ada.output
    assert "impatience" not in stopped
    assert "^C" not in stopped


async def test_keys_at_a_question_are_shown_and_those_before_it_are_not(tmp_path: Path) -> None:
    replies = [call("note", what="x"), Reply("Left.")]
    async with agent_command(tmp_path, *replies) as at, at.open_terminal("--single", "note x") as ada:
        await ada.expect("needs your approval")
        ada.type("yes\n")
        await ada.expect(QUESTION)
        ada.type("nope\n")
        await ada.expect(r"nope\nPlease answer")
        # Keys before the question that is asked again are thrown away.
        await ada.expect(QUESTION)
        ada.type("n\n")
        assert await ada.wait() == 0
        assert ada.modes() == ada.given
    assert re.search(r"\byes\b", ada.output.replace("needs your yes", "").replace("n's yes", "")) is None
    assert at.effects() == []


async def test_what_is_added_and_no_step_follows_is_the_next_message(tmp_path: Path) -> None:
    master, slave = os.openpty()
    try:
        with os.fdopen(slave) as terminal:
            os.write(master, b"also this\nmore\n")
            keyboard = Keyboard(terminal)
            keyboard.forget()
            prompt = Prompt(keyboard, Screen(io.StringIO(), io.StringIO()), PromptHistory(tmp_path), Completer(tmp_path))
            async with asyncio.timeout(PATIENCE):
                assert await prompt.read() == "also this"
    finally:
        os.close(master)


async def test_what_is_added_while_the_agent_works_answers_no_question_and_goes_into_the_next_step(tmp_path: Path) -> None:
    replies = [call("note", what="x"), Reply("Left, and yours is taken in.")]
    async with agent_command(tmp_path, *replies) as at, at.open_terminal() as ada:
        await ada.expect("you> ")
        ada.type("note x\n")
        await ada.expect("needs your approval")
        ada.type("y\nalso say yes\ny\n")
        await ada.expect(QUESTION)
        ada.type("n\n")
        await ada.expect("you> also say yes\n")
        await ada.expect(r"agent> Left, and yours is taken in\.")
        await ada.expect("you> ")
        ada.type("exit\n")
        assert await ada.wait() == 0
    assert at.effects() == []
    asked = at.backend.asked[1]["messages"]
    assert [each["role"] for each in asked[-2:]] == ["tool", "user"]
    assert asked[-1]["content"] == "also say yes"
