"""Which file of a folder a wish means by how it stands among the others: the newest, the largest, the first, the only one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.copied import folders_said
from gateway.agent.finding import folder_in
from gateway.agent.messages import ToolMessage
from gateway.agent.names import Slot, slot_of
from gateway.agent.tables import table_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of

PICK_OF: Final = {word: pick for pick, words in VOCABULARY.picks.items() for word in words}
KINDS: Final = frozenset(each for kind in VOCABULARY.kind_folders for each in (kind, f"{kind}s"))
"""What has a folder of one of several names where there is more than one of it: letters are in `letters/` or in `mail/`."""

_PICKED: Final = any_of({*VOCABULARY.document_nouns, *VOCABULARY.picked_nouns, *KINDS})
_PICK: Final = re.compile(rf"\b({any_of(PICK_OF)}) (?:\w+ )?(?:{_PICKED})\b", re.IGNORECASE | re.ASCII)
_COMES: Final = re.compile(
    rf"\b(?:{any_of({*VOCABULARY.document_nouns, *KINDS})}) (?:comes|is|came) (?:the )?({any_of(PICK_OF)})\b",
    re.IGNORECASE | re.ASCII,
)
"""The same where the pick stands behind: "which report comes last"."""

_OF_KIND: Final = re.compile(
    rf"\bof (?:{any_of(VOCABULARY.plural_articles)}) (?:\w+ )?(?:{any_of(VOCABULARY.document_nouns)})\b", re.IGNORECASE | re.ASCII
)
_KEPT_TOGETHER: Final = frozenset(VOCABULARY.document_nouns) - frozenset(
    each for word in VOCABULARY.described_nouns for each in (word, f"{word}s")
)
"""What has a folder of its own where there is more than one."""

TOP: Final = "."
"""The folder that holds all others."""

_ENDINGS_OF: Final = dict.fromkeys(VOCABULARY.picture_kinds, VOCABULARY.picture_endings)
_WORLD: Final = frozenset(VOCABULARY.world_nouns)
_SAYS: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.content_verbs)})\b", re.IGNORECASE | re.ASCII)
_ASKS: Final = re.compile(r"^(?:how much|who|when|what (?:did|have|had) \w+)\b", re.IGNORECASE | re.ASCII)
_SHOWS: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(?:{any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs))})\b",
    re.IGNORECASE | re.ASCII,
)
_FROM: Final = re.compile(r"\b(?:from|by) (?:(?:the|my|our) )?([a-z0-9-]+)", re.IGNORECASE | re.ASCII)
_DAY_MONTH: Final = re.compile(r"(?<![0-9])([0-3][0-9])-([0-3][0-9])(?![0-9])")
_MONTHS: Final = 12
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
    return None if pick is None else picked_of(pick, wish, listing)


def picked_of(pick: str, wish: str, listing: ToolMessage) -> str | None:
    """The path of the file that stands so among those of a listing that the wish can mean; None where that leaves a doubt."""
    table = table_of(listing.result["content"], "")
    if table is None or not table.listing:
        return None
    # At the top there are files of all kinds, and beside pictures a list of them.
    kind, endings = top_kind(wish, listing), _ENDINGS_OF.get(kind_in(wish), ("",))
    files = [row.cells for row in table.rows if row.cells[1] == "file"]
    named = [cells for cells in files if kind in cells[0].lower() and cells[0].lower().endswith(endings)]
    # "The latest mail from the bank" is among those that have the bank in their names.
    sender = _FROM.search(wish)
    if sender is not None and folder_in(wish) == "" and not folders_said(wish):
        named = [cells for cells in named if sender[1].lower() in cells[0].lower()]
    name = _chosen(pick, named)
    return None if name is None else joined(listing.call["arguments"], name)


def top_kind(wish: str, listing: ToolMessage) -> str:
    """The kind of file that is picked among, where a listing is of all folders; empty for any other."""
    given = next((value for argument, value in listing.call["arguments"].items() if slot_of(argument) is Slot.PATH), "")
    return kind_in(wish) if given == TOP else ""


def kind_folder(wish: str, listing: ToolMessage) -> str:
    """The folder among all folders that keeps the files of the kind which is picked among; empty where there is none."""
    table, kind = table_of(listing.result["content"], ""), top_kind(wish, listing)
    if table is None or not kind:
        return ""
    there = {row.cells[0].lower(): row.cells[0] for row in table.rows if row.cells[1] == "folder"}
    return next((there[name] for name in VOCABULARY.kind_folders[kind] if name in there), "")


def picked_from(wish: str) -> str | None:
    """The folder out of which a wish means one file, to be told what it says; None for any other wish."""
    if _pick_in(wish) is None or not (_SAYS.search(wish) or (kind_in(wish) and (_ASKS.search(wish) or _SHOWS.search(wish)))):
        return None
    if (folder := folder_in(wish)) != "":
        return folder
    said = [each for each in folders_said(wish) if each.lower() not in PICK_OF]
    named = said[0].rstrip("/") if len(said) == 1 else ""
    return named or folder_of_kind(wish) or (TOP if kind_in(wish) else None)


def without_pick(wish: str) -> str:
    """A wish without the words that only tell which file it means: "the largest file" asks for no number out of it."""
    return wish if picked_from(wish) is None else _PICK.sub("", wish)


def folder_of_kind(wish: str) -> str:
    """The folder that has its name from what is picked among: "the newest report" is in `reports`. Empty for what may be
    anywhere, such as a file or a letter."""
    found = _PICK.search(wish) or _COMES.search(wish) or _OF_KIND.search(wish)
    words = [word.bare for word in words_of(found[0])] if found else []
    kind = next((word for word in words if word in _KEPT_TOGETHER), "")
    return f"{kind.removesuffix('s')}s" if kind else ""


def kind_in(wish: str) -> str:
    """The kind of file that is picked among, where its folder may have one of several names: "the newest letter" may be in
    `letters`, or in `mail`. Empty for any other, for "the last ten minutes", and for the last letter of a word."""
    found = _PICK.search(wish) or _COMES.search(wish)
    words = [word.bare for word in words_of(found[0])] if found else []
    is_other = any(map(str.isdecimal, words)) or not _WORLD.isdisjoint(word.bare for word in words_of(wish))
    return "" if is_other else next((word.removesuffix("s") for word in words if word in KINDS), "")


def _pick_in(wish: str) -> str | None:
    found, comes = _PICK.search(wish), _COMES.search(wish)
    said = found[1] if found else comes[1] if comes else ""
    return PICK_OF[said.lower()] if said else None


def _chosen(pick: str, files: Sequence[Sequence[str]]) -> str | None:
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


def by_age(pick: str, paths: Sequence[str]) -> Sequence[str]:
    """The paths by their age, those first that the pick means, which is the oldest or the newest; none where a doubt is left."""
    ages = _ages_of([path.rpartition("/")[2] for path in paths])
    if len(set(ages)) < len(paths):
        return []
    ranked = sorted(zip(ages, paths, strict=True), reverse=_IN_TIME[pick])
    return [path for _, path in ranked]


def _ages_of(names: Sequence[str]) -> Sequence[tuple[int, str]]:
    """What tells which of several names is the newer one: their days, or the numbers in which alone they differ; nothing where
    neither does."""
    days = [found[0] if (found := _DAY.search(name)) else "" for name in names]
    if all(days):
        return [(0, day) for day in days]
    pairs = [(int(found[1]), int(found[2])) if (found := _DAY_MONTH.search(name)) else (0, 0) for name in names]
    if all(1 <= month <= _MONTHS and day for day, month in pairs) and pairs:
        return [(month, f"{day:02}") for day, month in pairs]
    numbered = [_NUMBERED.fullmatch(name) for name in names]
    frames = {(found[1], found[3]) for found in numbered if found is not None}
    if len(frames) != 1 or None in numbered:
        return []
    return [(int(found[2]), "") for found in numbered if found is not None]


def joined(arguments: Mapping[str, Any], name: str) -> str:
    """The path of a name in the folder that was listed."""
    folder = next((str(value) for argument, value in arguments.items() if slot_of(argument) is Slot.PATH), ".").rstrip("/")
    return name if folder in ("", ".") else f"{folder}/{name}"
