"""The texts of untrusted results, noted where a conversation reads them and taken up again from the record after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from gateway.core.canonical import Json
from gateway.core.ledger import IMPORTED, Message
from gateway.core.local_tools import ATTACHMENT
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
    texts, own = _texts_of(result), _said_by_caller(tool, arguments)
    long = sum(map(len, texts)) > HASHED_AT_ONCE
    hashed = await asyncio.to_thread(hash_texts, texts, own) if long else hash_texts(texts, own)
    conversation.untrusted.add(hashed, Origin(call_id, tool, _describe(tool, arguments)))


async def recall_results(calls: Sequence[CallRecord], messages: Iterable[Message]) -> UntrustedTexts:
    """The same of a conversation that has read untrusted content, from its calls and, where it was forked or imported, from what
    it was given as messages: results do not say what they are worth, and a file may say anything, so none is trusted."""
    untrusted = UntrustedTexts()
    for call in calls:
        if call.result is None:
            # Of a closed call it was erased, and nobody knows any more what was in it.
            if call.state is CallState.CLOSED:
                untrusted.give_up()
        elif call.result.trust is Trust.UNTRUSTED:
            hashed = await _hash(_texts_of(call.result), _said_by_caller(call.tool, call.arguments))
            untrusted.add(hashed, Origin(call.call_id, call.tool, _describe(call.tool, call.arguments)))
    for message in messages:
        if message.role is Role.TOOL:
            tool = message.provenance.rpartition(":")[2]
            untrusted.add(await _hash([message.content], {}), Origin(message.call_id or "", tool, ""))
        elif message.provenance == IMPORTED:
            untrusted.add(await _hash([message.content], {}), Origin("", IMPORTED, ""))
    return untrusted


async def _hash(texts: Sequence[str], arguments: Mapping[str, Json]) -> HashedText:
    return await asyncio.to_thread(hash_texts, texts, arguments)


def _said_by_caller(tool: str, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
    """What of a result does not come from it. An attachment is somebody else's text all the same, its name too."""
    return {} if tool == ATTACHMENT else arguments


def _describe(tool: str, arguments: Mapping[str, Json]) -> str:
    """What a call was made with. Of an attachment that is its name; its bytes say nothing to a person."""
    return describe_call({"name": arguments.get("name", "")} if tool == ATTACHMENT else arguments)


def _texts_of(result: ToolResult) -> Sequence[str]:
    structured = [str(value) for value in list_values(result.structured)]
    # A text that is cut into short values is found as one, too.
    unnamed = [str(value) for value in list_values(result.structured, names=False)]
    return [result.content, result.error or "", *structured, "".join(structured), "".join(unnamed)]
