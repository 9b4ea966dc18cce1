"""Parameters and results of the console's methods about settings that change while the gateway runs, for operators."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict

from gateway.protocol.wire import Count, Digest, Flag, Identifier, JsonObject, Wire

SettingValue = Annotated[int, Strict(), Field(ge=0, le=1 << 31)] | Annotated[str, Field(max_length=64)]
"""A whole number, or a word. `true` is not 1 and "60" is not 60: a person who signs reads one of them."""


class WireSetting(Wire):
    """A setting that can be changed here. `value` is in force and comes from `place`; without a choice on the console it would be
    `configured`. It may be a whole number from `least` to `most`, where these are given, or one of the `words`. A setting that is
    `fixed` is changed where it is set."""

    name: str
    value: float | str
    configured: float | str
    place: Literal["default", "file", "environment", "commandLine", "console"]
    fixed: bool
    least: Count | None = None
    most: Count | None = None
    words: tuple[str, ...] = ()


class SettingList(Wire):
    """All of them. `version` is of the choices on the console; a change names the one that it was made from."""

    version: Digest
    settings: tuple[WireSetting, ...]


class SettingWish(Wire):
    """What a setting shall be: `value`, or what it would be without a choice on the console (`reset`)."""

    name: Identifier
    value: SettingValue | None = None
    reset: Flag | None = None
    base: Digest


class SettingQuestionView(Wire):
    """What a passkey has to sign for the change; good for two minutes, once, in this console session."""

    statement: JsonObject
    statement_digest: Digest
    passkey_options: JsonObject


class SettingAnswer(Wire):
    """The passkey's answer."""

    assertion: JsonObject


class SettingsChangedParams(Wire):
    """A setting is not what it was; what it is now has to be asked."""
