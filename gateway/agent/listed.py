"""The answer to a question for what a folder holds, and for nothing more: "what files are there?", "show me notes/".

A small model miscounts the entries and mixes names up with sizes. Any other question about a listing, such as which of the files
are about a garden, is left to the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.copy import Copy
from gateway.agent.excerpts import excerpt_of
from gateway.agent.figures import ResultSource
from gateway.agent.passages import lines_of
from gateway.agent.tables import table_of
from gateway.agent.vocabulary import VOCABULARY

_HEAD: Final = re.compile(r"(.+) holds ([0-9]{1,6}) entr(?:y|ies):")
_EMPTY: Final = re.compile(r"(.+) is empty")
_WORD: Final = re.compile("[a-z0-9]+", re.ASCII)
_ASKING: Final = frozenset(VOCABULARY.plain_listing_words)
_IN_A_SENTENCE: Final = 12
"""Names. More of them are a list."""

_TOP: Final = "."


def answer_listing(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """How many entries a folder has and what they are called; None for another result, or another question."""
    lines = lines_of(source.text)
    if not lines or not _asks_for_all(wish, source.name):
        return None
    head, table = _HEAD.fullmatch(lines[0]), table_of(source.text, source.name)
    if head is None or table is None or not table.listing or len(table.rows) != int(head[2]):
        is_empty = len(lines) == 1 and _EMPTY.fullmatch(lines[0]) is not None
        return copy.say("listedNone", place=_place(source.name, copy)) if is_empty else None
    names = [row.cells[0] + ("/" if row.cells[1] == "folder" else "") for row in table.rows]
    count, place = str(len(names)), _place(source.name, copy)
    if len(names) == 1:
        return copy.say("listedOne", place=place, names=_quoted(names[0]))
    if len(names) > _IN_A_SENTENCE:
        excerpt = excerpt_of("\n".join(lines[1:]))
        rest = f"\n{copy.say('leftOut', rest=str(excerpt.left_out))}" if excerpt.left_out else ""
        return f"{copy.say('listedLong', count=count, place=place)}\n\n{excerpt.text}{rest}"
    return copy.say("listed", count=count, place=place, names=_joined(names))


def _asks_for_all(wish: str, name: str) -> bool:
    said = frozenset(_WORD.findall(wish.lower()))
    return bool(said) and said <= _ASKING.union(_WORD.findall(name.lower()))


def _place(name: str, copy: Copy) -> str:
    return copy.say("workspace") if name.rstrip("/") in (_TOP, "") else _quoted(name)


def _joined(names: Sequence[str]) -> str:
    *first, last = map(_quoted, names)
    return f"{', '.join(first)} and {last}"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', ' ')}`"
