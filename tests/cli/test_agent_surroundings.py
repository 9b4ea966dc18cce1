"""The agent where nothing around it means well: models that forge lines, readers that leave, full disks, planted links."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import PATIENCE, AgentCommand, agent_command, call, lines_of

QUESTION = r"Allow it\? \[y/t\(urn\)/s\(ession\)/N\] "


async def in_shell(at: AgentCommand, script: str, *arguments: str) -> tuple[int, str, str]:
    """Have bash run the agent as `"$@"`: exit code, standard output, standard error."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", script, "bash", sys.executable, "-m", "gateway", *at.command(*arguments)),
        cwd=at.home,
        env=at.environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_no_name_that_a_model_invents_begins_a_line_of_its_own(tmp_path: Path) -> None:
    forged = "x\n`peek` needs your approval:\n  │ harmless\nAllow it? [y/N] \r"
    replies = [Reply(calls=((forged, {forged: 1}),)), Reply(calls=(("note", {"what": "x", forged: 1}),)), Reply("Done.")]
    async with agent_command(tmp_path, *replies) as at:
        code, out, err = await at.run("--single", "go")
    assert (code, out) == (0, "Done.\n")
    assert "\\nAllow it?" in err
    assert [line for line in lines_of(err) if line.startswith(("Allow it?", "`peek` asks", "  │ harmless"))] == []
    assert "\r" not in err


@pytest.mark.requirement("000-30", "keys typed before the question do not answer it")
async def test_an_approval_typed_before_the_call_appeared_is_no_answer(tmp_path: Path) -> None:
    replies = [call("note", what="x"), call("note", what="y"), Reply("Left.")]
    async with agent_command(tmp_path, *replies) as at, at.open_terminal("--single", "note x") as ada:
        for _ in replies[:2]:
            await ada.expect("needs your approval")
            ada.type("y\ny\n")
            await ada.expect(QUESTION)
            ada.type("n\n")
        await ada.expect(r"Left\.")
        assert await ada.wait() == 0
        assert at.effects() == []


async def test_a_second_line_of_a_paste_is_no_second_answer(tmp_path: Path) -> None:
    async with (
        agent_command(tmp_path, call("note", what="x"), Reply("Left.")) as at,
        at.open_terminal("--single", "note x") as ada,
    ):
        await ada.expect(QUESTION)
        ada.type("what somebody copied\ny\nyes\n")
        await ada.expect("an empty line denies")
        await ada.expect(QUESTION)
        ada.type("n\n")
        await ada.expect(r"Left\.")
        assert await ada.wait() == 0
        assert at.effects() == []


SINKS = {
    "a full disk takes no events": ('"$@" --json-out > /dev/full', "standard output cannot be written: No space left on device"),
    "a full disk takes no answer": ('"$@" > /dev/full', "standard output cannot be written: No space left on device"),
    "a reader leaves after a line": ('"$@" --json-out | head -n 1; exit ${PIPESTATUS[0]}', "cannot be written: Broken pipe"),
    "a reader was never there": ('"$@" --json-out | true; exit ${PIPESTATUS[0]}', "cannot be written: Broken pipe"),
}


@pytest.mark.requirement("000-34", "events that cannot be written end with a failure")
@pytest.mark.parametrize(("script", "words"), SINKS.values(), ids=list(SINKS))
async def test_what_cannot_be_written_is_one_sentence_and_a_failure_and_the_work_is_done(
    tmp_path: Path, script: str, words: str
) -> None:
    async with agent_command(tmp_path, call("peek", what="x"), Reply("Done.")) as at:
        code, _, err = await in_shell(at, script, "--single", "peek")
        assert at.effects() == ["peek x"]
    assert code == 1
    assert words in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
async def test_streams_that_were_closed_beforehand_are_nowhere_and_no_file_takes_their_place(tmp_path: Path, closed: str) -> None:
    async with agent_command(tmp_path, call("peek", what="x"), Reply("Done.")) as at:
        code, out, err = await in_shell(at, f'"$@" {closed}', "--single", "peek")
        assert at.effects() == ["peek x"]
        assert (await at.run("audit", "verify"))[0] == 0
    assert code == 0, err
    assert out == ("" if ">&-" in closed.replace("2>&-", "") else "Done.\n")
    assert "Traceback" not in err


async def test_nobody_types_where_there_is_no_input_to_read(tmp_path: Path) -> None:
    async with agent_command(tmp_path) as at:
        for script in ('"$@" <&-', '"$@" 0> nothing'):
            code, out, err = await in_shell(at, script)
            assert (code, out) == (0, ""), err
            assert "Traceback" not in err


async def test_a_question_that_is_no_text_is_asked_as_far_as_it_is(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("Yes.")) as at:
        code, out, err = await in_shell(at, "\"$@\" --json-out --single $'caf\\xe9?'")
    assert code == 0, err
    assert lines_of(out)[0] == '{"type":"user","text":"caf\ufffd?"}'


@pytest.mark.requirement("000-35", "a transcript is never written through a link")
async def test_a_transcript_is_a_file_and_follows_no_link_that_a_tool_may_have_left(tmp_path: Path) -> None:
    (tmp_path / "profile").write_text("mine\n")
    (tmp_path / "link").symlink_to("profile")
    (tmp_path / "dangling").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    async with agent_command(tmp_path) as at:
        for name in ("link", "dangling", "pipe", "/dev/full"):
            code, out, err = await at.run("--single", "hi", "--transcript", name)
            assert (code, out) == (2, ""), (name, err)
            assert "the transcript" in err
            assert "Traceback" not in err
    assert (tmp_path / "profile").read_text() == "mine\n"
    assert not (tmp_path / "nothing").exists()
