"""Erasing, as a command of this machine asks for it over the control socket."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.application import Application
from gateway.core.canonical import Json
from gateway.core.errors import InvalidParams
from gateway.core.ledger import CallSubject, ConversationSubject, ErasureSubject, PersonSubject
from gateway.server.control import Answerer


def erasure_commands(application: Application) -> Mapping[str, Answerer]:
    """Each command and the function that answers it."""

    async def erase(asked: Mapping[str, Json]) -> Json:
        done = await application.erasures.erase(await _subject(application, asked))
        return {"records": done.records, "copies": list(done.copies)}

    return {"erase": erase}


async def _subject(application: Application, asked: Mapping[str, Json]) -> ErasureSubject:
    match (asked.get("person"), asked.get("conversation"), asked.get("call")):
        case (str(person), None, None):
            return PersonSubject(person)
        case (None, str(conversation), None):
            return ConversationSubject(conversation)
        case (None, str(conversation), str(call)):
            return CallSubject(conversation, call)
        case (None, None, str(call)):
            return await application.erasures.find_call(call)
        case _:
            raise InvalidParams("name a call, a conversation, a call of a conversation, or a person")
