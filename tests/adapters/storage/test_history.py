"""The history of calls is the log's, whatever becomes of its file, and its answers are those of looking at every call."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import Engine, create_engine, insert
from sqlalchemy.event import listen

from gateway.adapters.storage import tables as log
from gateway.adapters.storage.history import queries, stored, tables, writing
from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.history.stored import StoredHistory, open_call_history
from gateway.adapters.storage.history.writing import STRETCH, read_progress
from gateway.adapters.storage.record_texts import register_functions
from gateway.adapters.storage.sqlite import DATABASE, choose_driver, dispose, open_for_reading, open_history
from gateway.adapters.storage.store import open_store
from gateway.core.call_history import DAY_MS, HOUR_MS, AuditedCall
from gateway.core.errors import LedgerUnavailable
from gateway.core.merkle import leaf_hash
from gateway.runtime.ports import HistoryFilter
from tests.fakes.history import OPERATOR, History

ORIGIN = "gateway.example/audit"
EVER = HistoryFilter(since=0, until=2**52)

Body = dict[str, Any]


# ── beside a real ledger ──


async def record(folder: Path, *, whole: bool = True) -> Sequence[AuditedCall]:
    """A log with something of everything, and its calls, newest first."""
    async with open_store(folder, origin=ORIGIN) as store:
        for entries in History().whole()[: None if whole else 9]:
            await store.ledger.append(*entries)
        return await store.history.page(EVER, None, 100)


async def reopen(folder: Path) -> Sequence[AuditedCall]:
    async with open_store(folder, origin=ORIGIN) as store:
        return await store.history.page(EVER, None, 100)


async def test_what_was_appended_is_told_at_once_and_after_a_restart(tmp_path: Path) -> None:
    calls = await record(tmp_path)
    assert len(calls) == 8
    assert {call.traits.principal_id for call in calls} == {OPERATOR.id}
    assert await reopen(tmp_path) == calls


async def test_a_history_that_was_deleted_is_made_again_from_the_log(tmp_path: Path) -> None:
    calls = await record(tmp_path)
    (tmp_path / HISTORY).unlink()
    assert await reopen(tmp_path) == calls


@pytest.mark.parametrize("damage", [b"no database at all" * 1000, b""])
async def test_a_history_that_is_damaged_is_made_again_from_the_log(tmp_path: Path, damage: bytes) -> None:
    calls = await record(tmp_path)
    (tmp_path / HISTORY).write_bytes(damage)
    assert await reopen(tmp_path) == calls


async def test_a_history_of_another_version_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = await record(tmp_path)
    monkeypatch.setattr(tables, "VERSION", tables.VERSION + 1)
    assert await reopen(tmp_path) == calls


async def test_a_history_of_another_log_is_not_believed(tmp_path: Path) -> None:
    """As after a restore of an older state, or of another gateway's."""
    await record(tmp_path / "one")
    calls = await record(tmp_path / "two", whole=False)
    (tmp_path / "two" / HISTORY).write_bytes((tmp_path / "one" / HISTORY).read_bytes())
    assert await reopen(tmp_path / "two") == calls


async def test_the_file_of_the_history_is_its_owners_alone(tmp_path: Path) -> None:
    await record(tmp_path)
    assert (tmp_path / HISTORY).stat().st_mode & 0o777 == 0o600


async def test_a_history_that_cannot_be_written_stops_no_call(tmp_path: Path) -> None:
    async with open_store(tmp_path, origin=ORIGIN) as store:
        submissions = History().whole()
        await store.ledger.append(*submissions[0])
        await store.history.page(EVER, None, 1)
        driver: Any = choose_driver()
        other = driver.connect(tmp_path / HISTORY, isolation_level=None)
        other.execute("DROP TABLE calls")
        other.close()
        await store.ledger.append(*submissions[1])
        await store.ledger.append(*submissions[2])
        with pytest.raises(LedgerUnavailable, match="history"):
            await store.history.page(EVER, None, 1)
        assert await store.records.audit_size() == sum(map(len, submissions[:3]))


# ── against every call of a made log ──

NOW = 1_795_000_000_000
SINCE = NOW - 60 * DAY_MS
CALLS = 1_600


def make_bodies(choice: random.Random) -> Iterator[Body]:
    """Calls of some people over sixty days, most of them in two bursts; a rare tool only long ago."""
    times = [choice.randrange(SINCE, NOW) for _ in range(CALLS // 2)]
    for burst in (NOW - HOUR_MS, NOW - 31 * DAY_MS):
        times += [burst + choice.randrange(HOUR_MS // 2) for _ in range(CALLS // 4)]
    for number, at in enumerate(sorted(times)):
        tool = choice.choice(("read_file", "write_file", "fetch"))
        if at < NOW - 50 * DAY_MS and number % 20 == 0:
            tool = "rare_tool"
        conversation = number // 12
        call = {
            "principalId": f"usr_{conversation % 5}",
            "conversationId": f"cnv_{conversation:04}",
            "callId": f"call-{number:05}",
            "turnId": f"trn_{number // 4:04}",
        }
        about = {
            "turnIndex": number % 3,
            "tool": tool,
            "decision": "auto",
            "because": ["read.auto"] if tool == "read_file" else ["write.asks", "label.high"],
            "policyVersion": "a" * 64 if at < NOW - 30 * DAY_MS else "b" * 64,
            "modelId": f"model-{conversation % 2}",
            "grantId": None,
        }
        yield {"event": "call:intended", "at": at, **call, **about}
        if number % 97:
            outcome = choice.choice(("ok", "ok", "ok", "executionError", "timedOut"))
            yield {"event": "call:closed", "at": at, **call, "outcome": outcome, "reason": None, "durationMs": 5}


def open_log(bodies: Iterator[Body]) -> Engine:
    """A log in memory that has leaves with these bodies."""
    driver: Any = choose_driver()
    connection = driver.connect(":memory:", isolation_level=None, check_same_thread=False)
    register_functions(connection)
    engine = create_engine("sqlite+pysqlite://", module=driver, creator=lambda: connection)
    log.metadata.create_all(engine)
    with engine.begin() as writing:
        rows: list[Body] = []
        for position, body in enumerate(bodies):
            written = orjson.dumps(body)
            rows.append({"position": position, "hash": leaf_hash(written), "body": written.decode(), "payload": None})
        writing.execute(insert(log.leaves), rows)
    return engine


@pytest.fixture(scope="module")
def log_engine() -> Iterator[Engine]:
    with dispose(open_log(make_bodies(random.Random(7)))) as engine:
        yield engine


@pytest.mark.parametrize("at_once", [1, 2, STRETCH])
async def test_the_number_of_a_turn_is_kept_whichever_of_its_calls_does_not_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """A call that was refused at once, before or after others of its turn, however the log is read."""
    monkeypatch.setattr(writing, "LEAVES", writing.LEAVES.limit(at_once))
    ran = [body for body in make_bodies(random.Random(7)) if body["callId"] == "call-00001"]
    turn = {"conversationId": ran[0]["conversationId"], "turnId": ran[0]["turnId"], "principalId": "usr_0"}
    closed = {"event": "call:closed", "outcome": "refusedByPolicy", "reason": "turnClosed", "durationMs": 0, "turnIndex": None}
    early, late = ({**closed, **turn, "at": ran[0]["at"], "callId": name} for name in ("early", "late"))
    with dispose(open_log(iter((early, *ran, late)))) as engine:
        async with open_call_history(tmp_path, engine, always_busy) as history:
            history.read_all()
            calls = await history.page(EVER, None, 10)
    assert [call.turn_index for call in calls] == [1, 1, 1]


@pytest.fixture
async def history(log_engine: Engine, tmp_path: Path) -> AsyncIterator[StoredHistory]:
    async with open_call_history(tmp_path, log_engine, always_busy) as opened:
        opened.read_all()
        yield opened


def always_busy() -> float:
    return 0.0


def matches(call: AuditedCall, wanted: HistoryFilter) -> bool:
    traits = call.traits
    named = ("principal_id", "tool", "outcome", "decision", "model_id", "policy_version")
    return (
        wanted.since <= call.at < wanted.until
        and all(getattr(wanted, name) in (None, getattr(traits, name)) for name in named)
        and wanted.conversation_id in (None, call.conversation_id)
        and (wanted.rule is None or f"\n{wanted.rule}\n" in traits.rules)
    )


FILTERS = [
    HistoryFilter(SINCE, NOW),
    HistoryFilter(NOW - HOUR_MS, NOW),
    HistoryFilter(NOW - 3 * HOUR_MS, NOW),
    HistoryFilter(NOW - DAY_MS, NOW),
    HistoryFilter(NOW - 40 * DAY_MS, NOW - 20 * DAY_MS),
    HistoryFilter(SINCE, NOW, tool="rare_tool"),
    HistoryFilter(SINCE, NOW, tool="read_file"),
    HistoryFilter(SINCE, NOW, tool="no_such_tool"),
    HistoryFilter(SINCE, NOW, outcome="open"),
    HistoryFilter(SINCE, NOW, outcome="timedOut", principal_id="usr_3"),
    HistoryFilter(SINCE, NOW, model_id="model-1", tool="fetch"),
    HistoryFilter(SINCE, NOW, policy_version="a" * 64),
    HistoryFilter(SINCE, NOW, rule="label.high"),
    HistoryFilter(SINCE, NOW, rule="label"),
    HistoryFilter(SINCE, NOW, conversation_id="cnv_0007"),
    HistoryFilter(SINCE, NOW, conversation_id="cnv_0007", tool="fetch"),
    HistoryFilter(NOW - 2 * HOUR_MS, NOW, principal_id="usr_1", outcome="ok"),
    HistoryFilter(NOW - 35 * DAY_MS, NOW - 30 * DAY_MS, decision="auto", tool="write_file"),
]


async def follow_until_something_is_told(engine: Engine, folder: Path, quiet_seconds: Callable[[], float]) -> int:
    """How many leaves stand in the history once it has any."""
    async with asyncio.timeout(30), open_call_history(folder, engine, quiet_seconds):
        while True:
            await asyncio.sleep(0)
            if told := count_told(folder):
                return told


def count_told(folder: Path) -> int:
    with dispose(open_for_reading(folder / HISTORY)) as engine, engine.connect() as connection:
        progress = read_progress(connection)
    return 0 if progress is None else progress.size


async def test_the_log_is_read_on_only_in_a_moment_when_nothing_is_written(
    log_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PAUSE_SECONDS", 0)
    told_while_busy: list[int] = []

    def quiet_seconds() -> float:
        told_while_busy.append(count_told(tmp_path))
        return 0.0 if len(told_while_busy) <= 20 else 1.0

    assert await follow_until_something_is_told(log_engine, tmp_path, quiet_seconds) >= STRETCH
    assert told_while_busy[:20] == [0] * 20


async def test_a_gateway_that_is_never_quiet_still_tells_its_calls(
    log_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(stored, "LONGEST_WAIT_SECONDS", 0)
    assert await follow_until_something_is_told(log_engine, tmp_path, always_busy) >= STRETCH


@pytest.mark.parametrize("few", [queries.FEW, 50])
async def test_pages_and_counts_are_those_of_looking_at_every_call(
    history: StoredHistory, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(queries, "FEW", few)
    every = await history.page(HistoryFilter(0, 2**52), None, CALLS + 1)
    assert len(every) == CALLS
    for wanted in FILTERS:
        counted = await history.count(wanted)
        exact = replace(wanted, since=counted.since, until=counted.until)
        expected = [call for call in every if matches(call, exact)]
        found: list[AuditedCall] = []
        while page := await history.page(wanted, (found[-1].at, found[-1].position) if found else None, 120):
            found += page
            assert len(found) <= len(expected), wanted
        assert found == expected, wanted
        assert counted.outcomes == Counter(call.traits.outcome for call in expected), wanted
        assert counted.total == len(expected)
        buckets = Counter((call.at - call.at % counted.step_ms, call.traits.outcome) for call in expected)
        assert {(b.at, o): n for b in counted.buckets for o, n in b.outcomes.items()} == buckets, wanted


def test_how_far_a_rare_kind_of_call_reaches_back_is_asked_of_its_own_days_alone(tmp_path: Path) -> None:
    with dispose(open_history(tmp_path / HISTORY)) as engine, engine.connect() as connection:
        writing.begin(connection)
        asked: list[tuple[str, Any]] = []
        listen(engine, "before_cursor_execute", lambda *event: asked.append(event[2:4]))
        for wanted in (
            replace(EVER, principal_id="usr_1"),
            replace(EVER, tool="peek", outcome="cancelled"),
            replace(EVER, rule="x"),
        ):
            queries.page(connection, queries.choose(connection, wanted), None, 100)
        of_days = [each for each in asked if "FROM days" in each[0]]
        assert len(of_days) == 3
        for statement, values in of_days:
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
            assert "SEARCH days USING COVERING INDEX ix_days_kind (kind=? AND at>? AND at<?)" in plan


@pytest.mark.parametrize(
    ("text", "people", "found"),
    [
        ("call-00042", (), 1),
        ("cnv_0007", (), 12),
        ("trn_0003", (), 4),
        ("RARE", (), None),
        ("no such thing", (), 0),
        ("100%", (), 0),
        ("Ida", ("usr_4",), None),
    ],
)
async def test_a_text_is_the_beginning_of_an_id_or_part_of_a_name(
    history: StoredHistory, text: str, people: tuple[str, ...], found: int | None
) -> None:
    wanted = HistoryFilter(SINCE, NOW, text=text, text_people=people)
    calls = await history.page(wanted, None, CALLS)
    assert (await history.count(wanted)).total == len(calls)
    if found is not None:
        assert len(calls) == found
    elif people:
        assert {call.traits.principal_id for call in calls} == {"usr_4"}
    else:
        assert {call.traits.tool for call in calls} == {"rare_tool"}


@pytest.mark.parametrize(("text", "found"), [("call-00042", 1), ("call-0004", 0)])
async def test_a_short_text_is_a_whole_id(history: StoredHistory, monkeypatch: pytest.MonkeyPatch, text: str, found: int) -> None:
    monkeypatch.setattr(queries, "SHORTEST_ID", 20)
    assert len(await history.page(HistoryFilter(SINCE, NOW, text=text), None, CALLS)) == found


async def test_what_there_is_to_choose_from_is_what_occurs(history: StoredHistory) -> None:
    choices = await history.choices(None)
    assert choices.tools == ["fetch", "rare_tool", "read_file", "write_file"]
    assert choices.rules == ["label.high", "read.auto", "write.asks"]
    assert len(choices.people) == 5
    assert (await history.choices("usr_1")).people == ["usr_1"]


async def test_a_long_log_is_read_in_the_background_and_says_how_much_is_missing(
    log_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "STRETCHES_FOR_A_QUESTION", 1)
    monkeypatch.setattr(writing, "LEAVES", writing.LEAVES.limit(100))
    with dispose(stored.open_history(tmp_path / HISTORY)) as engine:
        history = StoredHistory(engine, log_engine)
        before = await history.unread()
        assert before > CALLS
        assert 0 < len(await history.page(HistoryFilter(0, 2**52), None, CALLS)) < CALLS
        history.read_all()
        assert await history.unread() == 0
        history.close()


async def test_it_reads_a_ledger_that_another_connection_writes(tmp_path: Path) -> None:
    """The engine of the readers, as the store has it, sees what the writer commits."""
    async with open_store(tmp_path, origin=ORIGIN) as store:
        with dispose(open_for_reading(tmp_path / DATABASE)) as reading, dispose(stored.open_history(tmp_path / "x.db")) as engine:
            history = StoredHistory(engine, reading)
            for entries in History().whole():
                await store.ledger.append(*entries)
                assert await history.unread() == 0
            assert await history.page(EVER, None, 100) == await store.history.page(EVER, None, 100)
            history.close()
