"""Parameters and results of the console's methods about the calls of the audit log: found, counted, shown and summed up."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.core.vocabulary import ApprovalKind, CallDifference, ComparisonFinding
from gateway.protocol.console_methods import AuditEntry
from gateway.protocol.shapes import LabelName
from gateway.protocol.wire import (
    CallId,
    Count,
    Cursor,
    Digest,
    FreeText,
    Identifier,
    JsonObject,
    ModelId,
    Number,
    PageSize,
    Timestamp,
    Wire,
)

_Word = Annotated[str, Field(min_length=1, max_length=200)]


class CallFilter(Wire):
    """Which calls, of those that began from `since` to before `until`; without them, in the last 24 hours. An absent member means
    any. `outcome` is an outcome or `open`. `text` is the beginning of an id (call, conversation, turn, question), or a part of a
    name (person, tool, source, model, rule)."""

    since: Timestamp | None = None
    until: Timestamp | None = None
    principal_id: Identifier | None = None
    tool: _Word | None = None
    source: _Word | None = None
    outcome: _Word | None = None
    decision: _Word | None = None
    model_id: ModelId | None = None
    label: LabelName | None = None
    rule: _Word | None = None
    policy_version: _Word | None = None
    conversation_id: Identifier | None = None
    text: _Word | None = None


class CallPageRequest(Wire):
    """Which page of the calls, newest first."""

    filter: CallFilter | None = None
    cursor: Cursor | None = None
    limit: PageSize | None = None


class CallCounting(Wire):
    """Which calls to count."""

    filter: CallFilter | None = None


class WireAuditedCall(Wire):
    """A call as the log tells it. `position` is that of its first record; `outcome` is `open` while it waits or runs. `tool`
    is absent where nothing of that name was on offer, `label` where the policy was not asked. `approver` and `passkey` are
    their names, where they are still known."""

    position: Count
    conversation_id: Identifier
    call_id: CallId
    turn_id: FreeText
    turn_index: Count | None = None
    at: Timestamp
    principal_id: FreeText
    principal_name: FreeText
    tool: FreeText | None = None
    source: FreeText | None = None
    outcome: FreeText
    reason: FreeText | None = None
    decision: FreeText | None = None
    model_id: FreeText | None = None
    label: LabelName | None = None
    rules: tuple[str, ...]
    policy_version: FreeText | None = None
    approval_kind: ApprovalKind | None = None
    approval_id: FreeText | None = None
    asked_at: Timestamp | None = None
    decided_at: Timestamp | None = None
    answer: FreeText | None = None
    approver_id: FreeText | None = None
    approver_name: FreeText | None = None
    credential_id: FreeText | None = None
    passkey_name: FreeText | None = None
    grant_id: FreeText | None = None
    started_at: Timestamp | None = None
    closed_at: Timestamp | None = None
    duration_ms: Count | None = None


class AuditedCallList(Wire):
    """One page, newest first. `unread` counts records of the log that are not told yet: a long log is read in the background
    after an upgrade. `nextCursor` is absent on the last page."""

    calls: tuple[WireAuditedCall, ...]
    unread: Count
    next_cursor: Cursor | None = None


class OutcomeCount(Wire):
    """How many calls ended that way."""

    outcome: FreeText
    calls: Count


class CallBucket(Wire):
    """Calls that began from `at` to the next bucket."""

    at: Timestamp
    outcomes: tuple[OutcomeCount, ...]


class CallCount(Wire):
    """How many calls there are, over exactly this time: one of six hours or more is rounded to whole hours. A bucket is
    `stepMs` wide and begins at a multiple of it; one without a call is left out."""

    since: Timestamp
    until: Timestamp
    step_ms: Count
    total: Count
    outcomes: tuple[OutcomeCount, ...]
    buckets: tuple[CallBucket, ...]
    unread: Count


class PersonName(Wire):
    """Somebody who called. The name is the id where it is not known."""

    id: FreeText
    name: FreeText


class CallChoices(Wire):
    """What there is to choose from, over the whole log."""

    people: tuple[PersonName, ...]
    tools: tuple[str, ...]
    sources: tuple[str, ...]
    models: tuple[str, ...]
    rules: tuple[str, ...]
    policy_versions: tuple[str, ...]


class AuditedCallRef(Wire):
    """A call by the position of its first record."""

    position: Count


class VisibleTool(Wire):
    """A tool that the call's turn had on offer."""

    name: FreeText
    permission: FreeText
    digest: Digest


class RuleWords(Wire):
    """A rule that decided. `why` is absent where the policy in force does not have it."""

    id: FreeText
    why: FreeText | None = None


class CallDetails(Wire):
    """Everything that is on record of a call, as it was then. `entries` are its records, oldest first. `definition` is the
    tool's own from the snapshot, `offered` all that the turn had. `request` is what the person wrote last in that turn, as
    the tab says; absent where it is not kept. `turn_model_id` is the model that the turn began with, which need not be the one
    that proposed the call."""

    call: WireAuditedCall
    entries: tuple[AuditEntry, ...]
    rules: tuple[RuleWords, ...]
    definition: JsonObject | None = None
    snapshot_digest: FreeText | None = None
    offered: tuple[VisibleTool, ...] | None = None
    title: FreeText | None = None
    request: FreeText | None = None
    turn_model_id: FreeText | None = None


class AuditSpan(Wire):
    """From when to when; without them, the last seven days."""

    since: Timestamp | None = None
    until: Timestamp | None = None


class ToolLoad(Wire):
    """What a person was asked about one tool, and how it ended; those that are in none of the counts wait. `repeated` counts
    approved questions whose tool had been approved in the same conversation before: a grant could have saved them. The waits
    are those until a person's own answer, absent where there was none."""

    principal_id: FreeText
    principal_name: FreeText
    tool: FreeText
    asked: Count
    approved: Count
    denied: Count
    expired: Count
    cancelled: Count
    repeated: Count
    median_wait_ms: Count | None = None
    longest_wait_ms: Count | None = None


class PersonLoad(Wire):
    """A person's turns, and the questions that they brought. `questionsPerTurn` is absent without a turn."""

    principal_id: FreeText
    principal_name: FreeText
    turns: Count
    asked: Count
    denied: Count
    expired: Count
    repeated: Count
    questions_per_turn: Number | None = None
    median_wait_ms: Count | None = None


class AuditLoad(Wire):
    """How much people were asked: the most asked first."""

    since: Timestamp
    until: Timestamp
    people: tuple[PersonLoad, ...]
    tools: tuple[ToolLoad, ...]
    unread: Count


class ModelUseView(Wire):
    """What was used of a model. `modelId` is absent for turns and calls that named none. `seconds` are those in which it
    answered, `requests` those through the gateway; `callsRan` are the calls whose tool was started, whatever came of it;
    `callsPerTurn` is absent without a turn or a model."""

    model_id: FreeText | None = None
    turns: Count
    requests: Count
    failures: Count
    prompt_tokens: Count
    completion_tokens: Count
    seconds: Number
    calls: Count
    calls_ran: Count
    calls_per_turn: Number | None = None


class AuditModels(Wire):
    """The most used first."""

    since: Timestamp
    until: Timestamp
    models: tuple[ModelUseView, ...]
    unread: Count


class AuditSink(Wire):
    """A place outside this host that records are sent to as they come: the first `sent` of them were taken, and `behind` wait.
    `fault` says why it takes none now."""

    name: FreeText
    kind: FreeText
    sent: Count
    behind: Count
    sent_at: Timestamp | None = None
    fault: FreeText | None = None


class AuditAnchor(Wire):
    """A place outside this host that has a checkpoint over the first `size` records, and since when; `unanchored` records came
    later. `fault` says why it takes none now."""

    name: FreeText
    kind: FreeText
    size: Count
    unanchored: Count
    anchored_at: Timestamp | None = None
    fault: FreeText | None = None


class AuditSinks(Wire):
    """All of them, in the order of the settings."""

    sinks: tuple[AuditSink, ...]
    anchors: tuple[AuditAnchor, ...]


class RecentConversation(Wire):
    """A conversation with calls, and when the newest of them began. `title` is absent where the conversation was deleted."""

    conversation_id: Identifier
    title: FreeText | None = None
    principal_name: FreeText
    at: Timestamp


class RecentConversations(Wire):
    """Those of the newest calls, the newest first."""

    conversations: tuple[RecentConversation, ...]


class ConversationPair(Wire):
    """Two conversations, which differ."""

    first: Identifier
    second: Identifier


class ComparedSide(Wire):
    """A conversation of the two. `calls` counts those compared, which are the newest where `cut`; `parentId` is that of which it
    is a fork. `title` and `parentId` are absent where the conversation was deleted."""

    conversation_id: Identifier
    title: FreeText | None = None
    principal_name: FreeText | None = None
    parent_id: Identifier | None = None
    calls: Count
    cut: bool


class WireComparedCall(Wire):
    """A closed call. `arguments` are the beginning of their JSON; absent, with `erased`, where none are kept."""

    position: Count
    call_id: CallId
    tool: FreeText | None = None
    arguments: FreeText | None = None
    erased: bool
    outcome: FreeText
    decision: FreeText | None = None
    rules: tuple[str, ...]


class WireComparedPair(Wire):
    """What stands at one place of both. `differs` says in what; arguments are compared whole."""

    finding: ComparisonFinding
    differs: tuple[CallDifference, ...]
    first: WireComparedCall | None = None
    second: WireComparedCall | None = None


class ConversationComparison(Wire):
    """The closed calls of both, aligned. `unread` counts records of the log that are not told yet."""

    first: ComparedSide
    second: ComparedSide
    pairs: tuple[WireComparedPair, ...]
    unread: Count
