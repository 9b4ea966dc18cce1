"""Numbers as people write them in lists and tables, read exactly or not at all.

Which of `.` and `,` parts the thousands is told by all numbers of a list together; where they contradict each other, or where
the units differ, nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.vocabulary import VOCABULARY, any_of

_SIGNS: Final = VOCABULARY.currency_signs
_CODES: Final = {**VOCABULARY.currency_words, **{code: code.upper() for code in VOCABULARY.currency_codes}}
_MARKS: Final = "".join(map(re.escape, _SIGNS))
_AFTER: Final = any_of((*_SIGNS, *_CODES, *VOCABULARY.units))
_QUANTITY: Final = re.compile(
    rf"(?<![A-Za-z0-9_.,:/'’$-])([-−+]?)(?:([{_MARKS}]|\b(?:{any_of(VOCABULARY.currency_codes)})\b) ?)?"
    rf"([0-9][0-9.,'’]*[0-9]|[0-9])(?: ?({_AFTER}))?(?![A-Za-z0-9_%]|[-/:][0-9]|[.,][0-9])",
    re.ASCII | re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z?)?|\b[0-9]{1,2}[./][0-9]{1,2}[./](?:[0-9]{4}|[0-9]{2})\b|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\b",
    re.ASCII,
)
_BULLET: Final = re.compile(r"^ *(?:[-*+•]|[0-9]{1,3}[.)]) +")
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:\.[0-9]{3})+")


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as it is written, without its separators read yet. `unit` is a currency's code, another unit in lower case, or
    empty; `text` is all of it."""

    text: str
    negative: bool
    digits: str
    unit: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact number: `units` divided by ten to the power of `scale`."""

    units: int
    scale: int


def numbers_in(text: str) -> list[WrittenNumber]:
    """The numbers of a line or a cell, in order. Dates, times, numbers of phones and versions and a list's own numbers are none.

    Where some have a currency, the others are counts and kinds of what is paid for, and left away.
    """
    plain = _DATED.sub(" ", _BULLET.sub("", text))
    found = [
        WrittenNumber(match[0], match[1] in ("-", "−"), match[3], _unit_of(match[2] or match[4] or ""))
        for match in _QUANTITY.finditer(plain)
    ]
    paid = [each for each in found if each.unit.isupper()]
    return paid or found


def read_quantities(written: Sequence[WrittenNumber]) -> tuple[list[Quantity], str] | None:
    """The numbers of a list and the unit that they share; None where that is not clear."""
    units = {each.unit for each in written}
    kinds = {_decimal_mark(each.digits) for each in written} - {""}
    if len(units) > 1 or len(kinds) > 1:
        return None
    mark = next(iter(kinds), ".")
    read = [_read(each, mark) for each in written]
    return None if None in read else ([each for each in read if each is not None], next(iter(units), ""))


def as_written(quantity: Quantity) -> str:
    """A number in digits, with a point before its decimals."""
    digits = str(abs(quantity.units)).rjust(quantity.scale + 1, "0")
    sign = "-" if quantity.units < 0 else ""
    return f"{sign}{digits[: -quantity.scale]}.{digits[-quantity.scale :]}" if quantity.scale else f"{sign}{digits}"


def add(quantities: Sequence[Quantity]) -> Quantity:
    """The exact sum, with as many decimals as the number that has most."""
    scale = max((each.scale for each in quantities), default=0)
    return Quantity(sum(scaled(each, scale) for each in quantities), scale)


def scaled(quantity: Quantity, scale: int) -> int:
    """The number's units at a scale that is not below its own; two numbers are compared by them."""
    return quantity.units * 10 ** (scale - quantity.scale)


def divide(quantity: Quantity, by: int) -> tuple[Quantity, bool]:
    """A number divided, to two decimals more than it has and halves away from zero; and whether that is exact."""
    units = quantity.units * 100
    rounded = (abs(units) * 2 + by) // (by * 2) * (-1 if units < 0 else 1)
    scale = quantity.scale + 2
    while scale > quantity.scale and rounded % 10 == 0:
        rounded, scale = rounded // 10, scale - 1
    return Quantity(rounded, scale), units % by == 0


def _unit_of(mark: str) -> str:
    unit = mark.lower()
    return _SIGNS.get(unit) or _CODES.get(unit) or unit


def _decimal_mark(digits: str) -> str:
    """The mark before the decimals, where the number itself tells; empty where it does not."""
    marks = [mark for mark in digits if mark in ".,"]
    if not marks:
        return ""
    if _GROUPED.fullmatch(digits):
        return "." if marks[0] == "," else "," if len(marks) > 1 else ""
    return marks[-1]


def _read(written: WrittenNumber, mark: str) -> Quantity | None:
    digits = re.sub("['’]", "", written.digits)
    whole, parted, decimals = digits.rpartition(mark) if mark in digits else (digits, "", "")
    other = "," if mark == "." else "."
    if other in whole and not _GROUPED.fullmatch(whole):
        return None
    if mark in whole or other in decimals or (parted and not decimals):
        return None
    units = int(whole.replace(other, "") + decimals)
    return Quantity(-units if written.negative else units, len(decimals))
