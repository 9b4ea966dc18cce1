"""What a running gateway does about sources of tools for other commands of this machine, over its control socket."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from gateway.adapters.tools.declared import read_categories, write_declared
from gateway.application import Application
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import InvalidParams
from gateway.core.sources import ImportedServer, SourceKind, SourceTool, Standing
from gateway.runtime.source_views import SourceView, ToolDecision
from gateway.server.control import Answerer

CHANGE_CONTEXT: Final = 40
CHANGE_SHOWN: Final = 200
"""Characters of a changed text before the place where it differs, and from there on."""


def source_commands(application: Application) -> Mapping[str, Answerer]:
    """Each command and the function that answers it."""
    sources = application.sources

    async def list_sources(_asked: Mapping[str, Json]) -> Json:
        return [describe_source(view) for view in await sources.list()]

    async def add(asked: Mapping[str, Json]) -> Json:
        try:
            kind = SourceKind(str(asked.get("kind", "")))
        except ValueError:
            raise InvalidParams(f"`kind` is one of {', '.join(SourceKind)}") from None
        settings = asked.get("settings", {})
        if not isinstance(settings, dict):
            raise InvalidParams("`settings` is an object")
        in_place = asked.get("replace") is True
        return describe_source(
            await sources.add(_name(asked), kind, cast("Mapping[str, Json]", settings), None, in_place=in_place)
        )

    async def import_server(asked: Mapping[str, Json]) -> Json:
        """A server of another client's configuration, with its secrets; `replace`: in place of a source of its name."""
        settings, secrets = asked.get("settings"), asked.get("secrets", {})
        if not isinstance(settings, dict) or not isinstance(secrets, dict):
            raise InvalidParams("`settings` and `secrets` are objects")
        in_place = asked.get("replace") is True and any(view.source.name == _name(asked) for view in await sources.list())
        values = {str(name): str(value) for name, value in cast("Mapping[str, Json]", secrets).items()}
        server = ImportedServer(_name(asked), cast("Mapping[str, Json]", settings), values)
        (view,) = await sources.add_servers([server], None, in_place=in_place)
        return describe_source(view)

    async def test(asked: Mapping[str, Json]) -> Json:
        return describe_source(await sources.probe(_name(asked)))

    async def switch(asked: Mapping[str, Json]) -> Json:
        return describe_source(await sources.switch(_name(asked), enabled=asked.get("enabled") is True, by=None))

    async def remove(asked: Mapping[str, Json]) -> Json:
        await sources.remove(_name(asked), None)
        return {}

    async def sign_in(asked: Mapping[str, Json]) -> Json:
        callback = await sources.sign_in_callback(_name(asked))
        return {"page": callback.removesuffix("/callback"), "callback": callback}

    async def sign_out(asked: Mapping[str, Json]) -> Json:
        _, why = await sources.sign_out(_name(asked), None)
        return {"why": why}

    async def pin(asked: Mapping[str, Json]) -> Json:
        """`categories` by a tool's own or published name; `proposed`: everything undecided gets what was proposed."""
        view = await sources.find(_name(asked))
        decisions = _decisions(view, asked)
        if not decisions:
            return describe_source(view)
        return describe_source(await sources.decide(view.source.name, decisions, None))

    async def export(asked: Mapping[str, Json]) -> Json:
        views = await sources.list() if asked.get("name") is None else [await sources.find(_name(asked))]
        return {"toml": write_declared([(view.source, view.tools) for view in views])}

    async def list_secrets(_asked: Mapping[str, Json]) -> Json:
        return [{"name": name, "sources": list(used)} for name, used in (await sources.secrets()).items()]

    async def store_secret(asked: Mapping[str, Json]) -> Json:
        await sources.store_secret(_name(asked), str(asked.get("value", "")), None)
        return {}

    async def remove_secret(asked: Mapping[str, Json]) -> Json:
        await sources.remove_secret(_name(asked), None)
        return {}

    return {
        "sources": list_sources,
        "source-add": add,
        "source-import": import_server,
        "source-test": test,
        "source-switch": switch,
        "source-remove": remove,
        "source-sign-in": sign_in,
        "source-sign-out": sign_out,
        "source-pin": pin,
        "source-export": export,
        "secrets": list_secrets,
        "secret-set": store_secret,
        "secret-remove": remove_secret,
    }


def describe_source(view: SourceView) -> dict[str, Json]:
    """A source as JSON, for the command line."""
    source, state = view.source, view.state
    return {
        "name": source.name,
        "kind": source.kind.value,
        "enabled": source.enabled,
        "declared": source.declared,
        "settings": dict(source.settings),
        "state": state.phase.value,
        "why": state.why,
        "version": state.version,
        "refused": dict(state.refused),
        "tools": [_describe_tool(tool, state.offered) for tool in view.tools],
    }


def _describe_tool(tool: SourceTool, offered: frozenset[str] | None) -> dict[str, Json]:
    now = tool.pending or tool.seen
    return {
        "tool": now.tool,
        "name": now.name,
        "standing": tool.standing.value,
        "category": None if tool.category is None else tool.category.value,
        "proposed": now.definition["proposed"],
        "because": now.definition["because"],
        "network": now.definition["network"],
        "description": now.definition["description"],
        "pin": now.pin,
        "offered": offered is None or now.tool in offered,
        "changes": [] if tool.pending is None else _list_changes(tool.seen.definition, tool.pending.definition),
    }


def _list_changes(before: Mapping[str, Json], now: Mapping[str, Json]) -> list[Json]:
    """What a definition says otherwise than the one that somebody decided about, each member from shortly before it differs."""
    changes: list[Json] = []
    for member in sorted({*before, *now}):
        texts = [_as_text(each.get(member)) for each in (before, now)]
        if texts[0] != texts[1]:
            alike = next((at for at, (old, new) in enumerate(zip(*texts, strict=False)) if old != new), min(map(len, texts)))
            first = max(0, alike - CHANGE_CONTEXT)
            shown = [escape(("…" if first else "") + text[first : alike + CHANGE_SHOWN]) for text in texts]
            changes.append({"member": member, "before": shown[0], "now": shown[1]})
    return changes


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _decisions(view: SourceView, asked: Mapping[str, Json]) -> Sequence[ToolDecision]:
    categories = read_categories(asked.get("categories", {}))
    decisions: list[ToolDecision] = []
    for named, category in categories.items():
        tool = next((each for each in view.tools if named in (each.seen.tool, each.seen.name)), None)
        if tool is None:
            known = ", ".join(each.seen.tool for each in view.tools[:20]) or "none yet; `countersign sources test` asks for them"
            raise InvalidParams(f"`{view.source.name}` has no tool `{named[:100]}`; its tools are {known}")
        now = tool.pending or tool.seen
        decisions.append(ToolDecision(now.tool, now.pin, category))
    if asked.get("proposed") is True:
        proposals = [tool for tool in view.tools if tool.standing is Standing.PROPOSED and tool.seen.tool not in categories]
        read = read_categories({tool.seen.tool: tool.seen.definition["proposed"] for tool in proposals})
        decisions += [ToolDecision(tool.seen.tool, tool.seen.pin, read[tool.seen.tool]) for tool in proposals]
    return decisions


def _name(asked: Mapping[str, Json]) -> str:
    return str(asked.get("name", ""))
