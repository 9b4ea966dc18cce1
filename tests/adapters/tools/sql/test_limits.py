"""Statements that run for ever or ask for everything, and databases that are away or slow."""

from __future__ import annotations

import asyncio
import resource
import socket
import time
from contextlib import suppress

import pytest

from gateway.adapters.tools.offer import SourceAway
from gateway.adapters.tools.sql.driver import SqlDriver
from gateway.adapters.tools.sql.settings import SqlDialect, SqlSettings
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.vocabulary import Reason
from tests.adapters.tools.sql.conftest import Shop, Silent, make_resources

PATIENCE = 20.0

COUNTING = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
ENDLESS = (
    f"{COUNTING}) SELECT count(*) FROM n",
    f"{COUNTING} WHERE i < 3000) SELECT count(*) FROM n AS a, n AS b, n AS c, n AS d",
    f"{COUNTING}) SELECT max(i) FROM n ORDER BY 1",
)


async def test_endless_statements_are_stopped_in_time(shop: Shop) -> None:
    opened = await shop.open(timeout=0.5)
    for sql in ENDLESS:
        began = time.monotonic()
        with pytest.raises(ToolFailed) as failed:
            await opened.call("query", sql=sql)
        assert failed.value.reason is Reason.TOOL_TIMEOUT
        assert "did not answer within 0.5 seconds" in failed.value.message
        assert time.monotonic() - began < PATIENCE


async def test_a_source_goes_on_after_statements_that_were_stopped(shop: Shop) -> None:
    opened = await shop.open(timeout=0.5)
    await asyncio.gather(*(opened.call("query", sql=ENDLESS[0]) for _ in range(6)), return_exceptions=True)
    assert await opened.rows("SELECT 1") == [[1]]


async def test_a_cancelled_statement_ends_at_the_database_too(shop: Shop) -> None:
    opened = await shop.open(timeout=60)
    call = asyncio.ensure_future(opened.call("query", sql=ENDLESS[0]))
    await shop.until_running()
    call.cancel()
    with suppress(asyncio.CancelledError, ToolFailed):
        await call
    await shop.until_idle()


async def test_ten_million_rows_are_cut_without_memory(shop: Shop) -> None:
    opened = await shop.open(max_rows=50)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    series = f"{COUNTING} WHERE i < 10000000) SELECT i, 'some words' AS w FROM n"
    if shop.dialect is SqlDialect.POSTGRESQL:
        series = "SELECT i, 'some words' AS w FROM generate_series(1, 10000000) AS g(i)"
    output = await opened.call("query", sql=series)
    assert len(output.structured["rows"]) == 50
    assert output.structured["truncated"] is True
    assert output.structured["cut"] == "only the first 50 rows"
    assert "only the first 50 rows" in output.text
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


async def test_many_bytes_are_cut_and_long_values_shortened(shop: Shop) -> None:
    opened = await shop.open(max_bytes=2048)
    wide = "SELECT replace('xxxxxxxxxx', 'x', '0123456789012345678901234567890123456789') AS a FROM lines AS p, lines AS q"
    output = await opened.call("query", sql=wide)
    assert output.structured["cut"] == "only the rows of the first 2048 bytes"
    assert 0 < len(output.structured["rows"]) < 16
    opened = await shop.open()
    long = "SELECT replace(replace('xxxxxxxxxx', 'x', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'), 'y', :more) AS a"
    output = await opened.call("query", sql=long, parameters={"more": "0123456789" * 10})
    assert output.structured["shortened"] == 1
    assert output.structured["rows"][0][0].endswith("… (30000 characters)")


HUGE = f"{COUNTING} WHERE i < 40), s(t, k) AS (SELECT 'x', 1 UNION ALL SELECT t || t, k + 1 FROM s WHERE k < 40) SELECT t FROM s"


async def test_a_huge_value_stops_the_statement_and_not_the_gateway(shop: Shop) -> None:
    opened = await shop.open(timeout=5)
    sql = HUGE
    if shop.dialect is SqlDialect.POSTGRESQL:
        sql = "SELECT repeat('x', 100000000) AS t"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with suppress(ToolFailed):
        output = await opened.call("query", sql=sql)
        assert output.structured["truncated"] is True
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


async def test_thousands_of_columns_are_refused_in_one_line(shop: Shop) -> None:
    opened = await shop.open()
    with pytest.raises(ToolFailed) as failed:
        await opened.rows("SELECT " + ",".join(["1"] * 3000))
    assert "\n" not in failed.value.message
    assert "words" in failed.value.message


async def test_values_that_json_has_not_come_as_text(pg_shop: Shop) -> None:
    opened = await pg_shop.open()
    (row,) = await opened.rows(
        "SELECT 'NaN'::float8, 'Infinity'::float8, 9007199254740993::bigint, 1.10::numeric, DATE '2026-01-02',"
        " TIMESTAMPTZ '2026-01-02 03:04:05+01', decode('00ff', 'hex'), '{\"a\": 1}'::jsonb, ARRAY[1, 2], NULL, TRUE"
    )
    assert row[:6] == ["NaN", "Infinity", "9007199254740993", "1.10", "2026-01-02", "2026-01-02 02:04:05+00"]
    assert row[6]["bytes"] == 2
    assert row[7:] == ['{"a": 1}', "{1,2}", None, True]


async def test_what_sqlite_holds_and_json_has_not_comes_as_text(sqlite_shop: Shop) -> None:
    sqlite_shop.run(
        "INSERT INTO lines (id, what) VALUES (50, 9e999), (51, x'00ff'), (52, CAST(x'ff00' AS TEXT)), (53, 9007199254740993)"
    )
    opened = await sqlite_shop.open()
    rows = await opened.rows("SELECT what FROM lines WHERE id >= 50 ORDER BY id")
    assert rows[0] in (["inf"], ["Inf"])
    assert rows[1][0]["bytes"] == 2
    assert rows[2] == ["\ufffd\ufffd"]
    assert rows[3] == ["9007199254740993"]


# ── databases that are away ─────────────────────────────────────────────────────────────────────────────────────────────────


async def open_url(shop: Shop, url: str) -> SqlDriver:
    driver = shop.driver(SqlSettings(url=url))
    await driver.open(Silent())
    return driver


async def test_a_database_that_is_not_there_is_away_with_one_line(sqlite_shop: Shop) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = probe.getsockname()[1]
    garbage = sqlite_shop.folder / "garbage.db"
    garbage.write_bytes(b"this is no database at all" * 100)
    for url in (
        f"sqlite:///{sqlite_shop.folder}/none.db",
        f"sqlite:///{garbage}",
        f"postgresql+pg8000://reader@127.0.0.1:{closed}/shop",
        "postgresql+pg8000://reader@localhost/shop?unix_sock=/nowhere/.s.PGSQL.5432",
    ):
        with pytest.raises(SourceAway) as away:
            await open_url(sqlite_shop, url)
        assert "\n" not in away.value.message
        assert str(sqlite_shop.folder) not in away.value.message


async def test_a_server_that_says_nothing_or_nonsense_holds_up_nobody_else(sqlite_shop: Shop) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(8)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(SourceAway):
            await open_url(sqlite_shop, f"postgresql+pg8000://reader@127.0.0.1:{port}/shop")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql+pg8000://reader@127.0.0.1:{silent.getsockname()[1]}/shop"
        waiting = asyncio.ensure_future(open_url(sqlite_shop, url))
        opened = await sqlite_shop.open()
        assert await opened.rows("SELECT 1") == [[1]]
        assert not waiting.done()
        waiting.cancel()
        with suppress(asyncio.CancelledError, SourceAway):
            await waiting


async def test_the_gateways_own_files_are_never_a_source(sqlite_shop: Shop) -> None:
    own = sqlite_shop.folder / "shop.db"
    folder = sqlite_shop.folder / "elsewhere"
    folder.mkdir()
    (folder / "linked.db").symlink_to(own)
    (folder / "hard.db").hardlink_to(own)
    for path in (own, folder / "linked.db", folder / "hard.db", folder / ".." / "shop.db"):
        for private in ((own,), (sqlite_shop.folder,)):
            driver = SqlDriver(SqlSettings(url=f"sqlite:///{path}"), make_resources(folder, private))
            with pytest.raises(Misconfigured, match="the gateway's own"):
                await driver.open(Silent())
            await driver.close()


async def test_a_file_that_is_exchanged_for_the_gateways_own_is_not_read(sqlite_shop: Shop) -> None:
    private = sqlite_shop.folder / "private"
    private.mkdir()
    (sqlite_shop.folder / "shop.db").rename(private / "ledger.db")
    (sqlite_shop.folder / "shop.db").write_bytes((private / "ledger.db").read_bytes())
    driver = sqlite_shop.driver(sqlite_shop.settings(), private=(private,))
    offer = await driver.open(Silent())
    (sqlite_shop.folder / "shop.db").unlink()
    (sqlite_shop.folder / "shop.db").symlink_to(private / "ledger.db")
    with pytest.raises(Misconfigured):
        await driver.call(offer.tools[1], {"sql": "SELECT 1"}, sqlite_shop.context())


async def test_a_user_who_could_read_files_is_no_source(pg_shop: Shop) -> None:
    assert pg_shop.database is not None
    url = pg_shop.database.url(pg_shop.database.server.user)
    with pytest.raises(Misconfigured, match="name an ordinary user"):
        await open_url(pg_shop, url)


async def test_an_unknown_database_is_a_matter_of_settings(pg_shop: Shop) -> None:
    assert pg_shop.database is not None
    with pytest.raises(Misconfigured, match="does not know"):
        await open_url(pg_shop, pg_shop.url + "_none")
