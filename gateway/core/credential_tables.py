"""Credentials in the columns of a table in data: rows of cells, whose names stand in the first row or beside the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from gateway.core.canonical import Json
from gateway.core.credential_names import credential_kind, looks_made_up

_NAMES_OF_HEADERS: Final = frozenset({"columns", "columnnames", "column_names", "headers", "header", "fields", "schema"})
NAMES_OF_ROWS: Final = frozenset({"rows", "data", "values", "records"})
"""Members that hold the names of columns, and beside them the rows."""

_MOST_COLUMNS: Final = 256

Kinds = Mapping[int, str]


def kinds_of_columns(rows: Sequence[Json]) -> Kinds:
    """Which columns of a list of rows are credentials, where its first row names them."""
    return {} if len(rows) < 2 else _find_kinds(rows[0], rows[1:])


def kinds_of_rows(members: Mapping[Json, Json]) -> Kinds:
    """Which columns are, where the names stand beside the rows: `{"columns": ["user", "password"], "rows": [[…]]}`."""
    headers = [each for name, each in members.items() if str(name).lower() in _NAMES_OF_HEADERS]
    tables = [each for name, each in members.items() if str(name).lower() in NAMES_OF_ROWS]
    found: dict[int, str] = {}
    for header in headers:
        for rows in tables:
            if isinstance(rows, list | tuple):
                found.update(_find_kinds(header, cast("Sequence[Json]", rows)))
    return found


def _find_kinds(header: Json, rows: Sequence[Json]) -> Kinds:
    if not isinstance(header, list | tuple):
        return {}
    names = [_read_name(each) for each in cast("Sequence[Json]", header)[:_MOST_COLUMNS]]
    named = {place: kind for place, name in enumerate(names) if name and (kind := credential_kind(name)) is not None}
    if len(names) < 2 or not named or not all(names):
        return {}
    width = len(cast("Sequence[Json]", header))
    listed = [cast("Sequence[Json]", row) for row in rows if isinstance(row, list | tuple)]
    cells = [row for row in listed if len(row) == width]
    if len(cells) < len(rows):
        return {}
    # As in a table of text: lists of names look the same, and one cell that looks made up takes its column along.
    return {place: kind for place, kind in named.items() if any(_looks_made_up(row[place]) for row in cells)}


def _read_name(cell: Json) -> str | None:
    match cell:
        case str():
            return cell
        case {"name": str(name)}:
            return name
        case _:
            return None


def _looks_made_up(cell: Json) -> bool:
    return isinstance(cell, str) and looks_made_up(cell)
