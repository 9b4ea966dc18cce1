"""`countersign mcp` beside a running gateway, used by the SDK's own client in both eras of the protocol."""

from __future__ import annotations

import asyncio
import base64
import signal
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import MCPError
from mcp_types import CallToolResult, ImageContent, TextContent

from tests.harness.mcp_client import LinePeer, offered
from tests.scenarios.conftest import Scene, ada, gateway, scene
from tests.scenarios.staging import edit, stage

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

Era = Literal["legacy", "auto"]
ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])
PATIENCE = 20.0
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def asked(scene: Scene) -> str:
    """The id of the approval that the console is asked for next."""
    notice = await scene.console.notification("approvals/requested")
    return str(notice["approval"]["id"])


async def entries(scene: Scene, event: str) -> list[dict[str, Any]]:
    """The bodies of the newest leaves of one kind, newest first."""
    listed = await scene.console.call("audit/list", {"filter": {"event": event}, "limit": 50})
    return [entry["body"] for entry in listed["entries"]]


@ERAS
async def test_the_tools_that_a_person_may_call_are_listed_with_hints(scene: Scene, era: Era) -> None:
    async with offered(scene.gateway, mode=era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        # `respond` belongs to the loop of a browser, and nothing runs it here.
        assert "respond" not in listed
        hints = {name: listed[name].annotations for name in ("peek", "note", "erase", "http_get")}
        assert [hint and hint.read_only_hint for hint in hints.values()] == [True, False, False, False]
        assert [hint and hint.destructive_hint for hint in hints.values()] == [False, False, True, False]
        assert hints["http_get"] is not None
        assert hints["http_get"].open_world_hint is True
        assert listed["note"].input_schema["required"] == ["what"]
        assert (listed["note"].meta or {})["countersign/permission"] == "consent"


@ERAS
async def test_a_call_that_needs_nobody_runs_once_and_is_recorded_as_an_mcp_clients(scene: Scene, era: Era) -> None:
    async with offered(scene.gateway, mode=era) as client:
        result = await client.call_tool("peek", {"what": "a"})
        assert (text_of(result), result.is_error) == ("did peek a", False)
        assert (result.meta or {})["countersign/outcome"] == "ok"
        listed = await client.call_tool("list_directory", {"path": "."})
        assert listed.structured_content is not None
        assert listed.structured_content["path"] == "."
    intended = (await entries(scene, "call:intended"))[:2]
    assert [entry["runner"] for entry in intended] == ["mcp-client", "mcp-client"]
    # Both were asked for in one burst.
    assert len({entry["turnId"] for entry in intended}) == 1


@ERAS
async def test_a_call_that_needs_a_person_says_where_to_answer_and_runs_when_they_have(
    scene: Scene, era: Era, tmp_path: Path
) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert progress == len(heard) + 1
        assert total is None
        heard.append(message)

    notes = tmp_path / "notes"
    async with offered(scene.gateway, mode=era, notes=notes) as client:
        calling = asyncio.ensure_future(client.call_tool("note", {"what": "milk"}, progress_callback=hear))
        approval_id = await asked(scene)
        assert not calling.done()
        await scene.ada.answer(scene.console, approval_id)
        async with asyncio.timeout(PATIENCE):
            assert text_of(await calling) == "did note milk 1"
    link = f"{scene.gateway.console_origin}/approvals/{approval_id}"
    assert heard[0] is not None
    assert heard[0].endswith(link)
    assert link in notes.read_text()
    assert (await entries(scene, "approval:requested"))[0]["runner"] == "mcp-client"


@ERAS
async def test_a_persons_no_is_an_error_in_words_and_nothing_ran(scene: Scene, era: Era) -> None:
    async with offered(scene.gateway, mode=era) as client:
        calling = asyncio.ensure_future(client.call_tool("note", {"what": "denied"}))
        await scene.ada.answer(scene.console, await asked(scene), "deny")
        async with asyncio.timeout(PATIENCE):
            result = await calling
    assert result.is_error
    assert text_of(result).startswith("The person said no")
    assert (result.meta or {})["countersign/outcome"] == "deniedByUser"
    assert "note denied" not in (scene.gateway.home / "effects").read_text()


async def test_an_image_goes_to_the_client_as_an_image(scene: Scene) -> None:
    (scene.gateway.home / "workspace" / "dot.png").write_bytes(PNG)
    async with offered(scene.gateway, mode="auto") as client:
        said, image = (await client.call_tool("read_file", {"path": "dot.png"})).content
    assert isinstance(said, TextContent)
    assert isinstance(image, ImageContent)
    assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", PNG)


async def test_a_step_up_call_runs_only_with_the_passkey(scene: Scene) -> None:
    async with offered(scene.gateway) as client:
        calling = asyncio.ensure_future(client.call_tool("erase", {"what": "old"}))
        approval_id = await asked(scene)
        opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
        assert opened["approval"]["kind"] == "stepUp"
        await scene.ada.answer(scene.console, approval_id)
        async with asyncio.timeout(PATIENCE):
            assert text_of(await calling) == "did erase old"


async def test_arguments_that_do_not_fit_and_a_tool_that_fails_are_told_apart(scene: Scene) -> None:
    async with offered(scene.gateway) as client:
        unfit = await client.call_tool("peek", {"what": 7})
        failed = await client.call_tool("stumble", {})
        assert (unfit.is_error, failed.is_error) == (True, True)
        assert "do not fit" in text_of(unfit)
        assert "there is nothing here" in text_of(failed)
        assert [(each.meta or {})["countersign/outcome"] for each in (unfit, failed)] == ["invalidArguments", "executionError"]


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(scene: Scene) -> None:
    async with offered(scene.gateway) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("nothing_of_the_kind", {})
        assert (caught.value.code, caught.value.data) == (-32602, {"code": "unknownTool"})
        assert not (await client.call_tool("peek", {"what": "after"})).is_error


@ERAS
async def test_a_client_that_cancels_withdraws_its_question(scene: Scene, era: Era) -> None:
    async with offered(scene.gateway, mode=era) as client:
        calling = asyncio.ensure_future(client.call_tool("note", {"what": "never"}))
        approval_id = await asked(scene)
        calling.cancel()
        resolved = await scene.console.notification("approvals/resolved", approvalId=approval_id)
        assert resolved["status"] == "cancelled"
        assert not (await client.call_tool("peek", {"what": "still here"})).is_error


async def test_a_client_that_dies_takes_its_question_and_its_session_along(scene: Scene) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    await peer.request(1, "tools/call", {"name": "note", "arguments": {"what": "orphan"}})
    approval_id = await asked(scene)
    await peer.kill()
    resolved = await scene.console.notification("approvals/resolved", approvalId=approval_id)
    assert resolved["status"] == "cancelled"
    session_id = (await entries(scene, "approval:requested"))[0]["sessionId"]
    async with asyncio.timeout(PATIENCE):
        while session_id not in {entry["sessionId"] for entry in await entries(scene, "agent-session:ended")}:
            await asyncio.sleep(0.02)


async def test_progress_of_the_tool_itself_reaches_the_client(scene: Scene) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    params = {"name": "linger", "arguments": {}, "_meta": {"progressToken": "t"}}
    await peer.request(5, "tools/call", params)
    assert await peer.notification("notifications/progress") == {
        "progressToken": "t",
        "progress": 1,
        "message": "lingering (50%)",
    }
    await peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
    assert "result" in await peer.call(6, "peek", what="b")
    await peer.hang_up()


async def test_a_guest_is_offered_only_what_a_guest_may_call(scene: Scene) -> None:
    guest = await scene.another("Gus", "guest")
    await guest.leave()
    async with offered(scene.gateway, "--as", "Gus") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "peek" in names
        assert names.isdisjoint({"system_status", "administer"})
        for tool in ("system_status", "administer", "nothing_of_the_kind"):
            with pytest.raises(MCPError) as caught:
                await client.call_tool(tool, {})
            assert caught.value.data == {"code": "unknownTool"}
    code, output = await scene.gateway.run("mcp")
    assert (code, "say for whom with --as" in output) == (2, True)
    code, output = await scene.gateway.run("people", "remove", "Gus")
    assert code == 0, output


async def test_a_new_policy_is_announced_and_the_next_call_runs_under_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as staged:
        peer = await (await LinePeer.start(staged.gateway)).greet()
        listed = await peer.ask(1, "tools/list")
        assert "note" in {tool["name"] for tool in listed["result"]["tools"]}
        assert not (await peer.call(2, "peek", what="before"))["result"]["isError"]
        edit(staged.gateway, "default.cedar", 'Countersign::Category::"write"', 'Countersign::Category::"network"')
        staged.gateway.send(signal.SIGHUP)
        await peer.notification("notifications/tools/list_changed")
        listed = await peer.ask(3, "tools/list")
        assert "note" not in {tool["name"] for tool in listed["result"]["tools"]}
        assert not (await peer.call(4, "peek", what="after"))["result"]["isError"]
        await peer.hang_up()
