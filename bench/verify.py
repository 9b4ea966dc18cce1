"""How many records a second the verifier checks, in processor time of one core.

By how many records a checkpoint covers: its signature costs as much as several records, and a busy gateway signs for dozens.
"""

from __future__ import annotations

import asyncio
import itertools
import time

from bench.figures import Pace, median, report, say
from bench.ledger import Ours
from bench.servers import work_folder
from gateway.adapters.storage.log import newest_note, read_leaves, read_notes
from gateway.adapters.storage.sqlite import DATABASE, open_for_reading
from gateway.core.checkpoint import SigningKey
from gateway.core.verification import verify

CALLERS = (1, 10, 50)
RECORDS = 20_000
KEY = SigningKey("bench.example/audit", bytes(32))


async def measure(pace: Pace) -> None:
    """Write a log with that many callers, and check it as `audit verify` does."""
    for callers in CALLERS:
        with work_folder() as folder:
            ledger = Ours(folder)
            await ledger.prepare()
            numbers = itertools.count()

            async def call(ledger: Ours = ledger, numbers: itertools.count[int] = numbers) -> None:
                while (number := next(numbers)) < RECORDS // 2:
                    await ledger.call(number)

            await asyncio.gather(*(call() for _ in range(callers)))
            await ledger.close()
            engine = open_for_reading(folder / DATABASE)
            rates: list[float] = []
            for number in range(pace.rounds):
                with engine.connect() as connection:
                    assert newest_note(connection) is not None
                    began = time.process_time()
                    checked = verify(read_leaves(connection), read_notes(connection), KEY.verification_key, newest_only=True)
                    rates.append(checked.size / (time.process_time() - began))
                assert checked.fault is None, checked.fault
                say(
                    f"verify: {checked.size} records under {checked.checkpoints} checkpoints, round {number + 1} of {pace.rounds}"
                )
            engine.dispose()
        report(f"verify/rate/{callers}", median(rates), "records/s")
