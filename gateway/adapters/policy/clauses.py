"""How many clauses one rule has: Cedar evaluates each inside the one before it, and gives up where its stack would end.

A rule that gives up forbids everything, and it does so only for calls that satisfy its first clauses. So the number is bounded
before a policy loads, and what this process's stack can carry is tried once with clauses that are always true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import cedarpy

MOST_CLAUSES: Final = 500
"""Clauses of one rule. A stack of 8 MB carries some 1,700 levels, one for each clause and those inside the last."""

_INSIDE: Final = 100
"""Levels of one clause, which Cedar's binding bounds."""

_UNTRIED: Final = 50
"""Clauses that any stack carries on which the parser can run at all."""

_TOKEN: Final = re.compile(
    r'//[^\n]*|"(?:\\.|[^"\\])*"|(?P<open>[([{])|(?P<close>[)\]}])|(?P<end>;)|(?P<clause>\b(?:when|unless)\b)'
)

_SOMEBODY: Final = {"type": "A", "id": "a"}


class Excess(NamedTuple):
    """What a policy has too much of: the file and the offset of the first that is one too many, and what is said of it."""

    file: str
    offset: int
    message: str


def find_long_rule(rules: Mapping[str, str]) -> Excess | None:
    """The first rule with more clauses than can be evaluated, None where there is none. `rules` are texts by file name."""
    carried = _UNTRIED
    for name, text in rules.items():
        for clauses in _read_clauses(text):
            if len(clauses) > MOST_CLAUSES:
                return Excess(name, clauses[MOST_CLAUSES], _describe(len(clauses), MOST_CLAUSES))
            if len(clauses) > carried:
                if not _can_evaluate(len(clauses) + _INSIDE):
                    return Excess(name, clauses[_UNTRIED], f"{_describe(len(clauses), _UNTRIED)}; this process has a small stack")
                carried = len(clauses)
    return None


def _describe(count: int, most: int) -> str:
    return (
        f"a rule may have at most {most:,} `when` and `unless` clauses, and this one has {count:,}; "
        "one clause can hold several conditions with `&&`"
    )


def _read_clauses(text: str) -> list[list[int]]:
    """The offsets of each rule's clauses."""
    found: list[list[int]] = [[]]
    depth = 0
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case "end":
                found.append([])
                depth = 0
            case "clause" if depth <= 0:
                found[-1].append(token.start())
            case _:
                pass
    return found


def _can_evaluate(levels: int) -> bool:
    rule = "permit (principal, action, resource)" + " when { context.one == 1 }" * levels + ";"
    request = {"principal": _SOMEBODY, "action": _SOMEBODY, "resource": _SOMEBODY, "context": {"one": 1}}
    result = cedarpy.is_authorized(request, rule, [])  # pyright: ignore[reportUnknownMemberType] - cedarpy has no types
    return result.allowed
