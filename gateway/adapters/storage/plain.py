"""Rows as the driver gives them, of statements that are compiled once.

Executing one by SQLAlchemy takes two to eight times as long as SQLite does, and a receipt is made of some twenty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.elements import ColumnElement

_SIZES: Final = (1, 4, 16, 64, 256, 512)
"""How many keys a statement asks for. Of fewer the last is asked for again."""

Row = tuple[Any, ...]


class PlainQuery:
    """A statement that is executed again and again, with its parameters by name."""

    def __init__(self, construct: Select[*tuple[Any, ...]]) -> None:
        self._construct = construct
        self._compiled: dict[str, tuple[str, Sequence[str], Mapping[str, Any]]] = {}
        """By the name of the dialect: the SQL, its parameters in order, and the values of those that are never given."""

    def rows(self, connection: Connection, given: Mapping[str, Any]) -> Sequence[Row]:
        """All of them. Raises DBAPIError, as executing by SQLAlchemy does."""
        compiled = self._compiled.get(connection.dialect.name)
        if compiled is None:
            made: Any = self._construct.compile(dialect=connection.dialect)
            compiled = self._compiled[connection.dialect.name] = str(made), tuple(made.positiontup or ()), made.params
        sql, names, constants = compiled
        driver: Any = connection.dialect.dbapi
        cursor = connection.connection.cursor()
        try:
            cursor.execute(sql, [given[name] if name in given else constants[name] for name in names])
            return cursor.fetchall()
        except driver.Error as error:
            raise DBAPIError.instance(sql, None, error, driver.Error, dialect=connection.dialect) from error
        finally:
            cursor.close()

    def value(self, connection: Connection, given: Mapping[str, Any]) -> Any:
        """The first column of the first row; None where there is none."""
        rows = self.rows(connection, given)
        return rows[0][0] if rows else None


class KeyedQuery:
    """A statement over rows whose `column` is one of some keys, in the order of `column`."""

    def __init__(self, construct: Select[*tuple[Any, ...]], column: ColumnElement[Any]) -> None:
        ordered = construct.order_by(column)
        self._queries = {size: PlainQuery(ordered.where(column.in_(_keys(size)))) for size in _SIZES}

    def rows(self, connection: Connection, keys: Sequence[Any]) -> Sequence[Row]:
        """Those of these keys, which are in order. Raises DBAPIError."""
        found: list[Row] = []
        for start in range(0, len(keys), _SIZES[-1]):
            some = keys[start : start + _SIZES[-1]]
            size = next(size for size in _SIZES if size >= len(some))
            filled = [*some, *[some[-1]] * (size - len(some))]
            found += self._queries[size].rows(connection, {f"key_{place}": key for place, key in enumerate(filled)})
        return found


def _keys(size: int) -> list[ColumnElement[Any]]:
    return [bindparam(f"key_{place}") for place in range(size)]
