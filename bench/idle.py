"""What a gateway weighs when nothing happens, alone and with a thousand sockets open."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import psutil

from bench.callers import start_callers
from bench.figures import Pace, report, report_pairs, say
from bench.servers import raise_file_limit, start_gateway, start_limit, work_folder

SOCKETS = 1_000
SETTLING = 1.0
"""Seconds before weighing."""


async def measure(pace: Pace) -> None:
    """Proportional set size, so that pages shared with other processes count once; the limit beside it. Always one round."""
    raise_file_limit()
    with work_folder() as ours, work_folder() as limit:
        async with (
            start_gateway(ours) as gateway,
            start_limit(limit) as (limit_pid, limit_target),
            start_callers() as callers,
        ):
            # The first start also made the database, and carries what that took.
            await gateway.process.stop()
            await gateway.process.start()
            pids = (gateway.process.pid, limit_pid)
            idle = await _weigh(*pids)
            private = psutil.Process(pids[0]).memory_full_info().uss
            # The first ceremony imports the passkey library; sockets are weighed on top of that.
            assert (await gateway.person.sign_in()).status == 204
            before = await _weigh(*pids)
            # Sockets only: a socket that also has a conversation and a turn holds what its owner put there.
            target = replace(gateway.target, begins_turns=False)
            for name, pid, where in (("ours", pids[0], target), ("limit", limit_pid, limit_target)):
                await callers.open(name, pid, where, SOCKETS)
                say(f"idle: {SOCKETS} sockets to {name}")
            after = await _weigh(*pids)
    report_pairs("idle/pss", "MB", [(idle[0] / 1e6, idle[1] / 1e6)])
    report("idle/private", private / 1e6, "MB")
    report("idle/pss/signed-in", before[0] / 1e6, "MB")
    per_socket = [(after[place] - before[place]) / SOCKETS / 1e3 for place in (0, 1)]
    report_pairs(f"idle/per-socket/{SOCKETS}", "KB", [(per_socket[0], per_socket[1])])
    report(f"idle/pss/{SOCKETS}", after[0] / 1e6, "MB")


async def _weigh(*pids: int) -> list[int]:
    await asyncio.sleep(SETTLING)
    return [int(psutil.Process(pid).memory_full_info().pss) for pid in pids]
