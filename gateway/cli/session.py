"""`countersign session`: the agent sessions of a running gateway, and taking from them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import click

from gateway.cli.operating import operate
from gateway.core.canonical import Json
from gateway.core.vocabulary import Label
from gateway.settings_reading import load_settings

_state = click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")


@click.group()
def session() -> None:
    """List the agent sessions of the running gateway, lower what they may do, let them ask again."""


@session.command("list")
@_state
def list_sessions(state: Path | None) -> None:
    """Print every live session: id, label, person."""
    listed = asyncio.run(operate(load_settings(state=state), "sessions"))
    if not listed:
        click.echo("No session is alive.", err=True)
    for each in cast("list[dict[str, Json]]", listed):
        click.echo(f"{each['id']}  {each['label']:<12}  {each['person']}")


@session.command("downgrade")
@click.argument("session_id", metavar="SESSION")
@click.argument("label", type=click.Choice([label.name.lower() for label in Label if label is not Label.PUBLIC]))
@_state
def downgrade(session_id: str, label: str, state: Path | None) -> None:
    """Give SESSION the LABEL of confidential work at once, so that it may do less. Labels never fall again."""
    asyncio.run(operate(load_settings(state=state), "downgrade", session=session_id, label=label))
    click.echo(f"{session_id} is at label {label} now.")


@session.command("allow-questions")
@click.argument("session_id", metavar="SESSION")
@_state
def allow_questions(session_id: str, state: Path | None) -> None:
    """Let SESSION ask its person again, who said no so often that it asks nothing more. They can do so on the console too."""
    asyncio.run(operate(load_settings(state=state), "allow-questions", session=session_id))
    click.echo(f"{session_id} may ask again.")
