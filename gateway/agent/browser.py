"""What the browser's language does by itself, and both languages must do alike: what counts as white space, in which order an
object's members stand, and how a value is written as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, TypeVar, cast

V = TypeVar("V")

SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""White space, for `strip` and for classes of regular expressions. Python's own knows separators of records besides, and no
byte order mark."""

_LAST_INDEX: Final = 2**32 - 2
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def trim(text: str) -> str:
    """The text without white space around it."""
    return text.strip(SPACE)


def ordered(members: Mapping[str, V]) -> dict[str, V]:
    """An object's members in the browser's order: names that are indices first, by their size."""
    indices = {int(name): name for name in members if _INDEX.fullmatch(name) and int(name) <= _LAST_INDEX}
    return {**{indices[at]: members[indices[at]] for at in sorted(indices)}, **members}


def as_json(value: Any) -> str:
    """JSON as the browser writes it: no spaces, nothing escaped that need not be, and numbers in its spelling."""
    match value:
        case str():
            return _quote(value)
        case float():
            return _spell(value)
        case Mapping():
            members = ordered(cast("Mapping[str, Any]", value))
            return f"{{{','.join(f'{_quote(name)}:{as_json(member)}' for name, member in members.items())}}}"
        case list() | tuple():
            return f"[{','.join(map(as_json, cast('list[Any]', value)))}]"
        case _:
            return json.dumps(value)


def joined(text: str) -> str:
    """The text with halves of a character that stand side by side made one."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def has_half(text: str) -> bool:
    """Whether a text holds half of a character."""
    return _SURROGATE.search(text) is not None


def without_halves(text: str) -> str:
    """The text without halves of characters, which no tokeniser takes."""
    return _SURROGATE.sub("\ufffd", joined(text))


def _quote(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    if not has_half(quoted):
        return quoted
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", joined(quoted))


def _spell(number: float) -> str:
    """A number as it may come over the wire; beyond 2^53 none does."""
    if number.is_integer():
        return str(int(number))
    written = repr(number)
    digits, small, exponent = written.partition("e-")
    if small and int(exponent) > 6:
        return f"{digits}e-{int(exponent)}"
    return format(Decimal(written), "f")
