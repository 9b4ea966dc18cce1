"""`countersign policy freeze|thaw|status|publish|rollback`: what the host's shell can do about the policy of a gateway.

The shell has no passkey. So it can forbid everything at once, and it can propose; what allows more is signed on the console.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from gateway.cli.operating import operate
from gateway.cli.policy_arguments import SHORT
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.policy_records import RecordedPolicies
from gateway.settings_reading import load_settings

_state = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
_reason = click.option("--reason", required=True, help="Why, for the record and for who signs it.")


@click.command()
@click.argument("why")
@_state
def freeze(why: str, state: Path | None) -> None:
    """Forbid everything at once, whatever the policy says, until an operator thaws it on the console.

    WHY goes on record and is shown to operators. It holds for the running gateway at once, and for the next one where none
    runs; a restart does not end it. What is running already runs to its end.
    """
    told = asyncio.run(operate(load_settings(state=state), "policy-freeze", why=why))
    click.echo(f"Frozen since {told['at']}: {escape(told['why'])}")
    click.echo("Nothing is allowed until an operator thaws it on the console with a passkey.")


@click.command()
@_state
def thaw(state: Path | None) -> None:
    """Say where a freeze is ended: this needs an operator's passkey, which the shell has not.

    Exit status: 0 when nothing is frozen, 1 when something is.
    """
    told = asyncio.run(operate(load_settings(state=state), "policy-state"))
    if told["freeze"] is None:
        click.echo("The policy is not frozen.")
        return
    click.echo(f"Frozen since {told['freeze']['at']}: {escape(told['freeze']['why'])}")
    click.echo(f"Thaw it with your passkey at {told['console']}/policy")
    sys.exit(1)


@click.command()
@_state
def status(state: Path | None) -> None:
    """Say which policy is in force, where it is kept, whether it is frozen, and what waits for signatures."""
    told = asyncio.run(operate(load_settings(state=state), "policy-state"))
    click.echo(f"Policy {told['version'][:SHORT]} is in force; it is kept in {_KEPT[told['source']]}.")
    if told.get("excess") is not None:
        click.echo(f"Warning: {told['excess']}.")
    if told["freeze"] is not None:
        click.echo(f"FROZEN since {told['freeze']['at']}: {escape(told['freeze']['why'])}")
    for each in told["proposals"]:
        loosens = ", asks for less" if each["loosens"] else ""
        click.echo(
            f"{each['version'][:SHORT]}  {each['signed']} of {each['needed']} signatures{loosens}  {escape(each['reason'])}"
        )


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_reason
@click.option("--base", help="Version that it was made from; the one in force when not given.")
@_state
def publish(folder: Path, reason: str, base: str | None, state: Path | None) -> None:
    """Propose the policy in FOLDER, to be signed with a passkey on the console.

    Exit status: 0 when it waits for signatures, 1 when something stands against it, 2 when it cannot be read.
    """
    from gateway.adapters.policy.cases import read_case_texts
    from gateway.adapters.policy.documents import read_texts

    _propose(state, reason, documents=read_texts(folder), cases=read_case_texts(folder) or None, base=base)


@click.command()
@click.argument("version")
@_reason
@_state
def rollback(version: str, reason: str, state: Path | None) -> None:
    """Propose a VERSION that was in force before, to be signed with a passkey on the console: it comes back as a new one."""
    from gateway.adapters.storage.inspection import open_stored_log

    with open_stored_log(load_settings(state=state).state) as stored:
        recorded = RecordedPolicies.of(stored)
    _propose(state, reason, documents=recorded.texts(recorded.find(version)), cases=None, base=None)


_KEPT = {"files": "files", "database": "the database"}


def _propose(
    state: Path | None, reason: str, *, documents: Mapping[str, str], cases: Mapping[str, str] | None, base: str | None
) -> None:
    from gateway.server.control import SOCKET_NAME, ask_gateway

    settings = load_settings(state=state)
    asked: dict[str, Json] = {"command": "policy-propose", "documents": dict(documents), "reason": reason, "base": base}
    asked["cases"] = None if cases is None else dict(cases)
    told = asyncio.run(ask_gateway(settings.state / SOCKET_NAME, asked))
    if told is None:
        raise Misconfigured("no gateway is running on this state folder; a proposal waits in a running one")
    for fault in told["faults"]:
        click.echo(f"{fault['file']}:{fault['line']}:{fault['column']}: {fault['severity']}: {escape(fault['message'])}")
    proposal = told["proposal"]
    if proposal is not None:
        signatures = "one signature" if proposal["needed"] == 1 else f"{proposal['needed']} signatures of different operators"
        click.echo(f"Policy {proposal['version'][:SHORT]} waits for {signatures} at {proposal['page']}")
        return
    click.echo(_obstacle(told))
    sys.exit(1)


def _obstacle(told: Mapping[str, Json]) -> str:
    if told["conflict"] is not None:
        return f"Policy {told['conflict'][:SHORT]} came into force meanwhile; compare with it and propose again."
    if told["unchanged"]:
        return "That policy is in force already."
    cases = told["cases"]
    if cases is None:
        return "It does not load, so the last policy stays in force."
    named = "".join(f"\n  {escape(about)}" for about in cases["failed"][:10])
    return f"{len(cases['failed'])} of {cases['total']} cases do not hold, so the last policy stays in force.{named}"
