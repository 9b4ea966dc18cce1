"""Rows as a tool's output: JSON, and a table that a model or a person reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from gateway.adapters.tools.outputs import make_encodable
from gateway.adapters.tools.sql.engine import SqlRows
from gateway.core.canonical import Json
from gateway.core.model import ToolOutput

MAX_SHOWN: Final = 200
"""Characters of one value in the text; the JSON has more of it."""

ROWS_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array"}},
        "truncated": {"type": "boolean"},
        "cut": {"type": "string"},
        "shortened": {"type": "integer"},
    },
    "required": ["columns", "rows", "truncated"],
}


def show_rows(found: SqlRows, labels: tuple[str, ...]) -> ToolOutput:
    """Rows as an output. What was cut is said first, because a text is cut at its end."""
    cut: dict[str, Json] = {}
    said: list[str] = []
    if found.cut:
        cut["cut"] = found.cut
        said.append(f"({found.cut}; ask for fewer columns, or use WHERE, LIMIT or an aggregate)")
    if found.cut_cells:
        cut["shortened"] = found.cut_cells
        said.append(f"({found.cut_cells} long values are shortened)")
    columns = [clean(name) for name in found.columns]
    rows = [[clean(value) if isinstance(value, str) else value for value in row] for row in found.rows]
    structured = {"columns": columns, "rows": rows, "truncated": bool(cut), **cut}
    count = f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}"
    lines = (" | ".join(map(show_value, row)) for row in rows)
    text = "\n".join([count, *said, " | ".join(map(show_value, columns)), *lines])
    return ToolOutput(make_encodable(text), structured, labels)


def clean(text: str) -> str:
    """Without what not every reader of JSON takes."""
    return make_encodable(text).replace("\0", "\ufffd")


def show_value(value: Any) -> str:
    """One value on one line."""
    match value:
        case None:
            return "NULL"
        case str():
            text = " ".join(value.split("\n")).replace("|", "¦")
            return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
        case {"bytes": size, "sha256": digest}:
            return f"({size} bytes, sha256 {digest[:16]}…)"
        case _:
            return orjson.dumps(value).decode()


def show_tables(tables: Iterable[Mapping[str, Json]]) -> str:
    """`describe` as text, one column a line."""
    lines: list[str] = []
    for table in tables:
        lines.append(f"{table['table']}{' (view)' if table.get('view') else ''}{_show_labels(table)}")
        columns: Sequence[Mapping[str, Json]] = table["columns"]
        for column in columns:
            kind = f" {column['type']}" if column["type"] else ""
            marks = (" key" if column.get("key") else "") + ("" if column["nullable"] or column.get("key") else " not null")
            lines.append(f"  {column['name']}{kind}{marks}{_show_labels(column)}")
    return make_encodable("\n".join(lines)) or "there is no table that may be reached"


def _show_labels(of: Mapping[str, Json]) -> str:
    labels: Sequence[str] = of.get("labels", ())
    return f" [{', '.join(labels)}]" if labels else ""
