"""What the operator writes about one MCP server: as in the configurations of other clients, with what it may reach beside it."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gateway.adapters.tools.oauth.settings import SignInSettings
from gateway.core.canonical import digest_of_bytes
from gateway.core.effects import escape

SECRET: Final = re.compile(r"\$\{secret:([^}]*)\}")
"""Where a setting holds a secret, by name."""

MAX_SECONDS: Final = 600.0

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""RFC 9110 section 5.6.2, token."""

_ADDRESS: Final = re.compile(r"[!-\[\]-~]+")
"""Visible ASCII without the backslash, which some take for a slash."""

_OWN_VARIABLES: Final = frozenset({"HOME"})
_OWN_HEADERS: Final = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept", "accept-encoding", "last-event-id"}
)
_OWN_PREFIX: Final = "mcp-"

_MAX_WORDS: Final = 200
_MAX_CHARACTERS: Final = 8_000


class ElicitationRule(StrEnum):
    """What becomes of a server's wish to ask the person something while a call runs."""

    REFUSE = "refuse"
    ASK = "ask"


class McpServerSettings(BaseModel):
    """One server: a program (`command`, `args`, `env`, `folders`, `writable`, `network`), or an address (`url`, `headers`,
    `allow_private`, `oauth`).

    `env` and `headers` may hold `${secret:NAME}`. `folders` it may read, `writable` also change; both are absolute paths.
    `timeout` is in seconds, for one call; `start_timeout` for the server's first answers: less than the minute that a source
    is given to open, so that what the server wrote last can be told.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str | None = None
    """Written by other clients; it only has to agree with the rest."""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = False
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    allow_private: bool = False
    """Whether the host of `url`, where that is a name, may have an address that is not public. An address, or `localhost`, needs
    no such word: no name server decides what it means."""
    oauth: SignInSettings | None = None
    """About the sign-in that a server wants; most need nothing said."""
    timeout: float = Field(default=30.0, gt=0, le=MAX_SECONDS)
    start_timeout: float = Field(default=50.0, gt=0, le=MAX_SECONDS)
    elicitation: ElicitationRule = ElicitationRule.REFUSE
    """Refused unless the operator says otherwise: a form under the console's own name is a way to talk people into things."""

    @property
    def is_program(self) -> bool:
        """Whether the server is a program that is started here."""
        return bool(self.command)

    @property
    def words(self) -> tuple[str, ...]:
        """The whole command; empty for a server that has an address."""
        return (*self.command, *self.args)

    @property
    def place(self) -> str:
        """Where the server is, as people know it: the command as written, or the address without its query, which may hold a
        secret."""
        if self.is_program:
            return " ".join(escape(word) if re.fullmatch(r"[^\s\"']+", word) else f'"{escape(word)}"' for word in self.words)
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    @property
    def exact_place(self) -> str:
        """Where the server is, as decisions know it: with another query it is another place. Of the query it has only a
        digest."""
        query = urlsplit(self.url).query
        return f"{self.place}?{digest_of_bytes(query.encode())}" if query else self.place

    @field_validator("type")
    @classmethod
    def _check_type(cls, value: str | None) -> str | None:
        if value not in (None, "stdio", "http", "streamable-http"):
            raise ValueError("it should be `stdio` or `http`; the older transport `sse` is not supported")
        return value

    @field_validator("command", mode="before")
    @classmethod
    def _split_nothing(cls, value: object) -> object:
        # One word is a program without arguments, as in other clients. Nothing splits it: a path may hold a space.
        return (value,) if isinstance(value, str) else value

    @field_validator("command", "args")
    @classmethod
    def _check_words(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        if len(words) > _MAX_WORDS or sum(map(len, words)) > _MAX_CHARACTERS:
            raise ValueError(f"it should be at most {_MAX_WORDS} words of {_MAX_CHARACTERS} characters together")
        if any("\0" in word for word in words):
            raise ValueError("no word of a command can hold U+0000")
        if any(SECRET.search(word) for word in words):
            raise ValueError("a command can be read by everybody on this machine; put the secret into `env`")
        return words

    @field_validator("folders", "writable")
    @classmethod
    def _check_folders(cls, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        for path in paths:
            if not path.is_absolute() or ".." in path.parts:
                raise ValueError(f"`{escape(str(path))}` should be a whole path, from `/` and without `..`")
        return paths

    @field_validator("env")
    @classmethod
    def _check_env(cls, env: dict[str, str]) -> dict[str, str]:
        for name, value in env.items():
            if _VARIABLE.fullmatch(name) is None:
                raise ValueError(f"`{escape(name)}` is no name of a variable")
            if name in _OWN_VARIABLES:
                raise ValueError(f"`{name}` is the source's own folder and cannot be set")
            if name.startswith("LD_"):
                raise ValueError(f"`{escape(name)}` changes what programs are loaded and cannot be set")
            if "\0" in value:
                raise ValueError(f"`{name}` holds U+0000")
        return env

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if _HEADER.fullmatch(name) is None:
                raise ValueError(f"`{escape(name)}` is no name of a header")
            if name.lower() in _OWN_HEADERS or name.lower().startswith(_OWN_PREFIX):
                raise ValueError(f"`{escape(name)}` is set by the client itself")
            check_header_value(name, value)
        return headers

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            _ = parts.port
        except ValueError:
            raise ValueError("it should be an address such as `https://tools.example.com/mcp`") from None
        if url and (parts.scheme not in ("http", "https") or not parts.hostname or _ADDRESS.fullmatch(url) is None):
            raise ValueError("it should be an address such as `https://tools.example.com/mcp`")
        if parts.username is not None or parts.password is not None:
            raise ValueError("put a name and password into `headers`, as `Authorization` with `${secret:NAME}`")
        if parts.fragment or SECRET.search(url):
            raise ValueError("it should have no fragment and no secret; secrets go into `headers`")
        return url

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.is_program == bool(self.url):
            raise ValueError("it should have either a `command` or a `url`")
        if self.is_program and not self.command[0].strip():
            raise ValueError("the `command` is empty")
        strange = ("headers", "allow_private", "oauth") if self.is_program else ("args", "env", "folders", "writable", "network")
        if given := next((name for name in strange if getattr(self, name)), None):
            kind = "a program" if self.is_program else "a server with a `url`"
            raise ValueError(f"`{given}` means nothing to {kind}")
        if self.oauth is not None and any(name.lower() == "authorization" for name in self.headers):
            raise ValueError("`oauth` and an `Authorization` header exclude each other")
        if self.type is not None and (self.type == "stdio") != self.is_program:
            raise ValueError(f"the type `{self.type}` does not go with a `{'command' if self.is_program else 'url'}`")
        return self


def check_header_value(name: str, value: str) -> None:
    """Raises ValueError for a value that no header can have; the value itself is not named."""
    if not value.isascii() or any(ord(character) < 0x20 or character == "\x7f" for character in value):
        raise ValueError(f"the value of `{escape(name)}` holds a character that no header can have")
