"""`countersign audit explain|replay|compare`: what happened in one call or one conversation, from the records alone."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.storage.accounts import (
    find_calls,
    read_offers,
    read_proven_conversation,
    read_request,
    read_title,
)
from gateway.adapters.storage.inspection import StoredLog, open_stored_log
from gateway.cli.quoting import quote
from gateway.core.checkpoint import Checkpoint, open_note
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ComparisonFinding
from gateway.policy_records import RecordedPolicies
from gateway.runtime.audit_account import Background, tell_call
from gateway.runtime.audit_comparison import ComparedCall, compare_calls, read_calls
from gateway.runtime.audit_replay import Repetition, replay_conversation
from gateway.runtime.ports import AuditRow
from gateway.settings_reading import load_settings

_state = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)


@click.command()
@click.argument("call_id", metavar="CALL")
@click.option("--conversation", metavar="ID", help="The call's conversation, where several have a call of that id.")
@click.option("--json", "as_json", is_flag=True, help="Print the records themselves, one JSON object a line.")
@_state
def explain(call_id: str, conversation: str | None, state: Path | None, *, as_json: bool) -> None:
    """Tell in sentences what happened with CALL: who asked for it, what decided, who approved, and what came of it."""
    with _open(state) as stored:
        places = find_calls(stored.connection, call_id, conversation)
        if not places:
            raise Misconfigured(f"no call {quote(call_id)} is on record; `countersign audit show` lists calls with their ids")
        if len(places) > 1:
            named = ", ".join(place.conversation_id for place in places)
            raise Misconfigured(f"several conversations have a call {quote(call_id)}; name one with --conversation: {named}")
        conversation_id = places[0].conversation_id
        rows = read_proven_conversation(stored, conversation_id)
        own = [row for row in rows if row.body.get("callId") == call_id]
        if as_json:
            for row in own:
                click.echo(json.dumps({"index": row.index, "hash": row.hash, "body": row.body, "payload": row.payload}))
            return
        lines = tell_call(rows, call_id, _background(stored, conversation_id, own))
    click.echo("\n".join(lines))


@click.command()
@click.argument("conversation")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each decision.")
@_state
def replay(conversation: str, state: Path | None, *, as_json: bool) -> None:
    """Make every decision of the gate in CONVERSATION again, from the records alone, and report any difference.

    Nothing is run and nobody is asked. Exit status: 0 when no decision comes out differently, 1 when one does.
    """
    with _open(state) as stored:
        rows = _require_some(read_proven_conversation(stored, conversation), conversation)
        digests = {row.body["snapshotDigest"] for row in rows if row.body.get("snapshotDigest") is not None}
        decided = replay_conversation(rows, read_offers(stored.connection, digests), RecordedPolicies.of(stored))
    found = Counter(each.finding for each in decided)
    for each in decided:
        if as_json:
            click.echo(json.dumps(asdict(each)))
        else:
            mark = {Repetition.SAME: "same     ", Repetition.DIFFERENT: "DIFFERENT", Repetition.NOT_REPEATABLE: "not again"}[
                each.finding
            ]
            words = [rfc3339(each.at), escape(each.call_id), escape(each.tool or "-"), escape(each.decided), escape(each.detail)]
            click.echo(f"{mark}  {each.index:>7}  {'  '.join(words)}")
    if not as_json:
        click.echo(
            f"{len(decided)} decisions: {found[Repetition.SAME]} came out the same, {found[Repetition.DIFFERENT]} differently,"
            f" {found[Repetition.NOT_REPEATABLE]} cannot be made again from the records."
        )
    if found[Repetition.DIFFERENT]:
        sys.exit(1)


@click.command()
@click.argument("one")
@click.argument("other")
@click.option("--width", type=click.IntRange(40, 400), default=120, show_default=True, help="Columns to use.")
@_state
def compare(one: str, other: str, width: int, state: Path | None) -> None:
    """Show the calls of two conversations, such as two branches of one, side by side: what each did, in the same order.

    Between two calls stands `=` for the same, `~` for the same that something else allowed, `|` for different ones, and `?`
    where arguments are erased, so that it cannot be told. Exit status: 0 when both did the same calls with the same outcomes,
    1 when they did not or it cannot be told.
    """
    with _open(state) as stored:
        left, right = (read_calls(_require_some(read_proven_conversation(stored, each), each)) for each in (one, other))
        heads = [escape(read_title(stored.connection, each) or "(deleted)") for each in (one, other)]
    column = (width - 5) // 2
    click.echo(f"{_fit(heads[0], column)}     {_fit(heads[1], column)}")
    differs = False
    for pair in compare_calls(left, right):
        sign = "~" if pair.only_decided_otherwise else _SIGNS[pair.finding]
        differs = differs or sign not in "=~"
        click.echo(f"{_fit(_line(pair.first), column)}  {sign}  {_fit(_line(pair.second), column)}".rstrip())
    if not left and not right:
        click.echo("Neither has called a tool.")
    if differs:
        sys.exit(1)


_SIGNS: Final[Mapping[ComparisonFinding, str]] = {
    ComparisonFinding.SAME: "=",
    ComparisonFinding.DIFFERENT: "|",
    ComparisonFinding.CANNOT_BE_TOLD: "?",
    ComparisonFinding.FIRST_ONLY: "<",
    ComparisonFinding.SECOND_ONLY: ">",
}


def _open(state: Path | None) -> AbstractContextManager[StoredLog]:
    return open_stored_log(load_settings(state=state).state)


def _require_some(rows: Sequence[AuditRow], conversation_id: str) -> Sequence[AuditRow]:
    if not rows:
        raise Misconfigured(f"no conversation {quote(conversation_id)} is on record")
    return rows


def _background(stored: StoredLog, conversation_id: str, own: Sequence[AuditRow]) -> Background:
    digest = next((row.body["snapshotDigest"] for row in own if row.body.get("snapshotDigest") is not None), None)
    offers: Mapping[str, object] = {} if digest is None else read_offers(stored.connection, [digest]).get(digest, {})
    recorded = RecordedPolicies.of(stored)
    note = stored.newest_note()
    checkpoint = None if note is None else open_note(note, stored.key)

    def why(version: str, rule: str) -> str | None:
        policy = recorded(version)
        if not isinstance(policy, CedarPolicy):
            return None
        return next((each.why for each in policy.rules() if each.id == rule), None)

    return Background(
        title=read_title(stored.connection, conversation_id),
        request=read_request(stored.connection, conversation_id, own[0].body["turnId"]),
        names=stored.names(),
        why=why,
        offered=len(offers) or None,
        size=checkpoint.size if isinstance(checkpoint, Checkpoint) else 0,
    )


def _line(call: ComparedCall | None) -> str:
    """A call with its arguments and how it ended; empty for none."""
    if call is None:
        return ""
    return escape(f"{call.outcome}  {call.tool or '?'} {call.arguments or '(erased)'}")


def _fit(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else f"{text[: width - 1]}…"
