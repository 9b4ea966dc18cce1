"""How fast intents and outcomes become durable, against the least that could be done.

The limit is a writer thread with SQLAlchemy Core that does two synchronous group commits per call and nothing else: no leaf,
no hash, no signature, no guard. Ours and the limit run in turn in the same rounds. Prints one JSON object per line.

    python -m bench.ledger [rounds] [seconds per cell]
"""

from __future__ import annotations

import asyncio
import json
import queue
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Integer, MetaData, Table, Text, bindparam, insert, update

from gateway.adapters.storage.engine import open_for_writing
from gateway.adapters.storage.ledger import SqlLedger
from gateway.adapters.storage.tables import metadata
from gateway.adapters.storage.writer import Writer
from gateway.core import ledger as steps
from gateway.core.canonical import canonical_bytes, digest_of_bytes
from gateway.core.checkpoint import SigningKey
from gateway.core.merkle import Frontier
from gateway.core.model import Principal, PublishedTool, Session, Snapshot, ToolRequest, ToolSpec
from gateway.core.vocabulary import Category, Decision, Label, Outcome, PermissionMode, Profile, Trust

Call = Callable[[int], Awaitable[None]]

CALLERS = (1, 10, 50)
PRINCIPAL = Principal("prn_bench", "Bench", Profile.OPERATOR)
SPEC = ToolSpec("echo", "Echo", "bench", "echo", {"type": "object"}, Category.READ, "bench")
SNAPSHOT = Snapshot(
    "snp_1", "ses_1", "con_1", "cnv_1", "trn_1", 0, 1, 10**13, "0" * 64, (PublishedTool(SPEC, PermissionMode.AUTO),)
)
ARGUMENTS = canonical_bytes({"path": "notes/today.md", "text": "x" * 300, "count": 3})


def request(number: int) -> ToolRequest:
    return ToolRequest(
        principal=PRINCIPAL,
        session_id="ses_1",
        connection_id="con_1",
        conversation_id="cnv_1",
        turn_id="trn_1",
        snapshot_id="snp_1",
        snapshot_digest=SNAPSHOT.digest,
        call_id=f"call_{number:09d}",
        tool="echo",
        arguments=ARGUMENTS,
        digest=digest_of_bytes(b"%d" % number),
        model=None,
        received_at=1_795_000_000_000 + number,
    )


class Limit:
    """Two group commits per call, and nothing else."""

    def __init__(self, directory: Path) -> None:
        self._engine = open_for_writing(directory / "limit.db")
        tables = MetaData()
        self._calls = Table(
            "calls",
            tables,
            Column("id", Integer, primary_key=True),
            Column("arguments", Text),
            Column("state", Text),
            Column("result", Text),
        )
        with self._engine.begin() as connection:
            tables.create_all(connection)
        self._insert = insert(self._calls)
        self._update = (
            update(self._calls).where(self._calls.c.id == bindparam("of_id")).values(state="closed", result=bindparam("result"))
        )
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    async def call(self, number: int) -> None:
        text = ARGUMENTS.decode()
        await self._submit(("insert", {"id": number, "arguments": text, "state": "running", "result": None}))
        await self._submit(("update", {"of_id": number, "result": "y" * 400}))

    async def close(self) -> None:
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._engine.dispose()

    def _submit(self, work: tuple[str, dict[str, Any]]) -> asyncio.Future[None]:
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((work, future))
        return future

    def _run(self) -> None:
        with self._engine.connect() as connection:
            while (first := self._queue.get()) is not None:
                batch = [first]
                while not self._queue.empty():
                    more = self._queue.get()
                    if more is None:
                        return
                    batch.append(more)
                with connection.begin():
                    for kind, statement in (("insert", self._insert), ("update", self._update)):
                        rows = [row for (of, row), _ in batch if of == kind]
                        if rows:
                            connection.execute(statement, rows)
                self._loop.call_soon_threadsafe(self._settle, [future for _, future in batch])

    @staticmethod
    def _settle(futures: list[asyncio.Future[None]]) -> None:
        for future in futures:
            future.set_result(None)


class Ours:
    """The ledger: guarded state, salted payload, Merkle leaf and signed checkpoint with every commit."""

    def __init__(self, directory: Path) -> None:
        self._engine = open_for_writing(directory / "ledger.db")
        with self._engine.begin() as connection:
            metadata.create_all(connection)
        self._writer = Writer(self._engine, SigningKey("bench.example/audit", bytes(32)), Frontier())
        self._ledger = SqlLedger(self._writer)

    async def prepare(self) -> None:
        passkey = steps.Passkey(b"credential", PRINCIPAL.id, b"key", 0, False, False, b"handle", (), "Key", 1)
        session = Session("ses_1", PRINCIPAL, "cse_1", (), Label.PUBLIC, 1, 10**13)
        await self._ledger.append(
            steps.EnrolmentOffered(1, "token", PRINCIPAL.name, PRINCIPAL.profile, 10**13),
            steps.PrincipalEnrolled(1, "token", PRINCIPAL, passkey),
            steps.ConsoleSessionStarted(1, "cse_1", "hash", PRINCIPAL.id, 10**13),
            steps.AgentSessionStarted(1, session, "hash"),
            steps.ConversationOpened(1, "cnv_1", PRINCIPAL.id, "Bench"),
            steps.TurnBegun(1, PRINCIPAL.id, SNAPSHOT, None),
        )

    async def call(self, number: int) -> None:
        bound = request(number)
        intent = steps.CallIntended(bound.received_at, bound, SNAPSHOT, SPEC.digest, Decision.AUTO, (), None, None)
        await self._ledger.append(intent)
        result = steps.ToolResult(
            call_id=bound.call_id,
            outcome=Outcome.OK,
            reason=None,
            content="y" * 400,
            structured=None,
            error=None,
            truncated=False,
            redactions=0,
            labels=(),
            trust=Trust.UNTRUSTED,
            duration_ms=1,
            receipt_id=f"rcp_{number}",
            result_digest=bound.digest,
        )
        closed = steps.CallClosed(bound.received_at, bound, SNAPSHOT, SPEC.digest, Decision.AUTO, (), result, True)
        await self._ledger.append(closed)

    async def close(self) -> None:
        await self._writer.close()
        self._engine.dispose()


async def measure(call: Call, callers: int, seconds: float, numbers: list[int]) -> dict[str, float]:
    latencies: list[float] = []
    stop = time.perf_counter() + seconds

    async def caller() -> None:
        while (began := time.perf_counter()) < stop:
            numbers[0] += 1
            await call(numbers[0])
            latencies.append(time.perf_counter() - began)

    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    after, elapsed = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - began
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    latencies.sort()
    count = len(latencies)
    return {
        "rate": count / elapsed,
        "p50": latencies[count // 2] * 1e3,
        "p99": latencies[int(count * 0.99)] * 1e3,
        "cpu": cpu / count * 1e6,
    }


async def main(rounds: int, seconds: float) -> None:
    cells: dict[tuple[str, int], list[dict[str, float]]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=".") as directory:
            limit, ours = Limit(Path(directory)), Ours(Path(directory))
            await ours.prepare()
            numbers = [0]
            for callers in CALLERS:
                for name, contender in (("limit", limit), ("ours", ours)):
                    cell = await measure(contender.call, callers, seconds, numbers)
                    cells.setdefault((name, callers), []).append(cell)
            await limit.close()
            await ours.close()
    for callers in CALLERS:
        ratios = [
            mine["rate"] / least["rate"] for mine, least in zip(cells["ours", callers], cells["limit", callers], strict=True)
        ]
        for figure, unit in (("rate", "calls/s"), ("p50", "ms"), ("p99", "ms"), ("cpu", "us/call")):
            value, least = (statistics.median(cell[figure] for cell in cells[name, callers]) for name in ("ours", "limit"))
            line = {"name": f"ledger/{figure}/{callers}", "value": round(value, 3), "unit": unit, "limit": round(least, 3)}
            if figure == "rate":
                line["ratio"] = round(statistics.median(ratios), 3)
            print(json.dumps(line))


if __name__ == "__main__":
    # The gateway runs on uvloop, so its bench does too.
    import uvloop

    arguments = [*sys.argv[1:], "5", "2"][:2] if len(sys.argv) < 3 else sys.argv[1:]
    uvloop.run(main(int(arguments[0]), float(arguments[1])))
