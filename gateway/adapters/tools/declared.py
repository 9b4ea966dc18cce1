"""Sources that are declared in the settings file, as `[sources.NAME]` tables, and sources written in that form.

`kind` says which kind it is, `enabled` whether it is used, `tools` gives tools a category by their own names. Everything else
are the settings of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import tomli_w

from gateway.adapters.tools.kinds import check_settings
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.sources import AddedSource, SourceKind, SourceTool, Standing, require_source_name
from gateway.core.vocabulary import Category

KEPT_OUT: Final = "forbidden"
"""In place of a category: nobody calls the tool."""


def read_declared(tables: Mapping[str, object]) -> Sequence[AddedSource]:
    """The sources of the settings. Raises Misconfigured, naming the source."""
    declared: list[AddedSource] = []
    for name, table in tables.items():
        try:
            declared.append(_read(require_source_name(name), table))
        except Misconfigured as error:
            raise Misconfigured(f"`[sources.{escape(name)[:80]}]`: {error.message}") from None
    return declared


def _read(name: str, table: object) -> AddedSource:
    if not isinstance(table, Mapping):
        raise Misconfigured("it should be a table with `kind` and the settings of that kind")
    given = dict(cast("Mapping[str, Json]", table))
    kinds = ", ".join(f"`{kind}`" for kind in SourceKind)
    try:
        kind = SourceKind(str(given.pop("kind", "")))
    except ValueError:
        raise Misconfigured(f"`kind` is one of {kinds}") from None
    enabled = given.pop("enabled", True)
    if not isinstance(enabled, bool):
        raise Misconfigured("`enabled` is true or false")
    categories = read_categories(given.pop("tools", {}))
    settings = check_settings(kind, given)
    return AddedSource(name, kind, settings, enabled, declared=True, categories=categories)


def read_categories(table: Json) -> Mapping[str, Category | None]:
    """Categories by a tool's own name, None for one that nobody calls. Raises Misconfigured."""
    if not isinstance(table, Mapping):
        raise Misconfigured('`tools` gives tools a category, such as `read_file = "read"`')
    return {tool: read_category(category) for tool, category in cast("Mapping[str, Json]", table).items()}


def read_category(word: object) -> Category | None:
    """A category, or None for `forbidden`. Raises Misconfigured."""
    if word == KEPT_OUT:
        return None
    try:
        return Category(str(word))
    except ValueError:
        known = ", ".join((*Category, KEPT_OUT))
        raise Misconfigured(f"`{escape(str(word))[:80]}` is no category; the categories are {known}") from None


def write_declared(sources: Sequence[tuple[AddedSource, Sequence[SourceTool]]]) -> str:
    """The sources as `read_declared` reads them again, decided tools included. In TOML."""
    tables: dict[str, Any] = {}
    for source, tools in sources:
        decided = {
            each.seen.tool: KEPT_OUT if each.category is None else each.category.value
            for each in tools
            if each.standing in (Standing.IN_USE, Standing.KEPT_OUT)
        }
        tables[source.name] = {
            "kind": source.kind.value,
            **({} if source.enabled else {"enabled": False}),
            **_without_nulls(source.settings),
            **({"tools": decided} if decided else {}),
        }
    return tomli_w.dumps({"sources": tables}) if tables else ""


def _without_nulls(settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """TOML has no null; a setting that is left out says the same."""
    return {
        name: _without_nulls(cast("Mapping[str, Json]", value)) if isinstance(value, Mapping) else value
        for name, value in settings.items()
        if value is not None
    }
