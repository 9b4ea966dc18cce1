"""What the tests of databases share: a small shop in a real SQLite and a real PostgreSQL, and drivers over it."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.tools.offer import DriverResources, SourceOffer, ToolOffer
from gateway.adapters.tools.sql.driver import SqlDriver
from gateway.adapters.tools.sql.settings import SqlDialect, SqlSettings
from gateway.core.canonical import Json
from gateway.core.model import ToolOutput
from gateway.core.preview import Preview
from gateway.runtime.ports import ToolContext
from gateway.sandbox.job import SandboxUnavailable
from tests.adapters.tools.conftest import make_context
from tests.adapters.tools.sql.postgres_server import Database, made_database, running_server

PATIENCE = 20.0

SHOP = (
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, pin TEXT)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, person INTEGER REFERENCES people(id), total NUMERIC(10, 2), paid BOOLEAN)",
    "CREATE TABLE lines (id INTEGER PRIMARY KEY, orders INTEGER REFERENCES orders(id) ON DELETE CASCADE, what TEXT)",
    "CREATE TABLE secrets (id INTEGER PRIMARY KEY, word TEXT)",
    "CREATE VIEW owing AS SELECT person, total FROM orders WHERE NOT paid",
    "INSERT INTO people VALUES (1, 'Ada', 'ada@example.org', '1815'), (2, 'Grace', 'grace@example.org', '1906')",
    "INSERT INTO orders VALUES (1, 1, 10.50, TRUE), (2, 1, 20.00, FALSE), (3, 2, 7.25, FALSE)",
    "INSERT INTO lines VALUES (1, 1, 'nuts'), (2, 1, 'bolts'), (3, 2, 'tape'), (4, 3, 'glue')",
    "INSERT INTO secrets VALUES (1, 'abracadabra')",
)

SHOP_TABLES: dict[str, tuple[str, ...]] = {"people": ("id", "name", "email"), "orders": (), "lines": (), "owing": ()}


class Silent:
    """A listener that is told nothing by a database."""

    def changed(self) -> None:
        raise AssertionError

    def went_away(self, why: str) -> None:
        raise AssertionError(why)


@dataclass
class Shop:
    """The shop in one database. `run` works beside any driver, as its owner."""

    dialect: SqlDialect
    url: str
    run: Callable[[str], list[Any]]
    folder: Path
    database: Database | None = None
    now: Opened | None = None
    opened: list[SqlDriver] = field(default_factory=list[SqlDriver])

    def settings(self, **given: Any) -> SqlSettings:
        url = self.database.url(self.database.writer) if self.database and given.get("role") == "change" else self.url
        return SqlSettings.model_validate({"url": url, "tables": SHOP_TABLES, **given})

    def driver(self, settings: SqlSettings, *, private: tuple[Path, ...] = ()) -> SqlDriver:
        driver = SqlDriver(settings, make_resources(self.folder, private))
        self.opened.append(driver)
        return driver

    async def open(self, **given: Any) -> Opened:
        driver = self.driver(self.settings(**given))
        return Opened(driver, await driver.open(Silent()))

    def context(self) -> ToolContext:
        return make_context()

    @contextmanager
    def locked(self) -> Generator[None]:
        """Somebody else writes to the SQLite for a while."""
        other = import_module("pysqlite3.dbapi2").connect(str(self.folder / "shop.db"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        yield
        other.close()

    def count_running(self) -> int:
        """Statements that run at the database for this shop's reader."""
        if self.database is None:
            return sum(b"sqlite_process.py" in command for command in children_of(os.getpid()))
        asked = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{self.database.reader}' AND state = 'active'"
        # Only a superuser sees what others do.
        return self.database.run(asked, user=self.database.server.user)[0][0]

    async def until_running(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while not self.count_running():
                await asyncio.sleep(0.01)

    async def until_idle(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.count_running():
                await asyncio.sleep(0.01)

    def fingerprint(self) -> str:
        """A hash of all that the database holds."""
        tables = ("people", "orders", "lines", "secrets")
        parts = [repr(self.run(f"SELECT * FROM {table} ORDER BY id")) for table in tables]
        if self.dialect is SqlDialect.SQLITE:
            parts.append(repr(self.run("SELECT type, name, sql FROM sqlite_master ORDER BY name")))
        else:
            parts.append(
                repr(self.run("SELECT oid::text, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"))
            )
            parts.append(repr(self.run("SELECT last_value FROM counter")))
            parts.append(repr(self.run("SELECT count(*) FROM pg_largeobject_metadata")))
        return hashlib.sha256("".join(parts).encode()).hexdigest()


def children_of(pid: int) -> list[bytes]:
    """The command lines of a process's children that have not ended."""
    found: list[bytes] = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            state, parent = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.append(Path("/proc", entry, "cmdline").read_bytes())
    return found


@dataclass
class Opened:
    """An open driver, called as the source above it calls it."""

    driver: SqlDriver
    offer: SourceOffer

    def tool(self, name: str) -> ToolOffer:
        return next(tool for tool in self.offer.tools if tool.name == name)

    def faults(self, name: str, **arguments: Json) -> str:
        """What is wrong with arguments, in words; empty when nothing is."""
        return "\n".join(fault.message for fault in self.driver.find_faults(self.tool(name), arguments))

    async def call(self, name: str, context: ToolContext | None = None, **arguments: Json) -> ToolOutput:
        return await self.driver.call(self.tool(name), arguments, context or make_context())

    def context(self) -> ToolContext:
        return make_context()

    async def rows(self, sql: str, parameters: Mapping[str, Json] | None = None) -> list[list[Json]]:
        given: dict[str, Any] = {"parameters": dict(parameters)} if parameters else {}
        output = await self.call("query", sql=sql, **given)
        return output.structured["rows"]

    async def preview(self, **arguments: Json) -> Preview:
        shown = await self.driver.preview(self.tool("change"), arguments)
        assert shown is not None
        return shown


def make_resources(folder: Path, private: tuple[Path, ...] = (), secrets: Mapping[str, str] | None = None) -> DriverResources:
    def fill(text: str) -> str:
        for name, value in (secrets or {}).items():
            text = text.replace(f"${{secret:{name}}}", value)
        return text

    return DriverResources("shop", folder, private, lambda: SandboxUnavailable("not needed"), fill)


@pytest.fixture(scope="session")
def database() -> Iterator[Database]:
    """The shop in PostgreSQL, made once; a test that changes it puts it back."""
    with running_server() as server:
        if isinstance(server, str):
            # Why there is none, in words.
            pytest.skip(server)
        with made_database(server) as made:
            for statement in (*SHOP, "CREATE SEQUENCE counter"):
                made.run(statement)
            made.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {made.reader}, {made.writer}")
            made.run(f"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {made.writer}, {made.reader}")
            made.run(f"GRANT USAGE, SELECT, UPDATE ON SEQUENCE counter TO {made.reader}, {made.writer}")
            yield made


def make_sqlite_shop(folder: Path) -> Shop:
    path = folder / "shop.db"
    sqlite = import_module("pysqlite3.dbapi2")
    connection = sqlite.connect(str(path))
    for statement in SHOP:
        connection.execute(statement)
    connection.commit()
    connection.close()

    def run(sql: str) -> list[Any]:
        with sqlite.connect(str(path)) as opened:
            rows = opened.execute(sql).fetchall()
        opened.close()
        return rows

    return Shop(SqlDialect.SQLITE, f"sqlite:///{path}", run, folder)


@pytest.fixture
async def sqlite_shop(tmp_path: Path) -> AsyncIterator[Shop]:
    shop = make_sqlite_shop(tmp_path)
    yield shop
    await asyncio.gather(*(driver.close() for driver in shop.opened))


@pytest.fixture
async def pg_shop(database: Database, tmp_path: Path) -> AsyncIterator[Shop]:
    # The reader may write, as far as rights go: it is the transaction that has to keep it from that.
    shop = Shop(SqlDialect.POSTGRESQL, database.url(database.reader), database.run, tmp_path, database)
    yield shop
    await asyncio.gather(*(driver.close() for driver in shop.opened))


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest) -> Shop:
    return request.getfixturevalue("sqlite_shop" if request.param == "sqlite" else "pg_shop")
