"""Numbers that are asked for: sums, counts, extremes and averages, computed from a result by code and never by a model.

Only where the question leaves no doubt which numbers it is about. Otherwise None, and the caller shows the lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.copy import Copy
from gateway.agent.entries import entries_of
from gateway.agent.excerpts import cited
from gateway.agent.exclusions import exclusion_in, kept_rows
from gateway.agent.figure_columns import alike_terms, chosen_among, counts_amounts, is_identifier
from gateway.agent.levels import LEVELS, is_log, leveled, tells_all
from gateway.agent.limits import LIMITS
from gateway.agent.monthly import is_of_several_years, month_terms
from gateway.agent.passages import lines_of
from gateway.agent.quantities import Quantity, add, as_written, divide, numbers_in, read_quantities, scaled
from gateway.agent.ranking import stem, terms_in
from gateway.agent.tables import Table, TableRow, amount_columns, has_cell, numeric_columns, table_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of


class Figure(StrEnum):
    """What is asked for."""

    SUM = "sum"
    COUNT = "count"
    LARGEST = "largest"
    SMALLEST = "smallest"
    AVERAGE = "average"


_FIGURE_OF: Final = {word: Figure(figure) for figure, words in VOCABULARY.figures.items() for word in words}
_NOUN_OF: Final = {word: kind for kind, words in VOCABULARY.counted_nouns.items() for word in words}
_NEUTRAL: Final = frozenset(
    map(stem, (*VOCABULARY.figure_nouns, *VOCABULARY.light_words, *VOCABULARY.asking_words, *_FIGURE_OF, *_NOUN_OF))
)
_SERVED: Final = frozenset(VOCABULARY.served_nouns)
_SERVING: Final = frozenset(VOCABULARY.serving_verbs)
_MOST_SHOWN: Final = LIMITS.addends_shown
_BULLET: Final = re.compile(r" *(?:[-*+•]|\[[ xX✓]\]) ")
_LIST: Final = "list"
_ARTICLES: Final = frozenset(VOCABULARY.plural_articles)
_ITEM: Final = re.compile(r" *[^\s:,;]+(?: [^\s:,;]+){0,2}(?<![.!?]) *")
"""An item of a list without bullets."""

_LOG: Final = frozenset({"log"})
"""What a log is called by."""

_IN_ALL: Final = frozenset({"total", "altogether"})
"""Words behind "how many" that ask for nothing else."""

_SUMMED: Final = frozenset(("up", "together", *VOCABULARY.figure_references, *VOCABULARY.figure_nouns))
"""Words behind "add" by which it asks for a sum. "Add soap to it" asks for none."""

_ENDED_EARLY: Final = "…["
_SPOKEN: Final = re.compile(r"[^ \t\r\n\f\v\u00a0]*[^\W_][^ \t\r\n\f\v\u00a0]*")
"""A word of a text. A dash or a bullet by itself is none."""


@dataclass(frozen=True, slots=True)
class ResultSource:
    """A result: what it is of, for people; its text; whether that is all of it; and whether people see it by lines."""

    name: str
    text: str
    whole: bool
    has_lines: bool


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Rows that a question is about, the numbers that stand in them, and what is asked of these."""

    figure: Figure
    rows: Sequence[TableRow]
    numbers: Sequence[Quantity]
    unit: str
    column: str
    left_out: Sequence[TableRow]


@dataclass(frozen=True, slots=True)
class _Counted:
    """How many there are of what, and which rows they are where not all are counted."""

    count: int
    kind: str
    rows: Sequence[TableRow]


def figure_in(wish: str) -> Figure | None:
    """The one figure that a wish asks for, if it does. Of two it is not clear which number belongs to which."""
    asked = set(_figures_said(wish))
    return asked.pop() if len(asked) == 1 else None


def asks_for_figure(wish: str) -> bool:
    """Whether a wish asks for a number that somebody would have to work out."""
    return bool(_figures_said(wish))


def _figures_said(wish: str) -> list[Figure]:
    """The figures that the words of a wish are for. "The most recent letter" is the newest one."""
    bare = [word.bare for word in words_of(wish)]
    return [
        _FIGURE_OF[word]
        for at, word in enumerate(bare)
        if word in _FIGURE_OF
        and not (word == "most" and bare[at + 1 : at + 2] in (["recent"], ["recently"]))
        and not (word == "many" and _asks_for_whom(bare, at))
        and not (word in _IN_ALL and "many" in bare[:at])
        and not (word == "add" and _SUMMED.isdisjoint(bare[at + 1 :]))
    ]


def _asks_for_whom(bare: Sequence[str], at: int) -> bool:
    """Whether it is asked for how many something is meant, which the text says and no count of its lines: "how many people is the
    lasagne for", "how many does it serve"."""
    rest = bare[at + 1 :]
    ends = [place for place, word in enumerate(rest) if word == "for" and rest[place + 1 : place + 2] in ([], ["in"])]
    return rest[:1] != [] and rest[0] in _SERVED and (bool(ends) or not _SERVING.isdisjoint(rest))


def answer_figure(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """The number that a wish asks for, with what it was made of and where that stands; None where that is in doubt."""
    made = _work_out(wish, source)
    if made is None:
        return None
    if isinstance(made, _Counted):
        return _say_count(made.count, made.kind, made.rows, source, copy)
    if made.figure is Figure.SUM:
        return _say_sum(made, source, copy)
    return _say_average(made, source, copy) if made.figure is Figure.AVERAGE else _say_extreme(made, source, copy)


def bare_figure(wish: str, source: ResultSource) -> str | None:
    """The number by itself, or the row that has the largest or the smallest one; None where that is in doubt."""
    made = _work_out(wish, source)
    if made is None:
        return None
    if isinstance(made, _Counted):
        return str(made.count)
    if made.figure in (Figure.LARGEST, Figure.SMALLEST):
        return "; ".join(_label(row, source) for row in _extreme_rows(made))
    total = add(made.numbers)
    return _with_unit(total if made.figure is Figure.SUM else divide(total, len(made.numbers))[0], made.unit)


def _work_out(wish: str, source: ResultSource) -> _Counted | _Chosen | None:
    """What a figure is made of."""
    figure = figure_in(wish)
    if figure is None or not source.whole or ends_early(source.text):
        return None
    table = table_of(source.text, source.name)
    exclusion = exclusion_in(wish)
    if exclusion is not None:
        listed = entries_of(source.text, source.name)
        rows = None if listed is None else kept_rows(exclusion, source.text, source.name, listed)
        if listed is None or rows is None:
            return None
        if figure is Figure.COUNT:
            return _Counted(len(rows), "entry", rows)
        wish, table = exclusion.rest, replace(listed, rows=rows)
    if figure is Figure.COUNT and table is not None and _counts_amounts(wish, table, source.name):
        figure = Figure.SUM
    if figure is Figure.COUNT:
        return _count(wish, source, table)
    chosen = None if table is None else _choose(wish, source, table, figure)
    return chosen if chosen is not None and chosen.numbers else None


def _counts_amounts(wish: str, table: Table, name: str) -> bool:
    words = [word.bare for word in words_of(wish)]
    noun = words[_place_of_count(words) + 1 :][:1]
    return noun != [] and noun[0] not in _NOUN_OF and counts_amounts(noun[0], table, amount_columns(table, name), name)


def ends_early(text: str) -> bool:
    """Whether the last line of a result says that it is not all."""
    lines = lines_of(text)
    return bool(lines) and lines[-1].startswith(_ENDED_EARLY)


# ── what the question is about ──


def _choose(wish: str, source: ResultSource, table: Table, figure: Figure) -> _Chosen | None:
    """The rows and the column that a question names, or the only ones there are. None where it names what is not there."""
    terms = _terms_of(wish, source)
    columns = {at: set(terms_in(name)) for at, name in enumerate(table.columns)}
    numeric = amount_columns(table, source.name)
    named = [at for at in numeric if columns.get(at, set()) & terms] or [
        at for at in numeric if columns.get(at, set()) & {stem(word.bare) for word in words_of(wish)}
    ]
    alike = frozenset[str]() if named else alike_terms({stem(word.bare) for word in words_of(wish)})
    if any(columns.get(at, set()) & alike for at in numeric):
        named, terms = [at for at in numeric if columns.get(at, set()) & alike], terms - alike
    usual = [at for at in numeric if not is_identifier(table, at)]
    # "Which week had the highest cash?": weeks are what is chosen among, also where they have numbers.
    among = chosen_among(wish) if len(named) > 1 else frozenset[str]()
    picked = [at for at in named if not columns.get(at, set()) & among] or usual
    if len(picked) != 1:
        return None
    rows = _filtered(table, terms - columns.get(picked[0], set()), picked[0])
    if rows is None:
        return None
    column = picked[0]
    filled = [row for row in rows if row.cells[column]]
    read = read_quantities([numbers_in(row.cells[column])[0] for row in filled])
    if read is None:
        return None
    name = table.columns[column] if table.columns and len(numeric_columns(table)) > 1 else ""
    return _Chosen(figure, filled, read[0], read[1], name, table.totals)


def _filtered(table: Table, terms: set[str], column: int | None) -> Sequence[TableRow] | None:
    """The rows that hold every term which some row holds; None where a term is in none of them."""
    names = {term for name in table.columns for term in terms_in(name)}
    rows = list(table.rows)
    held = [_texts_of(table, row, column) for row in rows]
    for term in terms - names:
        if not any(term in each for each in held):
            return None
    wanted = {term for term in terms if any(term in each for each in held)}
    found = [row for row, texts in zip(rows, held, strict=True) if wanted <= texts]
    return None if is_of_several_years(wanted, [cell for row in found for cell in row.cells]) else found


def _texts_of(table: Table, row: TableRow, column: int | None) -> set[str]:
    cells = [cell for at, cell in enumerate(row.cells) if at != column]
    return {term for cell in cells for term in (*terms_in(cell), *month_terms(cell))}


def _terms_of(wish: str, source: ResultSource) -> set[str]:
    """What a question says beside the figure, the file and the usual words."""
    about = [word.bare for word in words_of(wish) if not is_thing(wish[word.start : word.end])]
    named = set(terms_in(source.name))
    return {term for word in about for term in terms_in(word) if len(term) > 1 and term not in _NEUTRAL | named}


# ── counting ──


def _count(wish: str, source: ResultSource, table: Table | None) -> _Counted | None:
    """How many lines, entries, files or folders there are, or of them hold what the question names."""
    words = [word.bare for word in words_of(wish)]
    at = _place_of_count(words)
    noun = words[at + 1 : at + 2]
    if noun and noun[0] not in _NOUN_OF and source.has_lines and stem(noun[0]) in terms_in(source.name):
        kind, is_plain = "entry", True  # What a file is called after is what it lists: vaccinations.csv.
    elif noun and noun[0] not in _NOUN_OF and has_cell(table, stem(noun[0])):
        kind, is_plain = "entry", True  # Rows are told by what they are: of members "alto".
    else:
        kind = next((_NOUN_OF[word] for word in words[at + 1 :] if word in _NOUN_OF), None)
        is_plain = bool(noun) and (noun[0] in _NOUN_OF or stem(noun[0]) in _file_kinds(table))
    terms = _terms_of(wish, source)
    if source.has_lines and kind != "line" and terms - _LOG and is_log(source.name, source.text):
        return _told_of(terms - _LOG, source)
    if kind is None or not is_plain:
        return None
    if kind == "word":
        return None if terms or not source.has_lines else _Counted(len(_SPOKEN.findall(source.text)), kind, [])
    if table is not None and kind != "line":
        rows = _kind_of_rows(table, kind)
        rows = None if rows is None else _filtered(Table(table.columns, rows, (), table.listing), terms, None)
        return None if rows is None else _Counted(len(rows), kind, rows if terms else [])
    if kind in ("row", "file", "folder"):
        return None
    lines = _rows_of(source)
    if kind == "entry" and source.has_lines:
        lines = [row for row in lines if _BULLET.match(row.cells[0])] or _items_among(lines, source)
        if not lines:
            return None
    found = [row for row in lines if terms <= set(terms_in(row.cells[0]))]
    return _Counted(len(found), kind, found if terms else [])


def _rows_of(source: ResultSource) -> list[TableRow]:
    return [TableRow([line], place) for place, line in enumerate(lines_of(source.text), 1)]


def _told_of(terms: set[str], source: ResultSource) -> _Counted | None:
    """The lines of a log that tell of all that a question names; None where one of it stands in no line, and may be said there in
    other words."""
    rows, wanted = _rows_of(source), leveled(terms)
    held = [leveled(terms_in(row.cells[0])) for row in rows]
    found = [row for row, words in zip(rows, held, strict=True) if tells_all(wanted, words)]
    # How bad something is a log says in these words and in no others.
    return _Counted(len(found), "line", found) if wanted <= LEVELS.union(*held) else None


def _place_of_count(words: Sequence[str]) -> int:
    """The word before what is counted: of "count how many files" the "many", of "count the lines" the "the"."""
    places = [place for place, word in enumerate(words) if _FIGURE_OF.get(word) is Figure.COUNT]
    before = [place + (words[place + 1 : place + 2] != [] and words[place + 1] in _ARTICLES) for place in places]
    return next((place for place in before if words[place + 1 : place + 2] and words[place + 1] in _NOUN_OF), (before or [0])[0])


def _items_among(lines: Sequence[TableRow], source: ResultSource) -> list[TableRow]:
    """The lines of what is a list by its name, though it has no bullets: each has few words and ends no sentence."""
    filled = [row for row in lines if row.cells[0].strip()]
    is_list = _LIST in terms_in(source.name) and len(filled) > 1 and all(_ITEM.fullmatch(row.cells[0]) for row in filled)
    return filled if is_list else []


def _file_kinds(table: Table | None) -> set[str]:
    """Endings of the files of a listing: "how many csv files"."""
    rows = table.rows if table is not None and table.listing else ()
    return {stem(row.cells[0].lower().rpartition(".")[2]) for row in rows}


def _kind_of_rows(table: Table, kind: str) -> Sequence[TableRow] | None:
    if kind not in ("file", "folder"):
        return table.rows
    return [row for row in table.rows if row.cells[1] == kind] if table.listing else None


# ── wording ──


def _say_count(count: int, kind: str, rows: Sequence[TableRow], source: ResultSource, copy: Copy) -> str:
    noun = copy.say(f"{kind}One" if count == 1 else f"{kind}Many")
    return f"{copy.say('counted', count=str(count), noun=noun)} {_where(rows, source)}"


def _say_sum(chosen: _Chosen, source: ResultSource, copy: Copy) -> str:
    total = _with_unit(add(chosen.numbers), chosen.unit)
    if len(chosen.numbers) > _MOST_SHOWN:
        said = copy.say("summedMany", count=str(len(chosen.numbers)), total=total)
    elif len(chosen.numbers) == 1:
        said = copy.say("summedOne", total=total)
    else:
        said = copy.say("summed", terms=" + ".join(map(as_written, chosen.numbers)), total=total)
    return f"{said} {_where(chosen.rows, source, chosen.column)}{_totals(chosen, copy)}"


def _say_average(chosen: _Chosen, source: ResultSource, copy: Copy) -> str:
    total, count = add(chosen.numbers), len(chosen.numbers)
    mean, is_exact = divide(total, count)
    values = {
        "total": as_written(total),
        "count": str(count),
        "sign": "=" if is_exact else "≈",
        "mean": _with_unit(mean, chosen.unit),
    }
    return f"{copy.say('averaged', **values)} {_where(chosen.rows, source, chosen.column)}{_totals(chosen, copy)}"


def _say_extreme(chosen: _Chosen, source: ResultSource, copy: Copy) -> str:
    rows = _extreme_rows(chosen)
    value = _with_unit(chosen.numbers[chosen.rows.index(rows[0])], chosen.unit)
    of = "; ".join(_label(row, source) for row in rows)
    return f"{copy.say(chosen.figure.value, value=value, of=of)} {_where(rows, source, chosen.column)}"


def _extreme_rows(chosen: _Chosen) -> Sequence[TableRow]:
    """The rows with the largest number, or with the smallest one."""
    scale = max(each.scale for each in chosen.numbers)
    sizes = [scaled(each, scale) for each in chosen.numbers]
    best = max(sizes) if chosen.figure is Figure.LARGEST else min(sizes)
    return [chosen.rows[at] for at, size in enumerate(sizes) if size == best]


def _label(row: TableRow, source: ResultSource) -> str:
    """A row in an answer: its cells. An entry of a folder is its name."""
    return ", ".join(cell for cell in row.cells if cell) if source.has_lines else row.cells[0]


def _totals(chosen: _Chosen, copy: Copy) -> str:
    return f". {copy.say('totalsLeftOut')}" if chosen.left_out else ""


def _with_unit(quantity: Quantity, unit: str) -> str:
    return f"{as_written(quantity)} {unit}" if unit else as_written(quantity)


def _where(rows: Sequence[TableRow], source: ResultSource, column: str = "") -> str:
    return cited(source.name, [row.line for row in rows if row.line is not None] if source.has_lines else (), column)
