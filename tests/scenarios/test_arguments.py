"""Arguments that a person could read in one way and a tool in another, and calls that cannot work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene, make_gateway

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """The one of the other scenarios, with a tool of richer types."""
    modules = '["tests.harness.effect_tools", "tests.harness.typed_tools"]'
    process = make_gateway(tmp_path_factory.mktemp("gateway"), COUNTERSIGN_TOOLS_MODULES=modules)
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    # Only the tool that leaves on purpose may have one, in the operator's own log.
    assert process.output.count("Traceback") == process.output.count("tool leave failed"), process.output


@pytest.mark.parametrize(
    "host",
    [
        "[::ffff:0:127.0.0.1]",
        "[::ffff:0:7f00:1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2606:4700::5efe:7f00:1]",
    ],
)
async def test_case_50_this_machine_inside_an_ipv6_address_is_refused_before_anybody_is_asked(scene: Scene, host: str) -> None:
    turn = await scene.begin()
    result = await turn.invoke("http_get", {"url": f"http://{host}/"})
    assert result["outcome"] == "invalidArguments"
    assert "may not be fetched" in result["error"]
    assert (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"] == []


TRANSFER = {"amount": "12.50", "at": "2026-01-01T10:00:00Z", "to": "12345678-1234-5678-1234-56781234567a", "urgent": False}


async def test_case_86_a_person_is_asked_about_the_form_that_the_tool_gets(scene: Scene) -> None:
    turn = await scene.begin()
    pending = await turn.start("transfer", TRANSFER, "c1")
    await scene.ada.answer(scene.console, await scene.asked("c1"))
    result = await pending
    assert result["outcome"] == "ok"
    assert result["content"] == "12.50 at 2026-01-01T10:00:00+00:00 to 12345678-1234-5678-1234-56781234567a, urgent: False"


@pytest.mark.requirement("000-20", "a value in a form that its type reads otherwise is refused")
@pytest.mark.parametrize(
    "changed",
    [
        {"at": "1767225600"},
        {"at": "2026-01-01"},
        {"amount": "\u0661\u0662"},
        {"amount": "1_000"},
        {"amount": " 12"},
        {"amount": "1e3"},
        {"to": "12345678123456781234567812345678"},
        {"urgent": "yes"},
        {"urgent": 0},
    ],
    ids=str,
)
async def test_case_86_a_form_that_the_tool_would_read_otherwise_is_refused_before_anybody_is_asked(
    scene: Scene, changed: dict[str, Any]
) -> None:
    turn = await scene.begin()
    result = await turn.invoke("transfer", {**TRANSFER, **changed}, "c1")
    assert (result["outcome"], result["reason"]) == ("invalidArguments", "schema")
    assert f"/{next(iter(changed))}" in result["error"]
    assert (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("delete_file", {"path": "missing.txt"}, "there is no missing.txt"),
        ("delete_file", {"path": "folder"}, "folder is a folder, not a file"),
        ("write_file", {"path": "folder", "content": "x"}, "folder is a folder, not a file"),
        ("write_file", {"path": "link", "content": "x"}, "links are not followed"),
    ],
    ids=str,
)
async def test_case_83_nobody_is_asked_for_what_cannot_work(
    scene: Scene, tool: str, arguments: dict[str, Any], told: str
) -> None:
    (scene.gateway.workspace / "folder").mkdir(exist_ok=True)
    if not (scene.gateway.workspace / "link").is_symlink():
        (scene.gateway.workspace / "link").symlink_to("folder")
    turn = await scene.begin()
    result = await turn.invoke(tool, arguments, "c1")
    assert (result["outcome"], result["reason"]) == ("executionError", "toolError")
    assert told in result["error"]
    assert (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"] == []


async def test_case_83_the_console_is_told_what_a_file_loses_as_it_is_at_the_moment(scene: Scene) -> None:
    target = scene.gateway.workspace / "notes.txt"
    target.write_text("one\ntwo\n")
    turn = await scene.begin()
    pending = await turn.start("write_file", {"path": "notes.txt", "content": "one\nthree\n"}, "c1")
    approval_id = await scene.asked("c1")

    async def look() -> Any:
        return await scene.console.call("approvals/get", {"approvalId": approval_id})

    first = await look()
    assert first["order"] == ["path", "content"]
    assert [(line["mark"], line["text"]) for line in first["preview"]["lines"]] == [
        ("same", "one"),
        ("removed", "two"),
        ("added", "three"),
    ]
    target.write_text("one\nmeanwhile \x1b[31m<b>\n")
    second = await look()
    assert second["preview"]["digest"] != first["preview"]["digest"]
    assert second["preview"]["lines"][1] == {"mark": "removed", "text": "meanwhile \x1b[31m<b>", "count": 1}
    target.unlink()
    assert (await look())["preview"]["change"] == "create"
    await scene.ada.answer(scene.console, approval_id)
    assert (await pending)["outcome"] == "ok"


async def test_case_83_a_file_that_goes_while_its_deletion_waits_is_told(scene: Scene) -> None:
    target = scene.gateway.workspace / "gone.txt"
    target.write_text("x")
    turn = await scene.begin()
    pending = await turn.start("delete_file", {"path": "gone.txt"}, "c1")
    approval_id = await scene.asked("c1")
    target.unlink()
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    assert opened["preview"]["change"] == "impossible"
    assert opened["preview"]["obstacle"] == "there is no gone.txt"
    await scene.ada.answer(scene.console, approval_id, "deny")
    assert (await pending)["outcome"] == "deniedByUser"


async def test_case_304_a_part_of_a_tool_that_ends_the_process_fails_its_call_alone(scene: Scene) -> None:
    turn = await scene.begin()
    checked = await turn.invoke("leave", {"at": "check"})
    assert (checked["outcome"], checked["reason"]) == ("invalidArguments", "schema")
    assert (await turn.invoke("leave", {"at": "facts"}))["outcome"] == "invalidArguments"
    call = await turn.start("leave", {"at": "preview"}, "without-preview")
    await scene.ada.answer(scene.console, await scene.asked("without-preview"))
    assert (await call)["outcome"] == "ok"
