"""`countersign doctor`: what is missing on this machine, and how to get it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from gateway.settings import load_settings


@click.command()
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")
def doctor(state: Path | None) -> None:
    """Check everything the gateway needs, one line each. Exit status 1 when something must be mended."""
    from gateway.bootstrap import diagnose

    findings = asyncio.run(diagnose(load_settings(state=state)))
    for finding in findings:
        mark = click.style("ok  ", fg="green") if finding.ok else click.style("MEND", fg="red")
        click.echo(f"{mark}  {finding.name}: {finding.sentence}")
    if not all(finding.ok for finding in findings):
        sys.exit(1)
