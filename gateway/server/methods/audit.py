"""The console's methods about the audit log (docs/PROTOCOL.md section 6). Operators and auditors see everybody's calls,
others their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gateway.core.approval import Approval
from gateway.core.budget import DAY_MS
from gateway.core.call_history import AuditedCall
from gateway.core.errors import InvalidParams, NotFound
from gateway.core.ledger import AUDITED, REQUEST_OUTCOMES, Passkey
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Outcome
from gateway.protocol import audit_methods as wire
from gateway.protocol import console_methods
from gateway.protocol.wire import Nothing
from gateway.runtime.gateway import Gateway
from gateway.runtime.ports import AuditQuery, CallHistory, HistoryFilter
from gateway.server.methods import audit_views as views
from gateway.server.methods.call_filters import CallFilters, owner_of
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.comparisons import ComparisonMethods
from gateway.server.methods.encoding import decode_credential_id, read_index
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow
from gateway.server.methods.verification import AuditVerifier
from gateway.server.methods.views import view_audit_row

PAGE: Final = 100
"""Rows of one page when the request names no limit."""

LOAD_DAYS: Final = 7

_OUTCOMES: Final = (*Outcome, *REQUEST_OUTCOMES)
"""Of calls, and of requests to models."""


class AuditMethods:
    """The handlers."""

    def __init__(
        self,
        gateway: Gateway,
        history: CallHistory,
        filters: CallFilters,
        verifier: AuditVerifier,
        read_sinks: Callable[[], Sequence[views.SinkState]] = tuple,
        read_anchors: Callable[[], Sequence[views.AnchorState]] = tuple,
    ) -> None:
        """`read_sinks` and `read_anchors` block."""
        self._read_sinks = read_sinks
        self._read_anchors = read_anchors
        self._gateway = gateway
        self._filters = filters
        self._history = history
        self._verifier = verifier

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        return {
            "audit/list": MethodRow(self.list_records, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            "audit/calls": MethodRow(self.list_calls, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            "audit/count": MethodRow(self.count_calls, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            "audit/choices": MethodRow(self.list_choices, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            "audit/call": MethodRow(self.show_call, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            "audit/load": MethodRow(self.sum_load, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            "audit/models": MethodRow(self.sum_models, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            **ComparisonMethods(self._gateway, self._history, self._filters, self._verifier).rows(),
            "audit/sinks": MethodRow(self.list_sinks, Concurrency.AT_ONCE, MethodPermission.READS_ALL),
            "audit/verify": MethodRow(self.verify, Concurrency.IN_ORDER, MethodPermission.READS_ALL),
        }

    # ── the records themselves ──

    async def list_records(self, caller: ConsoleCaller, params: console_methods.AuditPage) -> console_methods.AuditList:
        """The log, newest first: all of it for operators and auditors, only their own entries for others.

        Raises InvalidParams for an event or an outcome that no record has: an empty list would read as if there had been none.
        """
        wanted = params.filter or console_methods.AuditFilter()
        if wanted.event is not None and wanted.event not in AUDITED:
            raise InvalidParams("`event` is none that a log has")
        if wanted.outcome is not None and wanted.outcome not in _OUTCOMES:
            raise InvalidParams(f"`outcome` is one of {', '.join(_OUTCOMES)}")
        limit = params.limit or PAGE
        records = self._gateway.ports.records
        rows = await records.audit(
            AuditQuery(
                principal_id=owner_of(caller.principal) or wanted.principal_id,
                conversation_id=wanted.conversation_id,
                event=wanted.event,
                tool=wanted.tool,
                outcome=wanted.outcome,
                before=read_index(params.cursor),
                limit=limit + 1,
            )
        )
        page = rows[:limit]
        return console_methods.AuditList(
            entries=tuple(map(view_audit_row, page)),
            size=await records.audit_size(),
            next_cursor=str(page[-1].index) if len(rows) > limit else None,
        )

    async def verify(self, _caller: ConsoleCaller, _params: Nothing) -> console_methods.AuditVerification:
        """Hash the whole log again."""
        return await self._verifier.verify()

    # ── calls ──

    async def list_calls(self, caller: ConsoleCaller, params: wire.CallPageRequest) -> wire.AuditedCallList:
        """Newest first."""
        limit = params.limit or PAGE
        names = await self._filters.names()
        wanted = await self._filters.read(caller.principal, params.filter, names)
        calls = await self._history.page(wanted, _read_place(params.cursor), limit + 1)
        page = calls[:limit]
        return wire.AuditedCallList(
            calls=tuple(views.view_audited_call(call, names) for call in page),
            unread=await self._history.unread(),
            next_cursor=f"{page[-1].at}.{page[-1].position}" if len(calls) > limit else None,
        )

    async def count_calls(self, caller: ConsoleCaller, params: wire.CallCounting) -> wire.CallCount:
        """By outcome, in all and over time."""
        wanted = await self._filters.read(caller.principal, params.filter, await self._filters.names())
        counts = await self._history.count(wanted)
        return views.view_counts(counts, await self._history.unread())

    async def list_choices(self, caller: ConsoleCaller, _params: Nothing) -> wire.CallChoices:
        """What occurs in the log."""
        choices, names = await self._history.choices(owner_of(caller.principal)), await self._filters.names()
        people = sorted(
            (wire.PersonName(id=each, name=names.get(each, each)) for each in choices.people), key=lambda each: each.name
        )
        return wire.CallChoices(
            people=tuple(people),
            tools=tuple(choices.tools),
            sources=tuple(choices.sources),
            models=tuple(choices.models),
            rules=tuple(choices.rules),
            policy_versions=tuple(choices.policy_versions),
        )

    async def show_call(self, caller: ConsoleCaller, params: wire.AuditedCallRef) -> wire.CallDetails:
        """Everything that is on record of one. Raises NotFound, for another person's too, and LedgerDamaged where its records
        are not what was signed."""
        call = await self._history.find_call(params.position)
        owner, records = owner_of(caller.principal), self._gateway.ports.records
        if call is None or (owner is not None and call.traits.principal_id != owner):
            raise NotFound("there is no such call")
        await self._verifier.require_proven(call.leaves)
        rows = await records.audit_at(call.leaves)
        digest = next((row.body["snapshotDigest"] for row in rows if row.body.get("snapshotDigest")), None)
        snapshot = None if digest is None else await records.snapshot(digest)
        conversation = await records.conversation(call.conversation_id)
        words = {rule.id: rule.why for rule in self._gateway.ports.policy.rules()}
        return wire.CallDetails(
            call=views.view_audited_call(call, await self._filters.names(), await self._passkey(call)),
            entries=tuple(map(view_audit_row, rows)),
            rules=views.view_rules(call, words),
            definition=views.find_definition(snapshot, rows),
            snapshot_digest=digest,
            offered=views.view_offered(snapshot),
            title=None if conversation is None else conversation.title,
            request=await records.request_of(call.conversation_id, call.turn_id),
            turn_model_id=await records.model_of_turn(call.conversation_id, call.turn_id),
        )

    async def tell_background(self, caller: ConsoleCaller, approval: Approval) -> console_methods.QuestionBackground | None:
        """What led to a question and what came of it; None for who may not read of that person's calls."""
        if owner_of(caller.principal) not in (None, approval.principal_id):
            return None
        records = self._gateway.ports.records
        conversation = await records.conversation(approval.conversation_id)
        return console_methods.QuestionBackground(
            title=None if conversation is None else conversation.title,
            request=await records.request_of(approval.conversation_id, approval.turn_id),
            call=await self._tell_call(approval),
        )

    async def _tell_call(self, approval: Approval) -> console_methods.QuestionedCall | None:
        since, until = approval.requested_at - DAY_MS, approval.requested_at + 1
        wanted = HistoryFilter(max(since, 0), until, conversation_id=approval.conversation_id, text=approval.id)
        calls = await self._history.page(wanted, None, 1)
        if not calls:
            return None
        view = views.view_audited_call(calls[0], await self._filters.names(), await self._passkey(calls[0]))
        return console_methods.QuestionedCall(
            position=view.position,
            outcome=view.outcome,
            approver_name=view.approver_name,
            decided_at=view.decided_at,
            passkey_name=view.passkey_name,
            closed_at=view.closed_at,
            duration_ms=view.duration_ms,
        )

    # ── load and models ──

    async def sum_load(self, caller: ConsoleCaller, params: wire.AuditSpan) -> wire.AuditLoad:
        """How much people were asked."""
        since, until = await self._filters.span(caller.principal, params.since, params.until, LOAD_DAYS)
        owner = owner_of(caller.principal)
        questions = await self._history.question_load(since, until, owner)
        tasks = await self._history.tasks(since, until, owner)
        return views.view_load((since, until), questions, tasks, await self._filters.names(), await self._history.unread())

    async def sum_models(self, caller: ConsoleCaller, params: wire.AuditSpan) -> wire.AuditModels:
        """What was used of models."""
        since, until = await self._filters.span(caller.principal, params.since, params.until, LOAD_DAYS)
        totals = await self._history.model_totals(since, until, owner_of(caller.principal))
        return wire.AuditModels(
            since=rfc3339(since),
            until=rfc3339(until),
            models=tuple(map(views.view_model, totals)),
            unread=await self._history.unread(),
        )

    # ── sinks ──

    async def list_sinks(self, _caller: ConsoleCaller, _params: Nothing) -> wire.AuditSinks:
        """Where records are sent to and how far each is, and where checkpoints are anchored."""
        states = await asyncio.to_thread(self._read_sinks)
        anchors = await asyncio.to_thread(self._read_anchors)
        newest = await self._gateway.ports.records.audit(AuditQuery(limit=1)) if states or anchors else ()
        size = newest[0].index + 1 if newest else 0
        return wire.AuditSinks(
            sinks=tuple(views.view_sink(state, size) for state in states),
            anchors=tuple(views.view_anchor(anchor, size) for anchor in anchors),
        )

    # ── private ──

    async def _passkey(self, call: AuditedCall) -> Passkey | None:
        if call.credential_id is None:
            return None
        return await self._gateway.ports.records.passkey(decode_credential_id(call.credential_id))


def _read_place(cursor: str | None) -> tuple[int, int] | None:
    if cursor is None:
        return None
    at, _, position = cursor.partition(".")
    if not (at.isdecimal() and position.isdecimal() and len(cursor) <= 40):
        raise InvalidParams("`cursor` is not one that the gateway made")
    return int(at), int(position)
