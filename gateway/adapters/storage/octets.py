"""Octets in a column of the database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, TypeDecorator, cast


class Octets(TypeDecorator[bytes]):
    """Octets that are read as such also where somebody wrote a text in their place, which SQLite lets them do: `replace()` makes
    one of a BLOB. Whatever compares them finds that they are others."""

    impl = LargeBinary
    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """How it is selected."""
        return cast(column, LargeBinary)
