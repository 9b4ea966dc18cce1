"""Statements that write, composed with SQLAlchemy, compiled when they are first needed, and kept.

On the hot path SQLAlchemy's own execution costs more than SQLite does, so the writer gives the compiled SQL and plain
tuples to the driver. A `Statement` says what must hold when it runs: `refusal` is raised unless each of its rows changed
exactly one row of the table. That guard is where the ledger itself enforces *once*.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Dialect, Executable, Table, bindparam, case, column, exists, insert, select, values
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import BindParameter, ClauseElement, ColumnElement

ROWS_AT_ONCE: Final = (64, 32, *range(16, 1, -1))
"""Numbers of rows that are written in one step: one step for a usual batch, and few enough that all of these stay prepared."""

LEAF: Final = "leaf"
"""The parameter that the writer fills in: the position that the entry's own leaf gets."""


@dataclass(frozen=True, eq=False, slots=True)
class Statement:
    """One kind of write, over one row. `grouped`: rows of one batch may run together, since they touch different calls.
    `many` gives the same write over that many rows in one step, where there is one."""

    construct: Executable
    refusal: str | None = None
    grouped: bool = False
    takes_leaf: bool = False
    many: Callable[[Statement, Dialect, int], ClauseElement] | None = None


class Change(NamedTuple):
    """One statement with its values. `call` names the call that a grouped statement belongs to."""

    statement: Statement
    values: dict[str, Any]
    call: tuple[str, str] | None = None


def given(name: str) -> BindParameter[Any]:
    """A parameter of a condition; the prefix keeps it apart from the column that an UPDATE sets."""
    return bindparam(f"of_{name}")


def highest(current: ColumnElement[Any], name: str) -> ColumnElement[Any]:
    """What the column holds or the parameter of a condition, whichever is larger."""
    return case((current < given(name), given(name)), else_=current)


def insertion(table: Table, *, leaf: str | None = None, without: Collection[str] = (), grouped: bool = False) -> Statement:
    """One more row. The column `leaf` gets the position of the entry's own leaf; columns `without` a value stay empty."""
    parameters = _parameters(table, leaf, without)

    def over_many_rows(_statement: Statement, _dialect: Dialect, count: int) -> ClauseElement:
        rows = [{name: _numbered(parameter, row) for name, parameter in parameters.items()} for row in range(count)]
        return insert(table).values(rows)

    return Statement(insert(table).values(parameters), grouped=grouped, takes_leaf=leaf is not None, many=over_many_rows)


def insertion_once(
    table: Table, *key: str, leaf: str | None = None, without: Collection[str] = (), grouped: bool = False
) -> Statement:
    """One more row, unless there is one with that key."""
    parameters = _parameters(table, leaf, without)
    absent = ~exists().where(*(table.c[name] == bindparam(name) for name in key))
    return Statement(
        insert(table).from_select([*parameters], select(*parameters.values()).where(absent)),
        grouped=grouped,
        takes_leaf=leaf is not None,
    )


def join_rows(statement: Statement, dialect: Dialect, count: int) -> ClauseElement:
    """An UPDATE over many rows in one step: its parameters become the columns of a table of rows that it is joined with.

    For updates whose rows each name another row of the table. Between any two steps of SQLite the driver lets other threads
    run, and waits until they let it back: with fifty rows in fifty steps the writer waits for the event loop fifty times.
    """
    compiled = _compile(statement.construct, dialect)
    names: Mapping[BindParameter[Any], str] = compiled.bind_names
    parameters = {name: parameter for parameter, name in names.items()}
    ordered = [parameters[name] for name in compiled.positiontup]
    name_of = {parameter.key: name for name, parameter in parameters.items()}
    rows = values(*(column(name_of[each.key], each.type) for each in ordered), name="changed").data(
        [tuple(bindparam(f"{name_of[each.key]}_{row}", type_=each.type) for each in ordered) for row in range(count)]
    )
    changed = rows.cte("changed")

    def replace(element: Any, **_how: Any) -> Any:
        return changed.c[name_of[element.key]] if isinstance(element, BindParameter) else None

    return cast("ClauseElement", visitors.replacement_traverse(cast("Any", statement.construct), {}, replace))


@dataclass(frozen=True, eq=False, slots=True)
class Compiled:
    """A statement as the driver takes it. `row` turns named values into its positional parameters."""

    sql: str
    row: Callable[[Mapping[str, Any]], tuple[Any, ...]]


class CompiledStatements:
    """The driver's SQL of every statement that was needed so far. For one thread."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._compiled: dict[Statement, Compiled] = {}
        self._many: dict[tuple[Statement, int], str] = {}

    def one(self, statement: Statement) -> Compiled:
        """Over one row."""
        found = self._compiled.get(statement)
        if found is None:
            found = self._compiled[statement] = compile_statement(statement, self._dialect)
        return found

    def many(self, statement: Statement, count: int) -> str:
        """Over that many rows, for a statement that can; its parameters are those of the rows, one after another."""
        found = self._many.get((statement, count))
        if found is None:
            found = self._many[statement, count] = compile_many(statement, self._dialect, count)
        return found


def compile_statement(statement: Statement, dialect: Dialect) -> Compiled:
    """The driver's SQL for one row. The dialect's parameters must be positional."""
    compiled = _compile(statement.construct, dialect)
    names: list[str] = list(compiled.positiontup)
    constants = {name: value for name, value in compiled.params.items() if value is not None}
    pick: Callable[[Mapping[str, Any]], Any] = itemgetter(*names)

    def row(named: Mapping[str, Any]) -> tuple[Any, ...]:
        found = pick({**constants, **named}) if constants else pick(named)
        return found if len(names) > 1 else (found,)

    return Compiled(str(compiled), row)


def compile_many(statement: Statement, dialect: Dialect, count: int) -> str:
    """The driver's SQL for that many rows at once."""
    assert statement.many is not None
    names = _compile(statement.construct, dialect).positiontup
    compiled = _compile(statement.many(statement, dialect, count), dialect)
    # The rows' tuples are laid end to end, so nothing else may come between or after them.
    assert list(compiled.positiontup) == [f"{name}_{row}" for row in range(count) for name in names]
    return str(compiled)


def _parameters(table: Table, leaf: str | None, without: Collection[str]) -> dict[str, BindParameter[Any]]:
    return {
        each.name: bindparam(LEAF if each.name == leaf else each.name, type_=each.type)
        for each in table.c
        if each.name not in without
    }


def _numbered(parameter: BindParameter[Any], row: int) -> BindParameter[Any]:
    return bindparam(f"{parameter.key}_{row}", type_=parameter.type)


def _compile(construct: Any, dialect: Dialect) -> Any:
    return construct.compile(dialect=dialect)
