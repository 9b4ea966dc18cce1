"""What was used of quotas, as the tables keep it: one row for each meter, window and holder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import BigInteger, and_, bindparam, case, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, highest, insertion_once
from gateway.core.budget import QuotaUse
from gateway.runtime.ports import QuotaCount

_KEY = ("span", "holder", "meter")

OPEN_COUNT = insertion_once(t.quota_counts, *_KEY, grouped=True)
"""The row of a count that is used for the first time."""

ADD_TO_COUNT = Statement(
    update(t.quota_counts)
    .where(and_(*(t.quota_counts.c[name] == given(name) for name in _KEY)))
    .values(
        # Of a later minute or day: the count begins anew. Of an earlier one: what is settled there concerns nobody any more.
        used=case(
            (t.quota_counts.c.period == given("period"), t.quota_counts.c.used + bindparam("amount", type_=BigInteger)),
            (t.quota_counts.c.period < given("period"), bindparam("amount", type_=BigInteger)),
            else_=t.quota_counts.c.used,
        ),
        period=highest(t.quota_counts.c.period, "period"),
    ),
    grouped=True,
)


def change_counts(uses: Iterable[QuotaUse], call: tuple[str, str] | None) -> Sequence[Change]:
    """The changes of what is reserved, or given back."""
    changed: list[Change] = []
    for use in uses:
        key = {"span": use.window.value, "holder": use.holder, "meter": use.meter.value}
        changed.append(Change(OPEN_COUNT, {**key, "period": use.period, "used": 0}, call))
        named = {f"of_{name}": value for name, value in key.items()}
        changed.append(Change(ADD_TO_COUNT, {**named, "of_period": use.period, "amount": use.amount}, call))
    return changed


@stored("quota count", "span", "holder", "meter")
def _read_count(row: ARow) -> QuotaCount:
    return QuotaCount(row.span, row.holder, row.meter, row.period, row.used)


class QuotaReader(Reader):
    """What was used so far."""

    async def quota_counts(self, holders: Collection[str]) -> Sequence[QuotaCount]:
        return await self._list(select(t.quota_counts).where(t.quota_counts.c.holder.in_(sorted(holders))), _read_count)
