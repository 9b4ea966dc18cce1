"""Amounts of money in what a person wrote: the token that looks like money first, and never digits of anything else.

"5$ two days ago" holds 5, and not 52.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.vocabulary import VOCABULARY, any_of

_CURRENCIES: Final = {**VOCABULARY.currency_signs, **VOCABULARY.currency_words}
_SIGNS: Final = "".join(VOCABULARY.currency_signs)
_SIGN: Final = f"[{_SIGNS}]"
_WORD: Final = f"(?:{any_of((*VOCABULARY.currency_words, *VOCABULARY.currency_codes))})"
"""Among the codes are none that are words: `try 5 times` and `php 8` speak of no money."""

_NUMBER: Final = r"\d[\d.,]*\d|\d"
_MARKED: Final = re.compile(
    r"(?<![\w.,/:#+-])"
    rf"(?:(?P<before>{_SIGN}|{_WORD}) ?(?P<after_it>{_NUMBER})(?![\w/]|[.,]\d)"
    rf"|(?P<before_it>{_NUMBER}) ?(?P<after>{_SIGN}|{_WORD}\b))",
    re.ASCII,
)
_BARE: Final = re.compile(rf"(?<![\w.,/:#+{_SIGNS}-])({_NUMBER})(?![\w/:%°{_SIGNS}-]|[.,]\d)", re.ASCII)

_WHOLE: Final = re.compile(r"\d{1,15}", re.ASCII)
_GROUPED: Final = re.compile(r"([1-9]\d{0,2}(?:([.,])\d{3})(?:\2\d{3}){0,3})(?:(?!\2)[.,](\d{1,2}))?", re.ASCII)
_DECIMAL: Final = re.compile(r"(\d{1,15})[.,](\d{1,2})", re.ASCII)
_CENTS: Final = re.compile(r"\d[.,]\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount as plain decimal text, "1234.50", and its currency as an ISO code if the words say it."""

    amount: str
    currency: str | None


def find_money(text: str) -> Money | None:
    """The one amount that a `plain` text speaks of; None when there is none, or more than one.

    What stands beside a currency goes before what has cents, and that before a lone number.
    """
    marked = [_read_marked(match) for match in _MARKED.finditer(text)]
    if marked:
        return _only(marked)
    bare = [match[1] for match in _BARE.finditer(text)]
    with_cents = [number for number in bare if _CENTS.fullmatch(number[-4:])]
    return _only([(read_number(number), None) for number in with_cents or bare])


def read_number(written: str) -> str | None:
    """`1,234.50`, `1.234,50`, `4,5` or `12` as plain decimal text; None where the marks can be read in two ways."""
    if _WHOLE.fullmatch(written):
        return _trimmed(written)
    grouped = _GROUPED.fullmatch(written)
    # 1.234 is a thousand and more to some, and one and a little to others.
    if grouped is not None and not (grouped[2] == "." and grouped[3] is None and written.count(".") == 1):
        whole = grouped[1].replace(grouped[2], "")
        return whole if grouped[3] is None else f"{whole}.{grouped[3]}"
    decimal = _DECIMAL.fullmatch(written)
    return None if decimal is None else f"{_trimmed(decimal[1])}.{decimal[2]}"


def _trimmed(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _read_marked(match: re.Match[str]) -> tuple[str | None, str]:
    mark = match["before"] or match["after"]
    return read_number(match["after_it"] or match["before_it"]), _CURRENCIES.get(mark) or mark.upper()


def _only(found: Sequence[tuple[str | None, str | None]]) -> Money | None:
    amounts = _distinct(amount for amount, _ in found)
    currencies = _distinct(currency for _, currency in found)
    if len(amounts) != 1 or amounts[0] is None:
        return None
    return Money(amounts[0], currencies[0] if len(currencies) == 1 else None)


def _distinct(values: Iterable[str | None]) -> list[str | None]:
    return list(dict.fromkeys(values))
