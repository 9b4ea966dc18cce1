"""`countersign doctor`: what is missing on this machine, and how to get it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from gateway.cli.serve import TOOL_FILE
from gateway.settings import load_settings


@click.command()
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")
@click.option("--tools", "tool_files", multiple=True, type=TOOL_FILE, metavar="FILE", help="Tool file to check.")
@click.option("--builtin-tools/--no-builtin-tools", default=None, help="Whether the built-in tools are offered.")
def doctor(state: Path | None, tool_files: tuple[Path, ...], builtin_tools: bool | None) -> None:
    """Check everything the gateway needs, one line each. Exit status 1 when something must be mended."""
    from gateway.bootstrap import diagnose

    findings = asyncio.run(diagnose(load_settings(state=state, tool_files=tool_files or None, builtin_tools=builtin_tools)))
    for finding in findings:
        mark = click.style("ok  ", fg="green") if finding.ok else click.style("MEND", fg="red")
        click.echo(f"{mark}  {finding.name}: {finding.sentence}")
    if not all(finding.ok for finding in findings):
        sys.exit(1)
