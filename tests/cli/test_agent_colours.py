"""Colours at a real (pseudo-)terminal: what they say, and that nothing from outside can set one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import agent_command, call

COLOURED = {"NO_COLOR": ""}
CAREFUL, GRAVE, STRONG, CODE = (rf"\x1b\[{sgr}m" for sgr in ("1;33", "1;31", "1", "36"))
RED, GREEN, OFF = (rf"\x1b\[{sgr}m" for sgr in ("31", "32", "0"))
ANY = re.compile(r"\x1b\[[0-9;]*m")


async def test_a_question_is_coloured_by_its_stakes_and_shows_what_a_file_loses_and_gains(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "todo.txt").write_text("milk\nbread\n")
    replies = [call("write_file", path="todo.txt", content="milk\n\x1b[32mtea\n"), call("erase", what="x")]
    async with agent_command(tmp_path, *replies) as at:
        at.extra = COLOURED
        async with at.open_terminal("--single", "go") as ada:
            await ada.expect(rf"{CODE}· write_file\(.*\){OFF}\n")
            await ada.expect(rf"{CAREFUL}`write_file` needs your approval:{OFF}\n")
            await ada.expect(rf"│   {RED}- bread{OFF}\n")
            await ada.expect(rf"│   {GREEN}\+ \\u001b\[32mtea{OFF}\n")
            await ada.expect(rf"{STRONG}Allow it\?")
            ada.type("n\n")
            await ada.expect(rf"{GRAVE}This needs a passkey, and you have none yet")
            await ada.expect("waiting for your passkey")
            ada.type("\x03")
            assert await ada.wait() == 130


async def test_markdown_is_styled_as_it_streams_and_ends_with_the_answer(tmp_path: Path) -> None:
    answer = "## Found\n\nIt is **in** `a.txt` \x1b[31m and **not"
    async with agent_command(tmp_path, Reply(answer)) as at:
        at.extra = COLOURED
        async with at.open_terminal() as ada:
            await ada.expect(rf"{STRONG}you> {OFF}")
            ada.type("where?\n")
            await ada.expect(rf"{STRONG}agent> {OFF}{STRONG}Found{OFF}\n\n")
            await ada.expect(rf"It is {STRONG}in{OFF} {CODE}`a\.txt`{OFF} \\u001b\[31m and \*\*not\n")
            ada.type("exit\n")
            assert await ada.wait() == 0
    assert "\x1b[31m" not in ada.output


@pytest.mark.parametrize("extra", [{"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}], ids=["NO_COLOR", "a dumb terminal"])
async def test_where_colours_are_not_wanted_there_are_none(tmp_path: Path, extra: dict[str, str]) -> None:
    replies = [call("note", what="x"), Reply("It is **so**.")]
    async with agent_command(tmp_path, *replies) as at:
        at.extra = extra
        async with at.open_terminal() as ada:
            await ada.expect("you> ")
            ada.type("note x\n")
            await ada.expect(r"Allow it\?")
            ada.type("y\n")
            await ada.expect(r"It is \*\*so\*\*\.")
            ada.type("exit\n")
            assert await ada.wait() == 0
    assert ANY.findall(ada.output) == []


async def test_all_of_a_result_is_shown_on_request_and_a_diff_is_shown_as_one(tmp_path: Path) -> None:
    diff = "@@ -1,20 +1,20 @@\n" + "".join(f" line {number}\n" for number in range(30)) + "-old\n+new\n"
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "change.diff").write_text(diff)
    async with agent_command(tmp_path, call("read_file", path="change.diff"), Reply("Read.")) as at:
        at.extra = COLOURED
        async with at.open_terminal() as ada:
            await ada.expect("you> ")
            ada.type("/result\n")
            await ada.expect(r"There is no result yet")
            ada.type("show me change.diff\n")
            await ada.expect(r"… \d+ more lines; /result 1 shows all")
            await ada.expect(rf"{GREEN}\+new{OFF}")
            await ada.expect("agent> ")
            assert "line 15" not in ada.output
            await ada.expect("you> ")
            ada.type("/result 1\n")
            await ada.expect("line 15")
            await ada.expect("you> ")
            ada.type("/result 2\n")
            await ada.expect("There is no such result any more")
            ada.type("exit\n")
            assert await ada.wait() == 0
