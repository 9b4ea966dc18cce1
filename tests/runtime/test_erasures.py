"""Erasing what is due, where one call goes with another."""

from __future__ import annotations

from unittest.mock import AsyncMock, Mock

import pytest

from gateway.core.ledger import CallSubject, ErasureReason, ErasureSubject, RecordsErased
from gateway.runtime.erasures import Erasures

LONG, PAGE = CallSubject("cnv_1", "long"), CallSubject("cnv_1", "page")
PLANS = {LONG: (LONG, PAGE), PAGE: (PAGE,)}
POSITIONS = {LONG: (3, 4), PAGE: (7, 8)}


async def plan(subject: ErasureSubject, reason: ErasureReason, at: int) -> list[RecordsErased]:
    assert isinstance(subject, CallSubject)
    return [RecordsErased(at, reason, POSITIONS[each], each) for each in PLANS[subject]]


@pytest.mark.parametrize("due", [(LONG, PAGE), (PAGE, LONG), (LONG,)], ids=str)
async def test_a_call_that_goes_with_another_is_erased_once(due: tuple[CallSubject, ...]) -> None:
    records = Mock(
        due_calls=AsyncMock(return_value=due),
        plan_erasure=plan,
        call=AsyncMock(return_value=None),
        principals=AsyncMock(return_value=()),
    )
    ledger = Mock(append=AsyncMock())
    erasures = Erasures(ledger, records, Mock(), Mock(), Mock(), Mock(now=Mock(return_value=1)))
    assert await erasures.retain() == len(due)
    (appended,) = ledger.append.await_args_list
    assert sorted(position for each in appended.args for position in each.records) == [3, 4, 7, 8]
