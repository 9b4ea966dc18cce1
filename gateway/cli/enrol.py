"""`countersign enrol`: a one-time link for the next person."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from gateway.core.vocabulary import Profile
from gateway.settings import Settings
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
    settings = load_settings(state=state)
    link = asyncio.run(_offer_enrolment(settings, name, Profile(profile)))
    minutes = settings.enrolment_minutes
    click.echo(f"Open this link in {name}'s browser; it works once, for {minutes:g} minutes:\n\n  {link}\n")


async def _offer_enrolment(settings: Settings, name: str, profile: Profile) -> str:
    """The link, from the running gateway or, when none runs, straight from the ledger."""
    from gateway.adapters.telemetry.metrics import Metrics
    from gateway.bootstrap import build
    from gateway.server.control import SOCKET_NAME, ask_gateway

    link = await ask_gateway(settings.state / SOCKET_NAME, {"command": "enrol", "name": name, "profile": profile.value})
    if link is not None:
        return str(link)
    async with build(settings, Metrics(), port=settings.port) as application:
        return await application.offer_enrolment(settings, name, profile)
