"""Parameters and result of the console's method that erases, for operators."""

from __future__ import annotations

from gateway.protocol.wire import CallId, Count, Identifier, Wire


class ErasureRequest(Wire):
    """What to erase: a call of a conversation, a whole conversation, or a person who was removed."""

    principal: Identifier | None = None
    conversation_id: Identifier | None = None
    call_id: CallId | None = None


class ErasureDone(Wire):
    """How many records lost their content, and which copies of the conversation are still there."""

    records: Count
    copies: tuple[Identifier, ...]
