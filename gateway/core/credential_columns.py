"""Credentials in the columns of a table of text (CSV), whose names stand in its first line.

The work is bounded: a line is split once as a header and once as a row, and rows are looked for below a header that names a
credential only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gateway.core.credential_names import credential_kind, looks_made_up
from gateway.core.named_secrets import names_any_value

_LONGEST_LINE: Final = 4_000
"""Characters of a header; a row may have some more, and ends the table then."""

_NAME = r"""["']?[A-Za-z_][\w .-]{0,63}+["']?"""
_HEADER: Final = re.compile(rf"[ \t]*+{_NAME}(?:([,;\t])[ ]?{_NAME})(?:\1[ ]?{_NAME}){{0,62}}[ \t]*+(?=\r?\n)")
"""Two names or more, and nothing else on the line."""

_PAIR: Final = re.compile(
    r"""[ \t]*+["']?([^\W\d][\w .-]{0,63}+)["']?[,;\t][ ]?["']?((?=[^\s"',;]{6})[^\s"',;]{1,256}+)["']?[,;]?[ \t]*+(?=\r?\n|\Z)"""
)
"""A name and its value, and nothing else on the line."""

_CELLS: Final = {
    delimiter: re.compile(rf"""[ ]?(?:"((?:[^"\r\n]|"")*+)"|([^{delimiter}\r\n]*+))(?:{delimiter}|(?=\r?$))""", re.MULTILINE)
    for delimiter in (",", ";", "\t")
}
_PLACEHOLDER: Final = re.compile(
    r"\[redacted:.*|[*x.•-]+|(?i:none|null|nil|n/a|true|false|required|optional|string|text|varchar.*)|\$[{(\w].*"
)

_SHORTEST_OF_WEAK: Final = 8
"""Characters of a value under a name that other things have as well, such as `token`."""

Place = tuple[int, int]


def find_columns(text: str, places: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Where values of columns of credentials stand, each with its kind. `places` are those of words that names of credentials
    have in them, in order."""
    end = 0
    for place in places:
        if place < end:
            continue
        start = text.rfind("\n", max(0, place - _LONGEST_LINE), place) + 1
        if start > 0 or place < _LONGEST_LINE:
            pair = _PAIR.match(text, start)
            if pair is not None and (kind := credential_kind(pair[1])) is not None and looks_made_up(pair[2]):
                yield *pair.span(2), kind
                end = pair.end()
                continue
        end = text.find("\n", place)
        if end < 0:
            return
        header = None if end - start > _LONGEST_LINE else _HEADER.match(text, start, end + 1)
        if header is None or header.end() < end - 1:
            continue
        delimiter = header[1]
        names = [cell.strip("\"' \t\r") for cell in text[start:end].split(delimiter)]
        kinds = {number: kind for number, name in enumerate(names) if (kind := credential_kind(name)) is not None}
        if not kinds:
            continue
        rows: list[Sequence[Place]] = []
        while (row := _read_row(text, end + 1, delimiter, len(names))) is not None:
            rows.append(row)
            following = text.find("\n", end + 1)
            end = following if following >= 0 else len(text)
        for number, kind in kinds.items():
            yield from _find_in_column(text, [row[number] for row in rows], names[number], kind)


def _read_row(text: str, start: int, delimiter: str, width: int) -> Sequence[Place] | None:
    """Where the cells of a line stand; None for a line that is no row of so many."""
    if start >= len(text):
        return None
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if not 0 < end - start <= 2 * _LONGEST_LINE:
        return None
    cells: list[Place] = []
    place = start
    line = _CELLS[delimiter]
    while len(cells) <= width and (cell := line.match(text, place, end)) is not None:
        cells.append(cell.span(1 if cell[1] is not None else 2))
        place = cell.end()
        if place >= end or text[place - 1] != delimiter:
            break
    return cells if len(cells) == width and text[place:end].strip() == "" else None


def _find_in_column(text: str, cells: Sequence[Place], name: str, kind: str) -> Iterator[tuple[int, int, str]]:
    shortest = 1 if names_any_value(name) else _SHORTEST_OF_WEAK
    values = [(start, end) for start, end in cells if _is_value(text[start:end], shortest)]
    if any(looks_made_up(text[start:end].strip()) for start, end in values):
        for start, end in values:
            yield start, end, kind


def _is_value(cell: str, shortest: int) -> bool:
    return len(cell.strip()) >= shortest and _PLACEHOLDER.fullmatch(cell.strip()) is None
