"""`countersign settings`: what an operator may change while the gateway runs, from the machine's own command line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final, cast

import click

from gateway.cli.operating import operate
from gateway.core.canonical import Json
from gateway.settings_reading import load_settings

PLACES: Final = {
    "default": "",
    "file": "  (in countersign.toml; changed there)",
    "environment": "  (in the environment; changed there)",
    "commandLine": "  (by an option; changed there)",
    "console": "  (changed while the gateway ran)",
}

_state = click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")


@click.group()
def settings() -> None:
    """List, change and put back the settings that hold at once and outlive a restart. Works beside a running gateway and without
    one; the console does the same with a passkey. All other settings are in `countersign.toml` or the environment.
    """


@settings.command("list")
@_state
def list_settings(state: Path | None) -> None:
    """Print each of them: name, value, what it may be, and where it is set."""
    listed = asyncio.run(operate(load_settings(state=state), "settings"))
    for each in cast("list[dict[str, Json]]", listed):
        numbers = [f"{each['least']} to {each['most']}"] if each["most"] else []
        value = each["value"] if isinstance(each["value"], str) else f"{each['value']:g}"
        click.echo(f"{each['name']:<20} {value:>8}  {', '.join([*numbers, *each['words']])}{PLACES[each['place']]}")


@settings.command("set")
@click.argument("name")
@click.argument("value")
@_state
def set_setting(name: str, value: str, state: Path | None) -> None:
    """Set NAME to VALUE, at once and for later starts."""
    given = int(value) if value.isascii() and value.isdigit() and len(value) < 12 else value
    asyncio.run(operate(load_settings(state=state), "setting-change", name=name, value=given))
    click.echo(f"{name} is {given} now; `countersign settings reset {name}` puts it back.")


@settings.command("reset")
@click.argument("name")
@_state
def reset_setting(name: str, state: Path | None) -> None:
    """Put NAME back to what it would be if nobody had changed it."""
    value = asyncio.run(operate(load_settings(state=state), "setting-change", name=name, value=None))
    click.echo(f"{name} is {value if isinstance(value, str) else format(value, 'g')} again.")
