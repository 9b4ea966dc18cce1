"""`countersign backup`, `countersign restore` and `countersign recover`: keeping the record, and going on after a loss."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from gateway.adapters.storage.anchored import AnchoredNote
from gateway.adapters.storage.backup import back_up, has_record, require_backup
from gateway.adapters.storage.backup import restore as put_back
from gateway.adapters.storage.beginning import make_directory, undone_by_failure
from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.loss import Loss, assess, go_on, set_aside
from gateway.anchored_notes import anchored_notes
from gateway.cli.confirming import confirm
from gateway.core.errors import Misconfigured
from gateway.core.ledger import LossReason
from gateway.core.times import rfc3339
from gateway.sandbox.machine_paths import lies_in
from gateway.settings import Settings
from gateway.settings_reading import load_settings

_state = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_state
def backup(file: Path, state: Path | None) -> None:
    """Copy the record into FILE, beside a running gateway, and check the copy before saying that it is done.

    FILE holds the whole database and the key that signs the log. Whoever has it can read every call and sign in the log's
    name: it is made readable for you alone; keep it where you would keep a password. It does not hold the policy, the
    settings, the workspace or the models. `countersign restore FILE` puts it back. An earlier backup is replaced, any other
    FILE that is there is not. In the workspace, where tools read, none is written.
    """
    settings = load_settings(state=state)
    folder = settings.state
    if lies_in(Path(os.path.realpath(file)).parent, Path(os.path.realpath(settings.workspace))):
        raise Misconfigured(f"`{file}` is in the workspace, where tools would read the log's key; name a file elsewhere")
    with click.progressbar(length=1, label="Copying", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def show(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        made = back_up(folder, file, show)
    report = made.report
    click.echo(f"{file}: {report.size} records, {made.size} bytes, checked. Its root is {report.root}.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_state
@_yes
def restore(file: Path, state: Path | None, *, yes: bool) -> None:
    """Put the backup FILE in place of the record, once it was checked. The gateway must not run.

    What the state folder has now is kept beside it, in a folder whose name begins with `replaced-`. What was recorded after
    the backup is lost: how much is said, and goes on record. Everybody has to sign in again.
    """
    settings = load_settings(state=state)
    folder = settings.state
    require_backup(file)
    if has_record(folder):
        _ask(yes, f"Replace the record in {folder} by the backup?")
    made = make_directory(folder)
    now = _now()
    with hold_state(folder), undone_by_failure(made):
        done = put_back(file, folder, now, _stamp(now), _read_anchors(settings))
    click.echo(f"Restored {done.report.size} records.")
    if done.aside is not None:
        click.echo(f"What was there before is in {done.aside}.")
    if done.loss is not None:
        click.echo(f"{_describe(done.loss)}\nThis is on record as number {done.index}.")


@click.command()
@_state
@click.option("--discard", is_flag=True, help="Give up a database that cannot be read at all, and begin an empty one.")
@_yes
def recover(state: Path | None, *, discard: bool, yes: bool) -> None:
    """Say what a damaged record lost, and go on without it. The gateway must not run.

    Try `countersign restore` first, if there is a backup. The damaged files are kept beside the others, in a folder whose name
    begins with `damaged-`; the loss goes on record; every session ends, because a sign-out may be among what was lost.
    """
    settings = load_settings(state=state)
    folder = settings.state
    if not folder.is_dir():
        raise Misconfigured(f"there is no state folder `{folder}`; name it with --state")
    now = _now()
    with hold_state(folder):
        loss = assess(folder, discard=discard, anchored=_read_anchors(settings))
        if loss is None:
            click.echo("Nothing is lost; there is nothing to recover.")
            return
        click.echo(_describe(loss))
        _ask(yes, "Go on without it?")
        aside = set_aside(folder, f"damaged-{_stamp(now)}")
        index = go_on(folder, loss, now)
    click.echo(f"The damaged files are kept in {aside}. The loss is on record as number {index}; every session has ended.")


def _read_anchors(settings: Settings) -> Sequence[AnchoredNote]:
    return asyncio.run(anchored_notes(settings)) if settings.anchors else ()


def _ask(yes: bool, question: str) -> None:
    if not yes:
        confirm(question)


def _describe(loss: Loss) -> str:
    """What is lost, for the person who decides."""
    left = f"{loss.kept} records are left"
    since = "" if loss.last_at is None else f", the last of {rfc3339(loss.last_at)}"
    lines = [f"{left}{since}."]
    if loss.until is not None and loss.until > loss.kept and loss.mark is not None:
        lost = f"Records {loss.kept} to {loss.until - 1} are lost ({loss.until - loss.kept} of them)"
        lines.append(f"{lost}; the last was written at about {rfc3339(loss.mark.written_at)}.")
    match loss.reason:
        case LossReason.SHORTER:
            pass
        case LossReason.REPLACED:
            lines.append("They are not those that the mark or an anchor knows: the database was replaced. What it had is lost.")
        case LossReason.UNMARKED:
            lines.append("No mark says how many there were, so nobody can say whether any are lost.")
        case LossReason.ABSENT:
            lines.append("The database is gone. A new one knows no person and no passkey; somebody has to enrol first.")
        case LossReason.CHANGED:
            pass
    if loss.changed:
        named = ", ".join(map(str, loss.changed[:20])) + (" …" if len(loss.changed) > 20 else "")
        lines.append(f"The payloads of {len(loss.changed)} records were changed and will be erased: {named}.")
    if loss.reason is not LossReason.CHANGED:
        lines.append(
            "Calls that ran in what is lost are not known any more: look at what they did before you let them be repeated."
        )
        lines.append("People, passkeys and grants are as they were at the last record that is left; look through them.")
    return "\n".join(lines)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _stamp(now: int) -> str:
    return datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%dT%H%M%S.%f")
