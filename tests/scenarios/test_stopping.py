"""A gateway that is asked to stop: what runs may finish and is answered, what waits is withdrawn, and nothing new begins."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from websockets.exceptions import InvalidStatus

from gateway.server.listener import REQUESTS_AHEAD
from tests.harness.person import Person
from tests.harness.processes import running_below
from tests.harness.socket import RpcError
from tests.hostile.raw_socket import connect
from tests.scenarios.conftest import Scene, make_gateway

PATIENCE = 20.0
FOREVER = "600"
"""Seconds to drain, where the test itself decides what happens first."""


@asynccontextmanager
async def stage(home: Path, **settings: str) -> AsyncGenerator[Scene]:
    """A gateway of one's own, and Ada at it. It is killed if the test has not stopped it."""
    gateway = make_gateway(home, **settings)
    await gateway.start()
    try:
        ada = await Person.at(gateway).arrive()
        yield Scene(gateway, ada, await ada.agent(), await ada.console())
        await ada.leave()
    finally:
        await gateway.kill()


async def ended(scene: Scene) -> int:
    """The exit code of a gateway that ends by itself, without a traceback."""
    code = await scene.gateway.wait()
    assert "Traceback" not in scene.gateway.output, scene.gateway.output
    assert not (scene.gateway.state / "control.sock").exists()
    return code


async def redaction_process_of(pid: int) -> int:
    """The process that looks through a long result for a gateway, as soon as there is one."""
    async with asyncio.timeout(PATIENCE):
        while not (found := running_below(pid, "adapters.system.redaction")):
            await asyncio.sleep(0.02)
        return found[0].pid


async def refusal(answer: asyncio.Future[object]) -> tuple[int, str]:
    with pytest.raises(RpcError) as refused:
        async with asyncio.timeout(PATIENCE):
            await answer
    return refused.value.code, refused.value.error["data"]["code"]


@pytest.mark.requirement("002-11", "a gateway that stops records the end of what runs and begins nothing")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
async def test_a_gateway_that_stops_finishes_what_runs_and_begins_nothing(tmp_path: Path, number: signal.Signals) -> None:
    flag = tmp_path / "flag"
    async with stage(tmp_path, COUNTERSIGN_DRAIN_SECONDS=FOREVER) as scene:
        gateway, idle = scene.gateway, await scene.ada.agent()
        turn = await scene.begin()
        waits = await turn.start("note", {"what": "bread"}, "waits")
        approval_id = await scene.asked("waits")
        runs = await turn.start("dawdle", {"file": str(flag)}, "runs")
        await scene.shell.notification("tools/progress", callId="runs")

        gateway.send(number)

        withdrawn = await scene.console.notification("approvals/resolved", approvalId=approval_id)
        assert withdrawn["status"] == "cancelled"
        async with asyncio.timeout(PATIENCE):
            assert (await waits)["outcome"] == "cancelled"
        assert (await idle.wait_closed())[0] == 1012
        assert (await scene.console.wait_closed())[0] == 1012

        stopping = (-32005, "gateway_stopping")
        assert await refusal(await turn.start("peek", {"what": "rain"}, "late")) == stopping
        assert await refusal(await scene.shell.send("turns/begin", {"conversationId": turn.conversation_id})) == stopping
        with pytest.raises(InvalidStatus) as refused:
            await scene.ada.agent()
        assert refused.value.response.status_code == 503
        ready = await scene.ada.browser.request("GET", f"{gateway.agent_origin}/readyz")
        assert ready.status == 503
        assert {"part": "gateway", "message": "the gateway is stopping"} in ready.json["reasons"]

        again = await turn.start("dawdle", {"file": str(flag)}, "runs")
        flag.touch()
        async with asyncio.timeout(PATIENCE):
            assert ((await runs)["outcome"], (await runs)["content"]) == ("ok", "late")
            assert ((await again)["outcome"], (await again)["replayed"]) == ("ok", True)
        assert (await scene.shell.wait_closed())[0] == 1012
        assert await ended(scene) == 0

        await gateway.start()
        assert "outcome is unknown" not in gateway.output
        turn.socket = await scene.ada.agent()
        rebound = await turn.socket.call("conversations/open", {"conversationId": turn.conversation_id})
        turn.snapshot = rebound["openTurn"]["snapshot"]
        recorded = await turn.invoke("dawdle", {"file": str(flag)}, "runs")
        assert (recorded["outcome"], recorded["replayed"]) == ("ok", True)
        # It was refused before anything was put on record, so its id is still free.
        assert (await turn.invoke("peek", {"what": "rain"}, "late"))["outcome"] == "ok"
        assert scene.effects(turn.conversation_id) == ["runs dawdle", "late peek rain"]
        code, output = await gateway.run("audit", "verify")
        assert code == 0, output


@pytest.mark.requirement("002-43", "a call that a stop cut off is executionError with outcomeUnknown")
async def test_what_still_runs_when_the_time_is_over_is_cancelled_and_unknown(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_DRAIN_SECONDS="0.1") as scene:
        turn = await scene.begin()
        runs = await turn.start("linger", {}, "runs")
        await scene.shell.notification("tools/progress")

        scene.gateway.send(signal.SIGQUIT)

        with pytest.raises(ConnectionError):
            await runs
        assert (await scene.shell.wait_closed())[0] == 1012
        assert await ended(scene) == 0
        assert "calls still run 0.1 seconds after the signal" in scene.gateway.output

        await scene.gateway.start()
        assert "1 calls were running" in scene.gateway.output
        turn.socket = await scene.ada.agent()
        rebound = await turn.socket.call("conversations/open", {"conversationId": turn.conversation_id})
        turn.snapshot = rebound["openTurn"]["snapshot"]
        unknown = await turn.invoke("linger", {}, "runs")
        assert (unknown["outcome"], unknown["reason"], unknown["replayed"]) == ("executionError", "outcomeUnknown", True)


async def test_a_gateway_that_stops_does_not_wait_for_a_long_result_to_be_looked_through(tmp_path: Path) -> None:
    modules = '["tests.harness.effect_tools", "tests.harness.long_tools"]'
    async with stage(tmp_path, COUNTERSIGN_DRAIN_SECONDS="0.1", COUNTERSIGN_TOOLS_MODULES=modules) as scene:
        turn = await scene.begin()
        runs = await turn.start("drone", {"megabytes": 40}, "runs")
        looking = await redaction_process_of(scene.gateway.pid)

        scene.gateway.send(signal.SIGTERM)

        assert await ended(scene) == 0
        with pytest.raises(ConnectionError):
            await runs
        assert not psutil.pid_exists(looking)


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
async def test_a_second_signal_ends_the_gateway_although_a_tool_never_returns(tmp_path: Path, second: signal.Signals) -> None:
    async with stage(tmp_path, COUNTERSIGN_DRAIN_SECONDS=FOREVER) as scene:
        idle = await scene.ada.agent()
        turn = await scene.begin()
        await turn.start("dawdle", {"file": str(tmp_path / "never")}, "runs")
        await scene.shell.notification("tools/progress")
        scene.gateway.send(signal.SIGTERM)
        assert (await idle.wait_closed())[0] == 1012

        scene.gateway.send(second)

        await scene.shell.wait_closed()
        # In order if that takes no two seconds, else at once.
        assert await scene.gateway.wait() in (0, 128 + second)
        assert "Traceback" not in scene.gateway.output, scene.gateway.output
        await scene.gateway.start()
        assert "1 calls were running" in scene.gateway.output


HANG_UP_AT_ONCE = """
import os, resource, signal
from gateway import serving

# As where core files are allowed.
most = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (most, most))

def listen(settings, listen=serving.listen):
    os.kill(os.getpid(), signal.SIGHUP)
    return listen(settings)

serving.listen = listen
"""


async def test_case_335_no_signal_but_those_to_stop_ends_a_gateway_and_none_leaves_its_memory_in_a_file(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path)
    gateway.before = HANG_UP_AT_ONCE
    await gateway.start()
    try:
        await gateway.wait_for(re.compile(r"policy \w+ is in force"))
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
            gateway.send(number)
            await gateway.wait_for(re.compile(f"{number.name} means nothing here"))
        core, _ = psutil.Process(gateway.pid).rlimit(psutil.RLIMIT_CORE)
        assert core == 0
        gateway.send(signal.SIGTERM)
        stopped = asyncio.create_task(gateway.wait())
        # However often it is asked for, the policy is read once more and not for each: the gateway never came to its end.
        while not stopped.done():
            gateway.send(signal.SIGHUP)
            await asyncio.wait({stopped}, timeout=0.01)
        assert await stopped == 0
    finally:
        await gateway.kill()


def web_with_a_large_file(folder: Path) -> Path:
    """Apps of one empty page each, and a file that no buffer of a connection holds even once."""
    for app in ("shell", "console", "verifier"):
        (folder / app / "assets").mkdir(parents=True)
        (folder / app / "index.html").write_text("<!doctype html><title>Empty</title>", encoding="utf-8")
    (folder / "console" / "assets" / "large.js").write_bytes(b"/" * (32 << 20))
    return folder


async def test_case_261_a_peer_that_reads_nothing_keeps_no_gateway_from_stopping(tmp_path: Path) -> None:
    """It needs no session: a page is enough, asked for as often as may be until the gateway cannot write any more."""
    gateway = make_gateway(tmp_path, COUNTERSIGN_WEB=str(web_with_a_large_file(tmp_path / "web")))
    await gateway.start()
    try:
        asked = f"GET /assets/large.js HTTP/1.1\r\nHost: console.localhost:{gateway.port}\r\n\r\n".encode()
        peers = [await connect(gateway.port, receive_buffer=4096) for _ in range(3)]
        for reader, writer in peers:
            writer.write(asked * REQUESTS_AHEAD)
            async with asyncio.timeout(PATIENCE):
                assert await reader.readuntil(b"\r\n") == b"HTTP/1.1 200 OK\r\n"
        gateway.send(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            assert await gateway.wait() == 0
        for _, writer in peers:
            writer.close()
    finally:
        await gateway.kill()
