"""What a running gateway does about its settings for other commands of this machine, over its control socket."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.application import Application
from gateway.core.canonical import Json
from gateway.core.errors import InvalidParams, Refused
from gateway.server.control import Answerer


def setting_commands(application: Application) -> Mapping[str, Answerer]:
    """Each command and the function that answers it."""
    settings = application.settings

    async def list_settings(_asked: Mapping[str, Json]) -> Json:
        return [
            {
                "name": each.setting.name,
                "value": each.value,
                "place": each.place.value,
                "least": each.setting.range.least,
                "most": each.setting.range.most,
                "words": list(each.setting.range.words),
            }
            for each in settings.list()
        ]

    async def change_setting(asked: Mapping[str, Json]) -> Json:
        value = asked.get("value")
        if not isinstance(value, int | str | None) or isinstance(value, bool):
            raise InvalidParams("`value` is a whole number or a word")
        try:
            await settings.change_here(str(asked.get("name", "")), value)
        except Refused as error:
            raise InvalidParams(error.message) from None
        return next(each.value for each in settings.list() if each.setting.name == asked.get("name"))

    return {"settings": list_settings, "setting-change": change_setting}
