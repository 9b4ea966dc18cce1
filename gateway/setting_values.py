"""The kinds of values that settings take, each with a sentence that says what would be right."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, DirectoryPath, Field, FilePath, SecretStr

from gateway.adapters.inference.presets import preset_of
from gateway.adapters.inference.server_arguments import check_arguments
from gateway.core.errors import Misconfigured
from gateway.installation import require_web

DAY: Final = 24 * 3600.0
"""Seconds. Whatever waits for a person may wait over night; nothing that waits longer is still wanted."""

RetainedTool = Annotated[str, Field(min_length=1, max_length=128)]
"""A tool by its name."""

RetainedDays = Annotated[int, Field(strict=True, ge=0, le=36_500)]
"""Whole days."""

_HOST = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def _usable(value: object) -> object:
    """What a path may be before anything is looked for there."""
    if not isinstance(value, str | Path):
        return value
    if value == "":
        raise ValueError("it should be a path; leave the setting out for its default")
    if str(value).startswith("~"):
        raise ValueError("it should be the whole path, because `~` is not expanded here")
    try:
        os.stat(value)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise ValueError(f"it should be a path that can be used here ({error.strerror})") from None
    return value


def _folder(path: Path) -> Path:
    """A folder, or a path at which one can be made."""
    nearest = next(each for each in (path.absolute(), *path.absolute().parents) if os.path.lexists(each))
    if not nearest.is_dir():
        raise ValueError(f"it should be a folder, and `{nearest.name}` is none")
    return path


def _web_apps(folder: Path) -> Path:
    try:
        return require_web(folder)
    except Misconfigured:
        raise ValueError(
            "it should be the folder of the built web apps, with `shell/index.html`, `console/index.html` and"
            " `verifier/index.html`"
        ) from None


def _zone(name: str) -> str:
    """The name of a time zone that this machine knows."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise ValueError("it should be the IANA name of a time zone, like `Europe/Berlin`") from None
    return name


TimeZone = Annotated[str, AfterValidator(_zone)]


def _program(path: str) -> str:
    if path and not Path(os.path.expanduser(path)).is_file():
        raise ValueError("it should be the path of a llama-server binary")
    return path


def _model(name: str) -> str:
    if preset_of(name) is None and name.lower().endswith(".gguf") and not Path(os.path.expanduser(name)).is_file():
        raise ValueError("it should be an existing GGUF file, a name of `countersign models list`, `stub` or `none`")
    return name


def _module(name: str) -> str:
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError("it should be the name of a Python module, like `my_tools`")
    return name


def _host_and_port(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if not (host and colon and re.fullmatch(r"[0-9]{1,5}", port) and 1 <= int(port) <= 65535):
        raise ValueError("it should be host and port, like `localhost:8080`")
    return text


def _origin(text: str) -> str:
    if text and not _is_origin(text):
        raise ValueError("it should be scheme, host and port as a browser writes them, like `https://agent.example.com`")
    return text


def _token(secret: SecretStr) -> SecretStr:
    if re.search(r"[^!-~]", secret.get_secret_value()):
        raise ValueError("it should be visible ASCII characters, because it is sent in a header")
    return secret


def _is_origin(text: str) -> bool:
    """Whether it is an origin as browsers serialise it (RFC 6454 section 6.2): lower case, without the scheme's own port."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in _DEFAULT_PORTS or not re.fullmatch(_HOST, parts.hostname or "") or port == 0:
        return False
    if port == _DEFAULT_PORTS[parts.scheme]:
        return False
    return text == f"{parts.scheme}://{parts.hostname}{'' if port is None else f':{port}'}"


def _contact(address: str) -> str:
    if address and not re.fullmatch(r"(mailto:[^@\s]+@[^@\s]+|https://[^\s]+)", address):
        raise ValueError("it should be like `mailto:you@example.org` or `https://example.org`")
    return address


NewFolder = Annotated[Path, BeforeValidator(_usable), AfterValidator(_folder)]
Folder = Annotated[DirectoryPath, BeforeValidator(_usable)]
File = Annotated[FilePath, BeforeValidator(_usable)]
Origin = Annotated[str, AfterValidator(_origin)]
Token = Annotated[SecretStr, AfterValidator(_token)]
WebApps = Annotated[Folder, AfterValidator(_web_apps)]
ModuleName = Annotated[str, AfterValidator(_module)]
HostAndPort = Annotated[str, AfterValidator(_host_and_port)]
ModelName = Annotated[str, AfterValidator(_model)]
ModelServer = Annotated[str, AfterValidator(_program)]
ServerArguments = Annotated[tuple[str, ...], AfterValidator(check_arguments)]
Seconds = Annotated[float, Field(gt=0, le=DAY)]
PushContact = Annotated[str, AfterValidator(_contact)]
