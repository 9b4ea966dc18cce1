"""The texts of untrusted results, noted where a conversation reads them and taken up again from the record after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from gateway.core.canonical import Json
from gateway.core.ledger import Message
from gateway.core.results import ToolResult
from gateway.core.untrusted_text import HashedText, Origin, UntrustedTexts, describe_call, hash_texts, list_values
from gateway.core.vocabulary import Role, Trust
from gateway.runtime.conversation import Conversation
from gateway.runtime.ports import CallRecord, CallState

HASHED_AT_ONCE = 16 * 1024
"""Characters that are hashed on the event loop; more take longer than a few milliseconds."""


async def note_result(
    conversation: Conversation, call_id: str, tool: str, arguments: Mapping[str, Json], result: ToolResult
) -> None:
    """What a result brings into a conversation, before anybody is given it."""
    if result.trust is Trust.TRUSTED:
        return
    texts = _texts_of(result)
    long = sum(map(len, texts)) > HASHED_AT_ONCE
    hashed = await asyncio.to_thread(hash_texts, texts, arguments) if long else hash_texts(texts, arguments)
    conversation.untrusted.add(hashed, Origin(call_id, tool, describe_call(arguments)))


async def recall_results(calls: Sequence[CallRecord], messages: Iterable[Message]) -> UntrustedTexts:
    """The same of a conversation that has read untrusted content, from its calls and, where it was forked, from the results that
    it was given as messages: they do not say what they are worth, so none is trusted."""
    untrusted = UntrustedTexts()
    for call in calls:
        if call.result is None:
            # Of a closed call it was erased, and nobody knows any more what was in it.
            if call.state is CallState.CLOSED:
                untrusted.give_up()
        elif call.result.trust is Trust.UNTRUSTED:
            hashed = await _hash(_texts_of(call.result), call.arguments)
            untrusted.add(hashed, Origin(call.call_id, call.tool, describe_call(call.arguments)))
    for message in messages:
        if message.role is Role.TOOL:
            tool = message.provenance.rpartition(":")[2]
            untrusted.add(await _hash([message.content], {}), Origin(message.call_id or "", tool, ""))
    return untrusted


async def _hash(texts: Sequence[str], arguments: Mapping[str, Json]) -> HashedText:
    return await asyncio.to_thread(hash_texts, texts, arguments)


def _texts_of(result: ToolResult) -> Sequence[str]:
    structured = [str(value) for value in list_values(result.structured)]
    # A text that is cut into short values is found as one, too.
    return [result.content, result.error or "", *structured, "".join(structured)]
