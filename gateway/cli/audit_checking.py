"""Checking the log of a state folder for a command, and telling the first thing that is wrong with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gateway.adapters.anchoring.evidence import read_evidence
from gateway.adapters.storage.checking import examine_state
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.keys import known_keys
from gateway.adapters.storage.mark import MARK, read_mark
from gateway.core.anchors import AnchorTrust
from gateway.core.checkpoint import VerificationKey
from gateway.core.effects import escape
from gateway.core.errors import LedgerDamaged
from gateway.core.verification import Flaw, LogFault, LogReport
from gateway.settings import Settings


def check_log(
    settings: Settings,
    key: VerificationKey | None = None,
    note: str | None = None,
    trust: AnchorTrust | None = None,
    *,
    every_signature: bool = False,
) -> LogReport:
    """Check the log of the gateway of these settings, also that it has what the mark beside it says. Raises what
    `open_stored_log` raises."""
    # Imported by this check alone: the library of passkeys takes as much as all of the log's forms.
    from gateway.adapters.identity.recorded_answers import check_recorded_answer

    # Before the log is read: a gateway that goes on writes the mark after the records.
    marked = _read_mark(settings.state)
    report = examine_state(
        settings.state,
        key,
        note,
        evidence=read_evidence(settings.anchors, settings.state),
        trust=trust or AnchorTrust(),
        every_signature=every_signature,
        check_answer=check_recorded_answer,
    )
    if report.sound and marked > report.size:
        detail = f"record {report.size} and what follows is missing: `{MARK}` beside the log says that it had {marked} records"
        report = replace(report, fault=LogFault(Flaw.MISSING, report.size, detail, f"records[{report.size}]"))
    return report


def tell_fault(fault: LogFault, records_before: int) -> str:
    """In one sentence."""
    before = "" if fault.flaw is Flaw.FORM else f"; {records_before} records before that are in order"
    return f"The log is NOT sound: at {escape(fault.place)}, {escape(fault.detail)}{before}."


def _read_mark(folder: Path) -> int:
    """How many records the file beside the log says that it has had; 0 where it says nothing that can be read."""
    try:
        with open_stored_log(folder) as stored:
            mark = read_mark(folder, known_keys(folder, stored.key))
    except LedgerDamaged:
        return 0
    return 0 if mark is None else mark.checkpoint.size
