"""What the gateway's own entries change: next to nothing, since they say what happened to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from gateway.adapters.storage.projections.people import VOID_ENROLMENTS
from gateway.adapters.storage.statements import Change
from gateway.core.ledger.operation import ClockSetBack, GatewayStarted, OperationEntry, PolicyLoaded, RecordsLost


def change_operation(entry: OperationEntry) -> Sequence[Change]:
    """What an entry about the gateway itself changes."""
    match entry:
        case ClockSetBack():
            return (Change(VOID_ENROLMENTS, {"used_at": entry.at}),)
        case GatewayStarted() | PolicyLoaded() | RecordsLost():
            return ()
        case _:
            assert_never(entry)
