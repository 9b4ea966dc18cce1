"""The console's methods that lay two conversations side by side (docs/PROTOCOL.md section 6). Operators and auditors may compare
everybody's, others their own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.core.call_history import AuditedCall
from gateway.core.errors import InvalidParams, NotFound
from gateway.core.times import rfc3339
from gateway.protocol import audit_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.audit_comparison import ComparedCall, ComparedPair, compare_calls, read_call
from gateway.runtime.gateway import Gateway
from gateway.runtime.ports import CallHistory, HistoryFilter
from gateway.server.methods.call_filters import LONGEST_DAYS, CallFilters, owner_of
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow
from gateway.server.methods.verification import AuditVerifier

MOST_CALLS: Final = 250
"""Of each conversation, the newest. The time that aligning takes may grow with the cube of it, and an agent chooses the calls."""

_RECENT_CALLS: Final = 1000
_RECENT: Final = 50
_AT_ONCE: Final = 20
"""Calls whose records are in memory at once, each with its result."""


class ComparisonMethods:
    """The handlers."""

    def __init__(self, gateway: Gateway, history: CallHistory, filters: CallFilters, verifier: AuditVerifier) -> None:
        self._gateway = gateway
        self._verifier = verifier
        self._history = history
        self._filters = filters

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        return {
            "audit/conversations": MethodRow(self.list_recent, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
            "audit/compare": MethodRow(self.compare, Concurrency.AT_ONCE, MethodPermission.ANY_READER, reads_much=True),
        }

    async def list_recent(self, caller: ConsoleCaller, _params: Nothing) -> wire.RecentConversations:
        """What there is to choose from."""
        names = await self._filters.names()
        calls = await self._history.page(await self._of(caller, None), None, _RECENT_CALLS)
        newest: dict[str, AuditedCall] = {}
        for call in calls:
            newest.setdefault(call.conversation_id, call)
        listed: list[wire.RecentConversation] = []
        for conversation_id, call in list(newest.items())[:_RECENT]:
            record = await self._gateway.ports.records.conversation(conversation_id)
            person = call.traits.principal_id
            listed.append(
                wire.RecentConversation(
                    conversation_id=conversation_id,
                    title=None if record is None else record.title,
                    principal_name=names.get(person, person),
                    at=rfc3339(call.at),
                )
            )
        return wire.RecentConversations(conversations=tuple(listed))

    async def compare(self, caller: ConsoleCaller, params: wire.ConversationPair) -> wire.ConversationComparison:
        """Two conversations, call by call. Raises NotFound for one that is not on record, and for another person's too,
        and LedgerDamaged where a record of theirs is not what was signed."""
        if params.first == params.second:
            raise InvalidParams("`first` and `second` must be two conversations")
        names = await self._filters.names()
        first_side, first = await self._read(caller, params.first, names)
        second_side, second = await self._read(caller, params.second, names)
        pairs = await asyncio.to_thread(compare_calls, first, second)
        return wire.ConversationComparison(
            first=first_side, second=second_side, pairs=tuple(map(_view_pair, pairs)), unread=await self._history.unread()
        )

    async def _read(
        self, caller: ConsoleCaller, conversation_id: str, names: Mapping[str, str]
    ) -> tuple[wire.ComparedSide, Sequence[ComparedCall]]:
        records, owner = self._gateway.ports.records, owner_of(caller.principal)
        found = await self._history.page(await self._of(caller, conversation_id), None, MOST_CALLS + 1)
        record = await records.conversation(conversation_id)
        if record is not None and owner is not None and record.principal_id != owner:
            record = None
        if record is None and not found:
            raise NotFound("there is no such conversation")
        person = found[0].traits.principal_id if record is None else record.principal_id
        calls: list[ComparedCall] = []
        await self._verifier.require_proven([leaf for call in found[:MOST_CALLS] for leaf in call.leaves])
        for start in range(0, min(len(found), MOST_CALLS), _AT_ONCE):
            some = found[start : min(start + _AT_ONCE, MOST_CALLS)]
            rows = {row.index: row for row in await records.audit_at([leaf for call in some for leaf in call.leaves])}
            for call in some:
                told = read_call([rows[leaf] for leaf in call.leaves if leaf in rows])
                if told is not None:
                    calls.append(told)
        side = wire.ComparedSide(
            conversation_id=conversation_id,
            title=None if record is None else record.title,
            principal_name=names.get(person, person),
            parent_id=None if record is None else record.parent_id,
            calls=len(calls),
            cut=len(found) > MOST_CALLS,
        )
        return side, sorted(calls, key=lambda call: call.closed)

    async def _of(self, caller: ConsoleCaller, conversation_id: str | None) -> HistoryFilter:
        since, until = await self._filters.span(caller.principal, None, None, LONGEST_DAYS)
        return HistoryFilter(since, until, principal_id=owner_of(caller.principal), conversation_id=conversation_id)


def _view_pair(pair: ComparedPair) -> wire.WireComparedPair:
    return wire.WireComparedPair(
        finding=pair.finding, differs=pair.differs, first=_view_call(pair.first), second=_view_call(pair.second)
    )


def _view_call(call: ComparedCall | None) -> wire.WireComparedCall | None:
    if call is None:
        return None
    return wire.WireComparedCall(
        position=call.position,
        call_id=call.call_id,
        tool=call.tool,
        arguments=call.arguments,
        erased=call.erased,
        outcome=call.outcome,
        decision=call.decision,
        rules=call.rules,
    )
