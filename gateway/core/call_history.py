"""One row for each call, told from the leaves of the log in their order: what the dashboard of the audit asks.

Nothing here is a second truth. Every row follows from the log alone, so that it can be thrown away and made again; the log
and its proofs are what is believed. Ids, closed words and numbers are kept, and no text of anybody's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gateway.core.canonical import Json
from gateway.core.ledger import (
    ApprovalGiven,
    ApprovalRequested,
    ApprovalResolved,
    AssertionRefused,
    BreakGlassUsed,
    CallClosed,
    CallFoundUnknown,
    CallIntended,
    CallRefusedUnrecorded,
    InferenceFinished,
    TurnBegun,
)

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS

OPEN: Final = "open"
"""In place of an outcome: the call waits for a person, or runs."""


class Traits(NamedTuple):
    """What many calls have in common: what they are counted and found by. An empty text: it is not known, or there is none."""

    principal_id: str
    tool: str
    source: str
    outcome: str
    reason: str
    decision: str
    model_id: str
    label: int
    """-1 where the policy was not asked."""
    rules: str
    """The ids of the rules that decided, each on a line of its own, between line breaks."""
    policy_version: str
    approval_kind: str
    """`consent` or `stepUp` where a person was asked."""
    ran: bool = False
    """Whether its tool was started, whatever came of it. Where a crash left nobody who knows, it counts as run."""


class AuditedCall(NamedTuple):
    """A call as the log tells it. Times are epoch milliseconds; `position` is that of its first leaf."""

    position: int
    conversation_id: str
    call_id: str
    turn_id: str
    turn_index: int | None
    at: int
    traits: Traits
    approval_id: str | None = None
    asked_at: int | None = None
    decided_at: int | None = None
    answer: str | None = None
    """How the question ended: `approved`, `denied`, `expired`, `cancelled`."""
    approver_id: str | None = None
    credential_id: str | None = None
    grant_id: str | None = None
    started_at: int | None = None
    closed_at: int | None = None
    duration_ms: int | None = None
    leaves: tuple[int, ...] = ()
    """The positions of all leaves about it, in order."""

    @property
    def is_open(self) -> bool:
        """Whether its end is not in the log yet."""
        return self.closed_at is None


class HistoryLeaf(NamedTuple):
    """A leaf as it is read here. `label` is of what the policy was asked, where its payload says so."""

    position: int
    body: Mapping[str, Json]
    label: int | None = None


class ModelHour(NamedTuple):
    """Whose turns and requests to which model, in which hour. `model_id` is empty where a turn named none."""

    hour: int
    principal_id: str
    model_id: str


@dataclass(slots=True)
class ModelUse:
    """What was used of a model."""

    turns: int = 0
    requests: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    milliseconds: int = 0


class Cell(NamedTuple):
    """How calls are counted: those of equal traits in an hour."""

    hour: int
    traits: Traits


@dataclass(slots=True)
class Told:
    """What some leaves change: rows by their positions, and what is to be added to each count."""

    calls: dict[int, AuditedCall] = field(default_factory=dict[int, AuditedCall])
    counts: dict[Cell, int] = field(default_factory=dict[Cell, int])
    use: dict[ModelHour, ModelUse] = field(default_factory=dict[ModelHour, ModelUse])


class CallTeller:
    """Reads leaves in order and tells the calls. Calls whose end has not come yet are remembered in between."""

    def __init__(self, source_of: Callable[[str], str], open_calls: Iterable[AuditedCall] = ()) -> None:
        """`source_of` gives the source of a tool by its definition's digest, empty where there is none on record."""
        self._source_of = source_of
        self._open = {(call.conversation_id, call.call_id): call for call in open_calls}

    def tell(self, leaves: Iterable[HistoryLeaf]) -> Told:
        """What these leaves change."""
        told = Told()
        for leaf in leaves:
            event = leaf.body["event"]
            if event in _OF_CALLS:
                self._tell_call(leaf, told)
            elif event == InferenceFinished.EVENT:
                _tell_request(leaf.body, told)
            elif event == TurnBegun.EVENT:
                _use_of(leaf.body, told).turns += 1
        return told

    def _tell_call(self, leaf: HistoryLeaf, told: Told) -> None:
        body = leaf.body
        key = body["conversationId"], body["callId"]
        before = self._open.get(key)
        if body["event"] == CallRefusedUnrecorded.EVENT:
            # A second request under the id of a first: a row of its own, and the first stays as it is.
            _keep(None, self._advance(self._begin(leaf), leaf), told)
            return
        if body["event"] in _FURTHER and before is None:
            # A log that begins in the middle of this call, as one does whose head was lost.
            return
        call = self._advance(before or self._begin(leaf), leaf)
        if call.is_open:
            self._open[key] = call
        else:
            self._open.pop(key, None)
        _keep(before, call, told)

    def _advance(self, call: AuditedCall, leaf: HistoryLeaf) -> AuditedCall:
        body, at = leaf.body, leaf.body["at"]
        leaves = (*call.leaves, leaf.position)
        match body["event"]:
            case ApprovalRequested.EVENT:
                traits = self._learn(call.traits, leaf)._replace(approval_kind=body["kind"])
                return call._replace(leaves=leaves, traits=traits, approval_id=body["approvalId"], asked_at=at)
            case ApprovalResolved.EVENT:
                return call._replace(
                    leaves=leaves,
                    decided_at=at,
                    answer=body["status"],
                    approver_id=body["principalId"],
                    credential_id=body["credentialId"],
                )
            case CallIntended.EVENT:
                traits = self._learn(call.traits, leaf)
                return call._replace(leaves=leaves, traits=traits, started_at=at, grant_id=body["grantId"])
            case CallClosed.EVENT | CallFoundUnknown.EVENT | CallRefusedUnrecorded.EVENT:
                ran = body["event"] == CallFoundUnknown.EVENT or body.get("executed", False)
                told = self._learn(call.traits, leaf)
                traits = told._replace(outcome=body["outcome"], reason=body["reason"] or "", ran=ran)
                return call._replace(leaves=leaves, traits=traits, closed_at=at, duration_ms=body["durationMs"])
            case _:
                return call._replace(leaves=leaves)

    def _begin(self, leaf: HistoryLeaf) -> AuditedCall:
        body = leaf.body
        traits = Traits(body["principalId"] or "", "", "", OPEN, "", "", "", -1, "", "", "")
        return AuditedCall(
            position=leaf.position,
            conversation_id=body["conversationId"],
            call_id=body["callId"],
            turn_id=body.get("turnId") or "",
            turn_index=body.get("turnIndex"),
            at=body["at"],
            traits=traits,
        )

    def _learn(self, traits: Traits, leaf: HistoryLeaf) -> Traits:
        """What this leaf says, and what earlier ones said where it says nothing."""
        body = leaf.body
        definition, because = body.get("descriptorDigest"), body.get("because")
        return traits._replace(
            tool=body.get("tool") or traits.tool,
            source=traits.source or (self._source_of(definition) if definition else ""),
            decision=body.get("decision") or traits.decision,
            model_id=body.get("modelId") or traits.model_id,
            label=traits.label if leaf.label is None else leaf.label,
            rules=write_rules(because) if because else traits.rules,
            policy_version=body.get("policyVersion") or traits.policy_version,
        )


def write_rules(ids: Iterable[str]) -> str:
    """Rules as `Traits` keeps them."""
    lines = "\n".join(ids)
    return f"\n{lines}\n" if lines else ""


def read_rules(written: str) -> tuple[str, ...]:
    """The ids that `write_rules` was given."""
    return tuple(written.strip("\n").split("\n")) if written else ()


_FURTHER: Final = (
    ApprovalGiven.EVENT,
    BreakGlassUsed.EVENT,
    AssertionRefused.EVENT,
    ApprovalResolved.EVENT,
    CallFoundUnknown.EVENT,
)
"""Leaves that say nothing of the call but how it goes on."""

_OF_CALLS: Final = frozenset(
    (ApprovalRequested.EVENT, CallIntended.EVENT, CallClosed.EVENT, CallRefusedUnrecorded.EVENT, *_FURTHER)
)

HISTORY_EVENTS: Final = _OF_CALLS | {InferenceFinished.EVENT, TurnBegun.EVENT}
"""The events that tell something here."""


def _keep(before: AuditedCall | None, call: AuditedCall, told: Told) -> None:
    told.calls[call.position] = call
    hour = call.at - call.at % HOUR_MS
    if before is not None:
        if before.traits == call.traits:
            return
        gone = Cell(hour, before.traits)
        told.counts[gone] = told.counts.get(gone, 0) - 1
    come = Cell(hour, call.traits)
    told.counts[come] = told.counts.get(come, 0) + 1


def _tell_request(body: Mapping[str, Json], told: Told) -> None:
    use = _use_of(body, told)
    use.requests += 1
    use.failures += body["outcome"] == "failed"
    use.prompt_tokens += body["promptTokens"] or 0
    use.completion_tokens += body["completionTokens"] or 0
    # Not in records of before it was measured.
    use.milliseconds += body.get("durationMs") or 0


def _use_of(body: Mapping[str, Json], told: Told) -> ModelUse:
    hour = body["at"] - body["at"] % HOUR_MS
    return told.use.setdefault(ModelHour(hour, body["principalId"] or "", body["modelId"] or ""), ModelUse())
