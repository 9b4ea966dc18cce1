"""The calls of the audit log as the dashboard asks for them: found, counted and summed up, over a bounded time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from gateway.core.call_history import AuditedCall


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which calls: those that began from `since` to before `until`, in epoch milliseconds. An absent member means any."""

    since: int
    until: int
    principal_id: str | None = None
    tool: str | None = None
    source: str | None = None
    outcome: str | None = None
    decision: str | None = None
    model_id: str | None = None
    label: int | None = None
    rule: str | None = None
    policy_version: str | None = None
    conversation_id: str | None = None
    text: str | None = None
    """The beginning of an id (call, conversation, turn, question), or a part of a name."""
    text_people: tuple[str, ...] = ()
    """Ids of people whose name holds the text."""


class Bucket(NamedTuple):
    """Calls by their outcome, of those that began from `at` to the next bucket."""

    at: int
    outcomes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CallCounts:
    """How many calls there are, over exactly this time: a long one is rounded to whole hours. Buckets without a call are left
    out."""

    since: int
    until: int
    step_ms: int
    total: int
    outcomes: Mapping[str, int]
    buckets: Sequence[Bucket]


@dataclass(frozen=True, slots=True)
class HistoryChoices:
    """What there is to choose from, over the whole log, sorted."""

    people: Sequence[str]
    tools: Sequence[str]
    sources: Sequence[str]
    models: Sequence[str]
    rules: Sequence[str]
    policy_versions: Sequence[str]


class QuestionLoad(NamedTuple):
    """What one person was asked about one tool. `waits` are the milliseconds until each answer that a person gave, sorted.
    `repeated` are the approved questions whose tool had been approved in the same conversation before."""

    principal_id: str
    tool: str
    asked: int
    approved: int
    denied: int
    expired: int
    cancelled: int
    repeated: int
    waits: Sequence[int]


class PersonTasks(NamedTuple):
    """How many turns a person began."""

    principal_id: str
    turns: int


class ModelTotals(NamedTuple):
    """What was used of a model, and the calls that it proposed: `calls_ran` are those whose tool was started, whatever came of
    it. `model_id` is empty for turns and calls that named none."""

    model_id: str
    turns: int
    requests: int
    failures: int
    prompt_tokens: int
    completion_tokens: int
    milliseconds: int
    calls: int
    calls_ran: int


class CallHistory(Protocol):
    """The calls of the log. What was committed before a question is in its answer, unless `unread` says otherwise.

    Raises LedgerUnavailable."""

    async def unread(self) -> int:
        """Records of the log that are not told yet: after a first start with a long log they are read in the background."""
        ...

    async def page(self, wanted: HistoryFilter, before: tuple[int, int] | None, limit: int) -> Sequence[AuditedCall]:
        """Newest first; `before` is the (at, position) of the last call already seen."""
        ...

    async def count(self, wanted: HistoryFilter) -> CallCounts: ...
    async def choices(self, principal_id: str | None) -> HistoryChoices:
        """Of one person's calls, or of everybody's."""
        ...

    async def newest_after(self, at: int, principal_id: str | None) -> int | None:
        """When the newest of one person's calls began, or of everybody's; None where that is not after that time."""
        ...

    async def find_call(self, position: int) -> AuditedCall | None: ...
    async def question_load(self, since: int, until: int, principal_id: str | None) -> Sequence[QuestionLoad]: ...
    async def tasks(self, since: int, until: int, principal_id: str | None) -> Sequence[PersonTasks]: ...
    async def model_totals(self, since: int, until: int, principal_id: str | None) -> Sequence[ModelTotals]: ...
