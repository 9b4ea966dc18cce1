"""PostgreSQL as an engine: one connection and one transaction for each statement."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, TypeVar, cast

from sqlalchemy.engine import URL

from gateway.adapters.tools.sql.engine import (
    MAX_CELL,
    NO_ANSWER,
    SHOWN_ROWS,
    TOO_MUCH_RETURNED,
    ChangedRow,
    SqlAway,
    SqlCaps,
    SqlChanged,
    SqlFailed,
    SqlRows,
    SqlWork,
)
from gateway.adapters.tools.sql.schema import SqlColumn, SqlTable
from gateway.adapters.tools.sql.statements import SqlStatement, SqlText, StatementKind
from gateway.adapters.tools.sql.wire import PgAnswer, PgConnection, RowTooLarge
from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, Misconfigured

LOCK_SECONDS: Final = 1.0
"""How long a statement waits for somebody else's lock."""

_BATCH: Final = 100
"""Rows asked for at a time, once the first few have shown that they are small."""

_TRIED: Final = 3

_SMALL: Final = 1024
"""Characters of a small row."""

SHOWN_CHARACTERS: Final = 200
"""Characters of a value that is shown before and after a change."""

_EXACT: Final = 2**53

_INTEGERS: Final = frozenset({20, 21, 23, 26})
_FLOATS: Final = frozenset({700, 701})
_BOOLEAN: Final = 16
_BYTES: Final = 17
"""OIDs of pg_type.dat; every other type is given as the text that PostgreSQL writes for it."""

_POWERFUL: Final = """
    SELECT r.rolname FROM pg_catalog.pg_roles r
    WHERE (r.rolsuper OR r.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
      AND pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER') LIMIT 1
"""
"""What reads files and starts programs of the server does so in a reading transaction too."""

_COLUMNS: Final = """
    SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
           NOT a.attnotnull, EXISTS (SELECT 1 FROM pg_catalog.pg_index i
                                     WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey))
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
      AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
      AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
      AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
    ORDER BY n.nspname, c.relname, a.attnum LIMIT 20000
"""

_ELSEWHERE: Final = """
    SELECT schemaname, relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_catalog.pg_stat_xact_all_tables
    WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 AND schemaname NOT LIKE 'pg\\_%'
"""

_Value = TypeVar("_Value")


class PostgresqlEngine:
    """A SqlEngine over one database of a server. `find_password` is asked anew each time."""

    def __init__(self, url: URL, find_password: Callable[[], str | None]) -> None:
        self._url = url
        self._find_password = find_password
        self._database_error: Any = import_module("pg8000.exceptions").DatabaseError
        self._interface_error: Any = import_module("pg8000.exceptions").InterfaceError

    @property
    def identity(self) -> str:
        """See SqlEngine."""
        where = self._url.host or self._url.query.get("unix_sock")
        return f"postgresql {self._url.username}@{where}:{self._url.port or 5432}/{self._url.database}"

    def look(self, seconds: float) -> SqlWork[Sequence[SqlTable]]:
        """See SqlEngine."""

        def run(session: _Session) -> Sequence[SqlTable]:
            session.begin(reading=True)
            if powerful := session.run(_POWERFUL).rows:
                raise Misconfigured(
                    f"the user of `url` has the rights of `{powerful[0][0]}`, which can read files and start programs of the"
                    " server whatever a transaction says; name an ordinary user"
                )
            return _read_tables(session.run(_COLUMNS).rows)

        return self._work(run, seconds)

    def query(self, statement: SqlStatement, values: Mapping[str, Json], caps: SqlCaps) -> SqlWork[SqlRows]:
        """See SqlEngine."""

        def run(session: _Session) -> SqlRows:
            session.begin(reading=True)
            # A cursor takes nothing but reading, and rows come in bits: the driver keeps all that it is sent.
            session.run(f"DECLARE q NO SCROLL CURSOR FOR {statement.sent.text}", _pick(statement.sent, values))
            return _take_rows(session, caps)

        return self._work(run, caps.seconds)

    def change(
        self, statement: SqlStatement, values: Mapping[str, Json], caps: SqlCaps, *, keep: bool, expected: int | None = None
    ) -> SqlWork[SqlChanged]:
        """See SqlEngine."""

        def run(session: _Session) -> SqlChanged:
            session.begin(reading=False)
            before = [] if keep else _read_sample(session, statement, values)
            try:
                answer = session.run(statement.sent.text, _pick(statement.sent, values))
            except RowTooLarge:
                raise SqlFailed(TOO_MUCH_RETURNED) from None
            rows = answer.count
            if expected is not None and rows != expected:
                raise SqlFailed(f"nothing was changed: {rows} rows would change now, and `expected_rows` says {expected}")
            if rows > caps.rows:
                raise SqlFailed(f"nothing was changed: {rows} rows would change, and at most {caps.rows} may at once")
            if keep:
                returned = _read_returned(answer, caps) if statement.returns else None
                session.commit()
                return SqlChanged(rows, returned=returned)
            changed = SqlChanged(rows, _count_elsewhere(session, statement, rows), _read_after(session, statement, before))
            # Deferred constraints speak only at the end, and a person should not be asked about what must fail.
            session.run("SET CONSTRAINTS ALL IMMEDIATE")
            return changed

        return self._work(run, caps.seconds)

    def _work(self, run: Callable[[_Session], _Value], seconds: float) -> SqlWork[_Value]:
        connection = PgConnection(self._url)

        def work() -> _Value:
            session = _Session(connection, seconds)
            try:
                connection.open(self._find_password(), seconds)
                return run(session)
            except self._database_error as error:
                raise _read_error(error, seconds) from None
            except RowTooLarge:
                raise SqlFailed("a row of this result is too large; ask for fewer or shorter columns") from None
            except (SqlAway, SqlFailed, GatewayError):
                raise
            except (OSError, self._interface_error, AttributeError, ValueError):
                # pg8000 wraps what a closed socket gives in several ways.
                late = time.monotonic() >= session.until
                message = NO_ANSWER.format(seconds=seconds) if late else "the connection to the database was lost"
                raise SqlFailed(message, late=late, unknown=session.committing, silent=True) from None
            finally:
                connection.close()

        return SqlWork(work, connection.stop)


class _Session:
    """One transaction, with what is left of its time."""

    def __init__(self, connection: PgConnection, seconds: float) -> None:
        self._connection = connection
        self.until = time.monotonic() + seconds
        self.committing = False

    def begin(self, *, reading: bool) -> None:
        """Begin, held to reading where that is so, and with nothing left to what the server's settings happen to be."""
        mode = "ISOLATION LEVEL REPEATABLE READ, READ ONLY" if reading else "ISOLATION LEVEL READ COMMITTED, READ WRITE"
        # With its first snapshot (SELECT) a reading transaction can no longer be made a writing one.
        self._connection.run_own("; ".join([f"BEGIN TRANSACTION {mode}", *_SETTINGS, self._limit(), "SELECT 1"]))

    def run(self, sql: str, values: Sequence[object] = ()) -> PgAnswer:
        """One statement with what time is left, whatever the one before may have set."""
        self._connection.run_own(self._limit())
        return self._connection.run(sql, values)

    def fetch(self, count: int) -> PgAnswer:
        """The next rows of the cursor."""
        self._connection.run_own(self._limit())
        return self._connection.run_own(f"FETCH FORWARD {count} FROM q")

    def commit(self) -> None:
        """Keep what was changed. From here on a lost connection means that nobody knows."""
        self._connection.run_own("SET CONSTRAINTS ALL IMMEDIATE")
        self.committing = True
        self._connection.run_own("COMMIT")
        self.committing = False

    def _limit(self) -> str:
        return f"SET LOCAL statement_timeout = {max(1, int((self.until - time.monotonic()) * 1000))}"


_SETTINGS: Final = tuple(
    f"SET LOCAL {setting}"
    for setting in (
        # Built-in functions and operators alone; a statement names every table with its schema.
        "search_path = pg_catalog",
        f"lock_timeout = {int(LOCK_SECONDS * 1000)}",
        "idle_in_transaction_session_timeout = 10000",
        "standard_conforming_strings = on",
        "client_encoding = 'UTF8'",
        "DateStyle = 'ISO, YMD'",
        "IntervalStyle = 'iso_8601'",
        "TimeZone = 'UTC'",
        "bytea_output = 'hex'",
        "extra_float_digits = 1",
        "max_parallel_workers_per_gather = 0",
    )
)


# ── rows ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pick(text: SqlText, values: Mapping[str, Json]) -> tuple[object, ...]:
    return tuple(values[name] for name in text.parameters)


def _take_rows(session: _Session, caps: SqlCaps) -> SqlRows:
    """Rows up to the caps. The first are fetched one by one, so that large ones are not asked for by the hundred."""
    columns: tuple[str, ...] = ()
    rows: list[list[Json]] = []
    size, short = 0, 0
    too_many = f"only the rows of the first {caps.bytes} bytes"
    while True:
        batch = _BATCH if len(rows) >= _TRIED and size < len(rows) * _SMALL else 1
        try:
            answer = session.fetch(batch)
        except RowTooLarge:
            if not rows:
                raise
            return SqlRows(columns, rows, too_many, short)
        columns = answer.columns
        for row in answer.rows:
            if len(rows) == caps.rows:
                return SqlRows(columns, rows, f"only the first {caps.rows} rows", short)
            read = [_read_value(value, type_, MAX_CELL) for value, type_ in zip(row, answer.types, strict=True)]
            size += sum(len(str(value)) + 4 for value, _ in read)
            if size + sum(map(len, columns)) > caps.bytes:
                return SqlRows(columns, rows, too_many, short)
            rows.append([value for value, _ in read])
            short += sum(cut for _, cut in read)
        if len(answer.rows) < batch:
            return SqlRows(columns, rows, "", short)


def _read_returned(answer: PgAnswer, caps: SqlCaps) -> SqlRows:
    """What RETURNING gave, up to the caps of bytes; the driver has read it whole, up to its own limit."""
    rows: list[list[Json]] = []
    size, short = sum(map(len, answer.columns)), 0
    for row in answer.rows:
        read = [_read_value(value, type_, MAX_CELL) for value, type_ in zip(row, answer.types, strict=True)]
        size += sum(len(str(value)) + 4 for value, _ in read)
        if size > caps.bytes:
            return SqlRows(answer.columns, rows, f"only the rows of the first {caps.bytes} bytes", short)
        rows.append([value for value, _ in read])
        short += sum(cut for _, cut in read)
    return SqlRows(answer.columns, rows, "", short)


def _read_value(text: str | None, type_: int, longest: int) -> tuple[Json, bool]:
    """A value as every reader of JSON has it, and whether it was shortened. Decimals, dates and the rest stay texts."""
    if text is None:
        return None, False
    if type_ in _INTEGERS and -_EXACT < int(text) < _EXACT:
        return int(text), False
    if type_ in _FLOATS and text not in ("NaN", "Infinity", "-Infinity"):
        return float(text), False
    if type_ == _BOOLEAN:
        return text == "t", False
    if type_ == _BYTES:
        read = bytes.fromhex(text[2:])
        return {"bytes": len(read), "sha256": hashlib.sha256(read).hexdigest()}, False
    if len(text) > longest:
        return f"{text[:longest]}… ({len(text)} characters)", True
    return text, False


def _read_tables(rows: Sequence[Sequence[str | None]]) -> Sequence[SqlTable]:
    found: dict[tuple[str, str], tuple[bool, list[SqlColumn]]] = {}
    for schema, table, view, column, kind, nullable, key in rows:
        columns = found.setdefault((str(schema), str(table)), (view == "t", []))[1]
        columns.append(SqlColumn(str(column), str(kind), nullable=nullable == "t", key=key == "t"))
    return [SqlTable(schema, name, tuple(columns), view=view) for (schema, name), (view, columns) in found.items()]


# ── changes ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _names(statement: SqlStatement) -> tuple[str, ...]:
    assert statement.target is not None, "a change has a table"
    return (*statement.target.keys, *statement.changed)


def _read_sample(session: _Session, statement: SqlStatement, values: Mapping[str, Json]) -> list[dict[str, Json]]:
    if statement.before is None:
        return []
    answer = session.run(f"{statement.before.text} LIMIT {SHOWN_ROWS}", _pick(statement.before, values))
    return [_by_name(statement, row, answer) for row in answer.rows]


def _read_after(session: _Session, statement: SqlStatement, before: list[dict[str, Json]]) -> tuple[ChangedRow, ...]:
    """The same rows by their keys, afterwards."""
    target = statement.target
    assert target is not None, "a change has a table"
    if statement.kind is StatementKind.DELETE:
        return tuple(ChangedRow(row, None) for row in before)
    columns = ", ".join(map(_quote, _names(statement)))
    where = " AND ".join(f"{_quote(key)}::text = ${number}" for number, key in enumerate(target.keys, start=1))
    shown: list[ChangedRow] = []
    for row in before:
        answer = session.run(
            f"SELECT {columns} FROM {_quote(target.schema)}.{_quote(target.name)} WHERE {where}",  # noqa: S608 # quoted names of the schema
            tuple(str(row[key]) for key in target.keys),
        )
        after = _by_name(statement, answer.rows[0], answer) if len(answer.rows) == 1 else None
        shown.append(ChangedRow(row, after))
    return tuple(shown)


def _by_name(statement: SqlStatement, row: Sequence[str | None], answer: PgAnswer) -> dict[str, Json]:
    values = (_read_value(value, type_, SHOWN_CHARACTERS)[0] for value, type_ in zip(row, answer.types, strict=True))
    return dict(zip(_names(statement), values, strict=True))


def _count_elsewhere(session: _Session, statement: SqlStatement, rows: int) -> dict[str, int]:
    """The rows of every table that this transaction changed, less those of the statement itself."""
    assert statement.target is not None, "a change has a table"
    own = (statement.target.schema, statement.target.name)
    counts: dict[str, int] = {}
    for schema, table, count in session.run(_ELSEWHERE).rows:
        more = int(count or 0) - (rows if (schema, table) == own else 0)
        if more > 0:
            counts[str(table) if schema == "public" else f"{schema}.{table}"] = more
    return counts


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ── failures ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_error(error: Exception, seconds: float) -> SqlFailed:
    """PostgreSQL's own words without the values that they quote: these may be of columns that a result would have labelled."""
    said: Any = error.args[0] if error.args else {}
    fields = cast(dict[str, str], said if isinstance(said, dict) else {})
    code, words = fields.get("C", ""), " ".join(fields.get("M", "it failed").split())[:300]
    match code:
        case "57014":
            return SqlFailed(NO_ANSWER.format(seconds=seconds), late=True)
        case "55P03":
            return SqlFailed("the rows are locked by somebody else; try again", late=True)
        case _ if code.startswith("22"):
            words = re.sub(r'"[^"]*"', '"…"', words)
        case _:
            pass
    return SqlFailed(f"the database says: {words}")
