"""`countersign audit export`: the whole log to be checked, or the calls that a filter finds for another program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import click

from gateway import __version__
from gateway.adapters.anchoring.evidence import read_evidence
from gateway.adapters.storage.export_writing import write_export
from gateway.adapters.storage.history.copied import open_copied_history
from gateway.adapters.storage.inspection import StoredLogReader, open_stored_log
from gateway.cli.audit_checking import check_log, tell_fault
from gateway.cli.audit_filters import find_person, published_tools, require_person, require_recorded
from gateway.cli.outputs import OUTPUT, open_changeable_output, open_output
from gateway.cli.quoting import quote
from gateway.core.call_files import CallFormat, writer_of
from gateway.core.call_files.described import Named
from gateway.core.call_files.parquet import require_parquet
from gateway.core.errors import Misconfigured
from gateway.core.times import read_rfc3339
from gateway.runtime.call_filters import LABELS, LONGEST_WORD, OUTCOMES, AskedCalls, read_filter
from gateway.runtime.ports import CallHistory, HistoryFilter
from gateway.settings_reading import load_settings

SIGNED: Final = "signed"

LAST_MS: Final = 1 << 52
"""After every time that a log can have."""

AT_ONCE: Final = 1_000
"""Calls that are read in one step."""

_UNCHECKED: Final = (
    "Nothing in them was compared with what the log's checkpoints sign: `countersign audit verify` checks the log,"
    " `countersign audit receipt CALL` proves one call."
)

_FILTERS: Final[Mapping[str, tuple[str, str]]] = {
    "since": ("TIME", "Calls that began at this time or later: RFC 3339, such as 2026-01-31T09:00:00Z."),
    "until": ("TIME", "Calls that began before this time."),
    "principal": ("PERSON", "Calls of this person, by id or name."),
    "tool": ("NAME", "Calls of this tool."),
    "source": ("NAME", "Calls of tools of this source."),
    "decision": ("WORD", "Calls that were decided so: auto, consented, denied …"),
    "model": ("ID", "Calls that this model proposed."),
    "rule": ("ID", "Calls that this rule decided about."),
    "policy-version": ("DIGEST", "Calls under this version of the policy."),
    "conversation": ("ID", "Calls of this conversation."),
    "text": ("TEXT", "The beginning of an id, or a part of a name."),
}


_MEMBERS: Final[Mapping[str, str]] = {"principal": "principal_id", "model": "model_id", "conversation": "conversation_id"}
"""Options that are shorter than what they are called elsewhere."""


def _filtered(command: Callable[..., None]) -> Callable[..., None]:
    for name, (metavar, words) in reversed(_FILTERS.items()):
        command = click.option(f"--{name}", metavar=metavar, help=words)(command)
    return command


@click.command()
@click.argument("file", type=OUTPUT)
@click.option(
    "--format",
    "form",
    type=click.Choice([SIGNED, *(form.value for form in CallFormat)]),
    default=SIGNED,
    show_default=True,
    help="`signed`: the whole log, which `audit verify` checks. The others are calls, for spreadsheets (csv), analysis (parquet)"
    " and other programs (jsonl, ocsf, cef), and prove nothing.",
)
@click.option("--outcome", type=click.Choice([str(each) for each in OUTCOMES]), help="Calls that closed so, or are `open`.")
@click.option("--label", type=click.Choice([*LABELS]), help="Calls at this label.")
@_filtered
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
def export(file: Path, form: str, state: Path | None, **wanted: str | None) -> None:
    """Write the whole log to FILE as JSON lines: records, payloads, checkpoints, published tools and the key to check with.

    Payloads hold arguments and results: treat the file like the state folder itself. `-` writes to standard output.

    With another --format, FILE has a line or row for each call, newest first: of all calls, or of those that the filters find.
    They are the filters of the console's audit page; a time of six hours or more is taken in whole hours. None has arguments,
    results or texts of a conversation. They are as they stand in the history of calls, and are not checked.

    Exit status: 0 when it is written, 1 when the whole log is written and is not sound, 2 when it is not written.
    """
    for name, value in wanted.items():
        if value is not None and len(value) > LONGEST_WORD:
            raise Misconfigured(f"--{name.replace('_', '-')} takes at most {LONGEST_WORD} characters, not {len(value):,}")
    settings = load_settings(state=state)
    folder = settings.state
    if form == SIGNED:
        if any(value is not None for value in wanted.values()):
            raise click.UsageError("a signed export is always of the whole log; name a --format with the filters")
        reader = StoredLogReader(folder)
        with open_changeable_output(file) as output:
            count = write_export(reader.open, output, read_evidence(settings.anchors, folder))
        click.echo(f"{count} records exported", err=True)
        report = check_log(settings)
        if report.fault is not None:
            click.echo(f"{tell_fault(report.fault, report.size)} The export has it as it is.", err=True)
            sys.exit(1)
        return
    _write_calls(folder, file, CallFormat(form), wanted)


def _write_calls(folder: Path, file: Path, form: CallFormat, wanted: Mapping[str, str | None]) -> None:
    if form is CallFormat.PARQUET:
        # Said before a long history is copied.
        require_parquet()
    with open_stored_log(folder) as stored:
        named = Named(stored.key.name, __version__, stored.names())
        tools = published_tools(stored)
    if wanted["principal"] is not None:
        wanted = {**wanted, "principal": find_person(named.people, wanted["principal"])}
    with open_copied_history(folder) as history:
        chosen = _read_filter(wanted, named)
        asyncio.run(_require_recorded(history, wanted, named.people, tools))
        with open_output(file) as output:
            written = asyncio.run(_Export(history, chosen, form, named, output).write())
    click.echo(f"{written:,} calls exported", err=True)
    click.echo(_UNCHECKED, err=True)


async def _require_recorded(
    history: CallHistory, wanted: Mapping[str, str | None], people: Mapping[str, str], tools: Collection[str]
) -> None:
    """Raises Misconfigured for what a filter names that no call and nobody ever had."""
    choices = await history.choices(None)
    if (person := wanted["principal"]) is not None:
        require_person(people, person, choices.people)
    known: Mapping[str, tuple[str, Collection[str]]] = {
        "tool": ("tool", {*choices.tools, *tools}),
        "source": ("source of tools", choices.sources),
        "model": ("model", choices.models),
        "rule": ("rule", choices.rules),
        "policy_version": ("policy version", choices.policy_versions),
    }
    for name, (what, values) in known.items():
        if (value := wanted[name]) is not None:
            require_recorded(what, value, values)
    conversation = wanted["conversation"]
    if conversation is not None:
        counts = await history.count(HistoryFilter(0, LAST_MS, conversation_id=conversation))
        if not counts.total:
            raise Misconfigured(f"no call of a conversation {quote(conversation)} is on record")


@dataclass(frozen=True, slots=True)
class _Export:
    history: CallHistory
    wanted: HistoryFilter
    form: CallFormat
    named: Named
    file: IO[bytes]

    async def write(self) -> int:
        writer = writer_of(self.form, self.named)
        self.file.write(writer.head())
        written = 0
        place: tuple[int, int] | None = None
        total = (await self.history.count(self.wanted)).total
        hidden = not sys.stderr.isatty()
        bar: Any = click.progressbar(length=total, label="Exporting", file=sys.stderr, hidden=hidden)
        with bar:
            while page := await self.history.page(self.wanted, place, AT_ONCE):
                self.file.write(writer.lines(page))
                written += len(page)
                place = page[-1].at, page[-1].position
                bar.update(len(page))
        self.file.write(writer.tail())
        return written


def _read_filter(wanted: Mapping[str, str | None], named: Named) -> HistoryFilter:
    since, until = _read_time(wanted["since"], 0), _read_time(wanted["until"], LAST_MS)
    if since >= until:
        raise Misconfigured("--until must be later than --since")
    members = {_MEMBERS.get(name, name): value for name, value in wanted.items() if name not in ("since", "until")}
    return read_filter(AskedCalls(**members), since, until, named.people)


def _read_time(text: str | None, otherwise: int) -> int:
    if text is None:
        return otherwise
    try:
        return read_rfc3339(text)
    except (ValueError, TypeError):
        raise Misconfigured(f"{quote(text)} is not a time with its zone, such as 2026-01-31T09:00:00Z") from None
