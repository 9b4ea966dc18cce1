"""Reports that nobody signs in for cannot fill the operator's log."""

from __future__ import annotations

from gateway.server.report_budget import AT_ONCE, ReportBudget


def test_a_few_reports_at_once_and_a_few_a_minute_are_logged_and_the_others_counted() -> None:
    now = [0.0]
    budget = ReportBudget(lambda: now[0])
    assert [budget.spend() for _ in range(AT_ONCE)] == [0] * AT_ONCE
    assert [budget.spend() for _ in range(500)] == [None] * 500
    now[0] = 6.0
    assert budget.spend() == 500
    assert budget.spend() is None
    now[0] = 10_000.0
    assert [budget.spend() for _ in range(AT_ONCE + 1)] == [1, *[0] * (AT_ONCE - 1), None]
