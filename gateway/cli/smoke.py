"""`countersign smoke`: whether this installation decides as it should, seen from outside in a few seconds."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import click


@click.command()
@click.option(
    "--policy",
    type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    help="Folder of the policy to try.  [default: the shipped one]",
)
def smoke(policy: Path | None) -> None:
    """Start this installation's gateway on a throw-away folder, and try one call for each decision: auto, consent, stepUp,
    forbidden.

    The model is the stub, the person and the passkey are made up for this run, and no state, workspace or setting of yours is
    touched. Prints a line for each decision and one for the record. Exit status 1 when something is not as it should be.
    """
    from gateway.cli.smoke_test.trials import try_all

    with tempfile.TemporaryDirectory(prefix="countersign-smoke-") as folder:
        differences = asyncio.run(try_all(Path(folder), policy))
    if differences:
        click.echo(f"countersign: {differences} of 5 are not as they should be", err=True)
        sys.exit(1)
