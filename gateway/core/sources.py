"""Sources that the operator added, and what a person decided about each of their tools.

A tool is known by its source and its own name there. A decision is bound to a pin, the digest of the definition that was
decided about: with another definition the tool is in quarantine until somebody decides again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, cast

from gateway.core.canonical import Json, digest
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.vocabulary import Category

MAX_TOOLS: Final = 2_000
"""Tools of one source; the rest is left out and said."""

MOST_ON_RECORD: Final = 2 * MAX_TOOLS
"""Tools that one source may ever have offered: each stays on record, whether it is offered still or not."""

_SOURCE_NAME: Final = re.compile(r"(?=.{1,32}$)[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""Without two hyphens in a row: published, a hyphen is a `_`, and two of those end the name of the source."""

_SECRET_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class SourceKind(StrEnum):
    """What kind of other side a source is."""

    MCP = "mcp"
    HTTP = "http"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class AddedSource:
    """A source as the operator described it. Secrets are named in `settings`, never in it. `declared`: in the settings file,
    where it can only be changed by editing that."""

    name: str
    kind: SourceKind
    settings: Mapping[str, Json]
    enabled: bool = True
    added_at: int = 0
    declared: bool = False
    categories: Mapping[str, Category | None] = field(default_factory=dict[str, "Category | None"])
    """What is declared of tools, by their own names, and is decided when they are first seen."""


@dataclass(frozen=True, slots=True)
class SeenTool:
    """A tool as its source offers it now: its own name there, the name that it is published under, the pin and what the pin
    is the digest of."""

    tool: str
    name: str
    pin: str
    definition: Mapping[str, Json]


class Standing(StrEnum):
    """Whether a tool may be called, as far as people decided."""

    PROPOSED = "proposed"
    """Nobody has decided about it."""
    IN_USE = "inUse"
    """It has a category, and the policy decides about each call."""
    KEPT_OUT = "keptOut"
    """Somebody decided that nobody calls it."""
    QUARANTINED = "quarantined"
    """It is not any more what was decided about."""


@dataclass(frozen=True, slots=True)
class SourceTool:
    """A tool as it was first seen or last decided about. `pending` is what it has become since a decision."""

    source: str
    seen: SeenTool
    category: Category | None = None
    decided_at: int | None = None
    pending: SeenTool | None = None

    @property
    def standing(self) -> Standing:
        """Whether it may be called."""
        if self.decided_at is None:
            return Standing.PROPOSED
        if self.category is None:
            return Standing.KEPT_OUT
        return Standing.IN_USE if self.pending is None else Standing.QUARANTINED


@dataclass(frozen=True, slots=True)
class Findings:
    """What is new about an offer: tools that nobody decided about, and decided ones that have another definition."""

    new: tuple[SeenTool, ...]
    changed: tuple[SeenTool, ...]


def compare(known: Iterable[SourceTool], seen: Sequence[SeenTool]) -> Findings:
    """What an offer has that is not on record yet. A tool that takes back its change stays in quarantine: who changes a
    definition twice is no safer than who changes it once."""
    before = {each.seen.tool: each for each in known}
    new: list[SeenTool] = []
    changed: list[SeenTool] = []
    for each in seen:
        recorded = before.get(each.tool)
        if recorded is None or (recorded.decided_at is None and recorded.seen.pin != each.pin):
            new.append(each)
        elif recorded.decided_at is not None and each.pin != (recorded.pending or recorded.seen).pin:
            changed.append(each)
    return Findings(tuple(new), tuple(changed))


def require_source_name(name: str) -> str:
    """The name itself. Raises Misconfigured for one that cannot begin the names of tools."""
    if _SOURCE_NAME.fullmatch(name) is None:
        raise Misconfigured(
            f"`{escape(name)[:80]}` is no name for a source; "
            "take lower-case letters, digits and single `-`, a letter first, at most 32"
        )
    return name


@dataclass(frozen=True, slots=True)
class ImportedServer:
    """A server of another client as a source. `secrets` are values that were taken out of the settings, `missing` names ones
    that the file only refers to, `notes` are sentences for the operator. `fetches` is a program that has to reach the network
    for its package, where that was not granted."""

    name: str
    settings: Mapping[str, Json]
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fetches: str | None = None


@dataclass(frozen=True, slots=True)
class ClientConfiguration:
    """What a file holds: the servers that can be sources, and what is wrong with the others, by the name that the file has."""

    servers: tuple[ImportedServer, ...]
    refused: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Of all that would be added, but for the values of secrets."""
        return digest([[each.name, dict(each.settings), sorted(each.secrets), list(each.missing)] for each in self.servers])


def require_secret_name(name: str) -> str:
    """The name itself. Raises Misconfigured for one that cannot be written in a setting."""
    if _SECRET_NAME.fullmatch(name) is None:
        raise Misconfigured(
            f"`{escape(name)[:80]}` is no name for a secret; take a letter, then at most 63 letters, digits, `_`, `.` or `-`"
        )
    return name


_REFERENCE: Final = re.compile(r"\$\{secret:([^}]*)\}")


def secrets_named(settings: Json) -> frozenset[str]:
    """The secrets that a source's settings refer to, as `${secret:NAME}` in any text of theirs."""
    if isinstance(settings, str):
        return frozenset(_REFERENCE.findall(settings))
    inner: Iterable[Json] = ()
    if isinstance(settings, Mapping):
        inner = cast("Mapping[str, Json]", settings).values()
    elif isinstance(settings, (list, tuple)):
        inner = cast("Sequence[Json]", settings)
    return frozenset(name for value in inner for name in secrets_named(value))


def fill_secrets(text: str, reveal: Mapping[str, str]) -> str:
    """The text with each `${secret:NAME}` replaced. Raises Misconfigured for a secret that is not there."""

    def value(reference: re.Match[str]) -> str:
        name = reference.group(1)
        if name not in reveal:
            raise Misconfigured(f"the secret `{escape(name)[:80]}` is not stored; `countersign secrets set` stores it")
        return reveal[name]

    return _REFERENCE.sub(value, text)
