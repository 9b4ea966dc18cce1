"""What the names of tools and of their arguments tell."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from gateway.agent.vocabulary import VOCABULARY

_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_URLS: Final = frozenset(VOCABULARY.url_arguments)
_PATHS: Final = frozenset(VOCABULARY.path_arguments)
_QUERIES: Final = frozenset(VOCABULARY.query_arguments)


class Slot(Enum):
    """What an argument points at. The values are the members of a `Focus`."""

    PATH = "path"
    URL = "url"
    QUERY = "query"
    ID = "id"


def parts_of(name: str) -> list[str]:
    """The words of a name in lower case: `dueDate`, `due_date` and `due-date` are all `due`, `date`."""
    return [part.lower() for part in _PART.findall(name)]


def slot_of(name: str) -> Slot | None:
    """What an argument of this name points at, or None."""
    parts = parts_of(name)
    if parts[-1:] == ["id"]:
        return Slot.ID
    if not _URLS.isdisjoint(parts):
        return Slot.URL
    if not _PATHS.isdisjoint(parts):
        return Slot.PATH
    return None if _QUERIES.isdisjoint(parts) else Slot.QUERY
