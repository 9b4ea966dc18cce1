"""`countersign secrets`: what sources need to sign in somewhere, stored encrypted and never shown again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click

from gateway.cli.operating import operate
from gateway.core.canonical import Json
from gateway.settings_reading import load_settings

_state = click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")


@click.group()
def secrets() -> None:
    """Store tokens and passwords for sources, which refer to them as ${secret:NAME}."""


@secrets.command("list")
@_state
def list_secrets(state: Path | None) -> None:
    """Print the names of all secrets and the sources that use each."""
    listed = cast("Sequence[dict[str, Json]]", asyncio.run(operate(load_settings(state=state), "secrets")))
    for secret in listed:
        used = ", ".join(secret["sources"]) or "no source uses it"
        click.echo(f"{secret['name']}  {used}")
    if not listed:
        click.echo("No secret is stored.")


@secrets.command("set")
@click.argument("name")
@_state
def set_secret(name: str, state: Path | None) -> None:
    """Store a secret under NAME, or replace it. It is asked for, or read from standard input: `... set NAME < file`."""
    value = click.prompt("Secret", hide_input=True) if sys.stdin.isatty() else sys.stdin.read().removesuffix("\n")
    asyncio.run(operate(load_settings(state=state), "secret-set", name=name, value=value))
    click.echo(f"{name} is stored; a source refers to it as ${{secret:{name}}}.")


@secrets.command("remove")
@click.argument("name")
@_state
def remove_secret(name: str, state: Path | None) -> None:
    """Remove the secret NAME. Sources that use it cannot connect any more."""
    asyncio.run(operate(load_settings(state=state), "secret-remove", name=name))
    click.echo(f"{name} was removed.")
