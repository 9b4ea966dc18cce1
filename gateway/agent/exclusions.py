"""Rows that are asked for by what they are not: "which customers have not paid?", "everyone except the treasurer".

A small model reads such a question as if the "not" were not there. Of a table or a list, code tells its rows apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.browser import trim
from gateway.agent.entries import around_entries, is_ticked, telling, terms_of
from gateway.agent.ranking import stem, terms_in
from gateway.agent.tables import Table, TableRow
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_NOT: Final = frozenset(("not", "never", *(f"{verb}n{mark}t" for verb in VOCABULARY.contracted_verbs for mark in ("'", "’", ""))))
_EXCEPT: Final = frozenset(VOCABULARY.excepting_words)
_NEGATED: Final = VOCABULARY.negated_words
_UNASKED: Final = frozenset((*VOCABULARY.yes_no_words, *VOCABULARY.modals, "why"))
_AMOUNTS: Final = frozenset({"many", "much"})
_NOUN_LEADS: Final = frozenset(VOCABULARY.noun_leads)
_STOPPED: Final = re.compile(r"[.?!:,][\"'`)]*\Z")
_YES: Final = frozenset(VOCABULARY.yes_marks)
_NO: Final = frozenset(VOCABULARY.no_marks)
_DONE: Final = frozenset(map(stem, VOCABULARY.done_words))
_DATED: Final = re.compile(r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}")


@dataclass(slots=True)
class Exclusion:
    """What a wish leaves out: a row that holds all terms of one of the `groups`. The `others` are terms that a row has to hold,
    `nouns` such as only name what is asked for, and `rest` is the wish without what it leaves out."""

    groups: list[set[str]] = field(default_factory=list[set[str]])
    others: set[str] = field(default_factory=set[str])
    nouns: set[str] = field(default_factory=set[str])
    rest: str = ""


def exclusion_in(wish: str) -> Exclusion | None:
    """What a wish for some rows leaves out by its words; None for any other wish."""
    words = words_of(wish)
    bare = [word.bare for word in words]
    opener = next((word for word in bare if word not in VOCABULARY.fillers), "")
    if opener in _UNASKED or (opener == "how" and _AMOUNTS.isdisjoint(bare)):
        return None
    found = Exclusion()
    rest: list[str] = []
    scope = ""
    for at, word in enumerate(words):
        written = wish[word.start : word.end]
        if word.bare in _NOT or word.bare in _EXCEPT or " ".join(bare[at - 1 : at + 1]) in _EXCEPT:
            scope = "not" if word.bare in _NOT else "except"
            found.groups.append(set())
        elif word.bare in _NEGATED:
            found.groups.append({stem(_NEGATED[word.bare])})
        elif scope and word.bare in ("and", "or", "nor"):
            scope = "" if scope == "not" and word.bare == "and" else scope
            found.groups.append(set())
        elif scope and not is_thing(written):
            found.groups[-1].update(telling(word.bare, asks=False))
        else:
            rest.append(written)
            found.others.update(() if is_thing(written) else telling(word.bare))
            found.nouns.update(terms_in(word.bare) if at and bare[at - 1] in _NOUN_LEADS else ())
        if _STOPPED.search(written):
            scope = scope if scope == "except" and written.endswith(",") else ""
            found.groups.append(set())
    found.groups = [group for group in found.groups if group]
    found.rest = " ".join(rest)
    return found if found.groups else None


def kept_rows(exclusion: Exclusion, text: str, name: str, table: Table) -> Sequence[TableRow] | None:
    """The rows of a table that are meant; None where that is in doubt."""
    around = around_entries(text, name, table)
    rows: Sequence[TableRow] | None = table.rows
    for group in exclusion.groups:
        rows = None if rows is None else _without(group, rows, table, around)
    if rows is None:
        return None
    held = terms_of(cell for row in table.rows for cell in row.cells)
    if not exclusion.others <= held | around | exclusion.nouns:
        return None
    wanted = (exclusion.others & held) - around
    return [row for row in rows if wanted <= terms_of(row.cells)]


def _without(group: set[str], rows: Sequence[TableRow], table: Table, around: set[str]) -> Sequence[TableRow] | None:
    """The rows of which something is not said: by a column of yes and no, by a box, or by the words of their cells."""
    for at, column in enumerate(table.columns):
        if not group.isdisjoint(terms_in(column)) and all(_is_mark(row.cells[at]) for row in table.rows):
            return [row for row in rows if _mark_of(row.cells[at]) in _NO]
    if not group.isdisjoint(_DONE) and all(is_ticked(row) is not None for row in table.rows):
        return [row for row in rows if not is_ticked(row)]
    held = group & terms_of(cell for row in table.rows for cell in row.cells)
    if not held or not group - held <= around:
        return None
    return [row for row in rows if not held <= terms_of(cell for cell in row.cells if not _denies(cell))]


def _is_mark(cell: str) -> bool:
    mark = _mark_of(cell)
    return mark in _YES or mark in _NO or _DATED.fullmatch(mark) is not None


def _mark_of(cell: str) -> str:
    return trim(cell).lower()


def _denies(cell: str) -> bool:
    """Whether a cell says of something that it is not so: "not paid yet", "unpaid"."""
    return any(word.bare in _NOT or word.bare in _NEGATED for word in words_of(cell))
