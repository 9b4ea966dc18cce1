"""`countersign audit keys` and `audit rotate-key`: the keys that signed the log, and a new one."""

from __future__ import annotations

import time
from pathlib import Path

import click

from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.rotation import CutOff
from gateway.adapters.storage.rotation import rotate_key as hand_over
from gateway.cli.confirming import confirm
from gateway.core.errors import LedgerLocked, Misconfigured
from gateway.core.verification import LogFault, read_keys
from gateway.settings_reading import load_settings

_state = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)


@click.command()
@_state
def keys(state: Path | None) -> None:
    """List the keys that signed the log, oldest first, each with the number of the record from which on it did."""
    with open_stored_log(load_settings(state=state).state) as stored:
        history = read_keys(stored.rotations(), stored.key)
    if isinstance(history, LogFault):
        raise Misconfigured(f"at {history.place}, {history.detail}")
    for first, key in zip((0, *history.places), history.keys, strict=True):
        click.echo(f"{first:>9}  {key.line()}")


@click.command("rotate-key")
@_state
@click.option("--yes", is_flag=True, help="Do not ask.")
def rotate_key(state: Path | None, *, yes: bool) -> None:
    """Make a new key for the log, which the old one hands over to. The gateway must not run.

    Each signs that the other is a key of this log, and that is a record of the log. What the old key signed stays as good as it
    was: checkpoints, receipts and exports verify as before. The old secret is removed; backups made before still hold it.
    """
    folder = load_settings(state=state).state
    if not folder.is_dir():
        raise Misconfigured(f"there is no state folder `{folder}`; name it with --state")
    try:
        with hold_state(folder):
            if not yes:
                confirm("Make a new key for the log? The old one signs nothing more.")
            done = hand_over(folder, time.time_ns() // 1_000_000)
    except LedgerLocked:
        raise Misconfigured(
            "a gateway runs on this state folder; stop it first, for it goes on signing with the old key"
        ) from None
    match done.earlier:
        case CutOff.FINISHED:
            click.echo("An earlier change of the key was cut off after its record. It is finished now, and no other was made.")
        case CutOff.TAKEN_BACK:
            click.echo("An earlier change of the key was cut off before its record. It was taken back.")
        case None:
            pass
    click.echo(f"The log has a new key, on record as number {done.index}. Whoever keeps the old one should keep the new one:")
    click.echo(f"  old  {done.before.line()}\n  new  {done.after.line()}")
    click.echo("Make a new backup: those from before hold the old key.")
