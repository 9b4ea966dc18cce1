"""Policies and what they decided, read back from the log for somebody who looks at it from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Connection, Select, func, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.log import CHUNK
from gateway.adapters.storage.projections.sealed import read_payload, sealed_columns
from gateway.adapters.storage.reader import stored
from gateway.adapters.storage.record_texts import UnpackedText
from gateway.adapters.storage.sqlite import JsonMember
from gateway.core.canonical import Json
from gateway.core.errors import LedgerDamaged
from gateway.core.judgement import Judgement, restore_judgement
from gateway.core.ledger import ApprovalRequested, CallClosed, CallIntended
from gateway.core.vocabulary import Decision, Reason
from gateway.runtime.ports import DamagedPolicy, LoadedPolicy, RecordedDecision

_NEWEST: Final = select(func.max(t.leaves.c.position))
_DECIDING: Final = (ApprovalRequested.EVENT, CallIntended.EVENT, CallClosed.EVENT)


def read_policies(connection: Connection) -> Sequence[LoadedPolicy]:
    """Every time that another policy came into force, newest first."""
    return [_read_policy(row) for row in connection.execute(_loaded())]


def read_policy_versions(connection: Connection) -> Iterator[LoadedPolicy | DamagedPolicy]:
    """The same, one by one."""
    for row in connection.execute(_loaded()):
        try:
            yield _read_policy(row)
        except LedgerDamaged as error:
            yield DamagedPolicy(row.version, row.leaf, error.message)


def _loaded() -> Select[Any]:
    return (
        select(t.policies, *sealed_columns(t.leaves))
        .join(t.leaves, t.leaves.c.position == t.policies.c.leaf)
        .order_by(t.policies.c.leaf.desc())
    )


def read_decisions(connection: Connection, since: int) -> Iterator[RecordedDecision]:
    """What was decided about each call since a moment (epoch milliseconds), in the order of the log.

    A call that ran is told by its intent, any other by its closing entry. Raises LedgerDamaged for a record that is not what
    was sealed.
    """
    return (each for each in DecisionReader().read(connection) if each.at >= since)


class DecisionReader:
    """Reads what was decided, from a place in the log on, and remembers which calls are under way."""

    def __init__(self, place: int = -1) -> None:
        """`place` is the record after which it begins."""
        self.place = place
        self._asked: set[tuple[str, str]] = set()
        self._begun: set[tuple[str, str]] = set()

    def read_stretch(self, connection: Connection, size: int) -> Iterator[RecordedDecision]:
        """What the next records decided, at most so many. It has to be read to its end."""
        newest = connection.execute(_NEWEST).scalar()
        until = min(self.place + size, self.place if newest is None else newest)
        yield from self.read(connection, until)
        self.place = until

    def read(self, connection: Connection, until: int | None = None) -> Iterator[RecordedDecision]:
        """What the records after the place decided, up to one of them and with it."""
        event, position = JsonMember(UnpackedText(t.leaves.c.body), "event"), t.leaves.c.position
        wanted = [event.in_(_DECIDING), position > self.place, *(() if until is None else [position <= until])]
        rows = select(position, *sealed_columns(t.leaves)).where(*wanted).order_by(position)
        for row in connection.execution_options(yield_per=CHUNK).execute(rows):
            body = orjson.loads(row.body)
            call = body["conversationId"], body["callId"]
            if body["event"] == ApprovalRequested.EVENT:
                self._asked.add(call)
                continue
            if body["event"] == CallIntended.EVENT:
                self._begun.add(call)
            elif call in self._begun:
                # Its intent told all of it.
                self._begun.discard(call)
                continue
            elif not _asked_a_policy(body):
                continue
            yield _read_decision(row, body, asked=call in self._asked)
            self._asked.discard(call)


def _asked_a_policy(body: Mapping[str, Json]) -> bool:
    """Whether a call that did not run got as far as the policy; unknown tools, bad arguments and stale turns do not."""
    return body["reason"] == Reason.FORBIDDEN or body["decision"] != Decision.FORBIDDEN


def _read_decision(row: Any, body: Mapping[str, Json], *, asked: bool) -> RecordedDecision:
    return RecordedDecision(
        at=body["at"],
        index=row.position,
        principal_id=body["principalId"],
        conversation_id=body["conversationId"],
        call_id=body["callId"],
        tool=body["tool"],
        version=body["policyVersion"],
        judgement=_read_judgement(row, body),
        asked=asked,
        ran=body["event"] == CallIntended.EVENT,
    )


@stored("record", "position")
def _read_payload(row: Any) -> Mapping[str, Json] | None:
    return read_payload(row.body, row.salt, row.payload)


def _read_judgement(row: Any, body: Mapping[str, Json]) -> Judgement | None:
    payload = _read_payload(row)
    if payload is None or "judged" not in payload or body["tool"] is None:
        return None
    try:
        return restore_judgement(payload["judged"], body["principalId"], body["tool"])
    except (KeyError, TypeError, ValueError):
        # A later version of the program may have written more than this one knows.
        return None


@stored("policy", "version")
def _read_policy(row: Any) -> LoadedPolicy:
    payload = read_payload(row.body, row.salt, row.payload)
    return LoadedPolicy(row.version, row.at, None if payload is None else payload["documents"], row.leaf)
