"""What people, sessions and turns use of their quotas: reserved before it is used, settled with what it came to.

The counts are in the database. They are read once and then kept here too, where every reservation is made without a wait, so
that calls at once never share what is left. What is reserved becomes durable with the intent of its call, and what is given
back with its outcome: what a crash leaves unsettled stays used.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import orjson

from gateway.core.budget import Allowance, Exhausted, Quota, QuotaMeter, QuotaUse
from gateway.core.errors import TooManyRequests
from gateway.core.model import Session
from gateway.core.results import ToolResult
from gateway.runtime.ports import Clock, PolicyEngine, PolicyVerdict, QuotaRecords

_ELASTIC: Final = {QuotaMeter.SECONDS: 1000, QuotaMeter.RELEASED_BYTES: 512}
"""Meters of which a call is given what is left, with the least that is worth beginning with."""

_MOST_KEPT: Final = 10_000
"""Counts kept in memory. One that nothing is reserved of is read again when it is needed."""

_Key = tuple[Quota, str, QuotaMeter]


@dataclass(slots=True)
class _Count:
    period: int
    used: int
    open: int = 0
    """Reservations that are not settled yet."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was set aside for one call or request. `granted` is how much of each meter it may use, where that is bounded."""

    uses: tuple[QuotaUse, ...] = ()
    granted: Mapping[QuotaMeter, int] = field(default_factory=dict[QuotaMeter, int])


NOTHING_RESERVED: Final = Reservation()


def bound_by(judged: PolicyVerdict, reserved: Reservation) -> PolicyVerdict:
    """The verdict with no more time and room for the result than was set aside."""
    if not reserved.granted:
        return judged
    time, room, duties = (
        reserved.granted.get(QuotaMeter.SECONDS),
        reserved.granted.get(QuotaMeter.RELEASED_BYTES),
        judged.obligations,
    )
    if time is not None:
        duties = replace(duties, timeout=min(time / 1000, duties.timeout or time / 1000))
    if room is not None:
        duties = replace(duties, max_result_bytes=min(room // 2, duties.max_result_bytes or room // 2))
    return judged if duties is judged.obligations else replace(judged, obligations=duties)


def measure(result: ToolResult, elapsed: int) -> Mapping[QuotaMeter, int]:
    """What a call came to. `elapsed` in milliseconds."""
    structure = 0 if result.structured is None else len(orjson.dumps(result.structured))
    return {QuotaMeter.SECONDS: elapsed, QuotaMeter.RELEASED_BYTES: len(result.content.encode()) + structure}


class QuotaUsage:
    """Counts, and says when it is enough."""

    def __init__(self, *, policy: PolicyEngine, records: QuotaRecords, clock: Clock) -> None:
        self._policy = policy
        self._records = records
        self._clock = clock
        self._counts: OrderedDict[_Key, _Count] = OrderedDict()

    async def recall(self, session: Session, turn_id: str | None) -> None:
        """Read the counts that a reservation of this session needs and that are not here."""
        counts = self._counts
        missing = {key for each in self._allowances(session) if (key := self._key(each, session, turn_id)) not in counts}
        if not missing:
            return
        for span, holder, meter, period, used in await self._records.quota_counts({holder for _, holder, _ in missing}):
            # Somebody else may have read the same, and counted on, while this was on its way.
            self._counts.setdefault((Quota(span), holder, QuotaMeter(meter)), _Count(period, used))
        for key in missing:
            self._counts.setdefault(key, _Count(0, 0))
        self._forget()

    def find_exhausted(self, session: Session, turn_id: str | None, meters: Collection[QuotaMeter]) -> Exhausted | None:
        """A quota of one of these meters that has nothing left."""
        for each in self._allowances(session):
            if each.meter in meters and self._left(each, session, turn_id, self._clock.now()) <= 0:
                return Exhausted(each.window, each.most, each.meter)
        return None

    def reserve(self, session: Session, turn_id: str | None, wanted: Mapping[QuotaMeter, int]) -> Reservation | Exhausted:
        """Set aside so much of each meter, in each window that bounds it; of what is elastic as much as is left. Waits for
        nothing, so nothing comes between looking and taking. `recall` comes first."""
        bounding = [each for each in self._allowances(session) if each.meter in wanted]
        if not bounding:
            return NOTHING_RESERVED
        now = self._clock.now()
        granted: dict[QuotaMeter, int] = {}
        for each in bounding:
            want, left = wanted[each.meter], self._left(each, session, turn_id, now)
            least = min(want, _ELASTIC.get(each.meter, 1))
            if left < least:
                return Exhausted(each.window, each.most, each.meter)
            bound = min(want, left) if each.meter in _ELASTIC else want
            granted[each.meter] = min(bound, granted.get(each.meter, bound))
        uses = tuple(
            QuotaUse(*self._key(each, session, turn_id), self._count(each, session, turn_id, now).period, granted[each.meter])
            for each in bounding
        )
        for use in uses:
            count = self._counts[use.window, use.holder, use.meter]
            count.used += use.amount
            count.open += 1
        return Reservation(uses, granted)

    def note(self, session: Session, turn_id: str | None, meter: QuotaMeter) -> Reservation:
        """A reservation of nothing, to be settled with what was used all the same."""
        uses: list[QuotaUse] = []
        for each in self._allowances(session):
            if each.meter is meter:
                count = self._count(each, session, turn_id, self._clock.now())
                count.open += 1
                uses.append(QuotaUse(*self._key(each, session, turn_id), count.period, 0))
        return Reservation(tuple(uses))

    def settle(self, reservation: Reservation, came_to: Mapping[QuotaMeter, int]) -> tuple[QuotaUse, ...]:
        """Count what it came to in place of what was reserved; gives what the record has to be told. A meter that is not named
        came to what was reserved."""
        changed: list[QuotaUse] = []
        for use in reservation.uses:
            change = use._replace(amount=came_to.get(use.meter, use.amount) - use.amount)
            count = self._counts.get((use.window, use.holder, use.meter))
            if count is not None:
                count.open -= 1
                if count.period == use.period:
                    count.used += change.amount
            if change.amount:
                changed.append(change)
        return tuple(changed)

    def give_back(self, reservation: Reservation) -> None:
        """Nothing was used, and nothing of the reservation is on record."""
        self.settle(reservation, dict.fromkeys(QuotaMeter, 0))

    def require_tokens(self, session: Session, turn_id: str | None) -> None:
        """Raises TooManyRequests once the tokens of a window are used up; the answer that used the last one is finished."""
        exhausted = self.find_exhausted(session, turn_id, (QuotaMeter.TOKENS,))
        if exhausted is not None:
            raise TooManyRequests(exhausted.tell(self._clock.now()))

    def _allowances(self, session: Session) -> Sequence[Allowance]:
        return self._policy.limits(session.principal.profile).counted

    def _left(self, allowance: Allowance, session: Session, turn_id: str | None, now: int) -> int:
        return allowance.most * allowance.meter.unit - self._count(allowance, session, turn_id, now).used

    def _count(self, allowance: Allowance, session: Session, turn_id: str | None, now: int) -> _Count:
        count = self._counts.setdefault(self._key(allowance, session, turn_id), _Count(0, 0))
        period = allowance.window.period(now)
        # A clock that is set back does not begin anew what it was in before.
        if period > count.period:
            count.period, count.used = period, 0
        return count

    def _key(self, allowance: Allowance, session: Session, turn_id: str | None) -> _Key:
        match allowance.window:
            case Quota.TURN:
                holder = turn_id or ""
            case Quota.SESSION:
                holder = session.id
            case Quota.MINUTE | Quota.PERSON | Quota.DAY:
                holder = session.principal.id
        return allowance.window, holder, allowance.meter

    def _forget(self) -> None:
        for key in [key for key, count in self._counts.items() if not count.open][: max(0, len(self._counts) - _MOST_KEPT)]:
            del self._counts[key]
