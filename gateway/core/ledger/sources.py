"""Sources of tools: what the operator added, what was offered, and what was decided about each tool.

`principal_id` is who did it on the console, None for somebody at the machine's own command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.canonical import Json, canonical_bytes, digest, own_bytes
from gateway.core.sources import AddedSource, SeenTool
from gateway.core.vocabulary import Category

__all__ = [
    "SecretRemoved",
    "SecretStored",
    "SourceAdded",
    "SourceChanged",
    "SourceRemoved",
    "SourceSwitched",
    "SourceToolDecided",
    "SourceToolsSeen",
]


@dataclass(frozen=True, slots=True)
class SourceAdded:
    """A source was described. It may offer tools from now on, and none of them can be called yet."""

    EVENT: ClassVar[str] = "source:added"

    at: int
    principal_id: str | None
    source: AddedSource

    def leaf(self) -> Leaf:
        return _describe(self.EVENT, self.at, self.principal_id, self.source)


@dataclass(frozen=True, slots=True)
class SourceChanged:
    """A source was described anew. What was decided about its tools stays, each decision bound to its pin: what the source
    offers from now on is compared with that."""

    EVENT: ClassVar[str] = "source:changed"

    at: int
    principal_id: str | None
    source: AddedSource

    def leaf(self) -> Leaf:
        return _describe(self.EVENT, self.at, self.principal_id, self.source)


def _describe(event: str, at: int, principal_id: str | None, source: AddedSource) -> Leaf:
    body = {"source": source.name, "kind": source.kind.value, "settingsDigest": digest(source.settings)}
    payload: dict[str, Json] = {"settings": dict(source.settings)}
    return Leaf({**header(event, at, principal_id), **body}, canonical_bytes(payload))


@dataclass(frozen=True, slots=True)
class SourceSwitched:
    """A source was switched off, or on again."""

    EVENT: ClassVar[str] = "source:switched"

    at: int
    principal_id: str | None
    source: str
    enabled: bool

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "source": self.source, "enabled": self.enabled})


@dataclass(frozen=True, slots=True)
class SourceRemoved:
    """A source was removed, with every decision about its tools."""

    EVENT: ClassVar[str] = "source:removed"

    at: int
    principal_id: str | None
    source: str

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "source": self.source})


@dataclass(frozen=True, slots=True)
class SourceToolsSeen:
    """A source offers tools that it did not offer before, or as something else than was decided about: those are in quarantine
    from here on."""

    EVENT: ClassVar[str] = "source-tools:seen"

    at: int
    source: str
    new: tuple[SeenTool, ...]
    changed: tuple[SeenTool, ...]

    def leaf(self) -> Leaf:
        # Names and texts are the other side's, so they are in the payload.
        body = {"source": self.source, "new": len(self.new), "quarantined": len(self.changed)}
        payload: dict[str, Json] = {"new": _described(self.new), "quarantined": _described(self.changed)}
        return Leaf({**header(self.EVENT, self.at, None), **body}, canonical_bytes(payload))


def _described(tools: Sequence[SeenTool]) -> Json:
    return [{"tool": each.tool, "name": each.name, "pin": each.pin, "definition": dict(each.definition)} for each in tools]


@dataclass(frozen=True, slots=True)
class SourceToolDecided:
    """A person gave a tool, as the pin has it, a category, or with None decided that nobody calls it."""

    EVENT: ClassVar[str] = "source-tool:decided"

    at: int
    principal_id: str | None
    source: str
    seen: SeenTool
    category: Category | None

    def leaf(self) -> Leaf:
        body = {
            "source": self.source,
            "tool": self.seen.name,
            "pin": self.seen.pin,
            "category": None if self.category is None else self.category.value,
        }
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body}, own_bytes({"tool": self.seen.tool}))


@dataclass(frozen=True, slots=True)
class SecretStored:
    """A secret was stored, or replaced. The record has its name; the sealed value is only in the tables."""

    EVENT: ClassVar[str] = "secret:stored"

    at: int
    principal_id: str | None
    name: str
    sealed: bytes

    def leaf(self) -> Leaf:
        return Leaf(header(self.EVENT, self.at, self.principal_id), own_bytes({"name": self.name}))


@dataclass(frozen=True, slots=True)
class SecretRemoved:
    """A secret was removed; what refers to it cannot connect any more."""

    EVENT: ClassVar[str] = "secret:removed"

    at: int
    principal_id: str | None
    name: str

    def leaf(self) -> Leaf:
        return Leaf(header(self.EVENT, self.at, self.principal_id), own_bytes({"name": self.name}))


SourceEntry = (
    SourceAdded
    | SourceChanged
    | SourceSwitched
    | SourceRemoved
    | SourceToolsSeen
    | SourceToolDecided
    | SecretStored
    | SecretRemoved
)
