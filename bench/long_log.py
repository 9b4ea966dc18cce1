"""What a long log costs: its bytes, a start of the gateway over it, a receipt, a call that is put on record, and a check of it.

`--calls` and `--folder` are those of `history`. Calls are put on record in the folder that was made and in an empty one in turn,
and each time its log grows by them.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
import time
from pathlib import Path

from bench.figures import Pace, report, report_load, report_pairs, report_times, say
from bench.ledger import Worker
from bench.made_logs import BEGIN, END, ORIGIN, made_state, make_state, read_history
from bench.servers import ROOT, prepare_gateway, work_folder
from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.history.stored import StoredHistory
from gateway.adapters.storage.inspection import StoredLogReader, examine, open_stored_log
from gateway.adapters.storage.receipts import read_receipt
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_reading, open_history
from gateway.adapters.storage.store import open_store
from gateway.adapters.system.entropy import SystemEntropy
from gateway.core.call_history import AuditedCall
from gateway.runtime.ports import HistoryFilter

KIND_CALLS = 20_000
"""Of one kind in a log of its own: enough that half-filled pages do not count."""

RECEIPTS = 50
CALLERS = 50
CALLS_OF_A_CONVERSATION = 17

_WATCH = """
import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(ended.returncode)
"""
"""Runs a program, and says the most memory that it held, in KiB."""


async def measure(pace: Pace) -> None:
    """Everything about one made log."""
    async with made_state(pace) as state:
        for name in (DATABASE, HISTORY):
            report(f"long/bytes/{name}", (state / name).stat().st_size / pace.calls, "bytes/call")
        await _report_kinds()
        await _start(state, pace)
        await _read_receipts(state, pace.calls)
        await _append(state, pace)
        _verify(state)
        await _measure_memory(state)
        report_load()


async def _report_kinds() -> None:
    """The bytes of a call about which nobody was asked, and of one about which a person was, with their share of a turn.
    What a log takes that holds no call is left out."""
    nothing: dict[str, int] = {}
    for kind, (asked, calls) in {"empty": (False, 0), "unasked": (False, KIND_CALLS), "asked": (True, KIND_CALLS)}.items():
        with work_folder() as folder:
            state = folder / "state"
            await make_state(state, calls, lambda _tool, asked=asked: asked)
            read_history(state)
            for name in (DATABASE, HISTORY):
                size = (state / name).stat().st_size
                if calls:
                    report(f"long/bytes/{kind}/{name}", (size - nothing[name]) / calls, "bytes/call")
                else:
                    nothing[name] = size


async def _start(state: Path, pace: Pace) -> None:
    """Of the whole gateway, until it is ready, beside one of an empty folder that was started before."""
    pairs: list[tuple[float, float]] = []
    with work_folder() as home:
        await _seconds_to_ready(home)
        for number in range(pace.rounds):
            pairs.append((await _seconds_to_ready(state.parent), await _seconds_to_ready(home)))
            say(f"long: start, round {number + 1} of {pace.rounds}")
    report_pairs("long/start", "s", pairs)


async def _seconds_to_ready(home: Path) -> float:
    # Its policy is laid down anew each time; its state stays.
    with work_folder() as policy:
        process = prepare_gateway(policy)
        process.home = home
        began = time.perf_counter()
        try:
            await process.start()
            return time.perf_counter() - began
        finally:
            await process.stop()


async def _read_receipts(state: Path, calls: int) -> None:
    """Of calls anywhere in the log, over connections that stay open, as the gateway's do."""
    choice, chosen = random.Random(2), list[AuditedCall]()
    with dispose(open_for_reading(state / DATABASE)) as log, dispose(open_history(state / HISTORY)) as engine:
        history = StoredHistory(engine, log)
        for _ in range(RECEIPTS):
            named = HistoryFilter(BEGIN, END, text=f"call_{choice.randrange(calls):010}")
            chosen += await history.page(named, None, 1)
        history.close()
    reader, times, spent = StoredLogReader(state, stays_open=True), list[float](), list[float]()
    for call in chosen:
        began, used = time.perf_counter(), time.process_time()
        with reader.open() as stored:
            read_receipt(stored, call.conversation_id, call.call_id)
        times.append(time.perf_counter() - began)
        spent.append(time.process_time() - used)
    reader.close()
    report_times("long/receipt", times)
    report_times("long/receipt/cpu", spent)


async def _append(state: Path, pace: Pace) -> None:
    """Calls that become durable in a second, in new conversations of new people."""
    pairs: list[tuple[float, float]] = []
    with work_folder() as empty:
        for number in range(pace.rounds):
            pairs.append((await _call(state, pace), await _call(empty / "state", pace)))
            say(f"long: append, round {number + 1} of {pace.rounds}")
    report_pairs("long/append", "calls/s", pairs)


async def _call(state: Path, pace: Pace) -> float:
    async with open_store(state, origin=ORIGIN) as store:
        numbers, done, entropy = itertools.count(), 0, SystemEntropy()
        workers = [Worker(store.ledger, entropy.identifier("")) for _ in range(CALLERS)]
        for worker in workers:
            await worker.prepare()
        began = time.perf_counter()

        async def work(worker: Worker) -> None:
            nonlocal done
            while time.perf_counter() - began < pace.seconds:
                await worker.converse()
                for _ in range(CALLS_OF_A_CONVERSATION):
                    await worker.call(next(numbers))
                    done += 1

        await asyncio.gather(*(work(worker) for worker in workers))
        return done / (time.perf_counter() - began)


def _verify(state: Path) -> None:
    """As `audit verify` does, in processor time of one core."""
    with open_stored_log(state) as stored:
        began = time.process_time()
        checked = examine(stored)
        report("long/verify", checked.size / (time.process_time() - began), "records/s")
    assert checked.fault is None, checked.fault


async def _measure_memory(state: Path) -> None:
    """Of `audit verify` at its highest, beside one of a log that holds nothing but its beginning."""
    with work_folder() as empty:
        async with open_store(empty / "state", origin=ORIGIN):
            pass
        report_pairs("long/verify/memory", "MB", [(await _memory_to_verify(state), await _memory_to_verify(empty / "state"))])


async def _memory_to_verify(state: Path) -> float:
    # What a process had before it became another program counts as that one's. So a small one starts it.
    command = (sys.executable, "-c", "from gateway.cli import main; main()", "audit", "verify", "--state", str(state))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", _WATCH, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return int(said.split()[-1]) / 1024
