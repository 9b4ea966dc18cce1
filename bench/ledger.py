"""How fast intents and outcomes become durable, against the least that could be done: the ledger alone, without a gateway.

The limit does two synchronous group commits per call and nothing else. Ours and the limit run in turn in the same rounds.
"""

from __future__ import annotations

import asyncio
import itertools
import resource
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import uvloop

from bench.callers import Cell
from bench.commits import GroupCommits
from bench.figures import Pace, percentile, report_pairs, say
from bench.servers import work_folder
from gateway.adapters.storage.commits import Committer
from gateway.adapters.storage.holding import HeldState
from gateway.adapters.storage.identity import begin_epoch, identify
from gateway.adapters.storage.ledger import SqlLedger
from gateway.adapters.storage.mark import MarkFile
from gateway.adapters.storage.sqlite import DATABASE, WAL, open_for_writing
from gateway.adapters.storage.tables import metadata
from gateway.adapters.storage.writer import Writer
from gateway.core import ledger as steps
from gateway.core.canonical import canonical_bytes, digest_of_bytes
from gateway.core.checkpoint import SigningKey
from gateway.core.merkle import EMPTY_ROOT, Frontier
from gateway.core.model import Principal, PublishedTool, Session, Snapshot, ToolRequest, ToolSpec
from gateway.core.vocabulary import Category, Decision, Label, Outcome, PermissionMode, Profile, Trust

Call = Callable[[int], Awaitable[None]]

CALLERS = (1, 10, 50)
PRINCIPAL = Principal("prn_bench", "Bench", Profile.OPERATOR)
SPEC = ToolSpec("echo", "Echo", "bench", "echo", {"type": "object"}, Category.READ, "bench")
SNAPSHOT = Snapshot(
    "snp_1", "ses_1", "con_1", "cnv_1", "trn_1", 0, 1, 10**13, "0" * 64, (PublishedTool(SPEC, PermissionMode.AUTO),)
)
RESULT = "y" * 400
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


class Ours:
    """The ledger: guarded state, salted payload, Merkle leaf and signed checkpoint with every commit."""

    def __init__(self, directory: Path) -> None:
        self._engine = open_for_writing(directory / DATABASE)
        with self._engine.begin() as connection:
            metadata.create_all(connection)
            identity, epoch = identify(connection), begin_epoch(connection)
        key = SigningKey("bench.example/audit", bytes(32))
        mark = MarkFile(directory, key, identity.id, key.sign(0, EMPTY_ROOT))
        state = HeldState(directory)
        state.watch(DATABASE, WAL)
        committer = Committer(self._engine, key, Frontier(), epoch)
        self._writer = Writer(self._engine, committer, mark=mark, require_held=state.check)
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
            content=RESULT,
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

    def quiet_seconds(self) -> float:
        return self._writer.quiet_seconds()

    async def close(self) -> None:
        await self._writer.close()
        self._engine.dispose()


async def measure(pace: Pace) -> None:
    """In one process on uvloop, as the gateway runs."""
    cells: dict[tuple[str, int], list[Cell]] = {}
    # On a loop of its own: the benchmark's other subjects only talk to servers, and those bring theirs.
    await asyncio.to_thread(uvloop.run, _go_rounds(pace, cells))
    for callers in CALLERS:
        for figure, unit in (("rate", "calls/s"), ("p50", "ms"), ("p99", "ms"), ("cpu", "ms/call")):
            pairs = [
                (getattr(mine, figure), getattr(least, figure))
                for mine, least in zip(cells["ours", callers], cells["limit", callers], strict=True)
            ]
            report_pairs(f"ledger/{figure}/{callers}", unit, pairs)


async def _go_rounds(pace: Pace, cells: dict[tuple[str, int], list[Cell]]) -> None:
    for number in range(pace.rounds):
        with work_folder() as folder:
            limit, ours = GroupCommits(folder / "limit.db"), Ours(folder)
            await ours.prepare()
            numbers = itertools.count()

            async def least(number: int, limit: GroupCommits = limit) -> None:
                row = await limit.insert(ARGUMENTS.decode())
                await limit.update(row, RESULT)

            for callers in CALLERS:
                for name, call in (("limit", least), ("ours", ours.call)):
                    cells.setdefault((name, callers), []).append(await _drive(call, callers, pace.seconds, numbers))
            await limit.close()
            await ours.close()
        say(f"ledger: round {number + 1} of {pace.rounds}")


async def _drive(call: Call, callers: int, seconds: float, numbers: Iterator[int]) -> Cell:
    latencies: list[float] = []
    stop = time.perf_counter() + seconds

    async def caller() -> None:
        while (began := time.perf_counter()) < stop:
            await call(next(numbers))
            latencies.append(time.perf_counter() - began)

    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    after, elapsed = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - began
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    latencies.sort()
    count = len(latencies)
    return Cell(count / elapsed, percentile(latencies, 0.5) * 1e3, percentile(latencies, 0.99) * 1e3, spent / count * 1e3, 0.0)
