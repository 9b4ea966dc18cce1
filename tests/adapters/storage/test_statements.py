"""Every statement is one that PostgreSQL can run too, and what only SQLite knows is in one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from io import StringIO
from pathlib import Path
from pkgutil import iter_modules
from runpy import run_path
from typing import Any, TypeVar, cast

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Dialect, Executable
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from gateway.adapters import storage
from gateway.adapters.storage import projections
from gateway.adapters.storage.projections import EveryReader
from gateway.adapters.storage.projections.calls import CLOSE_RUN_CALL, GROUP_ORDER
from gateway.adapters.storage.reader import ARow
from gateway.adapters.storage.statements import Statement, compile_many, compile_statement
from gateway.adapters.storage.tables import metadata
from gateway.runtime.ports import AuditQuery

Value = TypeVar("Value")

DIALECTS = [sqlite.dialect(), postgresql.dialect(paramstyle="format")]
"""Both with positional parameters, as the writer needs them."""

FIRST_MIGRATION = Path(__file__).parents[3] / "migrations" / "versions" / "0001_initial.py"

EVERYTHING = AuditQuery("prn_1", "cnv_1", "call:closed", "read_file", "ok", 7)


def every_statement() -> Iterator[tuple[str, Statement]]:
    for module in iter_modules(projections.__path__):
        for name, value in vars(import_module(f"{projections.__name__}.{module.name}")).items():
            if isinstance(value, Statement):
                yield f"{module.name}.{name}", value


STATEMENTS = dict(every_statement())


class CompilingReader(EveryReader):
    """Compiles each query for a dialect and finds nothing."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.compiled: list[str] = []

    def _find(self, query: Executable, read: Callable[[ARow], Value], **parameters: Any) -> Value | None:
        construct: Any = query
        self.compiled.append(str(construct.compile(dialect=self._dialect)))
        return None

    async def _list(self, query: Executable, read: Callable[[ARow], Value]) -> Sequence[Value]:
        self._find(query, read)
        return ()

    async def _count(self, query: Executable) -> int:
        self._find(query, lambda row: row)
        return 0


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("name", STATEMENTS)
def test_both_databases_take_every_statement_over_one_row_and_over_many(name: str, dialect: Dialect) -> None:
    statement = STATEMENTS[name]
    one = compile_statement(statement, dialect).sql
    assert one.split()[0] in {"INSERT", "UPDATE", "DELETE"}
    if statement.many is not None:
        parameter = "?" if dialect.name == "sqlite" else "%s"
        for count in (2, 5):
            assert compile_many(statement, dialect, count).count(parameter) == count * one.count(parameter)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
async def test_both_databases_take_every_read(dialect: Dialect) -> None:
    reader = CompilingReader(dialect)
    arguments: dict[str, tuple[Any, ...]] = {"audit": (EVERYTHING,), "calls_since": ("prn_1", 5)}
    arguments |= {"call": ("cnv_1", "call-1"), "call_digest": ("cnv_1", "call-1")}
    arguments |= {
        "answers": (["apr_1"],),
        "audit_at": ([5, 6],),
        "request_of": ("cnv_1", "trn_1"),
        "model_of_turn": ("cnv_1", "trn_1"),
        "find_messages": ("prn_1", ["a", "ä"]),
    }
    arguments |= {"kept_result": ("prn_1", "cnv_1", "res_1"), "attachment": ("prn_1", "att_1")}
    further: dict[str, dict[str, Any]] = {"conversations": {"before": (5, "cnv_1"), "limit": 5}, "approvals": {"limit": 5}}
    further["find_messages"] = {"label": 0, "before": (5, "cnv_1", 0), "limit": 5}
    alone = {
        "principals",
        "open_approvals",
        "unfinished_turns",
        "unfinished_calls",
        "audit_size",
        "checkpoint",
        "spent_client_secrets",
        "client_grants",
        "newest_time",
        "open_console_sessions",
        "policy_on_record",
        "open_freeze",
        "open_shadow",
        "chosen_settings",
        "ready",
        "sealed_secrets",
        "source_sign_ins",
        "sources",
    }
    names = [name for name in dir(EveryReader) if not name.startswith("_")]
    for name in names:
        before = len(reader.compiled)
        await getattr(reader, name)(*arguments.get(name, () if name in alone else ("id",)), **further.get(name, {}))
        # A read may look in a second place where the first has nothing.
        assert len(reader.compiled) > before, name
    assert all(query.startswith("SELECT") for query in reader.compiled)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_both_databases_take_every_table(dialect: Dialect) -> None:
    for table in metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            assert "INDEX" in str(CreateIndex(index).compile(dialect=dialect))


def test_the_pending_approvals_have_an_index_of_their_own() -> None:
    (pending,) = [index for index in metadata.tables["approvals"].indexes if index.name == "ix_approvals_pending"]
    assert str(CreateIndex(pending).compile(dialect=sqlite.dialect())).endswith("WHERE status = 'pending'")


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_the_migration_gives_the_pending_approvals_that_index_on_both(dialect: str) -> None:
    sql = StringIO()
    context = MigrationContext.configure(dialect_name=dialect, opts={"as_sql": True, "output_buffer": sql})
    with Operations.context(context):
        cast("Callable[[], None]", run_path(str(FIRST_MIGRATION))["upgrade"])()
    (pending,) = [line for line in sql.getvalue().splitlines() if "ix_approvals_pending" in line]
    assert pending.endswith("WHERE status = 'pending';")


def test_many_rows_in_one_step_are_joined_with_a_table_of_their_parameters() -> None:
    sql = " ".join(compile_many(CLOSE_RUN_CALL, sqlite.dialect(), 2).split())
    assert sql == (
        "WITH changed(state, closed_at, leaf, erase_at, of_conversation_id, of_call_id, of_request_digest, state_1)"
        " AS (VALUES (?, ?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?, ?))"
        " UPDATE calls SET state=changed.state, closed_at=changed.closed_at, closing_leaf=changed.leaf,"
        " erase_at=changed.erase_at FROM changed"
        " WHERE calls.conversation_id = changed.of_conversation_id AND calls.call_id = changed.of_call_id"
        " AND calls.request_digest = changed.of_request_digest AND calls.state = changed.state_1"
    )


def test_every_grouped_statement_has_its_place_in_the_order_of_a_calls_steps() -> None:
    assert {name for name, each in STATEMENTS.items() if each.grouped and each not in GROUP_ORDER} == set()


def test_only_one_file_of_the_storage_knows_sqlite() -> None:
    """PRAGMA, INSERT OR, BEGIN IMMEDIATE, the driver. An option of a table that other databases do not read is none of it."""
    knows = re.compile(r"PRAGMA|INSERT OR|IMMEDIATE|pysqlite|json_extract|\bsqlite3\b|exec_driver_sql|sqlalchemy\.dialects")
    folder = Path(storage.__file__).parent
    assert [path.name for path in sorted(folder.rglob("*.py")) if knows.search(path.read_text())] == ["sqlite.py"]
