"""`countersign people`: who is enrolled, what they may do, and that they may not, for a while or for good."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import click

from gateway.cli.operating import operate
from gateway.core.canonical import Json
from gateway.core.vocabulary import Profile
from gateway.settings_reading import load_settings

_state = click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")


@click.group()
def people() -> None:
    """List people, change their profile, suspend, resume or remove them. Works beside a running gateway and without one."""


@people.command("list")
@_state
def list_people(state: Path | None) -> None:
    """Print everybody: id, profile, passkeys, name, and whether they are suspended."""
    listed = asyncio.run(operate(load_settings(state=state), "people"))
    for person in cast("list[dict[str, Json]]", listed):
        suspended = "  (suspended)" if person["suspended"] else ""
        click.echo(f"{person['id']}  {person['profile']:<9}  {person['passkeys']} passkeys  {person['name']}{suspended}")


@people.command("profile")
@click.argument("person")
@click.argument("profile", type=click.Choice([Profile.OPERATOR.value, Profile.GUEST.value, Profile.AUDITOR.value]))
@_state
def change_profile(person: str, profile: str, state: Path | None) -> None:
    """Give PERSON, a name or an id, another PROFILE. Their sessions end, and they sign in again."""
    asyncio.run(operate(load_settings(state=state), "profile", person=person, profile=profile))
    click.echo(f"{person} is {profile} now; their sessions have ended, and enrolment links that were open are void.")


@people.command("suspend")
@click.argument("person")
@_state
def suspend(person: str, state: Path | None) -> None:
    """Keep PERSON, a name or an id, out until they are resumed. Their sessions end; passkeys and profile stay.

    Enrolment links that are open are void, also those of others: print new ones.
    """
    asyncio.run(operate(load_settings(state=state), "suspend", person=person))
    click.echo(f"{person} is suspended; their sessions have ended. `countersign people resume` lets them in again.")
    click.echo("Enrolment links that were open are void.")


@people.command("resume")
@click.argument("person")
@_state
def resume(person: str, state: Path | None) -> None:
    """Let PERSON, who is suspended, sign in again."""
    asyncio.run(operate(load_settings(state=state), "resume", person=person))
    click.echo(f"{person} may sign in again.")


@people.command("remove")
@click.argument("person")
@_state
def remove(person: str, state: Path | None) -> None:
    """Take PERSON's passkeys, by name or id, and end their sessions. What they did stays on record.

    Enrolment links that are open are void, also those of others: print new ones.
    """
    asyncio.run(operate(load_settings(state=state), "remove", person=person))
    click.echo(f"{person} was removed; their sessions have ended and their passkeys answer nothing.")
    click.echo("Enrolment links that were open are void.")
