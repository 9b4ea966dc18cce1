"""Whether a given argument is what was expected.

A check is a plain value, which must be given exactly, or an object with one member:

    {"path": "notes"}            the same path, however it is spelled: ./notes/, notes
    {"text": "buy milk"}         the same text, but for case, surrounding space, quotes and a final stop
    {"has": ["dentist"]}         a text with all of these words in it, in any case
    {"maybe": check}             nothing, or what fits the check
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, Final


class Absent:
    """What an argument is that was not given."""


ABSENT: Final = Absent()

_EDGES: Final = " \t\n\"'`.!"


def fits(check: Any, given: Any) -> bool:
    """Whether `given`, ABSENT if there is none, is what `check` asks for."""
    match check:
        case {"maybe": inner}:
            return isinstance(given, Absent) or fits(inner, given)
        case {"path": str(path)}:
            return isinstance(given, str) and _plain_path(given) == _plain_path(path)
        case {"text": str(text)}:
            return isinstance(given, str) and _plain_text(given) == _plain_text(text)
        case {"has": [*words]}:
            return isinstance(given, str) and all(str(word).casefold() in given.casefold() for word in words)
        case {}:
            raise ValueError(f"there is no such check: {check}")
        case _:
            # A truth value is a number to Python, and never one here.
            return isinstance(given, bool) == isinstance(check, bool) and bool(given == check)


def all_fit(checks: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether the arguments are the expected ones and no others. Empty ones count as not given."""
    real = {name: value for name, value in given.items() if value not in (None, "")}
    return real.keys() <= checks.keys() and all(fits(check, real.get(name, ABSENT)) for name, check in checks.items())


def _plain_path(path: str) -> str:
    return posixpath.normpath(path.strip().strip("/") or ".")


def _plain_text(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).strip(_EDGES)
