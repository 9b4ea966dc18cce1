"""The console's method that erases (docs/PROTOCOL.md section 6), for operators whose passkey answered a moment ago."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core.errors import InvalidParams
from gateway.core.ledger import CallSubject, ConversationSubject, ErasureSubject, PersonSubject
from gateway.protocol import erasure_methods as wire
from gateway.runtime.erasures import Erasures
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow


class ErasureMethods:
    """The handler."""

    def __init__(self, erasures: Erasures) -> None:
        self._erasures = erasures

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The row of the console's table."""
        audit = ("records:erased", "conversation:deleted", "grant:revoked")
        return {"audit/erase": MethodRow(self.erase, Concurrency.IN_ORDER, MethodPermission.OPERATOR, audit)}

    async def erase(self, caller: ConsoleCaller, params: wire.ErasureRequest) -> wire.ErasureDone:
        """Erase it, for good."""
        done = await self._erasures.erase(_subject(params), caller.session)
        return wire.ErasureDone(records=done.records, copies=tuple(done.copies))


def _subject(params: wire.ErasureRequest) -> ErasureSubject:
    match (params.principal, params.conversation_id, params.call_id):
        case (str(person), None, None):
            return PersonSubject(person)
        case (None, str(conversation), None):
            return ConversationSubject(conversation)
        case (None, str(conversation), str(call)):
            return CallSubject(conversation, call)
        case _:
            raise InvalidParams("name a person, a conversation, or a call and its conversation")
