"""`countersign policy shadow start|status|stop`: a candidate policy beside the one in force, which it does not change."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import click

from gateway.cli.operating import operate
from gateway.cli.policy_arguments import SHORT
from gateway.cli.policy_reports import CHANGES
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.policy_records import RecordedPolicies
from gateway.runtime.rehearsal import ModeChange
from gateway.settings_reading import load_settings

_state = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group()
def shadow() -> None:
    """Put a candidate policy to every call that is decided, beside the policy in force, and count where they disagree.

    It decides nothing, and calls do not wait for it. It runs through restarts, until it is stopped or comes into force.
    """


@shadow.command()
@click.argument("candidate", metavar="POLICY")
@click.option("--why", required=True, help="Why, for the record.")
@_state
def start(candidate: str, why: str, state: Path | None) -> None:
    """Start POLICY: a folder, a version that was in force, or one .cedar file, which is added to the policy in force or takes the
    place of its file of that name.

    Exit status: 0 when it runs, 2 when it does not load or another one runs.
    """
    settings = load_settings(state=state)
    documents, added = _read(candidate, settings.state)
    told = asyncio.run(operate(settings, "policy-shadow-start", documents=dict(documents), added=added, why=why))
    click.echo(f"Policy {told['version'][:SHORT]} runs in shadow; it decides nothing.")


@shadow.command()
@_json
@_state
def status(state: Path | None, *, as_json: bool) -> None:
    """Say which policy runs in shadow, and which calls it would have decided otherwise.

    Exit status: 0 when one runs, 1 when none does.
    """
    told = asyncio.run(operate(load_settings(state=state), "policy-shadow"))
    if as_json:
        click.echo(json.dumps(told))
    else:
        click.echo("No policy runs in shadow." if told is None else _describe(told))
    if told is None:
        raise SystemExit(1)


@shadow.command()
@_json
@_state
def stop(state: Path | None, *, as_json: bool) -> None:
    """Stop the policy in shadow, put on record what came of it, and say so.

    Exit status: 0 when it ran until now, 2 when none did.
    """
    told = asyncio.run(operate(load_settings(state=state), "policy-shadow-stop"))
    click.echo(json.dumps(told) if as_json else f"{_describe(told)}\nIt is stopped.")


def _read(candidate: str, state: Path) -> tuple[Mapping[str, str], bool]:
    """The texts that a person named, and whether they belong to those in force."""
    path = Path(candidate)
    if path.is_dir():
        from gateway.adapters.policy.documents import read_texts

        return read_texts(path), False
    if path.suffix == ".cedar":
        from gateway.adapters.policy.documents import decode

        try:
            return {path.name: decode(path.name, path.read_bytes())}, True
        except OSError as error:
            raise Misconfigured(f"`{candidate}` cannot be read: {error.strerror}") from None
    from gateway.adapters.storage.inspection import open_stored_log

    with open_stored_log(state) as stored:
        recorded = RecordedPolicies.of(stored)
    return recorded.texts(recorded.find(candidate)), False


def _describe(told: Mapping[str, Json]) -> str:
    counts = told["differences"]
    differing = sum(counts.values())
    lines = [
        f"Policy {told['version'][:SHORT]} runs in shadow since {told['at']}.",
        f"Of {told['judged']} calls it decides {differing} otherwise than the policy in force did.",
    ]
    if unjudged := sum(told["unjudged"].values()):
        lines.append(f"{unjudged} could not be judged again.")
    if told["unlike"]:
        lines.append(f"{told['unlike']} are not as on record under their own policy; do not rely on this.")
    if told["behind"]:
        lines.append("More calls are on record, and are compared by and by.")
    for change in ModeChange:
        if counts[change.value]:
            lines.append(f"{counts[change.value]} {CHANGES[change]}:")
            lines += [_call(each) for each in told["examples"] if each["change"] == change.value]
    return "\n".join(lines)


def _call(each: Mapping[str, Json]) -> str:
    rules = ", ".join(each["rules"]) or "no rule permits it"
    where = f"{each['conversationId']}/{escape(str(each['callId']))}"
    return f"  {escape(str(each['tool']))}: {each['before']} -> {each['after']} by {rules}; {where}"
