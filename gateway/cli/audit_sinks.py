"""`countersign audit sinks`: how far the sinks of the log are."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from gateway.adapters.shipping.places import PlaceFile, SinkPlace
from gateway.adapters.shipping.settings import read_sinks
from gateway.adapters.storage.inspection import StoredLog, open_stored_log
from gateway.core.effects import escape
from gateway.core.times import rfc3339
from gateway.runtime.ports import AuditQuery
from gateway.settings import Settings
from gateway.settings_reading import load_settings


@dataclass(frozen=True, slots=True)
class SinkStanding:
    """A sink, and how many records it lacks."""

    name: str
    kind: str
    place: SinkPlace
    behind: int

    @property
    def sentence(self) -> str:
        """For people."""
        last = "nothing was sent yet" if self.place.sent_at is None else f"last sent {rfc3339(self.place.sent_at)}"
        fault = f"; it takes nothing now: {escape(self.place.fault)}" if self.place.fault else ""
        return f"{self.kind}, {self.place.next:,} records sent, {self.behind:,} behind; {last}{fault}"


def look_at_sinks(settings: Settings) -> list[SinkStanding]:
    """Each sink of the settings, as its files say. One of a log that was put back since lacks all of it, and is sent all of it
    again. Raises Misconfigured."""
    sinks = read_sinks(settings.sinks)
    if not sinks:
        return []
    with open_stored_log(settings.state) as stored:
        newest = stored.rows(AuditQuery(limit=1))
        size = newest[0].index + 1 if newest else 0
        places = [PlaceFile(settings.state, sink.name).read() for sink in sinks]
        own = [_has_last(stored, place) for place in places]
    return [
        SinkStanding(sink.name, sink.settings.kind, place, max(size - place.next, 0) if is_own else size)
        for sink, place, is_own in zip(sinks, places, own, strict=True)
    ]


def _has_last(stored: StoredLog, place: SinkPlace) -> bool:
    """Whether the record that was sent last is the log's still."""
    if not place.last_hash:
        return True
    leaf = next(stored.leaves_after(place.next - 2, 1), None)
    return leaf is not None and (leaf.index, leaf.hash.hex()) == (place.next - 1, place.last_hash)


@click.command()
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def sinks(state: Path | None, *, as_json: bool) -> None:
    """Say where the log is sent, and how far each sink is behind. Exit status 1 when one takes nothing."""
    standings = look_at_sinks(load_settings(state=state))
    for each in standings:
        told = {"name": each.name, "kind": each.kind, "behind": each.behind, **asdict(each.place)}
        click.echo(json.dumps(told) if as_json else f"{each.name}: {each.sentence}")
    if not standings and not as_json:
        click.echo("no sinks; docs/AUDIT.md says how the log is sent elsewhere as it happens")
    if any(each.place.fault for each in standings):
        sys.exit(1)
