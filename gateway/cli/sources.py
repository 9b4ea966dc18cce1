"""`countersign sources`: MCP servers, HTTP APIs and databases as sources of tools."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from gateway.cli.confirming import confirm
from gateway.cli.operating import operate
from gateway.cli.source_files import SourceFile, read_named, recognise
from gateway.cli.source_options import read_options
from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, Misconfigured
from gateway.core.vocabulary import Category
from gateway.settings_reading import load_settings

if TYPE_CHECKING:
    from gateway.core.sources import ImportedServer

Described = Mapping[str, Json]

_MARKS: Final = {"proposed": "?", "inUse": "✓", "keptOut": "✗", "quarantined": "!"}

_CONDITIONS: Final = {
    "off": "not connected",
    "connecting": "connecting",
    "ready": "ready",
    "away": "away",
    "needsSignIn": "needs a sign-in",
}
"""How a source is, in words. Without a running gateway nothing is connected but for the time of a test."""

_state = click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")
_place = click.Path(path_type=Path, exists=True)
_file = click.Path(path_type=Path, exists=True, dir_okay=False)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_categories = click.Choice([*(category.value for category in Category), "forbidden"])


@click.group()
def sources() -> None:
    """Add MCP servers, HTTP APIs and databases, and decide about their tools.

    A new tool cannot be called before somebody gave it a category with `pin`, or on the console. Works beside a running gateway
    and without one.
    """


@sources.command("list")
@_state
@_as_json
def list_sources(state: Path | None, as_json: bool) -> None:
    """Print every source, how it is, and its tools: `?` undecided, `✓` in use, `✗` kept out, `!` changed since."""
    listed = cast("Sequence[Described]", _ask(state, "sources"))
    if as_json:
        click.echo(json.dumps(listed, ensure_ascii=False, indent=2))
        return
    if not listed:
        click.echo("No source was added yet: `countersign sources add --help` and `countersign sources import --help` say how.")
    for source in listed:
        _print_source(source)


@sources.command("add")
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--url", help="Address of an MCP server, such as https://tools.example.com/mcp.")
@click.option(
    "--header", "headers", multiple=True, metavar="NAME:VALUE", help="Sent to --url or --openapi; may hold ${secret:NAME}."
)
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="For the program; may hold ${secret:NAME}.")
@click.option("--folder", "folders", multiple=True, type=_place, help="What the program may read.")
@click.option("--writable", multiple=True, type=_place, help="What the program may change.")
@click.option("--network", is_flag=True, help="Let the program reach the network.")
@click.option("--openapi", type=_file, help="OpenAPI 3 document of an HTTP API.")
@click.option("--base-url", help="Address of the HTTP API.")
@click.option(
    "--sql",
    metavar="URL",
    help="SQLite file, or URL such as postgresql+pg8000://reader@db/shop; a password goes in as ${secret:NAME}.",
)
@click.option("--role", type=click.Choice(["query", "change"]), help="What may be done in the database; `query` if not said.")
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="Of every result, such as label:confidential.")
@click.option("--settings", "further", metavar="JSON", help="Further settings of that kind; docs/TOOLS.md lists them.")
@click.option("--replace", is_flag=True, help="Remove a source of the same name first, with what was decided about its tools.")
@_state
@_as_json
def add(name: str, command: tuple[str, ...], state: Path | None, as_json: bool, replace: bool, **options: object) -> None:
    """Add a source under NAME and ask what it offers.

    \b
    An MCP server that is a program:  countersign sources add time -- uvx mcp-server-time
    One with an address:              countersign sources add tickets --url https://tickets.example.com/mcp
    An HTTP API:                      countersign sources add shop --openapi shop.yaml
    A database:                       countersign sources add orders --sql orders.db
    """
    kind, settings = read_options(name, command, options)
    _ask(state, "source-add", name=name, kind=kind, settings=settings, replace=replace)
    found = _test(state, name, as_json=as_json)
    if found == "away":
        click.echo(
            f"`{name}` is kept and tried again by itself; `countersign sources add {name} --replace …` adds it anew,"
            f" `countersign sources remove {name}` takes it away.",
            err=True,
        )
    if found != "ready":
        sys.exit(1)


@sources.command("import")
@click.argument("file", type=_file)
@click.option("--network", is_flag=True, help="Let every imported program reach the network; `npx` and `uvx` need that.")
@click.option("--name", help="Name of the source, where FILE is an OpenAPI document or a database; the file's if not said.")
@click.option("--replace", is_flag=True, help="Remove a source of the same name first, with what was decided about its tools.")
@click.option("--dry-run", is_flag=True, help="Only say what would be added.")
@_state
def import_file(file: Path, network: bool, name: str | None, replace: bool, dry_run: bool, state: Path | None) -> None:
    """Add what FILE describes: an OpenAPI document, an SQLite database, or the MCP servers of another client's configuration
    (Claude, Cursor, Windsurf, VS Code, Zed, Gemini, Codex).

    FILE stays as it is. Tokens in it are moved into the secret store of this gateway; delete them in FILE yourself if the other
    client is not used any more. What FILE allows without asking is not taken over.
    """
    from gateway.adapters.tools.client_configurations import MAX_FILE, read_client_configuration

    if (recognised := recognise(file, name)) is not None:
        _import_recognised(recognised, state, replace=replace, dry_run=dry_run)
        return
    if name is not None:
        raise Misconfigured(
            f"`{file.name}` is the configuration of a client, whose servers have their own names; leave out --name"
        )
    try:
        text = read_named(file, MAX_FILE).decode()
    except UnicodeDecodeError:
        raise Misconfigured(f"`{file.name}` cannot be read as UTF-8 text") from None
    try:
        found = read_client_configuration(text, os.environ, network=network)
    except Misconfigured as error:
        raise Misconfigured(f"`{file.name}`: {error.message}") from None
    failed = dict(found.refused)
    for server in found.servers:
        if not dry_run:
            try:
                _import_server(server, state, replace=replace)
            except GatewayError as error:
                failed[server.name] = error.message
                continue
        _print_import(server, dry_run=dry_run)
    for name, why in failed.items():
        click.echo(f"✗ {name}: {why}", err=True)
    if failed:
        sys.exit(1)
    if not dry_run:
        click.echo(
            "Nothing of them can be called yet. `countersign sources test NAME` asks each what it offers, then"
            " `countersign sources pin NAME --proposed` lets its tools be called."
        )


@sources.command("test")
@click.argument("name")
@_state
@_as_json
def test(name: str, state: Path | None, as_json: bool) -> None:
    """Connect to NAME now and print what it offers. Exits with 1 when it cannot be reached."""
    if _test(state, name, as_json=as_json) != "ready":
        sys.exit(1)


@sources.command("pin")
@click.argument("name")
@click.argument("tool", required=False)
@click.argument("category", required=False, type=_categories)
@click.option("--proposed", is_flag=True, help="Give every undecided tool the category that is proposed for it.")
@click.option("--yes", is_flag=True, help="With --proposed: do not ask.")
@_state
@_as_json
def pin(name: str, tool: str | None, category: str | None, proposed: bool, yes: bool, state: Path | None, as_json: bool) -> None:
    """Let TOOL of NAME be called as CATEGORY, exactly as it is defined now; `forbidden` keeps it out.

    The policy decides by the category whether a call runs, asks, or needs a passkey. A tool whose definition changes later is
    in quarantine until it is pinned again.
    """
    if proposed == (tool is not None) or (tool is None) != (category is None):
        raise click.UsageError("say TOOL and CATEGORY, or --proposed")
    if proposed and not yes:
        described = next((each for each in cast("Sequence[Described]", _ask(state, "sources")) if each["name"] == name), None)
        if described is not None:
            _print_source(described)
            confirm("Let every undecided tool be called as what is proposed?")
    categories = {} if tool is None else {tool: category}
    described = cast("Described", _ask(state, "source-pin", name=name, categories=categories, proposed=proposed))
    _show(described, as_json=as_json)


@sources.command("disable")
@click.argument("name")
@_state
def disable(name: str, state: Path | None) -> None:
    """Switch NAME off: its tools go at once, and what was decided about them is kept."""
    _ask(state, "source-switch", name=name, enabled=False)
    click.echo(f"{name} is switched off.")


@sources.command("enable")
@click.argument("name")
@_state
def enable(name: str, state: Path | None) -> None:
    """Switch NAME on again."""
    _ask(state, "source-switch", name=name, enabled=True)
    click.echo(f"{name} is switched on.")


@sources.command("remove")
@click.argument("name")
@_state
def remove(name: str, state: Path | None) -> None:
    """Remove NAME and everything that was decided about its tools. Its secrets stay; `countersign secrets remove` removes one."""
    _ask(state, "source-remove", name=name)
    click.echo(f"{name} was removed.")


@sources.command("sign-in")
@click.argument("name")
@_state
def sign_in(name: str, state: Path | None) -> None:
    """Print the console's page on which a person signs in to NAME.

    Only a browser that is signed in on the console can do that: the answer of the authorization server comes back there.
    """
    place = cast("Mapping[str, str]", _ask(state, "source-sign-in", name=name))
    click.echo(f"Open {place['page']} and press `Sign in`.")
    click.echo(f"Where a client has to be registered by hand, its redirect URI is {place['callback']}", err=True)


@sources.command("sign-out")
@click.argument("name")
@_state
def sign_out(name: str, state: Path | None) -> None:
    """Forget the tokens of NAME and have its authorization server void them."""
    why = cast("Mapping[str, str | None]", _ask(state, "source-sign-out", name=name))["why"]
    click.echo(f"Nobody is signed in to {name} any more.")
    if why is not None:
        click.echo(f"Its tokens may still hold at its authorization server: {why}", err=True)


@sources.command("export")
@click.argument("name", required=False)
@_state
def export(name: str | None, state: Path | None) -> None:
    """Print NAME, or every source, as tables for countersign.toml, with what was decided. Secrets are only named."""
    asked: dict[str, Json] = {} if name is None else {"name": name}
    click.echo(cast("Mapping[str, str]", _ask(state, "source-export", **asked))["toml"], nl=False)


# ── inside ──


def _ask(state: Path | None, command: str, **asked: Json) -> Json:
    return asyncio.run(operate(load_settings(state=state), command, **asked))


def _test(state: Path | None, name: str, *, as_json: bool) -> str:
    """Print what the source offers; returns how it is."""
    if sys.stderr.isatty():
        click.echo(f"Asking {name} what it offers; a program that has to be fetched first may take a minute …", err=True)
    described = cast("Described", _ask(state, "source-test", name=name))
    _show(described, as_json=as_json)
    return str(described["state"])


def _show(described: Described, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(described, ensure_ascii=False, indent=2))
    else:
        _print_source(described)
        _print_next_step(described)


def _print_source(source: Described) -> None:
    version = f" {source['version']}" if source["version"] else ""
    where = ", declared in countersign.toml" if source["declared"] else ""
    condition = "switched off" if not source["enabled"] else _CONDITIONS[source["state"]]
    click.echo(f"{source['name']}  {source['kind']}{version}, {condition}{where}")
    if source["why"]:
        click.echo(f"  {source['why']}")
    width = max((len(str(tool["name"])) for tool in source["tools"]), default=0)
    for tool in source["tools"]:
        category = tool["category"] or f"{tool['proposed']} proposed" + (f" ({tool['because']})" if tool["because"] else "")
        if tool["standing"] == "keptOut":
            category = "forbidden"
        if category == "read" and tool["network"]:
            category = "read, and it may reach the network: no policy that comes along lets it run; `network` asks first"
        if tool["standing"] == "quarantined":
            category = f"{tool['category']}, changed since; look at it and pin it again"
        gone = "" if tool["offered"] else ", not offered any more"
        click.echo(f"  {_MARKS[tool['standing']]} {tool['name']:<{width}}  {category}{gone}")
        for change in tool["changes"]:
            click.echo(f"      {change['member']}: {change['before']}\n      {' ' * len(change['member'])}→ {change['now']}")
    for name, why in source["refused"].items():
        click.echo(f"  ✗ {name}: {why}")


def _print_next_step(source: Described) -> None:
    """What to do so that tools can be called, where something is left to do."""
    name, standings = source["name"], {tool["standing"] for tool in source["tools"]}
    if "quarantined" in standings:
        click.echo(f"What changed cannot be called before `countersign sources pin {name} TOOL CATEGORY`.")
    elif "proposed" in standings:
        click.echo(
            f"What is marked ? cannot be called yet: `countersign sources pin {name} --proposed` lets all of it be called"
            f" as proposed, `countersign sources pin {name} TOOL CATEGORY` one tool."
        )


def _import_recognised(found: SourceFile, state: Path | None, *, replace: bool, dry_run: bool) -> None:
    if not dry_run:
        _ask(state, "source-add", name=found.name, kind=found.kind, settings=dict(found.settings), replace=replace)
    click.echo(f"{'would add' if dry_run else 'added'} {found.name}\n  {found.note}")
    if not dry_run and _test(state, found.name, as_json=False) != "ready":
        sys.exit(1)


def _import_server(server: ImportedServer, state: Path | None, *, replace: bool) -> None:
    _ask(
        state,
        "source-import",
        name=server.name,
        settings=dict(server.settings),
        secrets=dict(server.secrets),
        replace=replace,
    )


def _print_import(server: ImportedServer, *, dry_run: bool) -> None:
    click.echo(f"{'would add' if dry_run else 'added'} {server.name}")
    for secret in server.secrets:
        click.echo(f"  {secret} {'would be' if dry_run else 'is'} kept as a secret")
    for secret in server.missing:
        click.echo(f"  needs the secret {secret}: `countersign secrets set {secret}`")
    for note in server.notes:
        click.echo(f"  {note}")
    if server.fetches is not None:
        click.echo(f"  `{server.fetches}` fetches its package from the network; import again with --network --replace to let it")
