"""What is shown where a question has one of the rows of a file chosen, and code cannot tell which: "which boats need repair?".

A small model names a row, and seldom the right one, so none is asked: the rows with the words of the question are quoted, or else
all of them.
"""

from __future__ import annotations

from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.affairs import question_in
from gateway.agent.copy import Copy
from gateway.agent.entries import around_entries, entries_of, row_label, telling, terms_of
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.figures import ResultSource, figure_in
from gateway.agent.ranking import terms_in
from gateway.agent.tables import Table, TableRow
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_RANKING: Final = frozenset(phrase for phrases in VOCABULARY.compared_by.values() for phrase in phrases)
_STOPS: Final = (",", ".", ":", ";", "!", "?")


def show_choices(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """The rows of a file that have the words of a question with "which", or all where that is in doubt; None for another
    question, and where there are no rows."""
    asked = _asked_by_which(wish)
    table = entries_of(source.text, source.name) if asked is not None and source.has_lines else None
    if asked is None or table is None:
        return None
    rows = () if _ranks(wish) else _rows_with(asked, source, table)
    lines = [row.line for row in rows if row.line is not None]
    shown = excerpt_of("\n".join(map(row_label, rows)) if rows else source.text)
    rest = f"\n{copy.say('leftOut', rest=str(shown.left_out))}" if shown.left_out else ""
    return f"{copy.say('rowsWithWords' if rows else 'rowsUntold')} {cited(source.name, lines)}:\n\n{shown.text}{rest}"


def _asked_by_which(wish: str) -> list[str] | None:
    """The words behind a "which" that asks, with which a question or a part of it begins; None without one."""
    words, question = words_of(wish), words_of(question_in(wish))
    written = [wish[word.start : word.end] for word in words]
    for at, word in enumerate(words):
        begins = at == 0 or written[at - 1].endswith(_STOPS) or len(words) - at == len(question)
        if word.bare == "which" and begins:
            return [each.bare for each, said in zip(words[at + 1 :], written[at + 1 :], strict=True) if not is_thing(said)]
    return None


def _ranks(wish: str) -> bool:
    """Whether a row is asked for by how it stands among the others, of which its own words tell nothing."""
    return figure_in(wish) is not None or not _RANKING.isdisjoint(word.bare for word in words_of(wish))


def _rows_with(asked: list[str], source: ResultSource, table: Table) -> list[TableRow]:
    """The rows that have all words by which the question tells them apart. Where it names a column, they stand in that."""
    around = around_entries(source.text, source.name, table)
    kinds = set(terms_in(asked[0])) if asked else set[str]()
    wanted = {term for word in asked for term in telling(word, asks=False)} - kinds
    named = [at for at, name in enumerate(table.columns) if not wanted.isdisjoint(terms_in(name))]
    told = wanted - around
    rows = [row for row in table.rows if told <= terms_of(cell for at, cell in enumerate(row.cells) if not named or at in named)]
    return rows if told and len(rows) < len(table.rows) else []
