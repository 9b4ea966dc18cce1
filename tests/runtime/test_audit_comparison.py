"""Two conversations side by side where something of one is erased."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.runtime.audit_comparison import CallDifference, ComparedCall, ComparisonFinding, compare_calls

REFUSED = ComparedCall(
    position=1,
    closed=2,
    call_id="c1",
    tool="peek",
    arguments='{"what": 5}',
    arguments_digest="a" * 64,
    erased=False,
    outcome="invalidArguments",
    decision="forbidden",
    rules=(),
)
ERASED = replace(REFUSED, position=11, closed=12, tool=None, arguments=None, arguments_digest=None, erased=True)


@pytest.mark.parametrize(
    ("first", "second", "finding", "differs"),
    [
        (REFUSED, ERASED, ComparisonFinding.CANNOT_BE_TOLD, ()),
        (ERASED, replace(ERASED, position=21), ComparisonFinding.CANNOT_BE_TOLD, ()),
        (REFUSED, replace(ERASED, tool="note"), ComparisonFinding.DIFFERENT, (CallDifference.TOOL,)),
        (REFUSED, replace(ERASED, outcome="ok"), ComparisonFinding.DIFFERENT, (CallDifference.OUTCOME,)),
        (REFUSED, replace(REFUSED, position=21, tool=None), ComparisonFinding.DIFFERENT, (CallDifference.TOOL,)),
    ],
)
def test_a_tool_whose_name_was_erased_is_not_said_to_be_another(
    first: ComparedCall, second: ComparedCall, finding: ComparisonFinding, differs: tuple[CallDifference, ...]
) -> None:
    (pair,) = compare_calls([first], [second])
    assert (pair.finding, pair.differs) == (finding, differs)
