"""Hostile statements: refused by the syntax tree, and then again by the database with no syntax tree before it."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest

from gateway.adapters.tools.sql.dialects import SQLITE_FUNCTIONS
from gateway.adapters.tools.sql.engine import SqlCaps, SqlEngine, SqlFailed
from gateway.adapters.tools.sql.postgresql import PostgresqlEngine
from gateway.adapters.tools.sql.schema import Reach, choose_reach
from gateway.adapters.tools.sql.settings import SqlDialect, read_url
from gateway.adapters.tools.sql.sqlite import SqliteEngine
from gateway.adapters.tools.sql.statements import SqlStatement, SqlText, StatementKind
from gateway.core.errors import ToolFailed
from tests.adapters.tools.sql.attacks import ANYWHERE, POSTGRESQL, SQLITE
from tests.adapters.tools.sql.conftest import Shop

NOT_REFUSED = {
    # The table is read without that column, and the database does not find it.
    "SELECT pin FROM people AS p WHERE p.pin IS NOT NULL",
    # What WITH gives is sent under another name, which no table has beyond where it reaches.
    "WITH s AS (SELECT 1 AS a) SELECT * FROM (WITH secrets AS (SELECT 1 AS a) SELECT 1) AS x, secrets",
}

NESTED = "SELECT 1 /* /* */ ; DELETE FROM orders -- */"
"""In PostgreSQL, where comments nest, this is `SELECT 1`, and that is what is sent."""

CAPS = SqlCaps(rows=10, bytes=10_000, seconds=1.0)


def attacks_on(shop: Shop) -> tuple[str, ...]:
    return ANYWHERE + (SQLITE if shop.dialect is SqlDialect.SQLITE else POSTGRESQL)


def test_there_are_many_attacks() -> None:
    assert len(ANYWHERE + SQLITE) >= 60
    assert len(ANYWHERE + POSTGRESQL) >= 60


async def test_the_syntax_tree_refuses_every_attack_with_one_clear_line(shop: Shop) -> None:
    opened = await shop.open()
    before = shop.fingerprint()
    for attack in attacks_on(shop):
        if attack in NOT_REFUSED or (attack == NESTED and shop.dialect is SqlDialect.POSTGRESQL):
            continue
        fault = opened.faults("query", sql=attack)
        assert fault, attack
        assert "\n" not in fault, attack
        assert len(fault) < 300, attack
        with pytest.raises(ToolFailed):
            await opened.call("query", sql=attack)
    if shop.dialect is SqlDialect.POSTGRESQL:
        assert await opened.rows(NESTED) == [[1]]
    for attack in NOT_REFUSED:
        with pytest.raises(ToolFailed, match="the database says"):
            await opened.rows(attack)
    assert shop.fingerprint() == before


def ask_without_a_tree(engine: SqlEngine, sql: str) -> object:
    """The text as it stands, in the place of what a syntax tree would have written."""
    return engine.query(SqlStatement(StatementKind.QUERY, SqlText(sql), ()), {}, CAPS).run()


async def test_sqlite_alone_refuses_what_writes_reads_files_or_reaches_what_is_hidden(
    sqlite_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program of the process, asked in this one: eighty processes take eight seconds."""
    module = load_process(monkeypatch)
    before = sqlite_shop.fingerprint()
    for attack in (*ANYWHERE, *SQLITE):
        if attack in ("", "-- nothing"):
            # Nothing to do, and nothing done.
            continue
        asked = module.Asked({**order_for(sqlite_shop), "sql": attack})
        with pytest.raises(module.Failed):
            asked.answer()
        asked.connection.close()
    assert sqlite_shop.fingerprint() == before


def test_the_process_itself_refuses_without_a_tree_too(sqlite_shop: Shop) -> None:
    settings = sqlite_shop.settings()
    reach = Reach(settings.dialect, ())
    engine = SqliteEngine(sqlite_shop.folder / "shop.db", (), lambda: reach)
    reach = choose_reach(settings, engine.look(5.0).run())
    for attack in ("DELETE FROM orders", "SELECT * FROM secrets", "SELECT load_extension('x')", "PRAGMA query_only = OFF"):
        with pytest.raises(SqlFailed, match="does not let this statement"):
            ask_without_a_tree(engine, attack)


def test_postgresql_alone_keeps_every_attack_from_changing_anything(pg_shop: Shop) -> None:
    engine = PostgresqlEngine(read_url(pg_shop.url), lambda: None)
    before = pg_shop.fingerprint()
    for attack in (*ANYWHERE, *POSTGRESQL):
        with suppress(SqlFailed):
            ask_without_a_tree(engine, attack)
    assert pg_shop.fingerprint() == before


WRITES_IN_DISGUISE = (
    "SELECT nextval('public.counter')",
    "SELECT setval('public.counter', 7)",
    "SELECT set_config('transaction_read_only', 'off', false), nextval('public.counter')",
    "SELECT query_to_xml('DELETE FROM public.orders', true, true, '')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_ls_dir('.')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT * FROM pg_catalog.pg_authid",
    "SELECT pg_sleep(60)",
    "SELECT * FROM public.orders FOR UPDATE",
    "SELECT * FROM orders",
    "SELECT 1; COMMIT; DELETE FROM public.orders",
    "WITH gone AS (DELETE FROM public.orders RETURNING *) SELECT * FROM gone",
    "DELETE FROM public.orders",
    "UPDATE public.orders SET total = 0 RETURNING *",
    "SELECT * INTO public.stolen FROM public.orders",
    "SET TRANSACTION READ WRITE",
)


def test_postgresql_alone_refuses_writes_in_any_disguise(pg_shop: Shop) -> None:
    engine = PostgresqlEngine(read_url(pg_shop.url), lambda: None)
    before = pg_shop.fingerprint()
    for attack in WRITES_IN_DISGUISE:
        with pytest.raises(SqlFailed):
            ask_without_a_tree(engine, attack)
    assert pg_shop.fingerprint() == before


def test_reading_stays_reading_once_the_transaction_has_begun(pg_shop: Shop) -> None:
    engine = PostgresqlEngine(read_url(pg_shop.url), lambda: None)
    for attack in ("SELECT set_config('transaction_read_only', 'off', false)", "SELECT set_config('role', 'postgres', false)"):
        with pytest.raises(SqlFailed):
            ask_without_a_tree(engine, attack)


def test_sqlite_is_opened_for_reading_even_where_no_authorizer_is_asked(
    sqlite_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the authorizer and then `query_only` taken away."""
    module = load_process(monkeypatch)
    before = sqlite_shop.fingerprint()
    for undone in ((), ("PRAGMA query_only = OFF",)):
        asked = module.Asked({**order_for(sqlite_shop), "sql": "DELETE FROM orders"})
        asked.connection.set_authorizer(None)
        for statement in undone:
            asked.connection.execute(statement)
        with pytest.raises(module.Failed, match="readonly"):
            asked.answer()
        asked.connection.close()
    assert sqlite_shop.fingerprint() == before


def test_sqlite_alone_keeps_what_a_change_returns_to_what_may_be_reached(
    sqlite_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The authorizer sees what RETURNING reads and calls as the statement's own."""
    module = load_process(monkeypatch)
    before = sqlite_shop.fingerprint()
    change = {
        "task": "change",
        "target": "people",
        "keep": True,
        "expected": None,
        "before": None,
        "after": None,
        "returns": True,
    }
    for returned in ("pin", "*", "(SELECT word FROM secrets)", "load_extension('x')", "sqlite_source_id()"):
        sql = f"UPDATE people SET name = 'x' RETURNING {returned}"
        asked = module.Asked({**order_for(sqlite_shop), **change, "sql": sql})
        with pytest.raises(module.Failed, match=r"does not let|not authorized|prohibited"):
            asked.answer()
        asked.connection.close()
    assert sqlite_shop.fingerprint() == before


def load_process(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program as a module, without the limits of its process, which would be this one's."""
    module = import_module("gateway.adapters.tools.sql.sqlite_process")
    monkeypatch.setattr(module, "limit_process", do_nothing)
    monkeypatch.setattr(module, "HEAP", 0)
    return module


def order_for(shop: Shop) -> dict[str, Any]:
    facts = (shop.folder / "shop.db").stat()
    return {
        "path": str(shop.folder / "shop.db"),
        "file": [facts.st_dev, facts.st_ino],
        "task": "query",
        "seconds": 5.0,
        "wait": 0.1,
        "values": {},
        "rows": 10,
        "bytes": 1000,
        "cell": 100,
        "views": ["owing"],
        "tables": {"people": ["id", "name", "email"], "orders": None, "lines": None, "owing": None},
        "functions": sorted(SQLITE_FUNCTIONS),
    }


def do_nothing(*_: object) -> None:
    """In the place of what would bound this process."""
