"""What is asked of the call history, as statements. Every one is bounded in time, and none reads a call that it need not.

Counts come from the counted hours and days. A page comes from an index that is in its order; the counts say before how far back
it reaches, so that a rare kind of call is not looked for among millions of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, func, literal_column, or_, select, union

from gateway.adapters.storage.history import tables as t
from gateway.adapters.storage.history.writing import WHOLE_CALLS
from gateway.adapters.storage.reader import ARow
from gateway.core.call_history import DAY_MS, HOUR_MS
from gateway.runtime.ports import HistoryFilter

Query = Select[*tuple[Any, ...]]

MINUTE_MS: Final = 60_000

COUNTED_FROM: Final = 6 * HOUR_MS
"""Times as long as this are counted in whole hours; a shorter one call by call."""

FEW: Final = 20_000
"""Calls that are sorted for one page rather than looked for in order of time."""

FEW_DAYS: Final = 5 * DAY_MS
"""Shorter times are looked through as they are counted, longer ones by the kinds that are asked for."""

SHORTEST_ID: Final = 4
"""Characters from which a text is taken for the beginning of an id. A shorter one may be all of an id: agents choose those of
their calls."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A filter as conditions: on kinds of calls, and on the calls themselves. None: any."""

    since: int
    until: int
    kinds: ColumnElement[bool] | None
    turns: ColumnElement[bool] | None

    @property
    def counted(self) -> bool:
        """Whether the counted hours have the answer."""
        return self.turns is None and self.until - self.since >= COUNTED_FROM


def choose(connection: Connection, wanted: HistoryFilter) -> Chosen:
    """The conditions of a filter; its time in whole hours where it is long."""
    since, until = wanted.since, wanted.until
    if until - since >= COUNTED_FROM:
        since, until = since - since % HOUR_MS, until + -until % HOUR_MS
    kinds = [
        t.kinds.c[name] == value
        for name, value in (
            ("principal_id", wanted.principal_id),
            ("tool", wanted.tool),
            ("source", wanted.source),
            ("outcome", wanted.outcome),
            ("decision", wanted.decision),
            ("model_id", wanted.model_id),
            ("label", wanted.label),
            ("policy_version", wanted.policy_version),
        )
        if value is not None
    ]
    if wanted.rule is not None:
        kinds.append(t.kinds.c.rules.contains(f"\n{wanted.rule}\n", autoescape=True))
    rows: list[ColumnElement[bool]] = []
    if wanted.conversation_id is not None:
        rows.append(t.calls.c.turn.in_(select(t.turns.c.id).where(t.turns.c.conversation_id == wanted.conversation_id)))
    if wanted.text is not None:
        _choose_text(connection, wanted.text, wanted.text_people, kinds, rows)
    return Chosen(since, until, and_(*kinds) if kinds else None, and_(*rows) if rows else None)


def _choose_text(
    connection: Connection,
    text: str,
    people: tuple[str, ...],
    kinds: list[ColumnElement[bool]],
    rows: list[ColumnElement[bool]],
) -> None:
    """By ids and by names at once: the agent chooses the ids of its calls, and one that is like a name would hide all others."""
    named = _with_name(text, people)
    with_id = _with_id(connection, text)
    if with_id is None:
        kinds.append(named)
        return
    of_name = select(t.kinds.c.id).where(named)
    if connection.execute(of_name.limit(1)).first():
        with_id = or_(with_id, t.calls.c.kind.in_(of_name))
    rows.append(with_id)


def _with_name(text: str, people: tuple[str, ...]) -> ColumnElement[bool]:
    named = (t.kinds.c[name].icontains(text, autoescape=True) for name in ("tool", "source", "model_id", "rules", "reason"))
    return or_(t.kinds.c.principal_id == text, t.kinds.c.principal_id.in_(people), *named)


def _with_id(connection: Connection, text: str) -> ColumnElement[bool] | None:
    """The calls that have an id with that beginning; None where none has."""

    def fits(column: Column[Any]) -> ColumnElement[bool]:
        # The first character behind every continuation, as UTF-8 and SQLite order texts.
        return column == text if len(text) < SHORTEST_ID else and_(column >= text, column < text + "\U0010ffff")

    in_turns = [select(t.turns.c.id).where(fits(t.turns.c[name])) for name in ("conversation_id", "turn_id")]
    calls = [select(t.calls.c.position).where(fits(t.calls.c[name])) for name in ("call_id", "approval_id")]
    found: list[ColumnElement[bool]] = []
    for column, queries in ((t.calls.c.position, calls), (t.calls.c.turn, in_turns)):
        if any(connection.execute(query.limit(1)).first() for query in queries):
            found.append(column.in_(union(*queries)))
    return or_(*found) if found else None


# ── counting ──


def step_of(chosen: Chosen) -> int:
    """The width of a bucket: at most some hundred of them."""
    length = chosen.until - chosen.since
    if length <= HOUR_MS:
        return MINUTE_MS
    if length < COUNTED_FROM:
        return 5 * MINUTE_MS
    return HOUR_MS if length <= 5 * DAY_MS else DAY_MS


def count(connection: Connection, chosen: Chosen) -> Iterator[tuple[int, str, int]]:
    """(time, outcome, calls), several for one bucket."""
    if not chosen.counted:
        step: ColumnElement[int] = literal_column(str(step_of(chosen)))
        at = (t.calls.c.at - t.calls.c.at % step).label("bucket")
        every = select(at, t.kinds.c.outcome, func.count()).join_from(t.calls, t.kinds, t.kinds.c.id == t.calls.c.kind)
        query = _of_kinds(every, chosen)
        if chosen.turns is not None:
            query = query.where(chosen.turns)
        yield from _plain(connection, query.where(*_between(t.calls, chosen.since, chosen.until)).group_by(at, t.kinds.c.outcome))
        return
    for table, since, until in spans(chosen):
        of_kind = t.kinds.c.id == table.c.kind
        query = select(table.c.at, t.kinds.c.outcome, func.sum(table.c.calls)).join_from(table, t.kinds, of_kind)
        query = _of_kinds(query, chosen).where(*_between(table, since, until))
        yield from _plain(connection, query.group_by(table.c.at, t.kinds.c.outcome))


def spans(chosen: Chosen) -> Iterator[tuple[Any, int, int]]:
    """A time of whole hours as hours, days and hours. Only where its buckets are days are whole days taken."""
    first = chosen.since + -chosen.since % DAY_MS
    last = chosen.until - chosen.until % DAY_MS
    if step_of(chosen) != DAY_MS or first >= last:
        yield t.hours, chosen.since, chosen.until
        return
    if chosen.since < first:
        yield t.hours, chosen.since, first
    yield t.days, first, last
    if last < chosen.until:
        yield t.hours, last, chosen.until


def _plain(connection: Connection, query: Query) -> Iterator[tuple[int, str, int]]:
    yield from ((row[0], row[1], int(row[2])) for row in connection.execute(query))


def _of_kinds(query: Query, chosen: Chosen) -> Query:
    return query if chosen.kinds is None else query.where(chosen.kinds)


def _between(table: Any, since: int, until: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return table.c.at >= since, table.c.at < until


# ── a page ──


def page(connection: Connection, chosen: Chosen, before: tuple[int, int] | None, limit: int) -> list[ARow]:
    """Rows of `WHOLE_CALLS`, newest first."""
    until = chosen.until if before is None else min(chosen.until, before[0] + 1)
    since, many = chosen.since, False
    if chosen.kinds is not None and chosen.turns is None:
        since, many = _reach(connection, chosen, until, limit)
    places = select(t.calls.c.position).where(*_between(t.calls, since, until))
    if before is not None:
        at, position = before
        places = places.where(or_(t.calls.c.at < at, and_(t.calls.c.at == at, t.calls.c.position < position)))
    if chosen.turns is not None:
        places = places.where(chosen.turns)
    if chosen.kinds is not None:
        # An expression keeps SQLite from its index on kinds, where the time alone leaves few enough.
        kind = t.calls.c.kind + literal_column("0") if many or chosen.turns is not None else t.calls.c.kind
        places = places.where(kind.in_(select(t.kinds.c.id).where(chosen.kinds)))
    found = places.order_by(t.calls.c.at.desc(), t.calls.c.position.desc()).limit(limit).subquery()
    whole = WHOLE_CALLS.join(found, found.c.position == t.calls.c.position)
    return list(connection.execute(whole.order_by(t.calls.c.at.desc(), t.calls.c.position.desc())))


def _reach(connection: Connection, chosen: Chosen, until: int, limit: int) -> tuple[int, bool]:
    """From when on there are enough calls for the page, and whether they are too many to sort."""
    since = chosen.since
    for table, step in ((t.days, DAY_MS), (t.hours, HOUR_MS)):
        since, found = _reach_in(connection, table, step, chosen, since, until, limit)
        if found <= FEW:
            return since, False
    return since, True


def _reach_in(
    connection: Connection, table: Any, step: int, chosen: Chosen, since: int, until: int, limit: int
) -> tuple[int, int]:
    query = select(table.c.at, func.sum(table.c.calls)).where(*_between(table, since - since % step, until))
    if chosen.kinds is not None:
        # Not joined: SQLite would read all that was counted to look at the kind of each, which is the least for few days only.
        kind = table.c.kind + literal_column("0") if until - since < FEW_DAYS else table.c.kind
        query = query.where(kind.in_(select(t.kinds.c.id).where(chosen.kinds)))
    found = 0
    with connection.execute(query.group_by(table.c.at).order_by(table.c.at.desc())) as counted:
        newest = until - until % step
        for row in counted:
            at, calls = int(row[0]), int(row[1])
            found += calls
            # What began in the newest stretch may lie behind the page's end, so it does not count.
            if found - (calls if at == newest else 0) >= limit and at != newest:
                return max(since, at), found
    return since, found


# ── one call, and what there is to choose from ──


def find_call(position: int) -> Query:
    """One row of `WHOLE_CALLS`."""
    return WHOLE_CALLS.where(t.calls.c.position == position)


def values_of(name: str, principal_id: str | None) -> Query:
    """The different values of a column of kinds."""
    query = select(t.kinds.c[name]).where(t.kinds.c[name] != "").distinct()
    return query if principal_id is None else query.where(t.kinds.c.principal_id == principal_id)


def newest_after(at: int, principal_id: str | None) -> Query:
    """The time of the newest call after one."""
    query = select(func.max(t.calls.c.at)).where(t.calls.c.at > at)
    of_kind = t.kinds.c.id == t.calls.c.kind
    return query if principal_id is None else query.where(of_kind, t.kinds.c.principal_id == principal_id)


# ── load on people, and use of models ──


def questions(since: int, until: int, principal_id: str | None) -> Query:
    """Questions in the order in which they were asked."""
    of_kind, of_turn = t.kinds.c.id == t.calls.c.kind, t.turns.c.id == t.calls.c.turn
    query = (
        select(
            t.kinds.c.principal_id,
            t.kinds.c.tool,
            t.kinds.c.approval_kind,
            t.turns.c.conversation_id,
            t.calls.c.asked_at,
            t.calls.c.decided_at,
            t.calls.c.answer,
        )
        .join_from(t.calls, t.kinds, of_kind)
        .join(t.turns, of_turn)
        .where(t.calls.c.asked_at.is_not(None), t.calls.c.asked_at >= since, t.calls.c.asked_at < until)
        .order_by(t.calls.c.asked_at)
    )
    return query if principal_id is None else query.where(t.kinds.c.principal_id == principal_id)


def turns_by_person(since: int, until: int, principal_id: str | None) -> Query:
    """(person, turns begun)."""
    use = t.model_hours
    query = select(use.c.principal_id, func.sum(use.c.turns)).where(*_between(use, since, until)).group_by(use.c.principal_id)
    return query if principal_id is None else query.where(use.c.principal_id == principal_id)


USED: Final = ("turns", "requests", "failures", "prompt_tokens", "completion_tokens", "milliseconds")


def use_by_model(since: int, until: int, principal_id: str | None) -> Query:
    """What was used of each model."""
    use = t.model_hours
    sums = (func.sum(use.c[name]).label(name) for name in USED)
    query = select(use.c.model_id, *sums).where(*_between(use, since, until)).group_by(use.c.model_id)
    return query if principal_id is None else query.where(use.c.principal_id == principal_id)


def calls_by_model(since: int, until: int, principal_id: str | None) -> Iterator[Query]:
    """(model, calls, those that ran), several for one model."""
    whole = Chosen(since, until, None if principal_id is None else t.kinds.c.principal_id == principal_id, None)
    for table, begin, end in spans(whole):
        query = select(t.kinds.c.model_id, func.sum(table.c.calls), func.sum(table.c.calls).filter(t.kinds.c.ran))
        query = _of_kinds(query.join_from(table, t.kinds, t.kinds.c.id == table.c.kind), whole)
        yield query.where(*_between(table, begin, end)).group_by(t.kinds.c.model_id)


def by_bucket(rows: Iterator[tuple[int, str, int]], step: int) -> Mapping[int, dict[str, int]]:
    """Calls by outcome in each bucket that has any."""
    buckets: dict[int, dict[str, int]] = {}
    for at, outcome, calls in rows:
        # A call that ended is no more one that is open: that count is zero again.
        if calls:
            bucket = buckets.setdefault(at - at % step, {})
            bucket[outcome] = bucket.get(outcome, 0) + calls
    return buckets
