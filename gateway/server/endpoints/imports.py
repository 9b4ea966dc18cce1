"""`POST /conversations/import`: a conversation from a file of the person. It is a request of its own, for a message of the
socket has no room for a long one."""

from __future__ import annotations

from starlette.responses import Response

from gateway.core.errors import InvalidParams
from gateway.core.times import read_rfc3339
from gateway.core.vocabulary import Label
from gateway.protocol.agent_methods import ConversationHead, ConversationImport, ImportedMessage
from gateway.runtime.imports import SaidElsewhere
from gateway.server.methods.views import LABEL_NAMES, view_conversation
from gateway.server.parts import RequestContext
from gateway.server.responses import answer

_LABELS = {name: Label(label) for label, name in LABEL_NAMES.items()}


async def import_conversation(context: RequestContext) -> Response:
    """Take it over, and give its head."""
    body, parts, session = context.body, context.parts, context.agent
    assert isinstance(body, ConversationImport)
    label = _LABELS[body.label or "public"]
    said = [SaidElsewhere(each.role, each.content, _read_time(each)) for each in body.messages]
    conversation_id = await parts.imports.take_over(session, body.source, body.title, said, label)
    head = ConversationHead(conversation=view_conversation(await parts.conversations.describe(session, conversation_id)))
    return answer(head.to_members())


def _read_time(message: ImportedMessage) -> int | None:
    try:
        return None if message.at is None else read_rfc3339(message.at)
    except ValueError:
        raise InvalidParams("`at` names no time that there is") from None
