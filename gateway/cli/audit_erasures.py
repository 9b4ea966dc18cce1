"""`countersign audit erase`: erasing what is kept of a call, of a conversation or of a person."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from gateway.adapters.storage.accounts import find_calls
from gateway.adapters.storage.inspection import StoredLog, open_stored_log
from gateway.adapters.storage.loss import find_set_aside
from gateway.cli.audit_filters import find_person, require_person
from gateway.cli.confirming import confirm
from gateway.cli.operating import operate
from gateway.cli.quoting import quote
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import AuditQuery
from gateway.settings_reading import load_settings


@click.command()
@click.option("--call", metavar="ID", help="This call: its arguments, questions, answers and result.")
@click.option("--conversation", metavar="ID", help="This conversation, or the one that has the call.")
@click.option(
    "--person",
    metavar="PERSON",
    help="This person, by id or name, who was removed before: all their conversations, and their name.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def erase(call: str | None, conversation: str | None, person: str | None, state: Path | None, *, yes: bool) -> None:
    """Erase what is kept of a call, a conversation or a person, for good.

    The log keeps that something was done, when, by whom and how it was decided, and says what was erased: every proof of
    everything else stays valid. What was exported, backed up or copied before is out of its reach.
    """
    if (person is None) == (call is None and conversation is None):
        raise click.UsageError("give --call, --conversation or --person")
    settings = load_settings(state=state)
    named = f"call {call}" if call else f"conversation {conversation}"
    with open_stored_log(settings.state) as stored:
        # Before anybody is asked to confirm what there is not.
        if person is not None:
            names = stored.names()
            person = find_person(names, person)
            require_person(names, person)
            named = f"person {names[person]} ({person})"
        elif not _is_on_record(stored, call, conversation):
            raise Misconfigured(
                f"nothing is on record of {'call' if call else 'conversation'} {quote(call or conversation or '')}"
            )
    if not yes:
        confirm(f"Erase what is kept of {escape(named)}? Nothing brings it back.")
    asked: dict[str, Json] = {"call": call, "conversation": conversation, "person": person}
    done = asyncio.run(operate(settings, "erase", **{name: value for name, value in asked.items() if value is not None}))
    click.echo(f"Erased the content of {done['records']} records. That is on record; `countersign audit verify` says so.")
    for copy in done["copies"]:
        click.echo(f"Conversation {escape(copy)} was copied from it and is still there.")
    for folder in find_set_aside(settings.state):
        click.echo(f"{folder} was set aside by an earlier restore or recovery and may still hold it.")


def _is_on_record(stored: StoredLog, call: str | None, conversation: str | None) -> bool:
    """Whether any record is about it."""
    if call is not None:
        return bool(find_calls(stored.connection, call, conversation))
    return bool(stored.rows(AuditQuery(conversation_id=conversation, limit=1)))
