"""Two conversations, such as two branches of one, call by call: what both did, and where they part. From the records alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.canonical import Json, digest
from gateway.core.ledger import CallRefusedUnrecorded
from gateway.core.vocabulary import CallDifference, ComparisonFinding
from gateway.runtime.ports import AuditRow
from gateway.runtime.recorded_forms import reading_record

SHOWN: Final = 400
"""Characters of arguments that are kept for reading. They are compared whole."""

_HOW_DECIDED: Final = frozenset({CallDifference.DECISION, CallDifference.RULES})


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """A closed call. `position` is that of its first record. `arguments` are the beginning of their JSON, None where none are
    kept; `arguments_digest` is that of the whole. What the call asked for is not known where it is `erased`."""

    position: int
    closed: int
    call_id: str
    tool: str | None
    arguments: str | None
    arguments_digest: str | None
    erased: bool
    outcome: str
    decision: str | None
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two calls at the same place, or one where the other conversation has none there."""

    first: ComparedCall | None
    second: ComparedCall | None
    finding: ComparisonFinding
    differs: tuple[CallDifference, ...] = ()

    @property
    def only_decided_otherwise(self) -> bool:
        """Whether both asked for the same and it ended the same, and only what allowed it differs."""
        return self.finding is ComparisonFinding.DIFFERENT and set(self.differs) <= _HOW_DECIDED


def read_calls(rows: Iterable[AuditRow]) -> list[ComparedCall]:
    """The closed calls of a conversation, in the order in which they closed. `rows` are its records, oldest first."""
    of_call: dict[object, list[AuditRow]] = {}
    for row in rows:
        if (call_id := row.body.get("callId")) is not None:
            # A second request under the id of a first is a call of its own, and the first stays as it is.
            alone = row.body["event"] == CallRefusedUnrecorded.EVENT
            with reading_record(row.index):
                of_call.setdefault((call_id, row.index) if alone else call_id, []).append(row)
    calls = [call for own in of_call.values() if (call := read_call(own)) is not None]
    return sorted(calls, key=lambda call: call.closed)


def read_call(own: Sequence[AuditRow]) -> ComparedCall | None:
    """One call by its records, oldest first; None for one that has not closed. Raises LedgerDamaged for records that this
    version does not know."""
    with reading_record(own[0].index):
        return _read_call(own)


def _read_call(own: Sequence[AuditRow]) -> ComparedCall | None:
    closed = next((row for row in own if "outcome" in row.body), None)
    if closed is None:
        return None
    payloads = [row.payload for row in own if row.payload is not None]
    held: Json = next((payload["arguments"] for payload in payloads if "arguments" in payload), None)
    tools = [row.body.get("tool") for row in own] + [payload.get("tool") for payload in payloads]
    decided = [row.body["because"] for row in own if "because" in row.body]
    return ComparedCall(
        position=own[0].index,
        closed=closed.index,
        call_id=str(closed.body["callId"]),
        tool=next((str(tool) for tool in tools if tool), None),
        arguments=None if held is None else _cut(json.dumps(held, ensure_ascii=False)),
        arguments_digest=None if held is None else digest(held),
        erased=held is None,
        outcome=str(closed.body["outcome"]),
        decision=next((str(row.body["decision"]) for row in reversed(own) if row.body.get("decision")), None),
        rules=tuple(map(str, decided[-1])) if decided else (),
    )


def compare_calls(first: Sequence[ComparedCall], second: Sequence[ComparedCall]) -> list[ComparedPair]:
    """The calls of both, aligned at those that asked for the same and ended the same; in between, one by one in their order."""
    keys = [[(call.outcome, call.tool, call.arguments_digest) for call in calls] for calls in (first, second)]
    # Imported by the first comparison.
    import difflib

    blocks = difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    return [
        _pair(first[i + k] if i + k < i_end else None, second[j + k] if j + k < j_end else None)
        for _, i, i_end, j, j_end in blocks
        for k in range(max(i_end - i, j_end - j))
    ]


def _pair(first: ComparedCall | None, second: ComparedCall | None) -> ComparedPair:
    if first is None:
        return ComparedPair(None, second, ComparisonFinding.SECOND_ONLY)
    if second is None:
        return ComparedPair(first, None, ComparisonFinding.FIRST_ONLY)
    # A call is the same as itself, whatever is left of it.
    told = first.position == second.position or not (first.erased or second.erased)
    found = {
        # Of a call whose arguments were refused, the tool's name is a word of the proposal's, and is erased with it.
        CallDifference.TOOL: first.tool != second.tool and (told or None not in (first.tool, second.tool)),
        CallDifference.ARGUMENTS: told and first.arguments_digest != second.arguments_digest,
        CallDifference.DECISION: first.decision != second.decision,
        CallDifference.RULES: set(first.rules) != set(second.rules),
        CallDifference.OUTCOME: first.outcome != second.outcome,
    }
    differs = tuple(each for each, so in found.items() if so)
    if not told and set(differs) <= _HOW_DECIDED:
        return ComparedPair(first, second, ComparisonFinding.CANNOT_BE_TOLD, differs)
    return ComparedPair(first, second, ComparisonFinding.DIFFERENT if differs else ComparisonFinding.SAME, differs)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
