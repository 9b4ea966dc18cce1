"""Which file of a folder a wish means by how it stands among the others: the newest, the largest, the first, the only one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.copied import folders_said
from gateway.agent.finding import folder_in
from gateway.agent.messages import ToolMessage
from gateway.agent.names import Slot, slot_of
from gateway.agent.tables import Table, table_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of

PICK_OF: Final = {word: pick for pick, words in VOCABULARY.picks.items() for word in words}
_PICKED: Final = any_of((*VOCABULARY.document_nouns, *VOCABULARY.picked_nouns))
_PICK: Final = re.compile(rf"\b({any_of(PICK_OF)}) (?:\w+ )?(?:{_PICKED})\b", re.IGNORECASE | re.ASCII)
_COMES: Final = re.compile(
    rf"\b(?:{any_of(VOCABULARY.document_nouns)}) (?:comes|is|came) (?:the )?({any_of(PICK_OF)})\b", re.IGNORECASE | re.ASCII
)
"""The same where the pick stands behind: "which report comes last"."""

_OF_KIND: Final = re.compile(
    rf"\bof (?:{any_of(VOCABULARY.plural_articles)}) (?:\w+ )?(?:{any_of(VOCABULARY.document_nouns)})\b", re.IGNORECASE | re.ASCII
)
_KEPT_TOGETHER: Final = frozenset(VOCABULARY.document_nouns) - frozenset(
    each for word in VOCABULARY.described_nouns for each in (word, f"{word}s")
)
"""What has a folder of its own where there is more than one."""

_SAYS: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.content_verbs)})\b", re.IGNORECASE | re.ASCII)
_DAY: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?(?![0-9])")
_NUMBERED: Final = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)", re.DOTALL)
_IN_TIME: Final = {"newest": True, "last": True, "oldest": False, "first": False}
"""Picks by age, and whether they mean the newest."""

_IN_ORDER: Final = {"first": 0, "last": -1}
"""Picks that mean a place in the list where no age can be told."""

_BYTES: Final = re.compile(r"[0-9]+")


def pick_of(wish: str, listing: ToolMessage) -> str | None:
    """The path of the file that a wish means by how it stands among those of a listing; None where the listing leaves a doubt."""
    pick = _pick_in(wish)
    return None if pick is None else picked_of(pick, listing)


def picked_of(pick: str, listing: ToolMessage) -> str | None:
    """The path of the file that stands so among those of a listing; None where the listing leaves a doubt."""
    table = table_of(listing.result["content"], "")
    if table is None or not table.listing:
        return None
    name = _chosen(pick, table)
    return None if name is None else joined(listing.call["arguments"], name)


def picked_from(wish: str) -> str | None:
    """The folder out of which a wish means one file, to be told what it says; None for any other wish."""
    if _pick_in(wish) is None or not _SAYS.search(wish):
        return None
    if (folder := folder_in(wish)) != "":
        return folder
    said = folders_said(wish)
    return said[0].rstrip("/") if len(said) == 1 else folder_of_kind(wish) or None


def folder_of_kind(wish: str) -> str:
    """The folder that has its name from what is picked among: "the newest report" is in `reports`. Empty for what may be
    anywhere, such as a file or a letter."""
    found = _PICK.search(wish) or _COMES.search(wish) or _OF_KIND.search(wish)
    words = [word.bare for word in words_of(found[0])] if found else []
    kind = next((word for word in words if word in _KEPT_TOGETHER), "")
    return f"{kind.removesuffix('s')}s" if kind else ""


def _pick_in(wish: str) -> str | None:
    found, comes = _PICK.search(wish), _COMES.search(wish)
    said = found[1] if found else comes[1] if comes else ""
    return PICK_OF[said.lower()] if said else None


def _chosen(pick: str, table: Table) -> str | None:
    files = [row.cells for row in table.rows if row.cells[1] == "file"]
    if pick == "only":
        return files[0][0] if len(files) == 1 else None
    if pick in _IN_TIME:
        ages = _ages_of([cells[0] for cells in files])
        if pick in _IN_ORDER and not ages:
            return files[_IN_ORDER[pick]][0] if files else None
        best = max(ages, default=None) if _IN_TIME[pick] else min(ages, default=None)
        names = [cells[0] for cells, age in zip(files, ages, strict=False) if age == best]
        return names[0] if len(names) == 1 else None
    sizes = [int(found[0]) if (found := _BYTES.match(cells[2])) else -1 for cells in files]
    if not sizes or min(sizes) < 0:
        return None
    size = max(sizes) if pick == "largest" else min(sizes)
    return files[sizes.index(size)][0] if sizes.count(size) == 1 else None


def _ages_of(names: Sequence[str]) -> Sequence[tuple[int, str]]:
    """What tells which of several names is the newer one: their days, or the numbers in which alone they differ; nothing where
    neither does."""
    days = [found[0] if (found := _DAY.search(name)) else "" for name in names]
    if all(days):
        return [(0, day) for day in days]
    numbered = [_NUMBERED.fullmatch(name) for name in names]
    frames = {(found[1], found[3]) for found in numbered if found is not None}
    if len(frames) != 1 or None in numbered:
        return []
    return [(int(found[2]), "") for found in numbered if found is not None]


def joined(arguments: Mapping[str, Any], name: str) -> str:
    """The path of a name in the folder that was listed."""
    folder = next((str(value) for argument, value in arguments.items() if slot_of(argument) is Slot.PATH), ".").rstrip("/")
    return name if folder in ("", ".") else f"{folder}/{name}"
