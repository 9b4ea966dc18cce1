"""The gateway's own check of its log, on request: the same check that `countersign audit verify` makes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gateway.protocol.console_methods import AuditVerification

if TYPE_CHECKING:
    from gateway.core.verification import LogReport


class AuditVerifier:
    """Runs one check at a time, because each check reads the whole log."""

    def __init__(
        self, check: Callable[[], LogReport], check_records: Callable[[Sequence[int]], None] = lambda _positions: None
    ) -> None:
        """`check` reads and checks the stored log, and `check_records` the records at some places; both block."""
        self._check = check
        self._check_records = check_records
        self._checking = asyncio.Lock()
        self._checking_records = asyncio.Lock()

    async def verify(self) -> AuditVerification:
        """Check every leaf, payload, checkpoint and snapshot. Raises LedgerUnavailable when they cannot be read."""
        async with self._checking:
            report = await asyncio.to_thread(self._check)
        return AuditVerification(
            verified=report.sound,
            detail=_describe(report),
            size=report.size,
            root=report.root,
            checkpoint=report.newest_note,
        )

    async def require_proven(self, positions: Sequence[int]) -> None:
        """Check the records that somebody is about to be told. Raises LedgerDamaged, which names one that was changed."""
        async with self._checking_records:
            await asyncio.to_thread(self._check_records, positions)


def _describe(report: LogReport) -> str:
    if report.fault is not None:
        return report.fault.detail
    if report.size == 0:
        return "nothing is recorded yet"
    return f"{report.size} records under {report.checkpoints} checkpoints are whole, and nothing in them contradicts the rest"
