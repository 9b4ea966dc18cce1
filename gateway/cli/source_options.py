"""The options of `countersign sources add` as the settings of a source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import click

from gateway.cli.source_files import find_base_url, read_api, sqlite_url
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured


def read_options(name: str, command: tuple[str, ...], options: Mapping[str, object]) -> tuple[str, dict[str, Json]]:
    """The kind and the settings that the options of `sources add` describe. Raises UsageError and Misconfigured."""
    kinds = [
        kind
        for kind, said in (
            ("mcp", bool(command) or bool(options["url"])),
            ("http", bool(options["openapi"]) or bool(options["base_url"])),
            ("sql", bool(options["sql"])),
        )
        if said
    ]
    if len(kinds) != 1:
        raise click.UsageError("say one of: a program after `--`, --url, --openapi with --base-url, --sql")
    settings: dict[str, Json] = {}
    match kinds[0]:
        case "mcp" if command:
            settings |= {"command": [command[0]], "args": list(command[1:])}
            settings |= {"env": _pairs(options["env"], "=")} if options["env"] else {}
            settings |= {"folders": _paths(options["folders"])} if options["folders"] else {}
            settings |= {"writable": _paths(options["writable"])} if options["writable"] else {}
            settings |= {"network": True} if options["network"] else {}
        case "mcp":
            settings |= {"url": options["url"]}
        case "http":
            settings |= {"document_file": str(cast("Path", options["openapi"]).absolute())} if options["openapi"] else {}
            settings |= {"base_url": _base_url(name, options["base_url"], cast("Path | None", options["openapi"]))}
        case _:
            settings |= {"url": _read_sql_url(str(options["sql"]))}
            settings |= {"role": options["role"]} if options["role"] else {}
    if options["headers"]:
        settings["headers"] = _pairs(options["headers"], ":")
    if options["labels"]:
        settings["labels"] = list(cast("tuple[str, ...]", options["labels"]))
    if options["further"]:
        settings |= _read_json(str(options["further"]))
    return kinds[0], settings


def _base_url(name: str, said: object, document: Path | None) -> str:
    if said and document is not None:
        # A file that is no such document is told before anything is added.
        read_api(document)
    if said or document is None:
        return str(said)
    base = find_base_url(document, f"countersign sources add {name}")
    click.echo(f"Requests go to {escape(base)}, as the document says; --base-url says otherwise.", err=True)
    return base


def _read_sql_url(given: str) -> str:
    """A URL, or the path of an SQLite file."""
    if "://" in given:
        return given
    if not Path(given).is_file():
        raise Misconfigured(f"--sql takes a URL or the path of an SQLite file, and there is no file `{escape(given)}`")
    return sqlite_url(Path(given))


def _pairs(given: object, mark: str) -> dict[str, Json]:
    pairs: dict[str, Json] = {}
    for pair in cast("tuple[str, ...]", given):
        name, found, value = pair.partition(mark)
        if not found:
            raise click.UsageError(f"`{name}` should be NAME{mark}VALUE")
        pairs[name.strip()] = value.strip() if mark == ":" else value
    return pairs


def _paths(given: object) -> list[Json]:
    return [str(path.resolve()) for path in cast("tuple[Path, ...]", given)]


def _read_json(text: str) -> dict[str, Json]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise click.UsageError("--settings should be a JSON object") from None
    if not isinstance(read, dict):
        raise click.UsageError("--settings should be a JSON object")
    return cast("dict[str, Json]", read)
