"""The gateway itself as the tables keep it: which policies came into force, and little else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sqlalchemy import select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.people import VOID_ENROLMENTS
from gateway.adapters.storage.projections.turns import SUSPEND_TURN
from gateway.adapters.storage.reader import Reader
from gateway.adapters.storage.statements import Change, insertion
from gateway.core.ledger.operation import (
    AuditKeyRotated,
    ClockSetBack,
    GatewayStarted,
    OperationEntry,
    PolicyLoaded,
    RecordsLost,
)

ADD_POLICY = insertion(t.policies, leaf="leaf")

_newest_policy = select(t.policies.c.version).order_by(t.policies.c.leaf.desc()).limit(1)


def change_operation(entry: OperationEntry) -> Sequence[Change]:
    """What an entry about the gateway itself changes."""
    match entry:
        case ClockSetBack():
            return (Change(VOID_ENROLMENTS, {"used_at": entry.at}),)
        case PolicyLoaded() if entry.documents:
            return (Change(ADD_POLICY, {"version": entry.version, "at": entry.at}),)
        case GatewayStarted():
            return [Change(SUSPEND_TURN, {"of_id": turn_id, "suspended_at": entry.at}) for turn_id in entry.suspended]
        case PolicyLoaded() | RecordsLost() | AuditKeyRotated():
            return ()
        case _:
            assert_never(entry)


class PolicyReader(Reader):
    """What the gateway runs under."""

    async def policy_on_record(self) -> str | None:
        return self._find(_newest_policy, lambda row: row.version)
