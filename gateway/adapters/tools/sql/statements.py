"""One statement as text that may be sent, decided on its syntax tree.

What is sent is never what was given: it is written anew from the tree that was judged. Whatever sqlglot and a database read
differently (comments, quoting, dollar quotes, escapes, `;`) is gone then, or was refused. Tables are written with their schema
and names in quotes, so that a name cannot mean another thing there than it meant here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from gateway.adapters.tools.sql.dialects import (
    CHANGE_NODES,
    DIALECTS,
    FUNCTIONS,
    NODES,
    PARTS,
    QUERIES,
    TYPES,
    WORDS_BEFORE_BRACKETS,
)
from gateway.adapters.tools.sql.schema import Reach, SqlTable, fold
from gateway.adapters.tools.sql.settings import SqlDialect
from gateway.adapters.tools.sql.syntax import StatementRefused, find_calls, generate, parse, say
from gateway.core.effects import escape

_PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f\"`\[\]]{1,128}")
_VARIABLE: Final = re.compile(r"[A-Za-z_ ]{1,40}")
_ROW_IDS: Final = frozenset({"rowid", "oid", "_rowid_"})
_SYSTEM_COLUMNS: Final = _ROW_IDS | {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}
_STRINGS: Final = (exp.RawString, exp.UnicodeString, exp.ByteString, exp.BitString, exp.HexString, exp.National)


class StatementKind(StrEnum):
    """What one statement does."""

    QUERY = "query"
    INSERT = "insert"
    UPSERT = "upsert"
    """An INSERT that changes the rows that are there already."""
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class SqlText:
    """What is sent, and the names of its parameters in the order of `$1`, `$2`, … where the database numbers them."""

    text: str
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A statement that may be sent. `labels` are those of what it can give back.

    Of a change: `target` is its table, `limited` whether a WHERE chooses rows, `returns` whether it gives rows back. `before`
    reads some of the rows that it will change, their keys first, and `changed` are the columns that it sets; `before` is None
    where rows cannot be told by a key.
    """

    kind: StatementKind
    sent: SqlText
    tables: tuple[SqlTable, ...]
    labels: tuple[str, ...] = ()
    target: SqlTable | None = None
    limited: bool = False
    before: SqlText | None = None
    changed: tuple[str, ...] = ()
    returns: bool = False


def read_statement(sql: str, reach: Reach, *, changing: bool = False) -> SqlStatement:
    """The statement that may be sent for `sql`. Raises StatementRefused."""
    try:
        tree = parse(sql, DIALECTS[reach.dialect], comments=not changing)
        return _Reader(tree, reach, changing=changing).read()
    except RecursionError:
        raise StatementRefused("this statement is nested too deeply") from None


class _Reader:
    def __init__(self, tree: exp.Expr, reach: Reach, *, changing: bool) -> None:
        self._tree = tree
        self._reach = reach
        self._changing = changing
        self._fold: Callable[[str], str] = fold if reach.dialect is SqlDialect.SQLITE else str
        self._tables: dict[tuple[str, str], SqlTable] = {}
        self._named: set[str] = set()

    def read(self) -> SqlStatement:
        kind = self._find_kind()
        for node in list(self._tree.walk()):
            self._judge(node)
        ctes = self._find_ctes()
        references = [table for table in self._tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
        found = {id(table): self._find_table(table) for table in references if not self._is_cte(table, ctes)}
        target = self._find_target(kind, found)
        if target is not None:
            self._judge_change(kind, target)
        labels = self._find_labels(found, references)
        for table in references:
            if (known := found.get(id(table))) is not None:
                self._rewrite(table, known, wrapped=bool(known.hidden) and table is not self._target_node())
            else:
                _rename(table, ctes[self._fold(table.name)])
        for number, each in enumerate(self._tree.find_all(exp.CTE), start=1):
            each.args["alias"].set("this", exp.to_identifier(_CTE_NAME.format(number), quoted=True))
        sent = self._write(self._tree)
        before, changed = self._sample(kind, target)
        where = kind in _ADDING or self._tree.args.get("where") is not None
        returns = target is not None and self._tree.args.get("returning") is not None
        return SqlStatement(kind, sent, tuple(self._tables.values()), labels, target, where, before, changed, returns)

    # ── what it is ──

    def _find_kind(self) -> StatementKind:
        match self._tree:
            case exp.Insert() if self._changing:
                conflict = self._tree.args.get("conflict")
                return StatementKind.UPSERT if conflict is not None and conflict.expressions else StatementKind.INSERT
            case exp.Update() if self._changing:
                return StatementKind.UPDATE
            case exp.Delete() if self._changing:
                return StatementKind.DELETE
            case tree if self._changing:
                raise StatementRefused(f"one INSERT, UPDATE or DELETE is taken here, and this is {say(tree)}")
            case tree if isinstance(tree, (*QUERIES, exp.Subquery)):
                return StatementKind.QUERY
            case tree:
                raise StatementRefused(f"only reading is allowed here (SELECT, WITH … SELECT, VALUES), and this is {say(tree)}")

    def _judge(self, node: exp.Expr) -> None:
        if type(node) not in (CHANGE_NODES if self._changing else NODES):
            if isinstance(node, _STRINGS):
                raise StatementRefused("write strings in single quotes, with nothing before them, or pass them as parameters")
            raise StatementRefused(f"{say(node)} is not allowed here")
        match node:
            case exp.Insert() | exp.Update() | exp.Delete() if node is not self._tree:
                raise StatementRefused("a change within another statement is not allowed")
            case exp.Identifier():
                self._fix_name(node)
            case exp.Anonymous():
                self._judge_call(node)
            case exp.Dot() if not isinstance(node.expression, exp.Anonymous) or not isinstance(node.this, exp.Identifier):
                raise StatementRefused("a field of a value cannot be taken by a dot here")
            case exp.Placeholder():
                self._judge_placeholder(node)
            case exp.DataType() if node.this not in TYPES:
                raise StatementRefused(f"a value cannot be cast to the type {escape(node.sql())[:60]} here")
            case exp.Var() if _VARIABLE.fullmatch(node.name) is None:
                raise StatementRefused(f"`{escape(node.name)[:60]}` is not allowed here")
            case exp.In() if node.args.get("field") is not None or node.args.get("unnest") is not None:
                raise StatementRefused("write `IN (SELECT …)` or `IN (…)`, not the name of a table alone")
            case exp.Column() if node.args.get("db") is not None or node.args.get("catalog") is not None:
                raise StatementRefused("name a column by itself or with its table, without a schema")
            case exp.OnConflict():
                self._judge_parts(node)
                self._judge_conflict(node)
            case exp.Star() | exp.Table() | exp.Select() | exp.Insert() | exp.Update() | exp.Delete() | exp.Returning():
                self._judge_parts(node)
            case _:
                pass

    def _judge_parts(self, node: exp.Expr) -> None:
        allowed = PARTS[type(node)]
        for part, value in node.args.items():
            if value and part not in allowed:
                raise StatementRefused(f"`{part.strip('_').upper()}` is not allowed here")
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier | exp.Anonymous):
            raise StatementRefused("this is no table that can be read")

    def _judge_conflict(self, conflict: exp.OnConflict) -> None:
        """`DO UPDATE` sets single columns of the row that is there; which one is meant is said by columns, so that it is seen."""
        action = conflict.args.get("action")
        if not isinstance(action, exp.Var) or action.name not in ("DO NOTHING", "DO UPDATE"):
            raise StatementRefused("ON CONFLICT takes DO NOTHING or DO UPDATE here")
        for key in conflict.args.get("conflict_keys") or ():
            named = key.this if isinstance(key, exp.Ordered) else key
            if not isinstance(named, exp.Column | exp.Identifier):
                raise StatementRefused("ON CONFLICT takes the names of columns in its brackets")
        _judge_set(conflict.expressions)

    def _fix_name(self, name: exp.Identifier) -> None:
        text = name.name
        if _NAME.fullmatch(text) is None:
            raise StatementRefused(f"the name `{escape(text)[:60]}` is not allowed here")
        if self._reach.dialect is SqlDialect.POSTGRESQL:
            text = text if name.args.get("quoted") else fold(text)
            # PostgreSQL cuts a longer name, and takes it for another one's.
            if len(text.encode()) > 63:
                raise StatementRefused(f"the name `{escape(text)[:60]}…` is too long")
        name.set("this", text)
        name.set("quoted", True)
        self._named.add(fold(text))

    def _judge_call(self, call: exp.Anonymous) -> None:
        if not isinstance(call.this, str):
            raise StatementRefused("write the names of functions without quotes")
        name = fold(call.this)
        call.set("this", name)
        match call.parent:
            case exp.Dot() as dot if dot.expression is call:
                name = f"{fold(dot.this.name)}.{name}"
            case exp.Table() as table if table.args.get("db") is not None:
                name = f"{fold(table.db)}.{name}"
            case _:
                if name in FUNCTIONS[self._reach.dialect]:
                    return
        if name not in self._reach.functions:
            raise StatementRefused(f"the function `{escape(name)[:80]}` is not one that may be called here")

    def _judge_placeholder(self, placeholder: exp.Placeholder) -> None:
        if not isinstance(placeholder.this, str) or _PARAMETER.fullmatch(placeholder.this) is None:
            raise StatementRefused("write parameters as `:name`, and give their values in `parameters`")

    # ── what it touches ──

    def _find_ctes(self) -> dict[str, str]:
        """The names that WITH gives, and what they are sent as. Beyond where such a name reaches, the database would take it for
        a table's; so it is another name there, which no table has, and nobody has to know how far it reaches."""
        names: dict[str, str] = {}
        for number, each in enumerate(self._tree.find_all(exp.CTE), start=1):
            name = self._fold(each.alias)
            if name in names:
                raise StatementRefused(f"WITH gives the name `{escape(name)[:60]}` twice")
            if fold(name).startswith(("pg_", "sqlite_")) or any(self._fold(table.name) == name for table in self._reach.tables):
                raise StatementRefused(f"WITH gives the name `{escape(name)[:60]}`, which is a table's; take another one")
            names[name] = _CTE_NAME.format(number)
        return names

    def _is_cte(self, table: exp.Table, ctes: Mapping[str, str]) -> bool:
        return table.args.get("db") is None and self._fold(table.name) in ctes

    def _find_table(self, table: exp.Table) -> SqlTable:
        known = self._reach.find(table.name, table.db)
        if known is None:
            shown = f"{table.db}.{table.name}" if table.db else table.name
            raise StatementRefused(
                f"there is no table `{escape(shown)[:100]}` that may be reached; `describe` lists those that may"
            )
        self._tables[known.schema, known.name] = known
        return known

    def _find_labels(self, found: dict[int, SqlTable], references: list[exp.Table]) -> tuple[str, ...]:
        """A column's labels go along where the statement can show it: by its name, a star, a whole row or other names for all."""
        labels: set[str] = set()
        aliases = {self._fold(table.alias_or_name) for table in references}
        aliases.update(_ROWS if self._changing else ())
        everything = (
            any(not isinstance(star.parent, exp.Anonymous) for star in self._tree.find_all(exp.Star))
            or any(
                alias.args.get("columns") for alias in self._tree.find_all(exp.TableAlias) if isinstance(alias.parent, exp.Table)
            )
            or any(join.args.get("method") for join in self._tree.find_all(exp.Join))
            or any(not column.table and self._fold(column.name) in aliases for column in self._tree.find_all(exp.Column))
        )
        for table in found.values():
            labels.update(table.labels)
            # In SQLite the number of a row is another name for a key that is a whole number.
            named = {*self._named, *(fold(column.name) for column in table.columns if column.key and self._named & _ROW_IDS)}
            for column, marks in table.column_labels.items():
                if everything or fold(column) in named:
                    labels.update(marks)
        return tuple(sorted(labels))

    # ── what is sent ──

    def _rewrite(self, node: exp.Table, table: SqlTable, *, wrapped: bool) -> None:
        """The same table with its schema; with only its columns that may be reached where some may not."""
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True))
        name, schema = (exp.to_identifier(part, quoted=True) for part in (table.name, table.schema))
        node.set("this", name)
        node.set("db", schema)
        if self._names_target_itself(node):
            return
        node.set("alias", alias)
        if not wrapped:
            return
        if node.args.get("joins"):
            raise StatementRefused("join this table outside of brackets")
        inner = exp.Table(this=name.copy(), db=schema.copy())
        columns = [exp.column(exp.to_identifier(column.name, quoted=True)) for column in table.columns]
        node.replace(exp.Subquery(this=exp.Select(expressions=columns).from_(inner), alias=alias.copy()))

    def _names_target_itself(self, node: exp.Table) -> bool:
        # An alias of the target of an INSERT has another grammar in either database, and nothing needs it.
        return isinstance(self._tree, exp.Insert) and node is self._target_node()

    def _write(self, tree: exp.Expr) -> SqlText:
        """The text, which has to read as itself again and may hold no call that was not judged."""
        dialect = DIALECTS[self._reach.dialect]
        tree = tree.copy()
        names = list(dict.fromkeys(str(each.this) for each in tree.find_all(exp.Placeholder)))
        if self._reach.dialect is SqlDialect.POSTGRESQL:
            for each in list(tree.find_all(exp.Placeholder)):
                each.replace(exp.Parameter(this=exp.Literal.number(names.index(str(each.this)) + 1)))
        try:
            text = generate(tree, dialect)
            again = generate(parse(text, dialect), dialect)
        except SqlglotError:
            again, text = "", "-"
        if text != again or not all(self._may_be_called(word) for word in find_calls(text, dialect)):
            raise StatementRefused("this statement has parts that cannot be written in one way alone; put it in a simpler form")
        return SqlText(text, tuple(names))

    def _may_be_called(self, word: str) -> bool:
        return (
            word in FUNCTIONS[self._reach.dialect]
            or word in WORDS_BEFORE_BRACKETS
            or any(name.rpartition(".")[2] == word for name in self._reach.functions)
        )

    # ── changes ──

    def _target_node(self) -> exp.Table | None:
        if not self._changing:
            return None
        node = self._tree.this
        node = node.this if isinstance(node, exp.Schema) else node
        return node if isinstance(node, exp.Table) else None

    def _find_target(self, kind: StatementKind, found: dict[int, SqlTable]) -> SqlTable | None:
        if kind is StatementKind.QUERY:
            return None
        target = found.get(id(self._target_node()))
        if target is None:
            raise StatementRefused("this changes no table that may be reached")
        if kind is StatementKind.UPDATE:
            _judge_set(self._tree.expressions)
        return target

    def _judge_change(self, kind: StatementKind, target: SqlTable) -> None:
        """A target cannot be put in brackets with some of its columns, so those that may not be reached may not be named."""
        if not target.hidden:
            return
        node = self._target_node()
        assert node is not None, "a target is found by its node"
        if kind in _ADDING and not isinstance(self._tree.this, exp.Schema):
            raise StatementRefused(f"name the columns of `{target.shown}` that you set")
        barred = {fold(name) for name in target.hidden} | _SYSTEM_COLUMNS | _ROWS | {fold(node.alias_or_name)}
        for name in self._tree.find_all(exp.Identifier):
            if fold(name.name) in barred and not isinstance(name.parent, exp.Table | exp.TableAlias) and name.arg_key != "table":
                raise StatementRefused(f"`{escape(name.name)[:60]}` may not be reached")
        if any(isinstance(star.parent, exp.Column | exp.Returning) for star in self._tree.find_all(exp.Star)):
            raise StatementRefused("name the columns one by one here")

    def _sample(self, kind: StatementKind, target: SqlTable | None) -> tuple[SqlText | None, tuple[str, ...]]:
        """What reads the rows that an UPDATE or DELETE of one table will change."""
        if target is None or kind not in (StatementKind.UPDATE, StatementKind.DELETE) or self._tree.args.get("from_"):
            return None, ()
        node = self._target_node()
        if not target.keys or node is None:
            return None, ()
        changed: tuple[str, ...] = tuple(column.name for column in target.columns)
        if kind is StatementKind.UPDATE:
            set_names = {self._fold(each.this.name) for each in self._tree.expressions}
            changed = tuple(name for name in changed if self._fold(name) in set_names)
        columns = [exp.column(exp.to_identifier(name, quoted=True)) for name in (*target.keys, *changed)]
        query = exp.Select(expressions=columns).from_(node.copy())
        if (where := self._tree.args.get("where")) is not None:
            query.set("where", where.copy())
        return self._write(query), changed


_ADDING: Final = (StatementKind.INSERT, StatementKind.UPSERT)

_ROWS: Final = frozenset({"excluded", "old", "new"})
"""Names that a change gives to whole rows of its table: the one that conflicts, and since PostgreSQL 18 before and after."""


_CTE_NAME: Final = "with {}"
"""A space keeps it apart from the names that tables have."""


def _judge_set(assignments: list[exp.Expr]) -> None:
    for each in assignments:
        if not (isinstance(each, exp.EQ) and isinstance(each.this, exp.Column) and not each.this.table):
            raise StatementRefused("SET takes `column = value`, one by one")


def _rename(table: exp.Table, name: str) -> None:
    if table.args.get("alias") is None:
        table.set("alias", exp.TableAlias(this=table.this.copy()))
    table.set("this", exp.to_identifier(name, quoted=True))
