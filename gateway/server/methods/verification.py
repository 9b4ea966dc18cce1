"""The gateway's own check of its log, on request: the same check that `countersign audit verify` makes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from gateway.protocol.console_methods import AuditVerification

if TYPE_CHECKING:
    from gateway.core.verification import LogReport


class AuditVerifier:
    """Runs one check at a time, because each check reads the whole log."""

    def __init__(self, check: Callable[[], LogReport]) -> None:
        """`check` reads and checks the stored log; it blocks."""
        self._check = check
        self._checking = asyncio.Lock()

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


def _describe(report: LogReport) -> str:
    if report.fault is not None:
        return report.fault.detail
    if report.size == 0:
        return "nothing is recorded yet"
    return f"{report.size} records under {report.checkpoints} checkpoints are whole, and nothing in them contradicts the rest"
