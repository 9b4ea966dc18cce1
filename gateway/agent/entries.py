"""What stands for itself in a file: the rows of a table, or the lines of a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gateway.agent.acts import ACTS, READING
from gateway.agent.browser import trim
from gateway.agent.passages import lines_of
from gateway.agent.ranking import stem, terms_in
from gateway.agent.tables import Table, TableRow, table_of
from gateway.agent.vocabulary import VOCABULARY

_BULLET: Final = re.compile(r"(?:[-*+•]|[0-9]{1,3}[.)]) +")
_BOX: Final = re.compile(r"(?:[-*+•] )?\[([ xX✓])\] ?")
_RECORD: Final = re.compile(r"[^:]{1,40}: +[^ ].*")
_RULE: Final = re.compile(r"[ |:-]*-[ |:-]*")
_HEADING: Final = "#"
_LIGHT_WORDS: Final = (*VOCABULARY.light_words, *VOCABULARY.asking_words, *VOCABULARY.common_terms, *VOCABULARY.passed_over)
_LIGHT: Final = frozenset((*_LIGHT_WORDS, *map(stem, _LIGHT_WORDS)))
"""Words that tell nothing of a row."""

_ASKING_WORDS: Final = (
    *(*ACTS[READING]["verbs"], *VOCABULARY.search_verbs, *VOCABULARY.fillers),
    *(word for words in VOCABULARY.figures.values() for word in words),
)
_ASKING: Final = frozenset((*_ASKING_WORDS, *map(stem, _ASKING_WORDS)))
"""Words that say what is to be done with rows. Of those that are "not open" it is what they are not."""


def entries_of(text: str, name: str) -> Table | None:
    """The rows of a table with names for its columns, or the lines of a list; None for anything else."""
    table = table_of(text, name)
    if table is not None and table.columns:
        return None if table.listing else table
    ruled = _ruled(lines_of(text))
    if ruled is not None:
        return ruled
    rows = filled_lines(text)
    is_list = all(_BULLET.match(row.cells[0]) or _BOX.match(row.cells[0]) for row in rows)
    is_record = all(_RECORD.fullmatch(row.cells[0]) for row in rows)
    return Table((), rows) if (is_list or is_record) and len(rows) > 1 else None


def _ruled(lines: Sequence[str]) -> Table | None:
    """A table of Markdown, which has a rule below its names, whatever its cells are."""
    at = next((at for at, line in enumerate(lines) if at and "|" in line and _RULE.fullmatch(line)), 0)
    if at == 0:
        return None
    columns = _cells_of(lines[at - 1])
    rows = [TableRow(_cells_of(line), place) for place, line in enumerate(lines, 1) if place > at + 1]
    return Table(columns, [row for row in rows if len(row.cells) == len(columns)])


def _cells_of(line: str) -> list[str]:
    return [trim(cell) for cell in trim(line).removeprefix("|").removesuffix("|").split("|")]


def filled_lines(text: str) -> list[TableRow]:
    """The lines that say something and are no headings."""
    lines = enumerate(map(trim, lines_of(text)), 1)
    return [TableRow((line,), at) for at, line in lines if line and not line.startswith(_HEADING)]


def around_entries(text: str, name: str, table: Table) -> set[str]:
    """The terms of what all rows are of: the file's name, the names of columns, and headings."""
    headings = [line for line in lines_of(text) if line.startswith(_HEADING)]
    terms = terms_of([name, *table.columns, *headings])
    # Of "meetings" the question has "meeting", which has an ending of its own.
    return terms.union(map(stem, terms))


def is_ticked(row: TableRow) -> bool | None:
    """Whether the box of a line is ticked; None where it has none."""
    box = _BOX.match(row.cells[0])
    return None if box is None else box[1] != " "


def row_label(row: TableRow) -> str:
    """A row as it is told: its cells, a line without its bullet."""
    return ", ".join(cell for cell in row.cells if cell) if len(row.cells) > 1 else _BULLET.sub("", row.cells[0], count=1)


def terms_of(texts: Iterable[str]) -> set[str]:
    """The terms of several texts."""
    return {term for text in texts for term in terms_in(text)}


def telling(word: str, *, asks: bool = True) -> list[str]:
    """The terms of a question's word that tell rows apart; none of a word that any question has. Not `asks`: it stands where
    nothing is asked to be done."""
    passed = _LIGHT | _ASKING if asks else _LIGHT
    return [] if word in passed else [term for term in terms_in(word) if term not in passed]
