"""Within what an argument may vary under a lasting approval: this folder, this host, up to this amount.

A pattern is read off the value that a person was shown, by the gateway, and compared by its text alone. What is not plainly
inside is outside: a value that some program might read in two ways is never covered, and its call asks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from gateway.core.canonical import Json
from gateway.core.model import CallFacts
from gateway.core.vocabulary import PatternKind

_URL = re.compile(r"(?P<origin>https?://(?P<host>(?:[a-z0-9-]+\.)*[a-z0-9-]+)(?::[0-9]{1,5})?)(?:/[!-\[\]-~]*)?")
"""A URL as it is written when nothing about it is open: lower-case scheme and host, a port or none, then nothing or a path.

Without a backslash, which WHATWG's URL parser takes for a slash and others do not, and without credentials.
"""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The values that one argument may have. `bound` is the folder, the origin of the URL, or the greatest amount."""

    argument: str
    kind: PatternKind
    bound: str | int | float

    def holds(self, value: Json) -> bool:
        """Whether the value is inside."""
        match self.kind:
            case PatternKind.FOLDER:
                return _is_plain_path(value) and value.startswith(f"{self.bound}/")
            case PatternKind.HOST:
                return _origin_of(value) == self.bound
            case PatternKind.AT_MOST:
                whole = isinstance(self.bound, int)
                return _is_amount(value) and 0 <= value <= self.bound and (isinstance(value, int) or not whole)
            case _:
                assert_never(self.kind)

    def wire(self) -> dict[str, Json]:
        """The `Pattern` of docs/PROTOCOL.md section 4."""
        return {"argument": self.argument, "kind": self.kind.value, "bound": self.bound}


def find_patterns(arguments: Mapping[str, Json], facts: CallFacts) -> tuple[Pattern, ...]:
    """What a person may be offered for a call that has these arguments, in their order. Whether an argument is a path or an
    address is taken from the tool's own facts, not guessed from its text."""
    found = (_pattern_of(name, value, facts) for name, value in arguments.items())
    return tuple(pattern for pattern in found if pattern is not None)


def is_read_off(pattern: Pattern, arguments: Mapping[str, Json]) -> bool:
    """Whether it is the pattern of the value that these arguments show, and not a wider one."""
    return pattern.argument in arguments and pattern.bound == _bound_of(pattern.kind, arguments[pattern.argument])


def _pattern_of(name: str, value: Json, facts: CallFacts) -> Pattern | None:
    if isinstance(value, str):
        if value in (facts.path, facts.second_path):
            kind = PatternKind.FOLDER
        elif (url := _URL.fullmatch(value)) is not None and url["host"] == facts.host:
            kind = PatternKind.HOST
        else:
            return None
    else:
        kind = PatternKind.AT_MOST
    bound = _bound_of(kind, value)
    return None if bound is None else Pattern(name, kind, bound)


def _bound_of(kind: PatternKind, value: Json) -> str | int | float | None:
    match kind:
        case PatternKind.FOLDER:
            return value.rpartition("/")[0] if _is_plain_path(value) and "/" in value else None
        case PatternKind.HOST:
            return _origin_of(value)
        case PatternKind.AT_MOST:
            return value if _is_amount(value) and value > 0 else None
        case _:
            assert_never(kind)


def _is_plain_path(value: Json) -> bool:
    """Whether every program reads the same path from it: no part that is empty, `.` or `..`, no backslash, nothing unseen."""
    if not isinstance(value, str) or "\\" in value or value.startswith("~"):
        return False
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in value):
        return False
    return not {"", ".", ".."} & set(value.split("/"))


def _origin_of(value: Json) -> str | None:
    url = _URL.fullmatch(value) if isinstance(value, str) else None
    return None if url is None else url["origin"]


def _is_amount(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
