"""The MCP servers in the configuration files of other clients: Claude Desktop and Code, Cursor, Windsurf, VS Code, Zed, Gemini,
opencode, Codex. Only read; nothing that such a file allows or trusts is taken over.

What may be a secret is taken out of the settings, to be stored under a name of its own.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, cast
from urllib.parse import parse_qsl, urlsplit

from gateway.adapters.tools.commented_json import without_comments
from gateway.adapters.tools.kinds import check_settings
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.sources import ClientConfiguration, ImportedServer, SourceKind

MAX_FILE: Final = 4 * 1024 * 1024
"""Bytes: some clients keep the servers among all their other settings."""

MAX_SERVERS: Final = 500
"""A file with more is not what somebody wrote for a client."""

MAX_TOML: Final = 256 * 1024
MAX_DOTS: Final = 64
"""Bytes of a file in TOML, and dots in a line of it outside of texts: what tomllib needs for a key grows with the square of its
parts (20,000 of them, 40 KB, took it 6 seconds)."""

MAX_DIGITS: Final = 20

_TABLES: Final = ("mcpServers", "servers", "context_servers", "mcp_servers", "mcp")
"""Where the servers stand, the most frequent first. VS Code's settings have `mcp` with `servers` in it."""

_ADDRESSES: Final = ("url", "serverUrl", "httpUrl")
_VARIABLES: Final = ("env", "environment")
_IGNORED: Final = frozenset(
    {
        *("type", "transport", "disabled", "enabled", "autoApprove", "alwaysAllow", "trust", "includeTools", "excludeTools"),
        *("description", "name", "gallery", "version", "source", "settings", "cwd", "envFile", "dev", "sandboxEnabled", "oauth"),
        *("tools", "startup_timeout_sec", "tool_timeout_sec", "startup_timeout_ms", "bearer_token_env_var", "enabled_tools"),
        *(
            "disabled_tools",
            "required",
            "headersHelper",
            "authProviderType",
            "disabledTools",
            "trust_level",
            "iconPath",
            "sandbox",
        ),
    }
)
"""Members that say nothing about how to reach the server, or that give rights which only an operator here gives."""

_HARMLESS: Final = re.compile(
    r"(?i)true|false|debug|info|warn(ing)?|error|production|development|[a-z]{2}([_-][a-z]{2})?|\d{1,6}"
)
_SECRET_NAME: Final = re.compile(
    r"(?i)key|token|secret|passw|pwd|credential|auth|cookie|bearer|private|signature|dsn|connection|pat$|_url$"
)
_REFERENCE: Final = re.compile(r"\$\{(?:(?P<kind>env|input):)?(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)(?::-(?P<otherwise>[^}]*))?\}")
_OWN_REFERENCE: Final = re.compile(r"\$\{[^{}]*\}")
_HOME: Final = frozenset({"${userHome}", "${HOME}", "${env:HOME}"})
_SECRET_OPTION: Final = re.compile(r"(?i)--?[a-z-]*(key|token|secret|password|credential)[a-z-]*(=.+)?")
_PASSWORD_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#@]*:[^/?#]+@")
_PACKAGE_RUNNERS: Final = frozenset({"npx", "uvx", "bunx", "pnpm", "yarn", "docker", "podman", "deno", "pipx", "uv"})


def read_client_configuration(text: str, environment: Mapping[str, str], *, network: bool = False) -> ClientConfiguration:
    """The servers of a client's file. `environment` is where `${VAR}` is looked up, `network` what every program is granted.

    Raises Misconfigured for a file that holds no servers at all.
    """
    table = _find_table(_parse(text))
    if len(table) > MAX_SERVERS:
        raise Misconfigured(f"the file holds more than {MAX_SERVERS} servers; take some of them out")
    taken: set[str] = set()
    servers: list[ImportedServer] = []
    refused: dict[str, str] = {}
    for given_name, given in table.items():
        try:
            servers.append(_read_server(_name(given_name, taken), given, environment, network=network))
        except Misconfigured as error:
            refused[escape(given_name)[:80]] = error.message
    return ClientConfiguration(tuple(servers), refused)


def _parse(text: str) -> object:
    if len(text.encode("utf-8", "replace")) > MAX_FILE:
        raise Misconfigured(f"the file is larger than {MAX_FILE // 1024 // 1024} MB")
    if not text.strip():
        raise Misconfigured("the file is empty")
    fault: ValueError
    text = text.removeprefix("\ufeff")
    for written in (text, without_comments(text)):
        try:
            return _parse_json(written)
        except RecursionError:
            raise Misconfigured("the file is nested too deep") from None
        except UnicodeEncodeError:
            raise Misconfigured(
                "the file holds half of a character: an escape such as `\\ud800` without its other half"
            ) from None
        except ValueError as error:
            fault = error
    try:
        return _parse_toml(text)
    except ValueError as error:
        why = str(error)
    if text.lstrip().startswith(("{", "/")):
        at = f" in line {fault.lineno}" if isinstance(fault, json.JSONDecodeError) else ""
        why = f"{getattr(fault, 'msg', fault)}{at}"
    raise Misconfigured(f"the file is neither JSON nor TOML: {escape(why)[:200]}")


def _parse_json(text: str) -> object:
    """Raises ValueError, also of halves of characters, and RecursionError."""
    document = json.loads(
        text,
        parse_constant=_refuse_constant,
        parse_float=_read_float,
        parse_int=_read_int,
        object_pairs_hook=_read_members,
    )
    json.dumps(document, ensure_ascii=False).encode()
    return document


def _parse_toml(text: str) -> object:
    """Raises ValueError."""
    bare = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'", "", text[: MAX_TOML + 1])
    if len(text) > MAX_TOML or any(line.count(".") > MAX_DOTS for line in bare.splitlines()):
        raise ValueError("as TOML it is too large, or its keys are nested too deep")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("as TOML it is nested too deep") from None


def _read_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose members are all there: of two with one name a reader would drop one without a word."""
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise Misconfigured(f"`{escape(name)[:80]}` stands twice in one object of the file; take one of them out")
        members[name] = value
    return members


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _read_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _read_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"{digits[:20]}… is too large a number")
    return int(digits)


def _find_table(document: object) -> Mapping[str, object]:
    if not isinstance(document, dict):
        raise Misconfigured("the file should hold an object with `mcpServers`")
    members = cast("dict[str, object]", document)
    for name in _TABLES:
        if name not in members:
            continue
        found = members[name]
        if isinstance(found, dict) and isinstance(cast("dict[str, object]", found).get("servers"), dict):
            found = cast("dict[str, object]", found)["servers"]
        if isinstance(found, list):
            raise Misconfigured(f"`{name}` should be an object, a name for each server, and is a list")
        if not isinstance(found, dict):
            raise Misconfigured(f"`{name}` should be an object, a name for each server")
        if not found:
            raise Misconfigured(f"`{name}` holds no server")
        return cast("dict[str, object]", found)
    if members and all(_is_server(value) for value in members.values()):
        return members
    raise Misconfigured("the file holds no servers: neither `mcpServers` (Claude, Cursor) nor `servers` (VS Code) is in it")


def _is_server(value: object) -> bool:
    return isinstance(value, dict) and any(name in value for name in ("command", *_ADDRESSES))


def _name(given: str, taken: set[str]) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", given.lower()).strip("-")[:28].strip("-")
    name = plain if plain[:1].isalpha() else f"mcp-{plain}".strip("-")
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    taken.add(unique)
    return unique


def _read_server(name: str, given: object, environment: Mapping[str, str], *, network: bool) -> ImportedServer:
    if not isinstance(given, dict):
        raise Misconfigured("it should be an object with `command` or `url`")
    members = cast("dict[str, Json]", given)
    if "${secret:" in json.dumps(members, ensure_ascii=False, default=str):
        # Else a file from elsewhere could have a secret sent to the address that it names.
        raise Misconfigured(
            "`${secret:…}` in it means a secret of this gateway, which a file from elsewhere cannot use; take it out"
        )
    if isinstance(members.get("command"), dict):
        # Zed's older form has `path`, `args` and `env` in there.
        inner = cast("dict[str, Json]", members["command"])
        members = {**{key: value for key, value in members.items() if key != "command"}, **inner}
        members["command"] = members.pop("path", "")
    keeper = _SecretKeeper(name, environment)
    address = next((members[each] for each in _ADDRESSES if members.get(each)), None)
    known = {"command", "args", "headers", "http_headers", "timeout", *_ADDRESSES, *_VARIABLES, *_IGNORED}
    if strange := sorted(members.keys() - known):
        raise Misconfigured(f"`{escape(strange[0])[:80]}` is not known here; take it out if the server works without it")
    settings: dict[str, Json] = {}
    notes: list[str] = []
    fetches: str | None = None
    if address is not None and members.get("command"):
        raise Misconfigured("it has both a `command` and an address; take one of them out")
    if address is not None:
        if members.get("type") == "sse" or members.get("transport") == "sse":
            raise Misconfigured("it uses the older transport SSE, which MCP has replaced; ask the server for its `/mcp` address")
        _refuse_secret_address(address)
        settings["url"] = _fill_in(address) if isinstance(address, str) else address
        headers = _texts(members.get("headers") or members.get("http_headers") or {}, "headers")
        if headers:
            settings["headers"] = {key: keeper.keep(key, value, always=True) for key, value in headers.items()}
    else:
        words = _words(members)
        settings["command"], settings["args"] = words[:1], words[1:]
        given_variables: Json = next((members[each] for each in _VARIABLES if members.get(each)), None)
        if variables := _texts(given_variables or {}, "env"):
            settings["env"] = {key: keeper.keep(key, value) for key, value in variables.items()}
        folders = sorted({place for word in words[1:] if (place := _folder_of(word)) is not None})
        if folders:
            settings["folders"] = folders
            notes.append(f"may read {', '.join(folders)}; `writable` in its settings lets it change files there")
        if network:
            settings["network"] = True
        elif Path(words[0]).name in _PACKAGE_RUNNERS:
            fetches = Path(words[0]).name
    if members.get("cwd") or members.get("envFile"):
        notes.append("`cwd` and `envFile` are not taken over: it runs in a folder of its own")
    return ImportedServer(
        name, check_settings(SourceKind.MCP, settings), keeper.secrets, tuple(sorted(keeper.missing)), tuple(notes), fetches
    )


def _words(members: Mapping[str, Json]) -> list[str]:
    words = [*_listed(members.get("command", "")), *_listed(members.get("args") or [])]
    if not all(isinstance(word, str) for word in words):
        raise Misconfigured("`command` and `args` should be texts")
    texts = cast("list[str]", words)
    if not texts or not texts[0].strip():
        raise Misconfigured("it has neither a `command` nor a `url`")
    for word, after in zip(texts, [*texts[1:], ""], strict=True):
        if _PASSWORD_ADDRESS.match(word):
            raise Misconfigured(
                f"`{escape(word.partition('://')[0])[:80]}://` gives it a password on its command line, which everybody on this"
                " machine can read; give the address as a variable in `env`"
            )
        option = _SECRET_OPTION.fullmatch(word)
        if option is not None and (option.group(2) or (after and not after.startswith("-"))):
            raise Misconfigured(
                f"`{escape(word.partition('=')[0])}` gives it a secret on its command line, which everybody on this machine can"
                " read; give it as a variable in `env`"
            )
    return [_fill_in(_expand_home(word)) for word in texts]


def _fill_in(word: str) -> str:
    """What a client would put in, where it is known here. All but the home folder is the client's own, or may be a secret."""
    for reference in cast("list[str]", _OWN_REFERENCE.findall(word)):
        if reference not in _HOME:
            raise Misconfigured(
                f"`{escape(reference)[:80]}` is filled in by the client that the file is from, and not here; write out what it"
                " stands for, a secret as a variable in `env`"
            )
        word = word.replace(reference, str(Path.home()))
    return word


def _refuse_secret_address(address: Json) -> None:
    """An address is shown, logged and kept as it is, and many services take a key in it."""
    try:
        given = parse_qsl(urlsplit(address).query) if isinstance(address, str) else []
    except ValueError:
        # No address at all, which the settings say in their own words.
        return
    for name, value in given:
        if _SECRET_NAME.search(name) and value:
            raise Misconfigured(
                f"`{escape(name)[:80]}` gives it a secret in its address, which is shown and logged; give it as a header in"
                " `headers`"
            )


def _listed(value: Json) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _expand_home(word: str) -> str:
    return str(Path(word).expanduser()) if word.startswith("~/") else word


def _texts(value: Json, name: str) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise Misconfigured(f"`{name}` should be an object of texts")
    members = cast("dict[str, Json]", value)
    for key, inner in members.items():
        if not isinstance(inner, (str, int, float, bool)):
            raise Misconfigured(f"`{name}.{escape(key)[:80]}` should be a text")
    return {key: inner if isinstance(inner, str) else json.dumps(inner) for key, inner in members.items()}


def _folder_of(word: str) -> str | None:
    """The folder that an argument names, or that the file which it names lies in."""
    if not word.startswith("/"):
        return None
    path = Path(word)
    try:
        return str(path) if path.is_dir() else str(path.parent) if path.is_file() else None
    except OSError:
        return None


class _SecretKeeper:
    """Takes secrets out of values, under names that begin with the source's."""

    def __init__(self, source: str, environment: Mapping[str, str]) -> None:
        self.secrets: dict[str, str] = {}
        self.missing: set[str] = set()
        self._source = source
        self._environment = environment

    def keep(self, name: str, value: str, *, always: bool = False) -> str:
        """The value as it stands in the settings: itself where it is plainly none, else a reference to a secret."""
        if value == "":
            return value
        references = list(_REFERENCE.finditer(value))
        if references:
            return self._resolve(value, references)
        if not always and _SECRET_NAME.search(name) is None and (_HARMLESS.fullmatch(value) or _is_plain(value)):
            return value
        return self._store(name, value)

    def _resolve(self, value: str, references: Iterable[re.Match[str]]) -> str:
        for reference in references:
            name = reference.group("name")
            stored = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{self._source}.{name}")[:64]
            if reference.group("kind") != "input" and name in self._environment:
                self.secrets[stored] = self._environment[name]
            elif reference.group("otherwise"):
                self.secrets[stored] = reference.group("otherwise")
            else:
                self.missing.add(stored)
            value = value.replace(reference.group(0), f"${{secret:{stored}}}")
        return value

    def _store(self, name: str, value: str) -> str:
        stored = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{self._source}.{name}")[:64]
        scheme = re.match(r"(?i)(bearer|basic|token) +", value)
        begin = scheme.group(0) if scheme else ""
        self.secrets[stored] = value.removeprefix(begin)
        return f"{begin}${{secret:{stored}}}"


def _is_plain(value: str) -> bool:
    """A path, an address without a query or name, or a few words: nothing that somebody made up at random."""
    if value.startswith("/") or re.fullmatch(r"https?://[A-Za-z0-9.:-]+(/[A-Za-z0-9._-]{0,30}){0,4}/?", value):
        return True
    return len(value) <= 16 and not re.search(r"\d.*\d.*\d", value)
