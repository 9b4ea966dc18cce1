"""`countersign audit receipt`, and what `audit verify` says of one."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from gateway.adapters.anchoring.evidence import read_evidence
from gateway.adapters.storage.accounts import find_calls
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.receipts import read_receipt
from gateway.cli.outputs import OUTPUT, open_output
from gateway.cli.quoting import quote
from gateway.core.anchors import AnchorTrust
from gateway.core.canonical import canonical_bytes
from gateway.core.checkpoint import VerificationKey
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.ledger import PrincipalEnrolled
from gateway.core.merkle import leaf_hash
from gateway.core.receipts import RECEIPT_LIMIT, RECEIPT_TYPE, ProvenRecord, ReceiptReport, check_receipt
from gateway.installation import VERIFIER, require_web
from gateway.runtime.audit_account import Background, tell_call
from gateway.runtime.ports import AuditRow
from gateway.settings_reading import load_settings

NO_FORK: Final = (
    "A receipt shows that these records are in the log of whoever holds the key. It cannot show that there is no other log, nor"
    " what was left out of it: compare its checkpoint with one that was kept elsewhere (--checkpoint), and the key with --key."
)


_BEGINNINGS: Final = (b'{"anchors":', b'{"call":')
"""Of every receipt, by version."""

NO_ANCHOR: Final = "No anchor: nobody but the gateway has signed for these records."


@click.command()
@click.argument("call_id", metavar="CALL")
@click.option("--conversation", metavar="ID", help="The call's conversation, where several have a call of that id.")
@click.option("-o", "--output", type=OUTPUT, default="-", help="Where to; standard output unless given.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
def receipt(call_id: str, conversation: str | None, output: Path, state: Path | None) -> None:
    """Write one file that shows what happened with CALL, to be checked without this log: `countersign audit verify FILE`.

    It holds the call's arguments and its result, the tools that the turn had, and the names of who asked for and approved it.
    """
    from gateway.adapters.identity.recorded_answers import check_recorded_answer

    settings = load_settings(state=state)
    with open_stored_log(settings.state) as stored:
        places = find_calls(stored.connection, call_id, conversation)
        if not places:
            raise Misconfigured(f"no call {quote(call_id)} is on record; `countersign audit show` lists calls with their ids")
        if len(places) > 1:
            named = ", ".join(place.conversation_id for place in places)
            raise Misconfigured(f"several conversations have a call {quote(call_id)}; name one with --conversation: {named}")
        evidence = read_evidence(settings.anchors, settings.state)
        raw = read_receipt(stored, places[0].conversation_id, places[0].call_id, evidence=evidence) + b"\n"
    # What would not hold is not handed to anybody as a proof.
    fault = check_receipt(raw, check_recorded_answer).fault
    if fault is not None:
        detail = f"{escape(fault.place)}, {escape(fault.detail)}"
        raise Misconfigured(f"the receipt would not hold: at {detail}; `countersign audit verify` says whether the log is sound")
    with open_output(output) as file:
        file.write(raw)


@click.command()
@click.argument("file", type=OUTPUT)
def verifier(file: Path) -> None:
    """Write FILE, a web page that checks receipts and exported logs: one file, opened from a disk, that needs no network.

    It is another program than `audit verify` and checks the same. Whoever is to check something should have it from somebody
    whom they trust, with its SHA-256.
    """
    page = require_web(load_settings().web_folder) / VERIFIER
    raw = page.read_bytes()
    with open_output(file) as output:
        output.write(raw)
    click.echo(f"SHA-256 {hashlib.sha256(raw).hexdigest()}", err=True)


def is_receipt(path: Path) -> bool:
    """Whether a file is meant as a receipt, and not as an exported log, whose lines begin with their type."""
    try:
        with path.open("rb") as file:
            return not file.read(8).startswith(b'{"type":')
    except OSError as error:
        raise Misconfigured(f"`{path}` cannot be read: {error.strerror}") from None


def verify_receipt(path: Path, key: VerificationKey | None, anchor: str | None, trust: AnchorTrust, *, as_json: bool) -> None:
    """Check a receipt and print what it shows; ends the process with status 1 for one that does not hold."""
    from gateway.adapters.identity.recorded_answers import check_recorded_answer

    try:
        with path.open("rb") as file:
            raw = file.read(RECEIPT_LIMIT + 2)
    except OSError as error:
        raise Misconfigured(f"`{path}` cannot be read: {error.strerror}") from None
    report = check_receipt(raw, check_recorded_answer, pinned=key, anchor=anchor, trust=trust)
    if as_json:
        click.echo(json.dumps(_describe(report)))
    elif report.fault is not None and report.fault.place == "file" and not raw.startswith(_BEGINNINGS):
        # Whoever was handed the wrong file should not read that a receipt was tampered with.
        click.echo(f"This is neither a receipt nor an exported log: {escape(report.fault.detail)}.")
    else:
        click.echo("\n".join(_tell(report, pinned=key is not None)))
    if not report.sound:
        sys.exit(1)


def _describe(report: ReceiptReport) -> dict[str, object]:
    fault = None if report.fault is None else {"place": report.fault.place, "detail": report.fault.detail}
    return {
        "type": RECEIPT_TYPE,
        "sound": report.sound,
        "fault": fault,
        "conversationId": report.conversation_id,
        "callId": report.call_id,
        "key": None if report.key is None else report.key.line(),
        "size": report.size,
        "root": report.root,
        "records": len(report.records),
        "signatures": report.signatures,
        "withheld": report.withheld,
        "erased": report.erased,
        "anchors": [asdict(each) for each in report.anchors],
        "anchored": report.anchored,
    }


def _tell(report: ReceiptReport, *, pinned: bool) -> list[str]:
    if report.fault is not None:
        return [f"The receipt does NOT hold: at {escape(report.fault.place)}, {escape(report.fault.detail)}."]
    key = report.key
    assert key is not None
    counted = f"{report.signatures} passkey signature{'' if report.signatures == 1 else 's'}"
    lines = [
        f"The receipt holds: {len(report.records)} records, {counted}.",
        f"They are in the log {escape(key.name)}, under its checkpoint over {report.size} records.",
        *_account(report),
    ]
    if report.erased:
        lines.append(f"Payloads that were erased, as a record in it says: {report.erased}.")
    if (others := report.withheld - report.erased) > 0:
        lines.append(f"Payloads that are not in the file, as the policy's texts never are, and not called erased: {others}.")
    for each in report.anchors:
        of_these = f"{report.covered(each)} of these {len(report.records)} records are among them."
        lines.append(f"{escape(each.sentence)} {of_these}")
    if not report.anchors:
        lines.append(NO_ANCHOR)
    if report.anchored:
        lines.append("Its checkpoint is the one that was given.")
    if not (report.anchored and pinned):
        lines.append(NO_FORK)
    if not pinned:
        lines.append(f"The key was taken from the receipt itself: {key.line()}")
    return lines


def _account(report: ReceiptReport) -> list[str]:
    rows = [AuditRow(each.index, leaf_hash(canonical_bytes(each.body)).hex(), each.body, each.payload) for each in report.records]
    offered = max((len(tools) for tools in (report.offers or {}).values()), default=None)
    background = Background(
        title="", request=None, names=_names(report.records), why=_no_reason, offered=offered, size=report.size
    )
    mine = [row for row in rows if row.body.get("conversationId") in (None, report.conversation_id)]
    return tell_call(mine, report.call_id, background)


def _names(records: Sequence[ProvenRecord]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for each in records:
        if each.body["event"] == PrincipalEnrolled.EVENT and each.payload is not None:
            found[each.body["principalId"]] = each.payload["name"]
    return found


def _no_reason(_version: str, _rule: str) -> str | None:
    """The policy's texts are not in a receipt."""
    return None
