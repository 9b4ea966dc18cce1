"""A process that records calls of many callers until it is killed, and tells each acknowledgement to its parent.

    python -m tests.crash.ledger_child STATE RUN

Lines on standard output: `I call index` for an intent and `C call index` for an outcome, each written only after `append`
returned.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from gateway.adapters.storage.store import Store, open_store
from gateway.core import ledger as steps
from tests.fakes.history import History

CALLERS = 30


async def recover(store: Store, run: int, history: History) -> None:
    """As the gateway does at every start."""
    if not await store.records.principals():
        await store.ledger.append(*history.beginning())
        return
    found = [
        steps.CallFoundUnknown(history.tick(), call.principal_id, call.conversation_id, call.call_id, f"rcp_{run}")
        for call in await store.records.unfinished_calls()
    ]
    await store.ledger.append(*found, steps.GatewayStarted(history.tick(), "0.1.0", "a" * 64, len(found)))


async def record_calls(store: Store, history: History, prefix: str) -> None:
    number = 0
    while True:
        number += 1
        call_id = f"{prefix}-{number}"
        request = history.request(call_id)
        (index,) = await store.ledger.append(history.intend(request))
        os.write(1, f"I {call_id} {index}\n".encode())
        (index,) = await store.ledger.append(history.close(request))
        os.write(1, f"C {call_id} {index}\n".encode())


async def main(state: Path, run: int) -> None:
    history = History()
    async with open_store(state, origin="gateway.example/audit") as store:
        await recover(store, run, history)
        await asyncio.gather(*(record_calls(store, history, f"run-{run}-caller-{caller}") for caller in range(CALLERS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
