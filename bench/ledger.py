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
from gateway.adapters.system.entropy import SystemEntropy
from gateway.core import ledger as steps
from gateway.core.canonical import canonical_bytes, digest_of_bytes
from gateway.core.checkpoint import SigningKey
from gateway.core.merkle import EMPTY_ROOT, Frontier
from gateway.core.model import Principal, PublishedTool, Session, Snapshot, ToolRequest, ToolSpec
from gateway.core.vocabulary import Category, Decision, Label, Outcome, PermissionMode, Profile, Trust

Call = Callable[[int], Awaitable[None]]

CALLERS = (1, 10, 50)
SPEC = ToolSpec("echo", "Echo", "bench", "echo", {"type": "object"}, Category.READ, "bench")
RESULT = "y" * 400
ARGUMENTS = canonical_bytes({"path": "notes/today.md", "text": "x" * 300, "count": 3})


class Worker:
    """Somebody whose calls are put on record. `name` tells their ids from those of others in the same ledger."""

    _entropy = SystemEntropy()

    def __init__(self, ledger: SqlLedger, name: str = "1") -> None:
        self._ledger = ledger
        self._name = name
        self._principal = Principal(f"prn_bench_{name}", "Bench", Profile.OPERATOR)
        self._snapshot = self._make_snapshot(f"{name}_1")

    def _make_snapshot(self, name: str) -> Snapshot:
        ids = (f"snp_{name}", f"ses_{self._name}", f"con_{self._name}", f"cnv_{name}", f"trn_{name}")
        return Snapshot(*ids, 0, 1, 10**13, "0" * 64, (PublishedTool(SPEC, PermissionMode.AUTO),))

    async def prepare(self) -> None:
        """Enrol, sign in, and begin a first conversation."""
        me, name = self._principal, self._name
        passkey = steps.Passkey(f"credential {name}".encode(), me.id, b"key", 0, False, False, b"handle", (), "Key", 1)
        session = Session(f"ses_{name}", me, f"cse_{name}", (), Label.PUBLIC, 1, 10**13)
        await self._ledger.append(
            steps.EnrolmentOffered(1, f"token {name}", me.name, me.profile, 10**13),
            steps.PrincipalEnrolled(1, f"token {name}", me, passkey),
            steps.ConsoleSessionStarted(1, f"cse_{name}", f"hash {name}", me.id, 10**13),
            steps.AgentSessionStarted(1, session, f"hash {name}"),
            *self._opened(),
        )

    async def converse(self) -> None:
        """Begin another conversation."""
        self._snapshot = self._make_snapshot(self._entropy.identifier(""))
        await self._ledger.append(*self._opened())

    def _opened(self) -> tuple[steps.Entry, ...]:
        snapshot, me = self._snapshot, self._principal.id
        return (
            steps.ConversationOpened(1, snapshot.conversation_id, me, "Bench"),
            steps.TurnBegun(1, me, snapshot, None),
        )

    async def call(self, number: int) -> None:
        """One call, with its intent and its end."""
        bound, snapshot = self._request(number), self._snapshot
        intent = steps.CallIntended(bound.received_at, bound, snapshot, SPEC.digest, Decision.AUTO, (), None, None)
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
        closed = steps.CallClosed(bound.received_at, bound, snapshot, SPEC.digest, Decision.AUTO, (), result, True)
        await self._ledger.append(closed)

    def _request(self, number: int) -> ToolRequest:
        snapshot = self._snapshot
        return ToolRequest(
            principal=self._principal,
            session_id=snapshot.session_id,
            connection_id=snapshot.connection_id,
            conversation_id=snapshot.conversation_id,
            turn_id=snapshot.turn_id,
            snapshot_id=snapshot.id,
            snapshot_digest=snapshot.digest,
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
        self._worker = Worker(SqlLedger(self._writer))
        self.prepare, self.call = self._worker.prepare, self._worker.call

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
