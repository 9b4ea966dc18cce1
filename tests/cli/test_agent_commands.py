"""Commands at the prompt, which no model gets to see, and conversations that are gone on with."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import agent_command, call

QUESTION = r"Allow it\? \[y/t\(urn\)/s\(ession\)/N\] "


@pytest.mark.requirement("002-23", "the terminal answers its commands without the model")
async def test_commands_are_answered_without_the_model(tmp_path: Path) -> None:
    typed = b"/help\n/tools\n/inspect note\n/inspect nothing\n/model\n/grants\n/frobnicate\nexit\nnever\n"
    async with agent_command(tmp_path) as at:
        code, out, err = await at.run(given=typed)
        assert (code, out, at.backend.asked) == (0, "", []), err
    for words in (
        r"│ module:\S+, \d+ tools",
        r"/call NAME \{…\} +call a tool yourself",
        r"│ +peek: .* \(runs by itself\)",
        r"│ +note: .* \(needs your yes\)",
        r"│ +erase: .* \(needs your passkey\)",
        r'"what": \{',
        r"There is no tool called `nothing` here",
        r"│ answers  scripted, served by 127\.0\.0\.1:\d+, [\d,]+ tokens of context",
        r"No permission holds for more than one call",
        r"There is no command `/frobnicate`",
    ):
        assert re.search(words, err), (words, err)


@pytest.mark.requirement("002-51", "another model answers from the next message on, and the record names the one that did")
async def test_the_record_names_the_model_that_really_answered(tmp_path: Path) -> None:
    typed = b"hello\n/model stub:1\nlist notes/\n/model scripted\nhello again\n"
    async with agent_command(tmp_path, Reply("The first."), Reply("The first again.")) as at:
        at.extra = {**at.extra, "COUNTERSIGN_OTHER_MODELS": '["stub"]'}
        code, out, err = await at.run("--builtin-tools", given=typed)
        assert (code, len(at.backend.asked)) == (0, 2), err
        assert re.search(r"The first\.(?s:.*)notes holds 3 entries(?s:.*)The first again\.", out), out
        _, listed, _ = await at.run("audit", "show", "--json", "--limit", "200")
    bodies = [orjson.loads(line)["body"] for line in listed.splitlines()]
    used = [body["modelId"] for body in bodies if body["event"] == "inference:finished"]
    assert [each.partition(":")[0] for each in reversed(used)] == ["remote", "stub", "stub", "remote"]


@pytest.mark.requirement("002-23", "a call of the person's own passes the same gate")
async def test_a_call_of_the_persons_own_goes_through_the_same_gate(tmp_path: Path) -> None:
    async with agent_command(tmp_path) as at, at.open_terminal() as ada:
        await ada.expect("you> ")
        ada.type('/call note {"what": "milk"}\n')
        await ada.expect(QUESTION)
        assert at.effects() == []
        ada.type("s\n")
        await ada.expect("did note milk 1")
        await ada.expect("you> ")
        ada.type("/grants\n")
        await ada.expect(r"note\(.*what: milk.*\): 0 of \d+ uses")
        await ada.expect("you> ")
        ada.type("/call peek {\n")
        await ada.expect("The arguments must be one JSON object")
        await ada.expect("you> ")
        ada.type("quit\n")
        assert await ada.wait() == 0
        assert (at.effects(), at.backend.asked) == (["note milk 1"], [])


@pytest.mark.requirement("002-22", "the terminal goes on with a conversation where it was left")
async def test_a_conversation_is_gone_on_with_where_it_was_left(tmp_path: Path) -> None:
    replies = [call("peek", what="one"), Reply("It was one."), Reply("One again."), Reply("And again.")]
    async with agent_command(tmp_path, *replies) as at:
        assert (await at.run("--single", "peek at one"))[0] == 0
        code, out, err = await at.run("--resume", "last", "--single", "what was it?")
        assert (code, out) == (0, "One again.\n"), err
        assert "Going on with `peek at one`, in which you spoke once." in err
        _, _, listed = await at.run(given=b"/conversations\n")
        (found,) = re.findall(r"(cnv_\S+) .*peek at one", listed)
        async with at.open_terminal("--resume", found) as ada:
            await ada.expect("you> ")
            ada.type("\x1b[A?\n")
            await ada.expect(r"agent> And again\.")
            ada.type("exit\n")
            assert await ada.wait() == 0
    heard = [message["content"] for message in at.backend.asked[-1]["messages"]]
    assert [words for words in heard if words in ("peek at one", "what was it?", "what was it??", "It was one.")] == [
        *("peek at one", "It was one.", "what was it?", "what was it??"),
    ]
    assert any("did peek one" in words for words in heard)


async def test_a_conversation_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("Hello.")) as at:
        code, _, err = await at.run("--resume", "last", "--single", "hi")
        assert (code, "no conversation yet" in err) == (2, True), err
        assert (await at.run("--single", "good morning", given=b"see you\n"))[0] == 0
        code, out, err = await at.run("--resume", "cnv_nobody", "--single", "hi")
    assert (code, out) == (2, "")
    assert "you have no conversation `cnv_nobody`" in err
    assert "(good morning)" in err
