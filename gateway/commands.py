"""What a running gateway does for other commands of this machine, over its control socket."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.application import Application
from gateway.client_commands import client_commands
from gateway.core.canonical import Json
from gateway.core.errors import InvalidParams
from gateway.core.vocabulary import Label, Profile
from gateway.erasure_commands import erasure_commands
from gateway.policy_commands import policy_commands
from gateway.server.control import Answerer
from gateway.setting_commands import setting_commands
from gateway.settings import Settings
from gateway.source_commands import source_commands


def control_commands(application: Application, settings: Settings, port: int) -> Mapping[str, Answerer]:
    """Each command and the function that answers it."""

    async def enrol(asked: Mapping[str, Json]) -> Json:
        link = await application.offer_enrolment(str(asked.get("name", "")), _profile(asked))
        return {"link": link, "seconds": application.gateway.timing.enrolment}

    async def reload(_asked: Mapping[str, Json]) -> Json:
        return await application.gateway.reload_policy()

    async def describe(_asked: Mapping[str, Json]) -> Json:
        return {"port": port}

    async def list_people(_asked: Mapping[str, Json]) -> Json:
        listed = await application.people.list()
        return [
            {
                "id": each.person.id,
                "name": each.person.name,
                "profile": each.person.profile.value,
                "passkeys": each.passkeys,
                "suspended": each.person.suspended,
            }
            for each in listed
        ]

    async def change_profile(asked: Mapping[str, Json]) -> Json:
        person = await application.people.change_profile(str(asked.get("person", "")), _profile(asked))
        return {"id": person.id}

    async def suspend(asked: Mapping[str, Json]) -> Json:
        person = await application.people.suspend(str(asked.get("person", "")))
        return {"id": person.id}

    async def resume(asked: Mapping[str, Json]) -> Json:
        person = await application.people.resume(str(asked.get("person", "")))
        return {"id": person.id}

    async def remove(asked: Mapping[str, Json]) -> Json:
        person = await application.people.remove(str(asked.get("person", "")))
        return {"id": person.id}

    async def list_sessions(_asked: Mapping[str, Json]) -> Json:
        listed = application.people.sessions()
        return [{"id": session.id, "person": session.principal.name, "label": label.name.lower()} for session, label in listed]

    async def downgrade(asked: Mapping[str, Json]) -> Json:
        try:
            label = Label[str(asked["label"]).upper()]
        except KeyError:
            raise InvalidParams("`label` must be internal, confidential or high") from None
        await application.people.downgrade(str(asked.get("session", "")), label)
        return {}

    async def allow_questions(asked: Mapping[str, Json]) -> Json:
        await application.gateway.denials.allow_session(str(asked.get("session", "")))
        return {}

    return {
        "enrol": enrol,
        "reload": reload,
        "describe": describe,
        "people": list_people,
        "profile": change_profile,
        "suspend": suspend,
        "resume": resume,
        "remove": remove,
        "sessions": list_sessions,
        "downgrade": downgrade,
        "allow-questions": allow_questions,
        **source_commands(application),
        **client_commands(application),
        **policy_commands(application),
        **erasure_commands(application),
        **setting_commands(application),
    }


def _profile(asked: Mapping[str, Json]) -> Profile:
    try:
        return Profile(asked["profile"])
    except (KeyError, ValueError):
        raise InvalidParams("`profile` must be operator or guest") from None
