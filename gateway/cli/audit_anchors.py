"""`countersign audit anchors`: where the log's checkpoints are kept, and what is not anchored yet."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import click

from gateway.adapters.anchoring.anchorer import GONE
from gateway.adapters.anchoring.places import AnchorFile, AnchorPlace
from gateway.adapters.anchoring.settings import read_anchors
from gateway.adapters.storage.inspection import open_stored_log
from gateway.core.effects import escape
from gateway.core.times import rfc3339
from gateway.runtime.ports import AuditQuery
from gateway.settings import Settings
from gateway.settings_reading import load_settings

UNANCHORED_TAIL: Final = (
    "What is not anchored rests on this host alone: whoever has its database and the log's key can write those records anew,"
    " and no check can tell."
)


@dataclass(frozen=True, slots=True)
class AnchorStanding:
    """An anchor, and how many records came after what it has."""

    name: str
    kind: str
    place: AnchorPlace
    unanchored: int

    @property
    def sentence(self) -> str:
        """For people."""
        last = "it has nothing yet" if self.place.at is None else f"last anchored {rfc3339(self.place.at)}"
        fault = f"; it takes nothing now: {escape(self.place.fault)}" if self.place.fault else ""
        return f"{self.kind}, {self.place.size:,} records anchored, {self.unanchored:,} not yet; {last}{fault}"


def look_at_anchors(settings: Settings) -> list[AnchorStanding]:
    """Each anchor of the settings, as its file says, and whether the log has the anchored checkpoint still: no gateway may have
    looked since it was put back. Raises Misconfigured."""
    anchors = read_anchors(settings.anchors)
    if not anchors:
        return []
    with open_stored_log(settings.state) as stored:
        newest = stored.rows(AuditQuery(limit=1))
        size = newest[0].index + 1 if newest else 0
        places = [AnchorFile(settings.state, anchor.name).read() for anchor in anchors]
        gone = [bool(place.note) and not stored.has_anchored(place.note) for place in places]
    return [
        AnchorStanding(anchor.name, anchor.settings.kind, replace(place, fault=place.fault or GONE), size)
        if is_gone
        else AnchorStanding(anchor.name, anchor.settings.kind, place, max(size - place.size, 0))
        for anchor, place, is_gone in zip(anchors, places, gone, strict=True)
    ]


@click.command()
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, with the anchored checkpoint and its proof.")
def anchors(state: Path | None, *, as_json: bool) -> None:
    """Say where checkpoints of the log are kept, and since when. Exit status 1 when an anchor takes none."""
    standings = look_at_anchors(load_settings(state=state))
    for each in standings:
        told = {"name": each.name, "kind": each.kind, "unanchored": each.unanchored, **asdict(each.place)}
        click.echo(json.dumps(told) if as_json else f"{each.name}: {each.sentence}")
    if not as_json:
        click.echo(UNANCHORED_TAIL if standings else f"no anchors; docs/AUDIT.md says how to have one. {UNANCHORED_TAIL}")
    if any(each.place.fault for each in standings):
        sys.exit(1)
