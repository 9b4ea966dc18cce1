"""The examples of docs/examples do what their pages say, in a terminal, and leave the record that is printed there."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from gateway.adapters.inference.catalog import load_catalog, models_folder
from gateway.adapters.inference.fetch import is_present
from tests.examples.walkthroughs import EXAMPLES, WALKTHROUGHS, Walkthrough
from tests.harness.terminal import AgentCommand, agent_command

each = pytest.mark.parametrize("example", WALKTHROUGHS, ids=lambda example: example.name)

PLAIN = {"COUNTERSIGN_TOOLS_MODULES": "[]"}

MODEL_SECONDS = 240
"""For the model to load and to read its prompt, beside everything else on two cores."""


def copy_examples(home: Path) -> None:
    """The commands run from the top of a checkout; what they change is changed in a copy."""
    shutil.copytree(EXAMPLES, home / "docs" / "examples")


async def read_record(at: AgentCommand, example: Walkthrough) -> list[list[str]]:
    """What the command for the record prints, without numbers, times and ids."""
    program, *words = example.commands[2]
    assert program == "countersign"
    code, out, err = await at.run(*words)
    assert code == 0, err
    return [line.split()[2:6] for line in out.splitlines()]


@pytest.mark.requirement("000-37", "the debugger's four steps run from one command")
@each
async def test_the_terminal_command_does_what_its_page_says(example: Walkthrough, tmp_path: Path) -> None:
    copy_examples(tmp_path)
    program, verb, model, *options = example.commands[0]
    assert (program, verb, model) == ("countersign", "agent", "MODEL")
    async with agent_command(tmp_path, *example.replies) as at:
        at.extra = PLAIN
        async with at.open_terminal(*options) as ada:
            for tool in example.asks:
                await ada.expect(f"`{tool}` needs your approval")
                await ada.expect(r"Allow it\?.*\] ")
                ada.type("y\n")
            assert await ada.wait() == 0, ada.output
        assert " ".join(example.answer.split()[:3]) in ada.output
        assert await read_record(at, example) == example.record
        code, _, err = await at.run("audit", "verify", "--state", example.option(0, "--state"))
        assert code == 0, err
    assert example.is_done(tmp_path / example.option(0, "--workspace"))


@each
async def test_a_no_changes_nothing_and_is_on_record(example: Walkthrough, tmp_path: Path) -> None:
    if not example.asks:
        assert {row[2] for row in example.record} == {"auto"}
        return
    copy_examples(tmp_path)
    workspace = tmp_path / example.option(0, "--workspace")
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    async with agent_command(tmp_path, *example.replies) as at:
        at.extra = PLAIN
        async with at.open_terminal(*example.commands[0][3:]) as ada:
            for tool in example.asks:
                await ada.expect(f"`{tool}` needs your approval")
                await ada.expect(r"Allow it\?.*\] ")
                ada.type("n\n")
            await ada.wait()
        denied = [row[1] for row in await read_record(at, example) if "deniedByUser" in row]
    assert denied == [*reversed(example.asks)]
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


@each
def test_terminal_browser_and_record_are_of_the_same_folders(example: Walkthrough) -> None:
    terminal, browser, record = example.commands
    assert browser[:2] == ["countersign", "serve"]
    assert record[:3] == ["countersign", "audit", "show"]
    assert {example.option(place, "--state") for place in range(3)} == {f"state/{example.name}"}
    assert example.option(0, "--workspace") == example.option(1, "--workspace")
    assert ("--tools" in terminal) == ("--tools" in browser)


def test_every_example_is_on_the_first_page() -> None:
    page = (EXAMPLES / "README.md").read_text()
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert folders == {example.name for example in WALKTHROUGHS}
    assert all(f"({name}/README.md)" in page for name in folders)


@pytest.mark.live
async def test_the_default_model_answers_out_of_one_log(tmp_path: Path) -> None:
    folder = models_folder(os.environ)
    assert is_present(load_catalog(folder).find("default"), folder), "run `countersign models fetch`"
    copy_examples(tmp_path)
    (example,) = [each for each in WALKTHROUGHS if each.name == "log-folder"]
    where = ("--workspace", example.option(0, "--workspace"), "--state", example.option(0, "--state"))
    async with agent_command(tmp_path) as at:
        at.model, at.extra = "default", {**PLAIN, "COUNTERSIGN_MODELS": str(folder)}
        process = await at.start(*where, "--single", "which error is in logs/database.log?")
        async with asyncio.timeout(MODEL_SECONDS):
            out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert "no space left" in out.decode()
        assert await read_record(at, example) == [["call:closed", "read_file", "auto", "ok"]]
