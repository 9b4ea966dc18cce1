"""Tables and columns as the database has them, and which of them a statement may reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.adapters.tools.sql.settings import SqlDialect, SqlSettings
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured

_FOLD: Final = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


def fold(name: str) -> str:
    """As both databases fold the case of a name: ASCII alone."""
    return name.translate(_FOLD)


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """One column; `type` in the database's own words, `key` where it is part of the primary key."""

    name: str
    type: str
    nullable: bool = True
    key: bool = False


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A table or view. `columns` are those that may be reached, and `hidden` the names of those that may not."""

    schema: str
    name: str
    columns: tuple[SqlColumn, ...]
    view: bool = False
    hidden: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()
    column_labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def shown(self) -> str:
        """As the operator and a model name it: without the schema where it is the usual one."""
        return self.name if self.schema in ("main", "public") else f"{self.schema}.{self.name}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of its primary key that may be reached; empty where part of it may not."""
        return tuple(column.name for column in self.columns if column.key) if not self.hidden else ()

    def described(self) -> dict[str, Json]:
        """For `describe`."""
        columns: list[dict[str, Json]] = [
            {
                "name": column.name,
                "type": column.type,
                "nullable": column.nullable,
                **({"key": True} if column.key else {}),
                **({"labels": list(marks)} if (marks := self.column_labels.get(column.name)) else {}),
            }
            for column in self.columns
        ]
        kind = {"view": True} if self.view else {}
        return {"table": self.shown, **kind, **({"labels": list(self.labels)} if self.labels else {}), "columns": columns}


class Reach:
    """The tables that a source's statements may touch."""

    def __init__(self, dialect: SqlDialect, tables: Iterable[SqlTable], functions: Iterable[str] = ()) -> None:
        self.dialect = dialect
        self.tables = tuple(tables)
        self.functions = frozenset(functions)
        self._by_name = {(self._key(table.schema), self._key(table.name)): table for table in self.tables}

    def find(self, name: str, schema: str = "") -> SqlTable | None:
        """The table of that name; without a schema the usual one's, or the only one's."""
        if schema:
            return self._by_name.get((self._key(schema), self._key(name)))
        found = [table for (_, known), table in self._by_name.items() if known == self._key(name)]
        usual = [table for table in found if table.schema in ("main", "public")]
        return (usual or found)[0] if len(usual or found) == 1 else None

    def _key(self, name: str) -> str:
        return fold(name) if self.dialect is SqlDialect.SQLITE else name


def choose_reach(settings: SqlSettings, found: Iterable[SqlTable]) -> Reach:
    """What the operator lets be reached of what there is. Raises Misconfigured for a name that is not there."""
    everything = Reach(settings.dialect, found)
    chosen = {table: table for table in ((table.schema, table.name) for table in everything.tables)}
    kept = {(table.schema, table.name): table for table in everything.tables}
    if settings.tables:
        chosen = {}
        for name, columns in settings.tables.items():
            table = _find_named(everything, name, "tables")
            chosen[table.schema, table.name] = (table.schema, table.name)
            kept[table.schema, table.name] = _narrow(table, columns)
    for name, marks in settings.table_labels.items():
        _mark(everything, kept, name, marks)
    return Reach(settings.dialect, (kept[key] for key in chosen), settings.functions)


def _find_named(reach: Reach, name: str, setting: str) -> SqlTable:
    schema, _, table = name.rpartition(".")
    if (found := reach.find(table, schema)) is None:
        raise Misconfigured(f"`{setting}` names `{escape(name)[:100]}`, and the database has no such table for this user")
    return found


def _narrow(table: SqlTable, columns: tuple[str, ...]) -> SqlTable:
    if not columns:
        return table
    known = {column.name: column for column in table.columns}
    for name in columns:
        if name not in known:
            raise Misconfigured(f"`tables` names the column `{escape(name)[:100]}`, and `{escape(table.shown)}` has none such")
    return SqlTable(
        table.schema, table.name, tuple(known[name] for name in columns), table.view, frozenset(known) - frozenset(columns)
    )


def _mark(everything: Reach, kept: dict[tuple[str, str], SqlTable], name: str, marks: tuple[str, ...]) -> None:
    schema, _, short = name.rpartition(".")
    table = everything.find(short, schema)
    column = ""
    if table is None:
        table, column = _find_named(everything, schema, "table_labels"), short
        if column not in {each.name for each in table.columns}:
            raise Misconfigured(f"`table_labels` names `{escape(name)[:100]}`, and the database has no such column for this user")
    now = kept[table.schema, table.name]
    kept[table.schema, table.name] = SqlTable(
        now.schema,
        now.name,
        now.columns,
        now.view,
        now.hidden,
        now.labels if column else marks,
        {**now.column_labels, column: marks} if column else now.column_labels,
    )
