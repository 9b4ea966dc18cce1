"""Sources of tools, decisions about their tools, and sealed secrets, as the tables keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from pydantic import TypeAdapter
from sqlalchemy import bindparam, delete, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.sign_ins import forget_sign_in
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.adapters.storage.stored import StoredJson
from gateway.core.canonical import Json
from gateway.core.ledger.sources import (
    SecretRemoved,
    SecretStored,
    SourceAdded,
    SourceChanged,
    SourceEntry,
    SourceRemoved,
    SourceSwitched,
    SourceToolDecided,
    SourceToolsSeen,
)
from gateway.core.sources import AddedSource, SeenTool, SourceKind, SourceTool
from gateway.core.vocabulary import Category

# ── writing ──

_settings: Final[StoredJson[Mapping[str, Json]]] = StoredJson(lambda: TypeAdapter(Mapping[str, Json]))
_seen: Final[StoredJson[SeenTool]] = StoredJson(lambda: TypeAdapter(SeenTool))

_this_tool = (t.source_tools.c.source == given("source"), t.source_tools.c.tool == given("tool"))

ADD_SOURCE = insertion(t.sources)
CHANGE_SOURCE = Statement(
    update(t.sources).where(t.sources.c.name == given("name")).values(settings=bindparam("settings")),
    refusal="there is no such source",
)
SWITCH_SOURCE = Statement(
    update(t.sources).where(t.sources.c.name == given("name")).values(enabled=bindparam("enabled")),
    refusal="there is no such source",
)
REMOVE_SOURCE = Statement(delete(t.sources).where(t.sources.c.name == given("name")), refusal="there is no such source")
FORGET_TOOLS = Statement(delete(t.source_tools).where(t.source_tools.c.source == given("source")))
FORGET_UNDECIDED = Statement(delete(t.source_tools).where(*_this_tool, t.source_tools.c.decided_at.is_(None)))
ADD_TOOL = insertion(t.source_tools)
QUARANTINE = Statement(
    update(t.source_tools).where(*_this_tool, t.source_tools.c.decided_at.is_not(None)).values(pending=bindparam("pending")),
    refusal="nobody had decided about that tool",
)
DECIDE = Statement(
    update(t.source_tools)
    .where(*_this_tool)
    .values(
        seen=bindparam("seen"), category=bindparam("category"), decided_at=bindparam("decided_at"), pending=bindparam("pending")
    ),
    refusal="there is no such tool",
)
FORGET_SECRET = Statement(delete(t.secrets).where(t.secrets.c.name == given("name")))
REMOVE_SECRET = Statement(delete(t.secrets).where(t.secrets.c.name == given("name")), refusal="there is no such secret")
ADD_SECRET = insertion(t.secrets)


def change_sources(entry: SourceEntry) -> Sequence[Change]:
    """What an entry about sources changes, in order."""
    match entry:
        case SourceAdded(source=source):
            row = {
                "name": source.name,
                "kind": source.kind.value,
                "settings": _settings.write(source.settings),
                "enabled": source.enabled,
                "added_at": entry.at,
            }
            return (Change(ADD_SOURCE, row),)
        case SourceChanged(source=source):
            return (Change(CHANGE_SOURCE, {"of_name": source.name, "settings": _settings.write(source.settings)}),)
        case SourceSwitched():
            return (Change(SWITCH_SOURCE, {"of_name": entry.source, "enabled": entry.enabled}),)
        case SourceRemoved():
            return (
                Change(REMOVE_SOURCE, {"of_name": entry.source}),
                Change(FORGET_TOOLS, {"of_source": entry.source}),
                forget_sign_in(entry.source),
            )
        case SourceToolsSeen():
            return (
                *(change for seen in entry.new for change in _add_tool(entry.source, seen)),
                *(Change(QUARANTINE, {**_of_tool(entry.source, seen), "pending": _seen.write(seen)}) for seen in entry.changed),
            )
        case SourceToolDecided(seen=seen):
            values = {
                "seen": _seen.write(seen),
                "category": None if entry.category is None else entry.category.value,
                "decided_at": entry.at,
                "pending": None,
            }
            return (Change(DECIDE, {**_of_tool(entry.source, seen), **values}),)
        case SecretStored():
            row = {"name": entry.name, "sealed": entry.sealed, "stored_at": entry.at}
            return (Change(FORGET_SECRET, {"of_name": entry.name}), Change(ADD_SECRET, row))
        case SecretRemoved():
            return (Change(REMOVE_SECRET, {"of_name": entry.name}),)
        case _:
            assert_never(entry)


def _of_tool(source: str, seen: SeenTool) -> dict[str, str]:
    return {"of_source": source, "of_tool": seen.tool}


def _add_tool(source: str, seen: SeenTool) -> tuple[Change, Change]:
    row = {
        "source": source,
        "tool": seen.tool,
        "seen": _seen.write(seen),
        "category": None,
        "decided_at": None,
        "pending": None,
    }
    return Change(FORGET_UNDECIDED, _of_tool(source, seen)), Change(ADD_TOOL, row)


# ── reading ──


@stored("source", "name")
def _read_source(row: ARow) -> AddedSource:
    return AddedSource(row.name, SourceKind(row.kind), _settings.read(row.settings), row.enabled, row.added_at)


@stored("tool of a source", "source", "tool")
def _read_tool(row: ARow) -> SourceTool:
    return SourceTool(
        source=row.source,
        seen=_seen.read(row.seen),
        category=None if row.category is None else Category(row.category),
        decided_at=row.decided_at,
        pending=None if row.pending is None else _seen.read(row.pending),
    )


@stored("secret", "name")
def _read_secret(row: ARow) -> tuple[str, bytes]:
    return row.name, bytes(row.sealed)


class SourceReader(Reader):
    """Sources of tools, what was decided about their tools, and sealed secrets."""

    async def sources(self) -> Sequence[AddedSource]:
        return await self._list(select(t.sources).order_by(t.sources.c.name), _read_source)

    async def source_tools(self, source: str) -> Sequence[SourceTool]:
        tools = select(t.source_tools).where(t.source_tools.c.source == source)
        return await self._list(tools.order_by(t.source_tools.c.tool), _read_tool)

    async def sealed_secrets(self) -> Mapping[str, bytes]:
        return dict(await self._list(select(t.secrets).order_by(t.secrets.c.name), _read_secret))
