"""Arithmetic that a wish holds whole: "what's 17 times 23?", "12 % of 80", "3 + 4 * 2". Worked out by code, exactly.

A small model is often wrong by a digit, and says it as surely. Whatever is no such sum as a whole is the model's: a date, "24/7",
a percentage that is added to something.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.vocabulary import VOCABULARY, any_of

_LONGEST: Final = 120
"""Characters of what is worked out, so that no number grows without bound."""

_PLACES: Final = 10
"""Decimal places of a result that has no end."""

_LEAD: Final = re.compile(
    rf"^(?:(?:{any_of((*VOCABULARY.fillers, *VOCABULARY.reckoning_leads))})[ ,]+)*", re.IGNORECASE | re.ASCII
)
_TAIL: Final = re.compile(r"[ =?.]+\Z")
_SIGNS: Final = VOCABULARY.reckoning_signs
"""The sign of an operation by how it may be written."""

_NUMBER: Final = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|0(?!x)|[1-9][0-9]{0,14})(?:\.[0-9]{1,10})?(?![0-9.,]*[0-9])"
_TOKEN: Final = re.compile(
    rf" *({_NUMBER}|(?:{any_of(_SIGNS)})(?![a-z])|(?<= )[-/](?= )|(?<=[0-9]{{3}})/(?=[0-9])|(?<![0-9)])-(?=[0-9(]))",
    re.IGNORECASE | re.ASCII,
)
"""A number or a sign. What stands between "24" and "7" without blanks is mostly none."""


def reckoned_in(wish: str, copy: Copy) -> str | None:
    """What a wish for nothing but a sum comes to, in words; None for any other wish."""
    tokens = _tokens_in(_TAIL.sub("", _LEAD.sub("", trim(wish))))
    if len(tokens) < 3:
        return None
    read = _Sum(tokens)
    result = read.total()
    if result is None or read.rest:
        return None
    if read.is_by_zero:
        return copy.say("byZero", terms=_written(tokens))
    text, is_exact = _shown(result)
    return copy.say("reckoned", terms=_written(tokens), sign="=" if is_exact else "≈", total=text)


def _tokens_in(text: str) -> list[str]:
    """The numbers and signs that a text consists of; none where it has anything else."""
    tokens: list[str] = []
    at = 0
    while at < len(text) <= _LONGEST:
        found = _TOKEN.match(text, at)
        if found is None:
            return []
        token = found[1].lower()
        tokens.append(_SIGNS.get(token, token.replace(",", "")))
        at = found.end()
    return tokens


class _Sum:
    """Reads tokens from the left: products before sums, brackets before both. None wherever they do not fit together."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = list(tokens)
        self.is_by_zero = False

    def total(self) -> Fraction | None:
        """What they come to, as far as they go."""
        left = self._product()
        while left is not None and self.rest[:1] in (["+"], ["-"]):
            sign = self.rest.pop(0)
            right = self._product()
            left = None if right is None else left + right if sign == "+" else left - right
        return left

    def _product(self) -> Fraction | None:
        left = self._factor()
        while left is not None and self.rest[:1] in (["*"], ["/"], ["% of"]):
            sign = self.rest.pop(0)
            right = self._factor()
            if sign == "/" and right == 0:
                self.is_by_zero = True
            elif sign == "/" and right is not None:
                right = 1 / right
            left = None if right is None else left * right / (100 if sign == "% of" else 1)
        return left

    def _factor(self) -> Fraction | None:
        first = self.rest.pop(0) if self.rest else ""
        if first == "-":
            negated = self._factor()
            return None if negated is None else -negated
        if first == "(":
            inner = self.total()
            return inner if self.rest and self.rest.pop(0) == ")" else None
        return Fraction(first) if first[:1].isdecimal() else None


def _shown(value: Fraction) -> tuple[str, bool]:
    """A number in digits, and whether that is all of it."""
    scaled = abs(value) * 10**_PLACES
    digits = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    whole, part = divmod(digits, 10**_PLACES)
    sign = "-" if value < 0 and digits else ""
    return f"{sign}{whole}.{part:0{_PLACES}}".rstrip("0").rstrip("."), scaled.denominator == 1


def _written(tokens: list[str]) -> str:
    """The sum with one sign for each operation."""
    text = " ".join(tokens)
    return text.replace("( ", "(").replace(" )", ")")
