"""A database as a SourceDriver: `describe`, `query` and, where the operator says so, `change`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeVar

from gateway.adapters.tools.offer import DriverResources, OfferListener, SourceAway, SourceOffer, ToolOffer
from gateway.adapters.tools.sql.engine import (
    NO_ANSWER,
    ChangedRow,
    SqlAway,
    SqlCaps,
    SqlChanged,
    SqlEngine,
    SqlFailed,
    SqlWork,
)
from gateway.adapters.tools.sql.places import MAX_AT_ONCE, StatementPlaces
from gateway.adapters.tools.sql.postgresql import PostgresqlEngine
from gateway.adapters.tools.sql.rows import ROWS_SCHEMA, show_rows, show_tables, show_value
from gateway.adapters.tools.sql.schema import Reach, SqlTable, choose_reach
from gateway.adapters.tools.sql.settings import SqlDialect, SqlRole, SqlSettings, read_url
from gateway.adapters.tools.sql.sqlite import SqliteEngine
from gateway.adapters.tools.sql.statements import SqlStatement, StatementKind, read_statement
from gateway.adapters.tools.sql.syntax import StatementRefused
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import Json, digest
from gateway.core.effects import escape
from gateway.core.errors import ToolFailed
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.preview import LineMark, Preview, PreviewChange, PreviewLine
from gateway.core.vocabulary import Category, Reason, Recovery
from gateway.runtime.ports import ArgumentFault, ToolContext

PREVIEW_SECONDS: Final = 1.5
"""How long a change is tried before a person is asked; the catalog waits 2 seconds."""

LOOK_SECONDS: Final = 10.0

STOP_SECONDS: Final = 5.0
"""How long a statement that was stopped is waited for, to know what became of it."""

_SPARE: Final = 6.0
"""Seconds beyond a statement's own limit, for connecting and for the limit to be noticed where it is held."""

_PARAMETERS: Final[Mapping[str, Json]] = {
    "type": "object",
    "description": "Values for the :names in the statement. Put values here instead of writing them into the SQL.",
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    "maxProperties": 100,
}

_Value = TypeVar("_Value")


class SqlDriver:
    """A SourceDriver over one database. Statements run in threads of this source alone, so that a database that hangs holds
    up nobody else."""

    def __init__(self, settings: SqlSettings, resources: DriverResources) -> None:
        self._settings = settings
        self._reach: Reach | None = None
        self._running: set[SqlWork[object]] = set()
        self._places = StatementPlaces()
        self._threads = WorkerThreads(f"sql-{resources.source}", MAX_AT_ONCE)
        self._engine = _make_engine(settings, resources, self._find_reach)

    async def open(self, listener: OfferListener) -> SourceOffer:
        """Look what there is. A database has no way to say that it changed, so `listener` is never told."""
        try:
            tables = await self._run(self._engine.look(LOOK_SECONDS), LOOK_SECONDS)
        except SqlAway as away:
            raise SourceAway(away.message) from None
        except SqlFailed as failed:
            raise SourceAway(failed.message) from None
        self._reach = choose_reach(self._settings, tables)
        return SourceOffer(self._engine.identity, _offers(self._settings))

    def find_faults(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """What keeps this statement from being sent."""
        if tool.name == "describe":
            name = arguments.get("table")
            if name is not None and self._reach is not None and _find_table(self._reach, name) is None:
                return [ArgumentFault("/table", f"there is no table `{escape(name)[:100]}` that may be reached")]
            return []
        try:
            statement = self._read(tool, arguments)
        except StatementRefused as refused:
            return [ArgumentFault("/sql", refused.message)]
        except ToolFailed:
            # It is not known yet what there is; calling says so.
            return []
        given: Mapping[str, Json] = arguments.get("parameters", {})
        needed = {*statement.sent.parameters, *(statement.before.parameters if statement.before else ())}
        return [
            *(
                ArgumentFault(f"/parameters/{name}", "the statement has this parameter, and no value")
                for name in needed - set(given)
            ),
            *(ArgumentFault(f"/parameters/{name}", "the statement has no such parameter") for name in set(given) - needed),
            *(
                ArgumentFault(f"/parameters/{name}", "this number is too large; give it as a string")
                for name, value in given.items()
                if isinstance(value, int) and not -(2**63) <= value < 2**63
            ),
        ]

    def facts(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> CallFacts:
        """How long the statement is; which database it goes to is the source's own setting, and no fact of a call."""
        sql = arguments.get("sql")
        return CallFacts(bytes=len(sql.encode()) if isinstance(sql, str) else None)

    async def preview(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Preview | None:
        """What a change would do, tried in a transaction that is rolled back."""
        if tool.name != "change":
            return None
        statement = self._judge(tool, arguments)
        seconds = min(PREVIEW_SECONDS, self._settings.timeout)
        work = self._engine.change(
            statement,
            arguments.get("parameters", {}),
            self._caps(seconds, self._settings.max_changed_rows),
            keep=False,
            expected=arguments.get("expected_rows"),
        )
        try:
            changed = await self._run(work, seconds)
        except SqlFailed as failed:
            if failed.late:
                return _show_unknown(statement, failed.message)
            raise ToolFailed(failed.message, labels=statement.labels) from None
        except SqlAway as away:
            raise ToolFailed(away.message, Reason.SOURCE_UNAVAILABLE) from None
        return _show_change(statement, changed)

    async def call(self, tool: ToolOffer, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run one tool once."""
        if tool.name == "describe":
            return self._describe(arguments)
        statement = self._judge(tool, arguments)
        values: Mapping[str, Json] = arguments.get("parameters", {})
        seconds = self._settings.timeout
        try:
            if tool.name == "query":
                caps = self._caps(seconds, self._settings.max_rows)
                rows = await self._run(self._engine.query(statement, values, caps), seconds, context.principal.id)
                return show_rows(rows, statement.labels)
            caps = self._caps(seconds, self._settings.max_changed_rows)
            expected = arguments.get("expected_rows")
            work = self._engine.change(statement, values, caps, keep=True, expected=expected)
            return _show_done(statement, await self._run(work, seconds, context.principal.id))
        except SqlAway as away:
            raise SourceAway(away.message) from None
        except SqlFailed as failed:
            if failed.unknown and tool.name == "change":
                failed.message += "; nobody knows whether the change was kept"
                raise ToolFailed(failed.message, Reason.OUTCOME_UNKNOWN, labels=statement.labels) from None
            reason = Reason.TOOL_TIMEOUT if failed.late else Reason.TOOL_ERROR  # which may depend on a value, as its words may
            raise ToolFailed(failed.message, reason, labels=statement.labels, answered=not failed.silent) from None

    async def close(self) -> None:
        """Stop what runs."""
        for work in tuple(self._running):
            work.stop()
        self._threads.close()
        self._reach = None

    # ── inside ──

    def _find_reach(self) -> Reach:
        if self._reach is None:
            raise ToolFailed("it is not known yet what this database holds", Reason.SOURCE_UNAVAILABLE)
        return self._reach

    def _read(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> SqlStatement:
        sql = arguments.get("sql")
        return read_statement(sql if isinstance(sql, str) else "", self._find_reach(), changing=tool.name == "change")

    def _judge(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> SqlStatement:
        """The statement, judged again: what there is may have changed since its faults were looked for."""
        if faults := self.find_faults(tool, arguments):
            raise ToolFailed(faults[0].message)
        if tool.name == "change" and self._settings.role is not SqlRole.CHANGE:
            raise ToolFailed("this source is for reading alone", Reason.SOURCE_UNAVAILABLE)
        return self._read(tool, arguments)

    def _caps(self, seconds: float, rows: int) -> SqlCaps:
        return SqlCaps(rows, self._settings.max_bytes, seconds)

    async def _run(self, work: SqlWork[_Value], seconds: float, person_id: str | None = None) -> _Value:
        """Do it in a thread of this source, and stop it when its time is over or nobody waits any more."""
        taken = await self._places.take(person_id, seconds)
        try:
            future = self._threads.submit(work.run)
        except BaseException:
            taken.close()
            raise
        self._running.add(work)
        future.add_done_callback(lambda _: self._end(work, taken))
        try:
            await asyncio.wait((future,), timeout=seconds + _SPARE)
        except asyncio.CancelledError:
            work.stop()
            await asyncio.wait((future,), timeout=STOP_SECONDS)
            if future.done() and future.exception() is None:
                return future.result()
            raise
        if not future.done():
            work.stop()
            raise SqlFailed(NO_ANSWER.format(seconds=seconds), late=True, unknown=True, silent=True)
        return future.result()

    def _end(self, work: SqlWork[object], taken: ExitStack) -> None:
        self._running.discard(work)
        taken.close()

    def _describe(self, arguments: Mapping[str, Json]) -> ToolOutput:
        reach = self._find_reach()
        name = arguments.get("table")
        chosen = [_find_table(reach, name)] if name is not None else reach.tables
        tables = [table.described() for table in chosen if table is not None]
        return ToolOutput(show_tables(tables), {"dialect": reach.dialect.value, "tables": tables})


def _make_engine(settings: SqlSettings, resources: DriverResources, find_reach: Callable[[], Reach]) -> SqlEngine:
    url = read_url(settings.url)
    if settings.dialect is SqlDialect.SQLITE:
        return SqliteEngine(Path(url.database or ""), resources.private, find_reach)
    password = None if url.password is None else str(url.password)
    return PostgresqlEngine(url, lambda: None if password is None else resources.fill(password))


def _find_table(reach: Reach, name: str) -> SqlTable | None:
    schema, _, table = name.rpartition(".")
    return reach.find(table, schema)


# ── what is offered ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _offers(settings: SqlSettings) -> tuple[ToolOffer, ...]:
    kind = "SQLite" if settings.dialect is SqlDialect.SQLITE else "PostgreSQL"
    describe = ToolOffer(
        name="describe",
        title="Describe the database",
        description=f"List the tables of this {kind} database with their columns. Call this before writing a statement.",
        param_schema={
            "type": "object",
            "properties": {"table": {"type": "string", "description": "One table; all of them when left out."}},
            "additionalProperties": False,
        },
        proposed=Category.READ,
        because="it reads the names of tables and columns",
        summary="List the tables and columns of the database",
        effects=("Reads the names of tables and columns",),
        recovery=Recovery.PURE,
        timeout=settings.timeout,
    )
    query = ToolOffer(
        name="query",
        title="Query the database",
        description=(
            f"Run one reading {kind} statement (SELECT, WITH … SELECT, VALUES) and get its rows: at most {settings.max_rows}."
            " Call describe first. Write values as :name and give them in parameters."
        ),
        param_schema={
            "type": "object",
            "properties": {
                "sql": {"type": "string", "description": "One SELECT, such as: SELECT name FROM people WHERE city = :city"},
                "parameters": _PARAMETERS,
            },
            "required": ["sql"],
            "additionalProperties": False,
        },
        output_schema=ROWS_SCHEMA,
        proposed=Category.READ,
        because="the database itself is held to reading, and the statement is judged before",
        summary="Query the database: {sql}",
        effects=("Reads rows by {sql}", "With the values {parameters}"),
        recovery=Recovery.PURE,
        timeout=settings.timeout + _SPARE + 1,
    )
    if settings.role is not SqlRole.CHANGE:
        return describe, query
    change = ToolOffer(
        name="change",
        title="Change the database",
        description=(
            f"Run one {kind} INSERT, UPDATE or DELETE. A person is asked first, and sees how many rows would change."
            " ON CONFLICT and RETURNING may be used. Call describe first. Write values as :name and give them in parameters."
        ),
        param_schema={
            "type": "object",
            "properties": {
                "sql": {"type": "string", "description": "Such as: UPDATE orders SET paid = TRUE WHERE id = :id"},
                "parameters": _PARAMETERS,
                "expected_rows": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many rows it should change; with any other number nothing is changed.",
                },
            },
            "required": ["sql"],
            "additionalProperties": False,
        },
        proposed=Category.WRITE,
        because="it changes rows",
        summary="Change the database: {sql}",
        effects=("Changes rows by {sql}", "With the values {parameters}"),
        recovery=Recovery.UNSAFE,
        timeout=settings.timeout + _SPARE + 1,
    )
    return describe, query, change


# ── changes ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

_CHANGES: Final = {
    StatementKind.INSERT: PreviewChange.CREATE,
    StatementKind.UPSERT: PreviewChange.REPLACE,
    StatementKind.UPDATE: PreviewChange.REPLACE,
    StatementKind.DELETE: PreviewChange.DELETE,
    StatementKind.QUERY: PreviewChange.KEEP,
}

_DONE: Final = {
    StatementKind.INSERT: "inserted into",
    StatementKind.UPSERT: "inserted into or changed in",
    StatementKind.UPDATE: "changed in",
    StatementKind.DELETE: "deleted from",
    StatementKind.QUERY: "read from",
}


def _show_change(statement: SqlStatement, changed: SqlChanged) -> Preview:
    assert statement.target is not None, "a change has a table"
    table = statement.target.shown
    lines = [*_show_statement(statement)]
    for name, count in changed.elsewhere.items():
        where = f"of {name}" if name else "of this or other tables"
        lines.append(PreviewLine(LineMark.SAME, f"and {_count(count)} {where}, by triggers or foreign keys"))
    for row in changed.shown:
        lines += _show_row(row)
    if changed.shown and (left := changed.rows - len(changed.shown)) > 0:
        lines.append(PreviewLine(LineMark.SAME, f"and {_count(left)} more"))
    change = _CHANGES[statement.kind] if changed.rows or changed.elsewhere else PreviewChange.KEEP
    shown = [(line.mark.value, line.text, line.count) for line in lines]
    return Preview(
        change,
        f"{_count(changed.rows)} of {table}",
        digest=digest({"rows": changed.rows, "elsewhere": dict(changed.elsewhere), "lines": shown}),
        lines=tuple(lines),
        complete=bool(changed.shown) and changed.rows == len(changed.shown),
    )


def _show_unknown(statement: SqlStatement, why: str) -> Preview:
    assert statement.target is not None, "a change has a table"
    lines = (*_show_statement(statement), PreviewLine(LineMark.SAME, f"How many rows it changes could not be counted: {why}"))
    return Preview(
        _CHANGES[statement.kind], f"rows of {statement.target.shown}, not counted", digest="", lines=lines, complete=False
    )


def _show_statement(statement: SqlStatement) -> list[PreviewLine]:
    """The statement as the database gets it, which is not always how it was written."""
    lines = [PreviewLine(LineMark.SAME, statement.sent.text)]
    if not statement.limited:
        lines.append(PreviewLine(LineMark.SAME, "It has no WHERE: every row of the table is meant"))
    return lines


def _show_row(row: ChangedRow) -> list[PreviewLine]:
    """One row before and after; of what stays only the key would be of interest, and stands in both."""
    before = [] if row.before is None else [PreviewLine(LineMark.REMOVED, _show_values(row.before))]
    after = [] if row.after is None else [PreviewLine(LineMark.ADDED, _show_values(row.after))]
    return before + after


def _show_values(values: Mapping[str, Json]) -> str:
    return ", ".join(f"{name} = {show_value(value)}" for name, value in values.items())


def _show_done(statement: SqlStatement, changed: SqlChanged) -> ToolOutput:
    assert statement.target is not None, "a change has a table"
    table = statement.target.shown
    text = f"{_count(changed.rows)} {_DONE[statement.kind]} {table}"
    if changed.returned is None:
        return ToolOutput(text, {"table": table, "rows": changed.rows}, statement.labels)
    shown = show_rows(changed.returned, statement.labels)
    structured = {"table": table, "rows": changed.rows, "returned": shown.structured}
    return ToolOutput(f"{text}\nReturned: {shown.text}", structured, statement.labels)


def _count(rows: int) -> str:
    return f"{rows} {'row' if rows == 1 else 'rows'}"
