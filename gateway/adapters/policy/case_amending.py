"""Rows of a decision table that expected what a change of the policy was made to change.

Only what a row expects is written anew, in its place, so that comments and order stay. The new text is read again, and has to be
the old table with these expectations and nothing else; a row that is written in a way this does not understand is left as it is,
and then fails like any row that does not hold.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.adapters.policy.cases import CaseResult, parse_cases, run_cases
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.runtime.ports import AmendedCase

_ROW: Final = re.compile(r"^[ \t]*\[\[[ \t]*case[ \t]*\]\][^\n]*$", re.MULTILINE)
_EXPECT: Final = re.compile(r'^([ \t]*expect[ \t]*=[ \t]*)"[^"\n]*"', re.MULTILINE)
_BECAUSE: Final = re.compile(r"^([ \t]*because[ \t]*=[ \t]*)\[[^\]]*\]", re.MULTILINE)


def amend_cases(
    texts: Mapping[str, str], before: CedarPolicy, after: CedarPolicy
) -> tuple[dict[str, str], tuple[AmendedCase, ...]]:
    """The table in which rows that hold under `before` and not under `after` expect what `after` says.
    Raises PolicyUnusable for a table that is none."""
    amended: dict[str, str] = {}
    told: list[AmendedCase] = []
    for name, text in texts.items():
        rows = parse_cases({name: text})
        changed = {
            number: new
            for number, (old, new) in enumerate(zip(run_cases(before, rows), run_cases(after, rows), strict=True))
            if old.passed and not new.passed
        }
        written = _write_rows(text, changed)
        amended[name] = text if written is None else written
        if written is not None:
            told += [
                AmendedCase(name, each.case.about, each.case.question, each.case.expect, each.verdict.mode)
                for each in changed.values()
            ]
    return amended, tuple(told)


def _write_rows(text: str, changed: Mapping[int, CaseResult]) -> str | None:
    """The text with these rows expecting their verdicts, by number; None where none changes or it cannot be written."""
    if not changed:
        return None
    starts = [found.start() for found in _ROW.finditer(text)]
    pieces = [text[start:end] for start, end in zip([0, *starts], [*starts, len(text)], strict=True)]
    for number, result in changed.items():
        if number + 1 >= len(pieces):
            return None
        pieces[number + 1] = _write_row(pieces[number + 1], result)
    written = "".join(pieces)
    return written if _read(written) == _expected(text, changed) else None


def _write_row(row: str, result: CaseResult) -> str:
    rules = f"[{', '.join(json.dumps(each) for each in result.rule_ids)}]"
    row = _EXPECT.sub(lambda found: f'{found[1]}"{result.verdict.mode.value}"', row, count=1)
    return _BECAUSE.sub(lambda found: f"{found[1]}{rules}", row, count=1)


def _expected(text: str, changed: Mapping[int, CaseResult]) -> Sequence[Mapping[str, Any]]:
    rows = list(_read(text) or ())
    for number, result in changed.items():
        row = {**rows[number], "expect": result.verdict.mode.value}
        rows[number] = {**row, "because": list(result.rule_ids)} if "because" in row else row
    return rows


def _read(text: str) -> Sequence[Mapping[str, Any]] | None:
    try:
        return tomllib.loads(text)["case"]
    except (tomllib.TOMLDecodeError, KeyError):
        return None
