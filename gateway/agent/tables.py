"""A result as rows and columns: CSV, a table of Markdown, a JSON list, a listing of a folder, or lines with a number each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from gateway.agent.browser import SPACE, as_json, ordered, trim
from gateway.agent.parse import ParseFailure, read_object
from gateway.agent.passages import lines_of
from gateway.agent.quantities import numbers_in
from gateway.agent.ranking import stem, terms_in
from gateway.agent.vocabulary import VOCABULARY

_DELIMITERS: Final = ("\t", ";", "|", ",")
_RULE: Final = re.compile(r"[ |:+-]+")
_ENTRY: Final = re.compile(r"- (.*?)(/| \(([0-9]+) bytes\)| \(a link\)| \(not a regular file\))")
_MATCH: Final = re.compile(r"([^:]*[^: ]):[0-9]+(?:-[0-9]+)?: (.*)")
"""A line, or some lines, that a search found. A match of the name alone is the path and nothing else, which a text can be too."""

_CELL: Final = re.compile(r'"((?:[^"]|"")*)"|[^"]*')
_AROUND: Final = re.compile(f"^[{SPACE}*+•=:-]+|[{SPACE}=:-]+$")
_NAMED_TABLE: Final = re.compile(r"\.(?:csv|tsv)\Z", re.IGNORECASE | re.ASCII)
_DIGIT: Final = re.compile("[0-9]")
_DIGITS: Final = re.compile(r"[0-9]+")
_TOTALS: Final = frozenset(VOCABULARY.total_labels)


@dataclass(frozen=True, slots=True)
class TableRow:
    """Cells, and the line where they stand, counted from 1; None in a result whose lines nobody sees."""

    cells: Sequence[str]
    line: int | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of the same number of cells. `columns` are their names, empty where there are none, and `totals` the rows that sum
    up others. In a `listing` each row is an entry of a folder: its name, its kind and its size."""

    columns: Sequence[str]
    rows: Sequence[TableRow]
    totals: Sequence[TableRow] = ()
    listing: bool = False


def table_of(text: str, name: str) -> Table | None:
    """The rows and columns of a result, or None where it has none. `name` is the file's."""
    lines = lines_of(text)
    return _listing(lines) or _matches(lines) or _json_table(text) or _delimited(lines, name) or _numbered_lines(lines)


def _listing(lines: Sequence[str]) -> Table | None:
    entries = [_ENTRY.fullmatch(line) for line in lines[1:]]
    if not entries or not lines[0].endswith(":") or not all(entries):
        return None
    kinds = {"/": "folder"}
    found = [each for each in entries if each is not None]
    rows = [TableRow((each[1], kinds.get(each[2], "file"), f"{each[3]} bytes" if each[3] else ""), None) for each in found]
    return Table(("name", "kind", "size"), rows, listing=True)


def _matches(lines: Sequence[str]) -> Table | None:
    """The files of a search's matches."""
    paths = dict.fromkeys(match[0] for line in lines if (match := match_of(line)) is not None)
    if not paths or not all(map(match_of, lines)):
        return None
    return Table(("name", "kind", "size"), [TableRow((path, "file", ""), None) for path in paths], listing=True)


def rows_about(question: str, text: str, name: str) -> Sequence[TableRow] | None:
    """The rows of a file that a question speaks of: those that hold most of its terms. None where it has no rows, or where the
    question speaks of all of them or of none."""
    table = table_of(text, name)
    if table is None or table.listing:
        return None
    asked = set(terms_in(question)).difference(terms_in(name))
    rows = [*table.rows, *table.totals]
    held = [len(asked.intersection(terms_in(" ".join(row.cells)))) for row in rows]
    about = [row for row, count in zip(rows, held, strict=True) if count == max(held)]
    return None if max(held) == 0 or len(about) == len(rows) else about


def match_of(line: str) -> tuple[str, str] | None:
    """The path that a search's match begins with, and the text of its line; None for a line of another form."""
    found = _MATCH.fullmatch(line)
    return (found[1], found[2]) if found else None


def _json_table(text: str) -> Table | None:
    if trim(text)[:1] not in ("[", "{"):
        return None
    value = read_object(f'{{"list":{text}}}')
    if isinstance(value, ParseFailure):
        return None
    given: Any = value["list"]
    if isinstance(given, Mapping):
        lists: list[Any] = [value for value in cast("Mapping[str, Any]", given).values() if isinstance(value, list)]
        given = lists[0] if len(lists) == 1 else None
    entries = cast("list[Any]", given) if isinstance(given, list) else []
    if not entries:
        return None
    if all(isinstance(each, Mapping) for each in entries):
        objects = cast("list[Mapping[str, Any]]", entries)
        columns = list(dict.fromkeys(name for each in objects for name in ordered(each)))
        return _summed(columns, [TableRow([_cell_of(each.get(name)) for name in columns], None) for each in objects])
    return Table((), [TableRow([_cell_of(each)], None) for each in entries])


def _cell_of(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else as_json(value)


def _delimited(lines: Sequence[str], name: str) -> Table | None:
    """Lines that fall into the same number of cells: a file of a table's ending, or one with a line of names above."""
    for delimiter in _DELIMITERS:
        rows = [TableRow(_cells_of(line, delimiter), at + 1) for at, line in enumerate(lines) if _is_row(line, delimiter)]
        widths = {len(row.cells) for row in rows}
        if len(rows) < 2 or len(widths) != 1 or widths == {1}:
            continue
        is_table = _NAMED_TABLE.search(name) is not None
        if _has_names(rows) or (is_table and not any(map(_DIGIT.search, rows[0].cells))):
            return _summed(rows[0].cells, rows[1:])
        if is_table:
            return _summed((), rows)
    return None


def _has_names(rows: Sequence[TableRow]) -> bool:
    """Whether the first row names the columns: it has no digit, and each cell below some name has one."""
    if any(map(_DIGIT.search, rows[0].cells)):
        return False
    return any(all(_DIGIT.search(row.cells[at]) for row in rows[1:]) for at in range(len(rows[0].cells)))


def _is_row(line: str, delimiter: str) -> bool:
    """Whether a line can be a row. Around a table of Markdown there is text, and below its names a rule."""
    text = trim(line)
    return bool(text) and not _RULE.fullmatch(text) and (delimiter != "|" or delimiter in text)


def _cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a line. One in quotes may hold the delimiter, and two quotes in it are one."""
    text = trim(line)
    if delimiter == "|":
        text = text.removeprefix("|").removesuffix("|")
    pieces: list[str] = []
    for piece in text.split(delimiter):
        if pieces and pieces[-1].count('"') % 2:
            pieces[-1] += delimiter + piece
        else:
            pieces.append(piece)
    return [_unquoted(trim(piece)) for piece in pieces]


def _unquoted(piece: str) -> str:
    found = _CELL.fullmatch(piece)
    return trim(found[1].replace('""', '"')) if found and found[1] is not None else piece


def _numbered_lines(lines: Sequence[str]) -> Table | None:
    """Lines with one number each, after what it is of. Lines without a number are headings and remarks."""
    numbered = [(at, numbers_in(line)) for at, line in enumerate(lines)]
    rows = [TableRow((line_label(lines[at], found[0].text), found[0].text), at + 1) for at, found in numbered if len(found) == 1]
    if len(rows) < 2 or any(len(found) > 1 for _, found in numbered):
        return None
    return _summed((), rows)


def numeric_columns(table: Table) -> Sequence[int]:
    """The columns with one number in each cell that is not empty."""
    cells = list(zip(*(row.cells for row in table.rows), strict=True))
    return [at for at, column in enumerate(cells) if any(column) and all(len(numbers_in(cell)) == 1 for cell in column if cell)]


def amount_columns(table: Table, name: str) -> Sequence[int]:
    """Those among them that are worked with. In a file that is called after its first column, that tells which row it is, order
    41 or 42, where there is another one."""
    found = numeric_columns(table)
    tells_which = bool(table.columns) and not set(terms_in(table.columns[0])).isdisjoint(terms_in(name))
    return found[1:] if tells_which and found[:1] == [0] and len(found) > 1 else found


def has_cell(table: Table | None, term: str) -> bool:
    """Whether some rows of a table with names for its columns have just this term in a cell."""
    return table is not None and bool(table.columns) and any([term] == terms_in(cell) for row in table.rows for cell in row.cells)


def line_label(line: str, number: str) -> str:
    """What the number of a line is of: the rest of the line."""
    before, _, after = line.rpartition(number)
    return _AROUND.sub("", f"{trim(before)} {trim(after)}")


def _summed(columns: Sequence[str], rows: Sequence[TableRow]) -> Table:
    """The table with the rows apart that sum up others, so that nothing counts twice."""
    totals = [row for row in rows if any(_is_total(cell) for cell in row.cells)]
    return Table(columns, [row for row in rows if row not in totals], totals)


def _is_total(cell: str) -> bool:
    words = [term for term in terms_in(cell) if not _DIGITS.fullmatch(term)]
    return bool(words) and words[0] in {stem(label) for label in _TOTALS} and len(words) <= 2
