"""Keep a gateway busy for a long time, and watch what it uses.

    python -m tests.crash.soak [--minutes N] [--callers N]

Prints one line a minute: calls, errors, resident memory, descriptors. Exit status 1 when a call failed or the log is not sound.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import click

from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.unlimited import copy_policy_without_quotas
from tests.scenarios.conftest import make_gateway

CALLS_PER_TURN = 20
MINUTE = 60.0


async def soak(home: Path, minutes: float, callers: int) -> int:
    """Call until the time is over; gives the number of calls that failed."""
    gateway = make_gateway(home, COUNTERSIGN_POLICY=str(copy_policy_without_quotas(home / "policy")))
    await gateway.start()
    person = await Person.at(gateway).arrive()
    end = time.monotonic() + minutes * MINUTE
    done = failed = 0

    async def call() -> None:
        nonlocal done, failed
        shell = await person.agent()
        while time.monotonic() < end:
            turn = await Turn.begin(shell)
            for _ in range(CALLS_PER_TURN):
                result = await turn.invoke("peek", {"what": "x"})
                done += 1
                failed += result["outcome"] != "ok"
            await shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
            await shell.call("conversations/delete", {"conversationId": turn.conversation_id})

    calling = asyncio.gather(*(call() for _ in range(callers)))
    while not calling.done():
        await asyncio.wait([calling], timeout=min(MINUTE, max(0.1, end - time.monotonic())))
        click.echo(f"{done} calls, {failed} failed, {_memory(gateway)} KiB, {_descriptors(gateway)} descriptors")
    await calling
    await person.leave()
    assert await gateway.stop() == 0, gateway.output
    code, output = await gateway.run("audit", "verify")
    click.echo(output)
    return failed + (code != 0)


def _memory(gateway: GatewayProcess) -> int:
    pages = int(Path(f"/proc/{gateway.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def _descriptors(gateway: GatewayProcess) -> int:
    return len(os.listdir(f"/proc/{gateway.pid}/fd"))


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.soak", description="Keep a gateway busy for a long time.")
    parser.add_argument("--minutes", type=float, default=10, help="how long (default 10)")
    parser.add_argument("--callers", type=int, default=20, help="callers at once (default 20)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        sys.exit(1 if asyncio.run(soak(Path(home), asked.minutes, asked.callers)) else 0)


if __name__ == "__main__":
    main()
