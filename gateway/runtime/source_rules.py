"""What a source and a secret may be that are added: a name of their own, room, and no secret that was stored for another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from gateway.core.canonical import Json, digest
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured, Refused
from gateway.core.sources import (
    AddedSource,
    ClientConfiguration,
    ImportedServer,
    require_secret_name,
    require_source_name,
    secrets_named,
)

MAX_SOURCES: Final = 64
"""Each may be a process of its own."""

MOST_IMPORTED: Final = 200
"""Servers of one configuration that are looked at; more than a gateway has, since many may be refused."""

MAX_SECRET: Final = 16 * 1024
"""Characters of one secret: keys of services in PEM are a few thousand."""


def require_few(read: ClientConfiguration) -> None:
    if len(read.servers) + len(read.refused) > MOST_IMPORTED:
        raise Misconfigured(f"it holds more than {MOST_IMPORTED} servers; leave in it those that you want here")


def require_room(name: str, sources: Mapping[str, AddedSource]) -> None:
    if require_source_name(name) in sources:
        raise Refused("nameTaken", say_taken(name), 409)
    if len(sources) >= MAX_SOURCES:
        raise Refused("tooMany", f"a gateway has at most {MAX_SOURCES} sources", 409)


def say_taken(name: str) -> str:
    return f"there is a source `{name}` already; remove it first, or take another name"


def require_seen(source: AddedSource, settings: str) -> None:
    """A change is made to what somebody looked at: the digest of those settings."""
    if digest(source.settings) != settings:
        raise Refused("changed", f"somebody changed the settings of `{source.name}` meanwhile; look at them again", 409)


def require_secret(name: str, value: str) -> None:
    require_secret_name(name)
    if not value or len(value) > MAX_SECRET or not all(each.isprintable() or each in "\n\t" for each in value):
        raise Misconfigured(f"a secret is 1 to {MAX_SECRET} printable characters")


def require_stored(settings: Mapping[str, Json], stored: Collection[str]) -> None:
    if missing := sorted(secrets_named(settings) - set(stored)):
        named = ", ".join(f"`{escape(name)[:80]}`" for name in missing)
        raise Misconfigured(f"no secret is stored under {named}; `countersign secrets set NAME` stores one")


def require_unknown_secrets(server: ImportedServer, known: frozenset[str]) -> None:
    """What is left of a removed source, or was stored for another, must not be sent where a file from elsewhere says."""
    if reused := sorted((secrets_named(server.settings) - server.secrets.keys()) & known):
        raise Misconfigured(
            f"`{server.name}` would be given the secret `{escape(reused[0])}`, which is stored already; remove that first, or add"
            " the source yourself with `countersign sources add`"
        )
