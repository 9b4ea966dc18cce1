"""`countersign enrol`: a one-time link for the next person."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from gateway.cli.operating import operate
from gateway.core.vocabulary import Profile
from gateway.settings_reading import load_settings


@click.command()
@click.argument("name")
@click.option(
    "--profile",
    type=click.Choice([Profile.OPERATOR.value, Profile.GUEST.value, Profile.AUDITOR.value]),
    default=Profile.GUEST.value,
    show_default=True,
    help="What the person may do; see docs/POLICY.md.",
)
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")
def enrol(name: str, profile: str, state: Path | None) -> None:
    """Print a link with which NAME registers their first passkey. It works once, for a quarter of an hour.

    Works beside a running gateway and without one.
    """
    told = asyncio.run(operate(load_settings(state=state), "enrol", name=name, profile=profile))
    link, minutes = told["link"], told["seconds"] / 60
    click.echo(f"Open this link in {name}'s browser; it works once, for {minutes:g} minutes:\n\n  {link}\n")
