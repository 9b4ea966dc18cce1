"""The example files of other runners, run as they are: in the sandbox, each call asked about, and nothing without a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import AgentCommand, agent_command, call

BASH_EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "debugger-tools-bash.json"
QUESTION = r"Allow it\? \[y/t\(urn\)/s\(ession\)/N\] "


def tool(name: str, parameter: str, template: str) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Does {name}",
            "parameters": {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]},
            "_exec": template,
            "_exec_args": [parameter],
        },
    }


TOOLS = [
    tool("read_file", "path", 'cat "$path"'),
    tool("echo", "text", "printf '%s' \"$text\""),
    tool("run_test", "node", 'nonesuch -xvs "$node" 2>&1 | tail -60'),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "a.txt").write_text("what is in it\n")
    (tmp_path / "elsewhere.txt").write_text("not to be seen\n")
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    return tmp_path


def without_modules(at: AgentCommand) -> AgentCommand:
    at.extra = {"COUNTERSIGN_TOOLS_MODULES": "[]"}
    return at


@pytest.mark.requirement("000-37", "the examples do in the sandbox what they say, after a yes for each call")
async def test_the_examples_do_what_they_say_after_a_yes_for_each_call(home: Path) -> None:
    replies = [
        call("read_file", path=str(home / "workspace" / "a.txt")),
        call("read_file", path=str(home / "elsewhere.txt")),
        call("echo", text="it's $(date)"),
        call("run_test", node="tests/test_loss.py"),
        Reply("Done."),
    ]
    said = ["what is in it", "read_file ended with exit code 1", r"it's \$\(date\)", "nonesuch: command not found"]
    async with (
        agent_command(home, *replies) as at,
        without_modules(at).open_terminal("--tools", "tools.json", "--single", "go") as ada,
    ):
        for words in said:
            await ada.expect(QUESTION)
            ada.type("y\n")
            await ada.expect(words)
        await ada.expect(r"Done\.")
        assert await ada.wait() == 0
    assert "not to be seen" not in ada.output


async def test_without_a_person_an_example_does_not_run_and_the_exit_status_says_so(home: Path) -> None:
    async with agent_command(home, call("echo", text="hello"), Reply("Not done.")) as at:
        code, out, err = await without_modules(at).run("--tools", "tools.json", "--single", "say hello")
    assert (code, out) == (3, "Not done.\n")
    assert "`echo` needs an approval, and there is no terminal to ask at, so it does not run" in err


async def test_the_exit_code_of_a_test_is_not_hidden_by_the_pipe_behind_it(home: Path) -> None:
    replies = [call("run_test", node="tests/test_nothing.py::test_none"), Reply("It failed.")]
    arguments = ("--tools", str(BASH_EXAMPLE), "--single", "run it")
    async with agent_command(home, *replies) as at, without_modules(at).open_terminal(*arguments) as ada:
        await ada.expect(QUESTION)
        ada.type("y\n")
        await ada.expect(r"run_test ended with exit code [1-9]")
        assert await ada.wait() == 0
