"""A copy of a file, "copy a.txt to b/", where no tool makes one: the file is read, and what it says is written elsewhere.

A small model writes the name of the file into the copy instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gateway.agent.assigned import FILE, LEAD, TAIL
from gateway.agent.browser import trim
from gateway.agent.vocabulary import VOCABULARY, any_of


@dataclass(frozen=True, slots=True)
class Copying:
    """The paths of a file and of its copy."""

    file: str
    to: str


_FLAGS: Final = re.IGNORECASE | re.ASCII
_TARGET: Final = (
    r"(?:(?:the|my|our) )?(?:(folder|directory|file) )?[\"'`]?([A-Za-z0-9_.~-](?:[^\s\"'`,;:?!()]*[^\s\"'`,;:?!().])?)[\"'`]?"
    r"( folder| directory)?"
)
_FORMS: Final = (
    re.compile(rf"{LEAD}(?:{any_of(VOCABULARY.copying_verbs)}) {FILE} ({any_of(VOCABULARY.copy_links)}) {_TARGET}{TAIL}", _FLAGS),
    re.compile(
        rf"{LEAD}(?:make|create|put|save|place)(?: me)? a (?:second |backup )?(?:copy|duplicate|backup) of {FILE} "
        rf"(?:(?:and )?({any_of(VOCABULARY.copy_links)})) {_TARGET}{TAIL}",
        _FLAGS,
    ),
)
_ENDED: Final = re.compile(r"[^/]\.[A-Za-z0-9]+\Z")
_NAMING: Final = frozenset(VOCABULARY.copy_namings)


def copying_in(wish: str) -> Copying | None:
    """The copy that a wish asks for; None for any other wish."""
    text = trim(wish)
    found = next((said for form in _FORMS if (said := form.search(text))), None)
    if found is None or found[4].lower() in VOCABULARY.no_targets:
        return None
    file, to = found[1], found[4]
    at = file.rfind("/") + 1
    is_folder = (found[3] or "").lower() in ("folder", "directory") or bool(found[5]) or not _ENDED.search(to)
    if is_folder or to.endswith("/"):
        target = f"{to.rstrip('/')}/{file[at:]}"
    else:
        is_beside = "/" not in to and found[2].lower() in _NAMING
        target = f"{file[:at]}{to}" if is_beside else to
    return None if target == file else Copying(file, target)
