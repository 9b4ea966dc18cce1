"""MCP's tasks: a call that waits for a person gives its client something to ask about, in both of the protocol's forms."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from gateway.server.mcp.call_tasks import TASKS
from tests.harness.http import Browser, Reply
from tests.harness.mcp_client import LinePeer
from tests.harness.mcp_web import WebPeer
from tests.scenarios.conftest import Scene, ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 20.0
MODERN = "2026-07-28"
EXTENSION = "io.modelcontextprotocol/tasks"


async def started(peer: LinePeer, request_id: int, tool: str, what: str, ttl: int = 1_000) -> dict[str, Any]:
    """A call with a task in the form of 2025-11-25."""
    call = {"name": tool, "arguments": {"what": what} if what else {}, "task": {"ttl": ttl}}
    return (await peer.ask(request_id, "tools/call", call))["result"]["task"]


async def become(peer: LinePeer, task_id: str, *states: str) -> dict[str, Any]:
    """The task, once it is in one of these states."""
    async with asyncio.timeout(PATIENCE):
        while True:
            told = (await peer.ask(f"look {id(object())}", "tasks/get", {"taskId": task_id}))["result"]
            if told["status"] in states:
                return told


def effects(scene: Scene, what: str) -> int:
    path = scene.gateway.home / "effects"
    return sum(what in line for line in path.read_text().splitlines()) if path.exists() else 0


async def test_a_client_learns_that_calls_can_be_tasks(scene: Scene) -> None:
    peer = await LinePeer.start(scene.gateway)
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "peer", "version": "0"}}
    told = (await peer.ask("hello", "initialize", params))["result"]["capabilities"]
    assert told["tasks"] == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    await peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = (await peer.ask(1, "tools/list"))["result"]["tools"]
    assert {tool["execution"]["taskSupport"] for tool in listed} == {"optional"}
    assert await peer.hang_up() == 0


async def test_a_task_waits_for_the_person_and_then_has_the_result(scene: Scene) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    task = await started(peer, 1, "note", "task approved")
    assert task["status"] in ("working", "input_required")
    assert task["ttl"] >= 900_000, "a task ends before a person had time to answer"
    notice = await scene.console.notification("approvals/requested")
    asking = await become(peer, task["taskId"], "input_required")
    assert f"{scene.gateway.console_origin}/approvals/{notice['approval']['id']}" in asking["statusMessage"]
    # The result is waited for; nothing of this connection is held up by that.
    await peer.request("result", "tasks/result", {"taskId": task["taskId"]})
    assert [each["taskId"] for each in (await peer.ask(2, "tasks/list"))["result"]["tasks"]] == [task["taskId"]]
    await scene.ada.answer(scene.console, notice["approval"]["id"])
    result = (await peer.answer("result"))["result"]
    assert result["content"] == [{"type": "text", "text": "did note task approved 1"}]
    assert result["_meta"]["io.modelcontextprotocol/related-task"] == {"taskId": task["taskId"]}
    assert (await become(peer, task["taskId"], "completed")).get("statusMessage") is None
    # Asked again it is told again, and done once.
    again = (await peer.ask(3, "tasks/result", {"taskId": task["taskId"]}))["result"]
    assert again["content"] == result["content"]
    assert effects(scene, "note task approved") == 1
    assert await peer.hang_up() == 0


async def test_a_persons_no_is_a_failed_task_with_its_sentence(scene: Scene) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    task = await started(peer, 1, "note", "task denied")
    notice = await scene.console.notification("approvals/requested")
    await scene.ada.answer(scene.console, notice["approval"]["id"], "deny")
    await become(peer, task["taskId"], "failed")
    result = (await peer.ask(2, "tasks/result", {"taskId": task["taskId"]}))["result"]
    assert result["isError"] is True
    assert "said no" in result["content"][0]["text"]
    # Without a tool there is an error of the protocol, as for a call without a task.
    unknown = await started(peer, 3, "nothing_of_that_name", "x")
    await become(peer, unknown["taskId"], "failed")
    assert (await peer.ask(4, "tasks/result", {"taskId": unknown["taskId"]}))["error"]["code"] == -32602
    assert await peer.hang_up() == 0


@pytest.mark.parametrize("by", ["cancelling", "hanging up"])
async def test_cancelling_a_task_withdraws_its_question(scene: Scene, by: str) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    task = await started(peer, 1, "note", f"task {by}")
    notice = await scene.console.notification("approvals/requested")
    if by == "cancelling":
        cancelled = (await peer.ask(2, "tasks/cancel", {"taskId": task["taskId"]}))["result"]
        assert cancelled["status"] == "cancelled"
        assert (await peer.ask(3, "tasks/cancel", {"taskId": task["taskId"]}))["error"]["code"] == -32602
        assert "cancelled" in (await peer.ask(4, "tasks/result", {"taskId": task["taskId"]}))["error"]["message"]
    assert await peer.hang_up() == 0
    resolved = await scene.console.notification("approvals/resolved", approvalId=notice["approval"]["id"])
    assert resolved["status"] == "cancelled"
    assert effects(scene, f"note task {by}") == 0


async def test_ending_a_session_over_http_cancels_its_tasks_and_no_others(scene: Scene) -> None:
    peer = await WebPeer(scene.ada).come_in()
    ids: list[str] = []
    for what in ("task of an ended session", "task of another session"):
        await peer.greet()
        call = {"name": "note", "arguments": {"what": what}, "task": {}}
        await peer.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        notice = await scene.console.notification("approvals/requested")
        ids.append(notice["approval"]["id"])
    headers = {"Authorization": f"Bearer {peer.tokens['access_token']}", "Mcp-Session-Id": peer.session}
    ended = await Browser(scene.gateway.port).request("DELETE", f"{peer.origin}/mcp", headers=headers, origin=None)
    assert ended.status == 200
    assert (await scene.console.notification("approvals/resolved", approvalId=ids[1]))["status"] == "cancelled"
    open_ones = [each["id"] for each in (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"]]
    assert open_ones == [ids[0]]
    await scene.ada.answer(scene.console, ids[0], "deny")


async def test_the_same_request_is_the_same_task_and_another_is_refused(scene: Scene) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    task = await started(peer, 1, "peek", "task once")
    await become(peer, task["taskId"], "completed")
    assert (await started(peer, 1, "peek", "task once"))["taskId"] == task["taskId"]
    other = await peer.ask(1, "tools/call", {"name": "peek", "arguments": {"what": "task twice"}, "task": {}})
    assert other["error"]["data"]["code"] == "invalid_request"
    plain = await peer.call(1, "peek", what="task once")
    assert plain["error"]["data"]["code"] == "invalid_request"
    assert effects(scene, "peek task once") == 1
    assert await peer.hang_up() == 0


async def test_tasks_are_bounded_and_belong_to_their_connection(scene: Scene) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    tasks = [await started(peer, number, "linger", "") for number in range(TASKS)]
    assert len({task["taskId"] for task in tasks}) == TASKS
    more = await peer.ask("more", "tools/call", {"name": "peek", "arguments": {"what": "x"}, "task": {}})
    assert more["error"]["data"]["code"] == "too_many_requests"
    stranger = await (await LinePeer.start(scene.gateway)).greet()
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        assert (await stranger.ask(method, method, {"taskId": tasks[0]["taskId"]}))["error"]["data"]["code"] == "not_found"
    assert (await stranger.ask("list", "tasks/list"))["result"]["tasks"] == []
    for bad in ({}, {"taskId": 7}, {"taskId": None}):
        assert (await stranger.ask(f"bad {bad}", "tasks/get", bad))["error"]["code"] == -32602
    for number, ttl in enumerate(("soon", -1.5, {"a": 1}, [])):
        params = {"name": "peek", "arguments": {"what": "x"}, "task": {"ttl": ttl}}
        assert (await stranger.ask(number, "tools/call", params))["error"]["code"] == -32602
    assert await stranger.hang_up() == 0
    assert await peer.hang_up() == 0


def envelope(*extensions: str) -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {each: {} for each in extensions}},
    }


async def modern(peer: WebPeer, method: str, params: dict[str, Any], *extensions: str) -> dict[str, Any]:
    """A request of 2026-07-28, which stands alone."""
    named = params.get("name") or params.get("taskId")
    headers = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": named} if named else {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": envelope(*extensions)}}
    return answer_of(await peer.post(message, headers=headers))


def answer_of(reply: Reply) -> dict[str, Any]:
    lines = [line.removeprefix(b"data: ") for line in reply.body.splitlines() if line.startswith(b"data: {")]
    return orjson.loads(lines[-1] if lines else reply.body)


async def let_in(scene: Scene) -> WebPeer:
    peer = WebPeer(scene.ada)
    assert (await peer.redeem(code=await peer.code())).status == 200
    return peer


async def test_the_extension_gives_a_task_where_a_person_is_asked_and_an_answer_where_nobody_is(scene: Scene) -> None:
    peer = await let_in(scene)
    told = (await modern(peer, "server/discover", {}))["result"]["capabilities"]
    assert (EXTENSION in told["extensions"], "tasks" in told) == (True, False)
    call = {"name": "peek", "arguments": {"what": "extension"}}
    assert (await modern(peer, "tools/call", call, EXTENSION))["result"]["resultType"] == "complete"
    call = {"name": "note", "arguments": {"what": "extension"}}
    task = (await modern(peer, "tools/call", call, EXTENSION))["result"]
    assert (task["resultType"], task["status"]) == ("task", "working")
    notice = await scene.console.notification("approvals/requested")
    assert notice["approval"]["id"] in task["statusMessage"]
    await scene.ada.answer(scene.console, notice["approval"]["id"])
    async with asyncio.timeout(PATIENCE):
        while (now := (await modern(peer, "tasks/get", {"taskId": task["taskId"]}, EXTENSION))["result"])["status"] == "working":
            pass
    assert (now["status"], now["resultType"]) == ("completed", "complete")
    assert now["result"]["content"] == [{"type": "text", "text": "did note extension 1"}]


async def test_the_extension_cancels_and_knows_nothing_of_the_older_methods(scene: Scene) -> None:
    peer, stranger = await let_in(scene), await let_in(scene)
    call = {"name": "note", "arguments": {"what": "extension cancelled"}}
    task = (await modern(peer, "tools/call", call, EXTENSION))["result"]
    notice = await scene.console.notification("approvals/requested")
    reference = {"taskId": task["taskId"]}
    assert (await modern(stranger, "tasks/get", reference, EXTENSION))["error"]["data"]["code"] == "not_found"
    for method in ("tasks/result", "tasks/list"):
        assert (await modern(peer, method, reference, EXTENSION))["error"]["code"] == -32601
    assert "error" not in await modern(peer, "tasks/cancel", reference, EXTENSION)
    resolved = await scene.console.notification("approvals/resolved", approvalId=notice["approval"]["id"])
    assert resolved["status"] == "cancelled"
    assert (await modern(peer, "tasks/get", reference, EXTENSION))["result"]["status"] == "cancelled"
    assert effects(scene, "note extension cancelled") == 0


async def test_a_client_that_takes_no_tasks_gets_none(scene: Scene) -> None:
    peer = await let_in(scene)
    calling = asyncio.ensure_future(modern(peer, "tools/call", {"name": "note", "arguments": {"what": "no task"}}))
    notice = await scene.console.notification("approvals/requested")
    await scene.ada.answer(scene.console, notice["approval"]["id"])
    async with asyncio.timeout(PATIENCE):
        assert (await calling)["result"]["resultType"] == "complete"
    older = await LinePeer.start(scene.gateway)
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "peer", "version": "0"}}
    assert "tasks" not in (await older.ask("hello", "initialize", params))["result"]["capabilities"]
    await older.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (await older.ask(1, "tasks/list"))["error"]["code"] == -32601
    call = {"name": "peek", "arguments": {"what": "older"}, "task": {}}
    assert (await older.ask(2, "tools/call", call))["result"]["content"] == [{"type": "text", "text": "did peek older"}]
    assert await older.hang_up() == 0
