"""What all files of a folder come to: the ones that are asked for, a number over them, or what each says of a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.browser import as_json, trim
from gateway.agent.called_names import asked_kind, calling_terms, with_kinds
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.exclusions import Exclusion, exclusion_in, kept_rows
from gateway.agent.figures import Figure, ResultSource, answer_figure, figure_in
from gateway.agent.passages import lines_of
from gateway.agent.quantities import numbers_in
from gateway.agent.ranking import stem, terms_in
from gateway.agent.tables import Table, TableRow, line_label
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_FIELD: Final = re.compile(r"[ \t]*(?:[-*+] )?([^:=0-9]{1,40}?)[ \t]*[:=][ \t]*([^ \t].*)")
_RANKED: Final = {
    word: figure
    for measures, figure in ((("More", "Longer"), Figure.LARGEST), (("Less", "Shorter"), Figure.SMALLEST))
    for measure in measures
    for word in VOCABULARY.compared_by[measure]
}
_TOTALS: Final = frozenset(map(stem, VOCABULARY.total_labels))


def told_of_folder(wish: str, folder: str, sources: Sequence[ResultSource], copy: Copy) -> str:
    """What the files of a folder come to: the rows that are asked for, a number, or what each says of the question."""
    table = _table_of(sources)
    where = f"{folder}/"
    exclusion = exclusion_in(wish)
    rows = kept_rows(exclusion, "", f"{where} file", table) if exclusion is not None and _tell_all(exclusion, table) else None
    if rows is not None:
        return _listed([row.cells[0] for row in rows], len(sources), where, copy)
    if (said := _figure(wish, where, table, sources, copy)) is not None:
        return said
    terms = calling_terms(wish) - with_kinds(set(terms_in(folder)))
    held = [[(at, line) for at, line in enumerate(lines_of(each.text), 1) if terms & set(terms_in(line))] for each in sources]
    shown = [
        f"{cited(each.name, [at for at, _ in lines])}\n\n{excerpt_of(chr(10).join(line for _, line in lines)).text}"
        for each, lines in zip(sources, held, strict=True)
        if lines
    ]
    all_of_them = [f"{cited(each.name)}\n\n{excerpt_of(each.text).text}" for each in sources]
    told = f"{_count_of(len(shown), copy)} {cited(where)}:" if shown else copy.say("comparedOpen")
    return "\n\n".join((told, *(shown or all_of_them)))


def _tell_all(exclusion: Exclusion, table: Table) -> bool:
    """Whether each file has a field by which the question tells them apart: one without it is none that is "not paid"."""
    wanted = {term for group in exclusion.groups for term in group}
    fields = [
        at
        for at, name in enumerate(table.columns)
        if at and any(not wanted.isdisjoint(terms_in(each)) for each in (name, *(row.cells[at] for row in table.rows)))
    ]
    return all(any(row.cells[at] for at in fields) for row in table.rows)


def _listed(files: Sequence[str], count: int, where: str, copy: Copy) -> str:
    if not files:
        return f"{copy.say('noneLeft', count=str(count))} {cited(where)}"
    return f"{_count_of(len(files), copy)} {cited(where)}: {', '.join(f'`{file}`' for file in files)}"


def _figure(wish: str, where: str, table: Table, sources: Sequence[ResultSource], copy: Copy) -> str | None:
    """The number that is asked for, over the files; the column is the one that the question names, else what is paid."""
    ranked = next((_RANKED[word.bare] for word in words_of(wish) if word.bare in _RANKED), None)
    figure = figure_in(wish) or ranked
    if figure is None or not all(each.whole for each in sources):
        return None
    said = set(terms_in(wish))
    table = _asked_rows(table, said)
    whole = [at for at in range(1, len(table.columns)) if all(len(numbers_in(row.cells[at])) == 1 for row in table.rows)]
    named = [at for at in whole if not said.isdisjoint(terms_in(table.columns[at]))]
    paid = [at for at in whole if all(numbers_in(row.cells[at])[0].unit.isupper() for row in table.rows)]
    totals = [at for at in paid if _TOTALS.intersection(terms_in(table.columns[at]))]
    picked = named or totals or paid
    if figure is Figure.COUNT or len(picked) != 1:
        return _stated(wish, figure, where, sources, copy)
    column = picked[0]
    return _worked_out(figure, where, [(row.cells[0], row.cells[column]) for row in table.rows], copy)


def _asked_rows(table: Table, said: set[str]) -> Table:
    """The files that a figure is of: "the open invoices" are those of which a field has the word, where others have another."""
    told = [{term for cell in row.cells[1:] if not numbers_in(cell) for term in terms_in(cell)} & said for row in table.rows]
    apart = {term for each in told for term in each if not all(term in other for other in told)}
    rows = [row for row, each in zip(table.rows, told, strict=True) if apart <= each]
    return Table(table.columns, rows) if rows else table


def _worked_out(figure: Figure, where: str, values: Sequence[tuple[str, str]], copy: Copy) -> str | None:
    """A figure of one number for each file."""
    rows = [{"file": file, "value": value} for file, value in values]
    asked = VOCABULARY.figures[figure.value][0]
    return answer_figure(asked, ResultSource(where, as_json(rows), whole=True, has_lines=False), copy)


def _stated(wish: str, figure: Figure, where: str, sources: Sequence[ResultSource], copy: Copy) -> str | None:
    """The same of what each file has one number of: "20 copies". How many there are of it is their sum."""
    terms = asked_kind(wish) if figure is Figure.COUNT else calling_terms(wish)
    found = [[one for line in lines_of(each.text) if terms & set(terms_in(line)) for one in numbers_in(line)] for each in sources]
    if any(len(each) != 1 for each in found):
        return None
    values = [(source.name, one[0].text) for source, one in zip(sources, found, strict=True)]
    return _worked_out(Figure.SUM if figure is Figure.COUNT else figure, where, values, copy)


def _table_of(sources: Sequence[ResultSource]) -> Table:
    """A row for each file, with a column for each field that more than one has."""
    records = [_record_of(each.text) for each in sources]
    names = dict.fromkeys(name for record in records for name in record)
    columns = [name for name in names if sum(name in record for record in records) > 1]
    rows = [
        TableRow([source.name, *(record.get(name, "") for name in columns)], None)
        for source, record in zip(sources, records, strict=True)
    ]
    return Table(["file", *columns], rows)


def _record_of(text: str) -> dict[str, str]:
    """The fields of a file: what stands before a colon, or around the only number of a line."""
    record: dict[str, str] = {}
    for line in lines_of(text):
        field = _FIELD.fullmatch(line)
        numbers = numbers_in(line)
        if field is not None:
            record.setdefault(trim(field[1]).lower(), trim(field[2]))
        elif len(numbers) == 1:
            record.setdefault(line_label(line, numbers[0].text).lower(), numbers[0].text)
    return record


def counted_files(count: int, folder: str, copy: Copy) -> str:
    """How many files are below a folder."""
    return f"{_count_of(count, copy)} {cited(f'{folder}/')}"


def listed_files(files: Sequence[str], folder: str, copy: Copy) -> str:
    """Which files are below a folder."""
    names = [f"`{file.removeprefix(f'{folder}/')}`" for file in files]
    place = f"`{folder}/`"
    if len(names) == 1:
        return copy.say("listedOne", place=place, names=names[0])
    told = f"{', '.join(names[:-1])} and {names[-1]}"
    return copy.say("listed", count=str(len(names)), place=place, names=told)


def _count_of(count: int, copy: Copy) -> str:
    return copy.say("counted", count=str(count), noun=copy.say("fileOne" if count == 1 else "fileMany"))
