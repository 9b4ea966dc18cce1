"""`countersign audit`: verify, export, read and explain the audit log."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO

import click

from gateway.adapters.storage.accounts import read_proven_list
from gateway.adapters.storage.exports import examine_export
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.keys import load_verification_key
from gateway.cli.audit_accounts import compare, explain, replay
from gateway.cli.audit_anchors import anchors
from gateway.cli.audit_checking import check_log, tell_fault
from gateway.cli.audit_erasures import erase
from gateway.cli.audit_exports import export
from gateway.cli.audit_filters import find_person, require_any_recorded
from gateway.cli.audit_keys import keys, rotate_key
from gateway.cli.audit_receipts import NO_ANCHOR, is_receipt, receipt, verifier, verify_receipt
from gateway.cli.audit_sinks import sinks
from gateway.cli.quoting import quote
from gateway.core.anchors import AnchorTrust
from gateway.core.canonical import Json
from gateway.core.checkpoint import VerificationKey, read_verification_key
from gateway.core.cosigner import read_cosigner_key
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.ledger import AUDITED, REQUEST_OUTCOMES
from gateway.core.times import rfc3339
from gateway.core.verification import Flaw, LogFault, LogReport
from gateway.core.vocabulary import Outcome
from gateway.runtime.ports import AuditQuery, AuditRow
from gateway.settings_reading import load_settings

_state = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)


def _known(_context: click.Context, _option: click.Parameter, value: str | None, words: Iterable[str]) -> str | None:
    """One of the words that a log has: of a misspelled one nothing would be found, which looks like an answer."""
    if value is None or value in words:
        return value
    known = sorted(map(str, words))
    near = difflib.get_close_matches(value, known, n=3) or known
    raise click.BadParameter(f"{quote(value)} is none that a log has; nearest: {', '.join(near)}")


@click.group()
def audit() -> None:
    """Verify, export, read and explain the audit log. Works beside a running gateway, but for `rotate-key`."""


@audit.command("verify")
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_state
@click.option(
    "--export",
    "exported",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Check a file made by `audit export` instead of a state folder.",
)
@click.option(
    "--checkpoint",
    "anchor",
    type=click.File("r", encoding="utf-8"),
    help="A checkpoint that was kept elsewhere (`audit checkpoint`). Only with one is a log whose end was cut off found out.",
)
@click.option(
    "--key", "pinned", metavar="VKEY", help="Verification key to trust instead of the one beside the log: `name+hash+key`."
)
@click.option("--cosigner", metavar="VKEY", help="Key of a cosigner to trust: its signature has to be among the anchors.")
@click.option(
    "--ca",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Certificates (PEM) of a time-stamping authority to trust: its time stamp has to be among the anchors.",
)
@click.option(
    "--every-signature",
    is_flag=True,
    help="Check the signatures of older checkpoints too. The newest covers all records; this finds an older one that was forged.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def verify_log(
    file: Path | None,
    state: Path | None,
    exported: Path | None,
    anchor: IO[str] | None,
    pinned: str | None,
    cosigner: str | None,
    ca: Path | None,
    *,
    every_signature: bool,
    as_json: bool,
) -> None:
    """Check every record again: hashes, tree, signatures, payloads, and that nothing ran without its intent and its approval.

    Of this gateway's log, or of FILE: a receipt (`audit receipt`) or an exported log (`audit export`).

    Exit status: 0 when it is sound, 1 when it is not, 2 when it cannot be read.
    """
    if sum(each is not None for each in (file, state, exported)) > 1:
        raise click.UsageError("give one of FILE, --state and --export")
    if (given := file or exported) is not None and not given.is_file():
        # It is read twice, and a pipe would wait for ever for somebody who writes.
        raise Misconfigured(f"`{given}` is no regular file; save what it gives to one")
    key = None if pinned is None else read_verification_key(pinned)
    note = None if anchor is None else _read_note(anchor)
    trust = _read_trust(cosigner, ca)
    if file is not None and is_receipt(file):
        verify_receipt(file, key, note, trust, as_json=as_json)
        return
    report, used = _check(exported or file, state, key, note, trust, every_signature=every_signature)
    if as_json:
        click.echo(json.dumps({**asdict(report), "sound": report.sound, "caveat": report.caveat, "key": used and used.line()}))
    else:
        click.echo(_describe(report, used, pinned=key is not None))
    if not report.sound:
        sys.exit(1)


@audit.command()
@_state
def checkpoint(state: Path | None) -> None:
    """Print the newest signed checkpoint. Keep it on another machine: `audit verify --checkpoint` checks the log against it."""
    with open_stored_log(_state_folder(state)) as stored:
        note = stored.newest_note()
    if note is None:
        raise Misconfigured("nothing is on record yet")
    click.echo(note, nl=False)


@audit.command()
@_state
@click.option("--conversation", metavar="ID", help="Only this conversation.")
@click.option("--principal", metavar="PERSON", help="Only this person, by id or name.")
@click.option("--tool", metavar="NAME", help="Only calls of this tool.")
@click.option(
    "--outcome",
    metavar="WORD",
    callback=partial(_known, words=(*Outcome, *REQUEST_OUTCOMES)),
    help="Only calls that closed so: ok, deniedByUser, refusedByPolicy …",
)
@click.option(
    "--event",
    metavar="TAG",
    callback=partial(_known, words=AUDITED),
    help="Only these events: call:closed, approval:resolved …",
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many, newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print whole records with their payloads, one JSON object a line.")
def show(
    state: Path | None,
    conversation: str | None,
    principal: str | None,
    tool: str | None,
    outcome: str | None,
    event: str | None,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """List what happened, newest first, from records that are still what was signed."""
    with open_stored_log(_state_folder(state)) as stored:
        person = None if principal is None else find_person(stored.names(), principal)
        query = AuditQuery(
            principal_id=person, conversation_id=conversation, event=event, tool=tool, outcome=outcome, limit=limit
        )
        rows = read_proven_list(stored, query)
        if not rows:
            require_any_recorded(stored, query)
    for row in rows:
        click.echo(_whole(row) if as_json else _line(row))
    if not rows and not as_json:
        click.echo("nothing matches")


for _command in (export, explain, replay, compare, receipt, verifier, sinks, erase, keys, rotate_key, anchors):
    audit.add_command(_command)


def _check(
    exported: Path | None,
    state: Path | None,
    key: VerificationKey | None,
    note: str | None,
    trust: AnchorTrust,
    *,
    every_signature: bool,
) -> tuple[LogReport, VerificationKey | None]:
    if exported is not None:
        # Imported by this command alone: the library of passkeys takes as much as all of the log's forms.
        from gateway.adapters.identity.recorded_answers import check_recorded_answer

        return examine_export(
            exported, key, note, trust=trust, every_signature=every_signature, check_answer=check_recorded_answer
        )
    settings = load_settings(state=state)
    report = check_log(settings, key, note, trust, every_signature=every_signature)
    return report, key or load_verification_key(settings.state)


def _read_trust(cosigner: str | None, ca: Path | None) -> AnchorTrust:
    key = None if cosigner is None else read_cosigner_key(cosigner)
    if ca is None:
        return AnchorTrust(key)
    # Its library brings code for certificates.
    from gateway.adapters.anchoring.timestamp import check_stamp

    return AnchorTrust(key, partial(check_stamp, ca))


def _state_folder(state: Path | None) -> Path:
    return load_settings(state=state).state


def _read_note(anchor: IO[str]) -> str:
    try:
        text = anchor.read()
    except UnicodeDecodeError:
        raise Misconfigured("the checkpoint file is not text") from None
    # A file that an anchor adds to has one or many, each with an empty line behind it. The last counts.
    parts = text.rstrip("\n").split("\n\n")
    return f"{parts[-2]}\n\n{parts[-1]}\n" if len(parts) > 1 else text


def _describe(report: LogReport, key: VerificationKey | None, *, pinned: bool) -> str:
    if report.fault is not None or key is None:
        return tell_fault(report.fault or LogFault(Flaw.FORM, None, "it holds no key", "file"), report.size)
    lines = [
        f"The log is sound: {report.size} records under {report.checkpoints} checkpoints signed by {key.name}.",
        f"Root {report.root}.",
        f"{report.calls} calls, {report.executed} run; {report.open_calls} under way; {report.erased} payloads erased.",
        f"{report.signatures} approvals signed by a passkey that was registered for them.",
    ]
    if report.anchor is not None:
        lines.append(f"Its first {report.anchor} records are those of the checkpoint that was passed.")
    lines += [escape(each.sentence) for each in report.anchors] or [NO_ANCHOR]
    if report.caveat is not None:
        lines.append(report.caveat)
    if not pinned:
        lines.append(f"The key was taken from beside the log; to rule out another signer, pass --key {key.line()}")
    return "\n".join(lines)


def _line(row: AuditRow) -> str:
    body: Mapping[str, Json] = row.body
    words = (body.get(name) for name in ("tool", "decision", "status", "outcome", "reason", "callId", "conversationId"))
    return f"{row.index:>7}  {rfc3339(body['at'])}  {body['event']:<24}  {'  '.join(escape(str(word)) for word in words if word)}"


def _whole(row: AuditRow) -> str:
    # ASCII only: what a tool or a page wrote must not be able to move the cursor or the reading direction of a terminal.
    return json.dumps({"index": row.index, "hash": row.hash, "body": row.body, "payload": row.payload}, ensure_ascii=True)
