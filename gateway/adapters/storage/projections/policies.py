"""What people did to the policy of a running gateway, as the tables keep it: whether it is frozen, and what runs beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sqlalchemy import bindparam, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.core.ledger.policies import (
    PolicyEntry,
    PolicyFrozen,
    PolicyProposed,
    PolicyPublished,
    PolicyShadowEnded,
    PolicyShadowStarted,
    PolicySignatureRefused,
    PolicyThawed,
)
from gateway.runtime.ports import PolicyFreeze, StartedShadow

ADD_FREEZE = insertion(t.policy_freezes)
END_FREEZE = Statement(
    update(t.policy_freezes)
    .where(t.policy_freezes.c.id == given("id"), t.policy_freezes.c.thawed_at.is_(None))
    .values(thawed_at=bindparam("thawed_at")),
    refusal="that freeze has ended",
)

ADD_SHADOW = insertion(t.policy_shadows, leaf="leaf", without=("ended_at",))
END_SHADOW = Statement(
    update(t.policy_shadows)
    .where(t.policy_shadows.c.id == given("id"), t.policy_shadows.c.ended_at.is_(None))
    .values(ended_at=bindparam("ended_at")),
    refusal="that candidate runs in shadow no longer",
)

_open_shadow = (
    select(t.policy_shadows).where(t.policy_shadows.c.ended_at.is_(None)).order_by(t.policy_shadows.c.leaf.desc()).limit(1)
)
_open_freeze = select(t.policy_freezes).where(t.policy_freezes.c.thawed_at.is_(None)).order_by(t.policy_freezes.c.at).limit(1)


def change_policies(entry: PolicyEntry) -> Sequence[Change]:
    """What an entry about the policy changes."""
    match entry:
        case PolicyFrozen():
            return (Change(ADD_FREEZE, {"id": entry.freeze_id, "at": entry.at, "why": entry.why, "thawed_at": None}),)
        case PolicyThawed():
            return (Change(END_FREEZE, {"of_id": entry.freeze_id, "thawed_at": entry.at}),)
        case PolicyShadowStarted():
            return (Change(ADD_SHADOW, {"id": entry.shadow_id, "at": entry.at, "version": entry.version}),)
        case PolicyShadowEnded():
            return (Change(END_SHADOW, {"of_id": entry.shadow_id, "ended_at": entry.at}),)
        case PolicyProposed() | PolicyPublished() | PolicySignatureRefused():
            return ()
        case _:
            assert_never(entry)


@stored("freeze of the policy", "id")
def _read_freeze(row: ARow) -> PolicyFreeze:
    return PolicyFreeze(row.id, row.at, row.why)


@stored("candidate policy in shadow", "id")
def _read_shadow(row: ARow) -> StartedShadow:
    return StartedShadow(row.id, row.at, row.version, row.leaf)


class FreezeReader(Reader):
    """Whether everything is forbidden, and which candidate runs beside the policy in force."""

    async def open_shadow(self) -> StartedShadow | None:
        return self._find(_open_shadow, _read_shadow)

    async def open_freeze(self) -> PolicyFreeze | None:
        return self._find(_open_freeze, _read_freeze)
