"""A worker that lies: the gateway believes neither its sizes nor its rate nor its shapes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from gateway.adapters.tools.mcp.connection import UNREADABLE, ConnectionLost, WorkerConnection
from gateway.adapters.tools.mcp.launching import WorkerProcess
from gateway.adapters.tools.mcp.wire import LINES_AT_ONCE, MAX_LINE

SLEEPER = "import sys; sys.stdin.read()"


class Told:
    def __init__(self) -> None:
        self.changes = 0
        self.notes: list[str] = []
        self.losses: list[str] = []
        self.over = asyncio.Event()

    def changed(self) -> None:
        self.changes += 1

    def noted(self, why: str) -> None:
        self.notes.append(why)

    def lost(self, why: str) -> None:
        self.losses.append(why)
        self.over.set()


class Liar:
    """The other end of a connection, in this process, with a process that can be ended in the worker's place."""

    def __init__(self) -> None:
        ours, self.socket = socket.socketpair()
        self.process = subprocess.Popen([sys.executable, "-I", "-S", "-c", SLEEPER], stdin=subprocess.PIPE)
        self.worker = WorkerProcess(self.process, ours)
        self.told = Told()

    async def write(self, raw: bytes) -> None:
        self.socket.setblocking(False)
        with contextlib.suppress(OSError):  # the gateway may have enough
            await asyncio.get_running_loop().sock_sendall(self.socket, raw)


async def ask_once(connection: WorkerConnection) -> None:
    async with connection.ask({"do": "list"}) as lines:
        await lines.next()


@pytest.fixture
async def liar() -> AsyncIterator[Liar]:
    made = Liar()
    yield made
    made.socket.close()
    made.process.kill()
    made.process.communicate()


@pytest.mark.parametrize(
    "raw",
    [
        b"x" * (MAX_LINE + 2) + b"\n",
        b'{"tell": "changed"}\n' * (10 * LINES_AT_ONCE),
        (b'{"tell": "changed", "more": "' + b"x" * 500_000 + b'"}\n') * 200,
        b"not JSON\n",
        b"[]\n",
        b"{}\n",
        b'{"tell": "done", "id": "one"}\n',
        b'{"tell": "done", "id": null}\n',
        b'{"tell": "note"}\n',
        b"[" * 5_000 + b"\n",
        b'{"tell": "\xff"}\n',
    ],
    ids=[
        "long line",
        "flood",
        "large flood",
        "no JSON",
        "list",
        "empty",
        "name for a number",
        "no number",
        "no reason",
        "deep",
        "no UTF-8",
    ],
)
async def test_a_worker_that_breaks_the_rules_is_ended_and_who_waits_is_told(liar: Liar, raw: bytes) -> None:
    connection = await WorkerConnection.over(liar.worker, liar.told)
    writing = asyncio.create_task(liar.write(raw))
    async with asyncio.timeout(20):
        with pytest.raises(ConnectionLost, match=UNREADABLE):
            await ask_once(connection)
        await asyncio.to_thread(liar.process.wait)
    assert liar.told.losses == [UNREADABLE]
    assert liar.told.changes < 5 * LINES_AT_ONCE
    with pytest.raises(ConnectionLost):
        await ask_once(connection)
    writing.cancel()
    await asyncio.wait({writing})
    await connection.close()


async def test_answers_go_to_who_asked_and_those_of_nobody_are_dropped(liar: Liar) -> None:
    connection = await WorkerConnection.over(liar.worker, liar.told)
    async with asyncio.timeout(20), connection.ask({"do": "call"}) as one, connection.ask({"do": "call"}) as other:
        for number in (99, 2, 1):
            await liar.write(json.dumps({"tell": "done", "id": number}).encode() + b"\n")
        assert (await one.next())["id"] == 1
        assert (await other.next())["id"] == 2
    liar.worker.process.kill()
    await connection.close()
    assert liar.told.losses == ["the gateway closed the connection"]


async def test_who_leaves_before_the_answer_has_the_worker_stop(liar: Liar) -> None:
    connection = await WorkerConnection.over(liar.worker, liar.told)
    async with asyncio.timeout(20):
        async with connection.ask({"do": "call"}):
            pass
        liar.socket.setblocking(False)
        raw = b""
        while raw.count(b"\n") < 2:
            raw += await asyncio.get_running_loop().sock_recv(liar.socket, 1 << 16)
    assert [json.loads(line) for line in raw.splitlines()] == [{"do": "call", "id": 1}, {"do": "cancel", "id": 1}]
    liar.worker.process.kill()
    await connection.close()


def test_importing_the_driver_does_not_import_the_sdk() -> None:
    probe = "import sys, gateway.adapters.tools.mcp.driver; assert not {'mcp', 'mcp_types', 'httpx2'} & sys.modules.keys()"

    subprocess.run([sys.executable, "-c", probe], check=True)
