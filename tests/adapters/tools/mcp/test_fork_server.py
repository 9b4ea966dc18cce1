"""Workers are forked from one process, and each has what is its own and nothing of another."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gateway.adapters.tools.mcp.fork_server import ForkServer
from gateway.adapters.tools.mcp.launching import FORK_SERVER, ServerPipes, WorkerProcess, start_worker
from tests.adapters.tools.mcp.conftest import Drive
from tests.adapters.tools.mcp.servers import rogue_server

PATIENCE = 30.0

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="workers are forked where processes have handles")

CHATTY = {"kind": "stdio", "elicits": False, "timeout": 5.0, "start_timeout": 60.0, "secrets": ["the secret of one server"]}


class Pair:
    """A worker that is joined to pipes of its own; nobody answers it."""

    def __init__(self, folder: Path) -> None:
        self.pipes = ServerPipes.make()
        self.worker: WorkerProcess = start_worker({**CHATTY, "log": str(folder / "stderr.log")}, self.pipes)
        self.process = psutil.Process(self.worker.process.pid)

    def close(self) -> None:
        self.pipes.server.close()
        self.worker.end()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pair, Pair]]:
    folder = tmp_path_factory.mktemp("forked")
    with contextlib.ExitStack() as stack:
        first = Pair(folder)
        stack.callback(first.close)
        second = Pair(folder)
        stack.callback(second.close)
        for pair in (first, second):
            wait_for_settings(pair)
        yield first, second
    assert FORK_SERVER.pid is None


def wait_for_settings(pair: Pair) -> None:
    """Return once the worker has read what only it was told, for then it asks its server something."""
    with os.fdopen(os.dup(pair.pipes.server.stdin), "rb") as reader:
        assert b'"method"' in reader.readline()


def open_files(process: psutil.Process) -> dict[int, str]:
    folder = Path(f"/proc/{process.pid}/fd")
    found: dict[int, str] = {}
    for each in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[int(each.name)] = os.readlink(each)
    return found


def joined(process: psutil.Process) -> set[str]:
    """The pipes and sockets that it has open, by their numbers in the kernel. What its event loop made is its own."""
    return {target for target in open_files(process).values() if target.startswith(("pipe:", "socket:"))}


def test_workers_are_children_of_one_process_and_leaders_of_their_own_sessions(pairs: tuple[Pair, Pair]) -> None:
    assert FORK_SERVER.pid is not None
    for pair in pairs:
        assert pair.process.ppid() == FORK_SERVER.pid
        assert os.getsid(pair.process.pid) == pair.process.pid


def test_a_worker_has_no_pipe_or_socket_of_another_and_none_is_left_in_between(pairs: tuple[Pair, Pair]) -> None:
    first, second = pairs
    own = [{os.readlink(f"/proc/self/fd/{end}") for end in vars_of(pair)} for pair in pairs]
    assert not own[0] & own[1]
    assert own[0] <= joined(first.process)
    assert own[1] <= joined(second.process)
    assert not joined(first.process) & joined(second.process)
    assert FORK_SERVER.pid is not None
    between = joined(psutil.Process(FORK_SERVER.pid))
    assert not between & (joined(first.process) | joined(second.process))


def vars_of(pair: Pair) -> tuple[int, int, int]:
    """The server's ends of the pipes, which this test has open; a pipe has one number for both ends."""
    streams = pair.pipes.server
    return streams.stdin, streams.stdout, streams.stderr


def test_a_worker_has_no_handle_of_another_process(pairs: tuple[Pair, Pair]) -> None:
    for pair in pairs:
        assert not [target for target in open_files(pair.process).values() if "pidfd" in target]


def test_no_environment_of_the_gateway_is_in_a_worker_and_no_secret_of_one_in_between(pairs: tuple[Pair, Pair]) -> None:
    assert FORK_SERVER.pid is not None
    for pid in (FORK_SERVER.pid, *(pair.process.pid for pair in pairs)):
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert {line.partition(b"=")[0] for line in environment.split(b"\0") if line} <= {b"PATH", b"LANG", b"LC_CTYPE"}
        assert b"secret" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert not memory_holds(FORK_SERVER.pid, b"the secret of one server")


def memory_holds(pid: int, text: bytes) -> bool:
    """Whether the process has it anywhere in its own memory."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            if not rights.startswith("rw"):
                continue
            start, end = (int(each, 16) for each in span.split("-"))
            with contextlib.suppress(OSError, OverflowError):
                memory.seek(start)
                if text in memory.read(end - start):
                    return True
    return False


def test_limits_are_those_of_one_worker(pairs: tuple[Pair, Pair]) -> None:
    for pair in pairs:
        assert pair.process.rlimit(psutil.RLIMIT_NOFILE) == (128, 128)
        assert pair.process.rlimit(psutil.RLIMIT_AS) == (1 << 30, 1 << 30)
        assert pair.process.rlimit(psutil.RLIMIT_CORE) == (0, 0)
        assert pair.process.nice() == psutil.Process().nice() + 5


async def test_a_worker_that_hangs_or_is_killed_leaves_the_others_and_new_ones_alone(drive: Drive) -> None:
    hanging, killed, well = drive(rogue_server()), drive(rogue_server()), drive(rogue_server())
    for driven in (hanging, killed, well):
        await driven.open()
    assert FORK_SERVER.pid is not None
    # The newest are those of this test.
    workers = sorted(psutil.Process(FORK_SERVER.pid).children(), key=lambda each: each.pid)[-3:]
    workers[0].suspend()
    workers[1].send_signal(signal.SIGSEGV)
    async with asyncio.timeout(PATIENCE):
        await killed.listener.heard.wait()
        assert (await well.call("chatter")).text
        later = drive(rogue_server())
        await later.open()
        assert (await later.call("chatter")).text
    workers[0].resume()
    # Nobody but the process that forked it can wait for it, and it does.
    gone, _ = await asyncio.to_thread(psutil.wait_procs, [workers[1]], PATIENCE)
    assert gone == [workers[1]]


def test_a_process_that_cannot_start_is_an_error_of_the_system_and_not_a_hang() -> None:
    server = ForkServer(lambda descriptor: ["/bin/true"], {})
    began = time.monotonic()
    with pytest.raises(OSError, match="ended"):
        server.start(())
    assert server.pid is None
    assert time.monotonic() - began < PATIENCE


def test_a_worker_that_has_ended_leaves_no_trace_and_the_others_go_on(tmp_path: Path, pairs: tuple[Pair, Pair]) -> None:
    third = Pair(tmp_path)
    third.close()
    assert psutil.wait_procs([third.process], PATIENCE)[0] == [third.process]
    assert FORK_SERVER.pid is not None
    assert all(pair.process.is_running() for pair in pairs)


async def test_when_the_process_that_forks_dies_its_workers_end_and_the_next_one_is_started_anew(drive: Drive) -> None:
    driven = drive(rogue_server())
    await driven.open()
    first = FORK_SERVER.pid
    assert first is not None
    workers = psutil.Process(first).children()
    os.kill(first, signal.SIGKILL)
    _, alive = await asyncio.to_thread(psutil.wait_procs, workers, PATIENCE)
    assert alive == []
    async with asyncio.timeout(PATIENCE):
        await driven.listener.heard.wait()
    # The first attempt may only find out.
    with contextlib.suppress(Exception):
        await driven.open()
    await driven.open()
    assert (await driven.call("chatter")).text
    assert FORK_SERVER.pid not in (None, first)


async def test_where_processes_have_no_handles_a_worker_loads_everything_itself(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    driven = drive(rogue_server())
    await driven.open()
    assert (await driven.call("chatter")).text
    assert FORK_SERVER.pid is None
