"""What the loop itself answers where rows of a file are asked for: by what they are not, or by when they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from gateway.agent.copy import Copy
from gateway.agent.days import iso_day
from gateway.agent.entries import entries_of, row_label
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.exclusions import exclusion_in, kept_rows
from gateway.agent.figures import ResultSource, asks_for_figure
from gateway.agent.open_entries import boxed_in, entries_asked
from gateway.agent.picking import picked_from
from gateway.agent.tables import TableRow
from gateway.agent.timed import When, timed_rows


def answer_rows(wish: str, source: ResultSource, today: date, copy: Copy) -> str | None:
    """The rows that a wish asks for, with where they stand; None where it asks for something else, or of a part of a file."""
    if asks_for_figure(wish) or picked_from(wish) is not None or not source.whole or not source.has_lines:
        return None
    if (entries := entries_asked(wish, source.text)) is not None:
        none = copy.say("noneLeft", count=str(len(boxed_in(source.text))))
        return _told(entries, source, copy) if entries else f"{none} {cited(source.name)}"
    exclusion, table = exclusion_in(wish), entries_of(source.text, source.name)
    if exclusion is not None and table is not None:
        rows = kept_rows(exclusion, source.text, source.name, table)
        if rows is None:
            return f"{copy.say('notTold')} {cited(source.name)}:\n\n{excerpt_of(source.text).text}"
        return _told(rows, source, copy) if rows else f"{copy.say('noneLeft', count=str(len(table.rows)))} {cited(source.name)}"
    timed = None if exclusion is not None else timed_rows(wish, source.text, source.name, today)
    if timed is None:
        return None
    none = copy.say("noneBehind" if timed.when is When.LAST else "noneAhead", day=iso_day(today))
    return _told(timed.rows, source, copy) if timed.rows else f"{none} {cited(source.name)}"


def _told(rows: Sequence[TableRow], source: ResultSource, copy: Copy) -> str:
    noun = copy.say("entryOne" if len(rows) == 1 else "entryMany")
    said = copy.say("counted", count=str(len(rows)), noun=noun)
    excerpt = excerpt_of("\n".join(map(row_label, rows)))
    rest = f"\n{copy.say('leftOut', rest=str(excerpt.left_out))}" if excerpt.left_out else ""
    return f"{said} {cited(source.name, [row.line for row in rows if row.line is not None])}:\n\n{excerpt.text}{rest}"
