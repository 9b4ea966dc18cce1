"""What asks to edit, move or add to files, sent to the running gateway with links, pipes and races in its way."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import Socket

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]
RULE = """
@id("secrets.kept")
@why("What lies in secrets stays there, and nothing comes in")
forbid (principal, action in Countersign::Action::"anyMode", resource)
when { context.facts has path && context.facts.path like "secrets/*" };
"""


@dataclass
class Desk:
    """Ada's open turn, her console, and the workspace as it lies on the disk."""

    gateway: GatewayProcess
    ada: Person
    console: Socket
    turn: Turn

    @property
    def folder(self) -> Path:
        return self.gateway.workspace

    async def ask(self, tool: str, **arguments: Any) -> tuple[asyncio.Future[Any], dict[str, Any]]:
        """Start a call that a person is asked about: its result to come, and the question as the console opens it."""
        self.turn = await Turn.begin(self.turn.socket)
        call = await self.turn.start(tool, arguments, "c1")
        approval_id = await self.turn.socket.approval_requested("c1")
        return call, await self.console.call("approvals/get", {"approvalId": approval_id})

    async def approve(self, opened: dict[str, Any]) -> None:
        await self.console.call("approvals/decide", self.ada.decision(opened))

    async def run(self, tool: str, **arguments: Any) -> Any:
        """The result after a yes, or of a call that nobody was asked about because it could not work."""
        self.turn = await Turn.begin(self.turn.socket)
        call = await self.turn.start(tool, arguments, "c1")
        asked = asyncio.ensure_future(self.turn.socket.approval_requested("c1"))
        async with asyncio.timeout(20):
            await asyncio.wait([asked, call], return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                asked.cancel()
                return call.result()
            await self.approve(await self.console.call("approvals/get", {"approvalId": await asked}))
            return await call


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    home = tmp_path_factory.mktemp("editing")
    shutil.copytree(ROOT / "policy", home / "rules")
    rules = home / "rules" / "default.cedar"
    rules.write_text(rules.read_text() + RULE)
    gateway = GatewayProcess(home, settings={"COUNTERSIGN_POLICY": "rules"})
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    shell, console = await ada.agent(), await ada.console()
    yield Desk(gateway, ada, console, await Turn.begin(shell))
    await ada.leave()
    assert await gateway.stop() == 0, gateway.output
    assert "Traceback" not in gateway.output


async def test_each_change_is_shown_before_it_is_approved_and_done_after(desk: Desk) -> None:
    todo = desk.folder / "notes" / "todo.txt"
    before = todo.read_text()
    call, opened = await desk.ask("append_file", path="notes/todo.txt", content="- call Max")
    assert opened["preview"]["change"] == "replace"
    assert [line["text"] for line in opened["preview"]["lines"] if line["mark"] == "added"] == ["- call Max"]
    assert todo.read_text() == before
    await desk.approve(opened)
    assert (await call)["outcome"] == "ok"
    assert todo.read_text() == f"{before}- call Max\n"
    call, opened = await desk.ask("edit_file", path="notes/todo.txt", old="- call Max", new="- call Mia")
    marks = [(line["mark"], line["text"]) for line in opened["preview"]["lines"] if line["mark"] != "same"]
    assert marks == [("removed", "- call Max"), ("added", "- call Mia")]
    await desk.approve(opened)
    assert (await call)["outcome"] == "ok"
    assert todo.read_text() == f"{before}- call Mia\n"
    call, opened = await desk.ask("move_file", path="notes/old.txt", to="archive/")
    assert (opened["preview"]["change"], [line["text"] for line in opened["preview"]["lines"]]) == (
        "move",
        ["notes/old.txt", "archive/old.txt"],
    )
    await desk.approve(opened)
    assert (await call)["outcome"] == "ok"
    assert (desk.folder / "archive" / "old.txt").is_file()
    call, opened = await desk.ask("make_directory", path="plans/2026")
    assert opened["preview"]["change"] == "make"
    await desk.approve(opened)
    assert (await call)["outcome"] == "ok"
    assert (desk.folder / "plans" / "2026").is_dir()


async def test_a_no_changes_nothing(desk: Desk) -> None:
    (desk.folder / "kept.txt").write_text("kept\n")
    for tool, arguments in (
        ("append_file", {"path": "kept.txt", "content": "more"}),
        ("edit_file", {"path": "kept.txt", "old": "kept", "new": "lost"}),
        ("move_file", {"path": "kept.txt", "to": "lost.txt"}),
        ("make_directory", {"path": "unwanted"}),
    ):
        call, opened = await desk.ask(tool, **arguments)
        await desk.console.call("approvals/decide", desk.ada.decision(opened, "deny"))
        assert (await call)["outcome"] == "deniedByUser"
    assert (desk.folder / "kept.txt").read_text() == "kept\n"
    assert not (desk.folder / "lost.txt").exists()
    assert not (desk.folder / "unwanted").exists()


CHANGES = {
    "append_file": {"content": "stolen"},
    "edit_file": {"old": "mine", "new": "stolen"},
    "move_file": {"to": "taken.txt"},
}


@pytest.mark.parametrize("tool", CHANGES)
@pytest.mark.parametrize("kind", ["link", "hard link", "link above", "pipe", "folder"])
async def test_nothing_outside_is_reached_through_what_lies_in_the_folder(desk: Desk, tool: str, kind: str) -> None:
    outside = desk.gateway.home / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "mine.txt").write_text("mine\n")
    trap, path = desk.folder / "trap", "trap"
    match kind:
        case "link":
            trap.symlink_to(outside / "mine.txt")
        case "hard link":
            os.link(outside / "mine.txt", trap)
        case "link above":
            trap.symlink_to(outside)
            path = "trap/mine.txt"
        case "pipe":
            os.mkfifo(trap)
        case _:
            trap.mkdir()
    result = await desk.run(tool, path=path, **CHANGES[tool])
    assert result["outcome"] == "executionError", result
    assert (outside / "mine.txt").read_text() == "mine\n"
    assert not (desk.folder / "taken.txt").exists()
    assert os.listdir(outside) == ["mine.txt"]
    shutil.rmtree(trap) if kind == "folder" else trap.unlink()


async def test_nothing_is_moved_or_made_outside(desk: Desk) -> None:
    outside = desk.gateway.home / "elsewhere"
    outside.mkdir()
    (desk.folder / "mine.txt").write_text("mine\n")
    (desk.folder / "door").symlink_to(outside)
    for to in ("door/", "door/x/", "../elsewhere/x", "/tmp/countersign-x", "door"):
        result = await desk.run("move_file", path="mine.txt", to=to)
        assert result["outcome"] != "ok", (to, result)
    for path in ("door/x", "../elsewhere/x", "/tmp/countersign-x"):
        assert (await desk.run("make_directory", path=path))["outcome"] != "ok", path
    assert os.listdir(outside) == []
    assert (desk.folder / "mine.txt").read_text() == "mine\n"
    (desk.folder / "door").unlink()


@pytest.mark.parametrize("kind", ["link", "second name"])
@pytest.mark.parametrize("tool", CHANGES)
async def test_what_changes_between_the_question_and_the_yes_is_found_then(desk: Desk, tool: str, kind: str) -> None:
    """The person said yes to what was there: a link in its place is not followed, a name that was free is not taken."""
    outside, path = desk.gateway.home / "later.txt", desk.folder / "later.txt"
    outside.write_text("mine\n")
    path.write_text("mine\n")
    call, opened = await desk.ask(tool, path="later.txt", **CHANGES[tool])
    if tool == "move_file":
        (desk.folder / "taken.txt").write_text("theirs\n")
    else:
        path.unlink()
        path.symlink_to(outside) if kind == "link" else os.link(outside, path)
    await desk.approve(opened)
    assert (await call)["outcome"] == "executionError"
    assert outside.read_text() == "mine\n"
    if tool == "move_file":
        assert (desk.folder / "taken.txt").read_text() == "theirs\n"
        (desk.folder / "taken.txt").unlink()
    path.unlink()


async def test_an_edit_that_no_longer_fits_changes_nothing(desk: Desk) -> None:
    path = desk.folder / "twice.txt"
    path.write_text("one\n")
    call, opened = await desk.ask("edit_file", path="twice.txt", old="one", new="two")
    path.write_text("one\none\n")
    again = await desk.console.call("approvals/get", {"approvalId": opened["approval"]["id"]})
    assert (again["preview"]["change"], "more than once" in again["preview"]["obstacle"]) == ("impossible", True)
    await desk.approve(again)
    result = await call
    assert (result["outcome"], "more than once" in result["error"]) == ("executionError", True)
    assert path.read_text() == "one\none\n"


async def test_a_rule_about_a_path_holds_for_both_paths_of_a_move(desk: Desk) -> None:
    (desk.folder / "secrets").mkdir()
    (desk.folder / "secrets" / "key").write_text("key")
    (desk.folder / "free.txt").write_text("free")
    for path, to in (
        ("secrets/key", "key.txt"),
        ("free.txt", "secrets/"),
        ("free.txt", "./secrets/x"),
        ("secrets/key", "secrets/x"),
    ):
        result = await desk.run("move_file", path=path, to=to)
        assert (result["outcome"], result["reason"]) == ("refusedByPolicy", "forbidden"), (path, to)
    assert os.listdir(desk.folder / "secrets") == ["key"]
    assert (desk.folder / "free.txt").exists()


async def test_a_file_that_is_moved_back_and_forth_by_another_program_is_never_replaced(desk: Desk) -> None:
    """Another program takes the free name again and again; whichever comes first keeps it whole."""
    script = "i=0; while :; do i=$((i+1)); echo theirs > race/.t; mv -f race/.t race/b 2>/dev/null; rm -f race/b; done"
    (desk.folder / "race").mkdir()
    racer = await asyncio.create_subprocess_exec("sh", "-c", script, cwd=desk.folder, start_new_session=True)
    try:
        for _ in range(8):
            (desk.folder / "race" / "a").write_text("mine")
            result = await desk.run("move_file", path="race/a", to="race/kept/a")
            assert result["outcome"] == "ok", result
            assert (desk.folder / "race" / "kept" / "a").read_text() == "mine"
            (desk.folder / "race" / "kept" / "a").rename(desk.folder / "race" / "a")
            result = await desk.run("move_file", path="race/a", to="race/b")
            if result["outcome"] != "ok":
                assert "nothing is replaced" in result["error"]
                assert (desk.folder / "race" / "a").read_text() == "mine"
    finally:
        os.killpg(racer.pid, signal.SIGKILL)
        await racer.wait()
