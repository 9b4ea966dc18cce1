"""Reads the settings: options of the command line win over the environment, which wins over `countersign.toml`.

Every field of `Settings` is also an environment variable, `COUNTERSIGN_` and its name in capitals. Whatever is wrong becomes one
sentence that names the place and says what would be right: a setting that is misspelt and ignored is a limit that does not hold.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource

from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.vocabulary import SettingPlace
from gateway.settings import CONFIG_FILE, PREFIX, Settings

READ_ELSEWHERE: Final = ("models",)
"""Variables that are no settings of a gateway: the folder that all gateways of this user take their models from."""

SHOWN_CHARACTERS: Final = 80
"""Of a wrong value, in the sentence about it: one line of a terminal."""

OPTIONS: Final = {
    "tools_modules": "--tools-module",
    "tool_files": "--tools",
    "prompt_cache": "--prompt-cache-dir",
    "model_template": "--chat-template",
}
"""The options that are not called like their setting."""

_RIGHT: Final = {
    "bool_parsing": "`true` or `false`",
    "bool_type": "`true` or `false`",
    "dict_type": "a table, like `[sources.name]`",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller number",
    "int_type": "a whole number",
    "path_not_directory": "an existing folder",
    "path_not_file": "an existing file",
    "path_type": "a path",
    "string_too_short": "at least one character",
    "string_type": "text",
    "tuple_type": 'a list, like `["name"]`',
}
"""What would be right, where pydantic's own words are about its types."""

_UNSHOWN: Final = {
    "model_url",
    "anchors",
    "sinks",
    "sources",
    *(name for name, field in Settings.model_fields.items() if isinstance(field.default, SecretStr)),
}
"""Settings that are, or may hold, a secret."""


def load_settings(**options: object) -> Settings:
    """The settings in force; `options` of the command line win where they are not None. Raises Misconfigured."""
    given = {name: value for name, value in options.items() if value is not None}
    file, environment = _read_file(Path(CONFIG_FILE)), _Environment(Settings)()
    _refuse_unknown_names(file, os.environ)
    try:
        settings = Settings.model_validate({**file, **environment, **given})
    except ValidationError as error:
        faults = error.errors(include_url=False)
        raise Misconfigured("; ".join(_describe(fault, given, environment) for fault in faults)) from None
    settings.remember_places(
        {
            **dict.fromkeys(file, SettingPlace.FILE),
            **dict.fromkeys(environment, SettingPlace.ENVIRONMENT),
            **dict.fromkeys(given, SettingPlace.COMMAND_LINE),
        }
    )
    return settings


def _read_file(path: Path) -> Mapping[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except IsADirectoryError:
        raise Misconfigured(f"`{path.name}` is a folder; it should be a file of settings in TOML") from None
    except OSError as error:
        raise Misconfigured(f"`{path.name}` cannot be read ({error.strerror}); it should be a file that you may read") from None
    except UnicodeDecodeError as error:
        raise Misconfigured(f"`{path.name}` should be UTF-8, and byte {error.start + 1} is not") from None
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"`{path.name}` should be TOML, lines like `port = 8765`: {escape(str(error))}") from None
    except RecursionError:
        raise Misconfigured(f"`{path.name}` should be lines like `port = 8765`, and is nested too deep") from None


class _Environment(EnvSettingsSource):
    """The variables of the settings. A list is JSON."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Parsed, or left as it is, so that the setting itself says what it takes."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except (ValueError, RecursionError):
            return value


def _refuse_unknown_names(file: Iterable[str], environment: Iterable[str]) -> None:
    fields = sorted(Settings.model_fields)
    for name in file:
        if name not in fields:
            advice = _suggest(name.lower().removeprefix(PREFIX.lower()), {field: field for field in fields})
            raise Misconfigured(f"`{escape(name)}` in `{CONFIG_FILE}` is no setting; {advice}")
    # Without their prefix, which would make all of them look alike.
    variables = {field.upper(): f"{PREFIX}{field.upper()}" for field in (*fields, *READ_ELSEWHERE)}
    for name in environment:
        bare = name.upper().removeprefix(PREFIX)
        if name.upper().startswith(PREFIX) and bare not in variables:
            raise Misconfigured(f"`{escape(name)}` is no setting; {_suggest(bare, variables)}")


def _suggest(name: str, known: Mapping[str, str]) -> str:
    # Imported by the first name that is unknown.
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean `{known[close[0]]}`?"
    if all(each.startswith(PREFIX) for each in known.values()):
        # The prefix once, or the line would be longer than anybody reads.
        return f"the settings are {PREFIX} with one of {', '.join(each.removeprefix(PREFIX) for each in known.values())}"
    return f"the settings are {', '.join(known.values())}"


def _describe(fault: ErrorDetails, given: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """One fault: where it stands, what stands there, what would be right."""
    message = str(fault["ctx"]["error"]) if "ctx" in fault and fault["type"] == "value_error" else ""
    if not fault["loc"]:
        return message or fault["msg"]
    name = str(fault["loc"][0])
    if name in given:
        place = f"`{OPTIONS.get(name, '--' + name.replace('_', '-'))}`"
    elif name in environment:
        place = f"`{PREFIX}{name.upper()}`"
    else:
        place = f"`{name}` in `{CONFIG_FILE}`"
    right = message or f"it should be {_RIGHT.get(fault['type'], fault['msg'].removeprefix('Input should be '))}"
    if name in _UNSHOWN:
        return f"{place} cannot be used: {right}"
    shown = escape(str(fault["input"]))
    return f"{place} is `{shown if len(shown) <= SHOWN_CHARACTERS else shown[:SHOWN_CHARACTERS] + '…'}`; {right}"
