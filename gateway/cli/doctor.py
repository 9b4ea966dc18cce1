"""`countersign doctor`: what is missing on this machine, and how to get it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from gateway.adapter_settings import model_choice, tools_config
from gateway.adapters.inference.diagnosis import Finding, diagnose_model
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.storage.sqlite import choose_driver
from gateway.adapters.system.clock import SystemClock
from gateway.adapters.tools.sources import ToolsConfig, describe_sandbox, describe_tools
from gateway.cli.audit_anchors import UNANCHORED_TAIL, look_at_anchors
from gateway.cli.audit_sinks import look_at_sinks
from gateway.cli.serve import TOOL_FILE
from gateway.core.errors import GatewayError
from gateway.installation import require_web
from gateway.listening import check_limits, listen
from gateway.policy_records import describe_excess, load_folder
from gateway.server.access import Origins
from gateway.server.control import SOCKET_NAME, ask_gateway
from gateway.settings import Settings
from gateway.settings_reading import load_settings


@click.command()
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway.")
@click.option("--tools", "tool_files", multiple=True, type=TOOL_FILE, metavar="FILE", help="Tool file to check.")
@click.option("--builtin-tools/--no-builtin-tools", default=None, help="Whether the built-in tools are offered.")
def doctor(state: Path | None, tool_files: tuple[Path, ...], builtin_tools: bool | None) -> None:
    """Check everything the gateway needs, one line each. Exit status 1 when something must be fixed."""
    settings = load_settings(state=state, tool_files=tool_files or None, builtin_tools=builtin_tools)
    # Files that are named here are judged as the agent in the terminal takes them: instead of the built-in tools.
    findings = asyncio.run(diagnose(settings, may_replace_builtin=bool(tool_files) and builtin_tools is None))
    for finding in findings:
        mark = click.style("ok  ", fg="green") if finding.ok else click.style("FIX ", fg="red")
        click.echo(f"{mark}  {finding.name}: {finding.sentence}")
    if not all(finding.ok for finding in findings):
        sys.exit(1)


async def diagnose(settings: Settings, *, may_replace_builtin: bool = False) -> list[Finding]:
    """One finding for each thing that `serve` needs. Starts nothing and changes nothing.

    `may_replace_builtin`: tools that cannot stand beside the built-in ones are fine where they can without them.
    """
    agent, console = settings.origins(settings.port)
    choice = model_choice(settings, Origins(agent=agent, console=console))
    tools = tools_config(settings)
    return [
        _check("policy", lambda: _describe_policy(load_folder(settings))),
        _check("sqlite", lambda: f"{choose_driver().sqlite_version}, without the WAL-reset bug"),
        await _check_tools(tools, may_replace_builtin=may_replace_builtin),
        _check("sandbox", lambda: describe_sandbox(tools)),
        _check("web apps", lambda: f"built in {require_web(settings.web_folder)}"),
        _check("limits", lambda: check_limits(settings)),
        await _check_port(settings),
        *check_sinks(settings),
        *check_anchors(settings),
        *await diagnose_model(choice, SystemClock()),
    ]


def _describe_policy(policy: CedarPolicy) -> str:
    excess = describe_excess(policy)
    return f"loads, version {policy.version[:16]}" + (f"; {excess}" if excess else "")


def _check(name: str, describe: Callable[[], str]) -> Finding:
    """What `describe` says of a thing that is fine, or the message of the error that it raises."""
    try:
        return Finding(name, ok=True, sentence=describe())
    except GatewayError as error:
        return Finding(name, ok=False, sentence=error.message)


def check_sinks(settings: Settings) -> list[Finding]:
    """One finding for each sink of the log; none where it is sent nowhere."""
    try:
        return [Finding(f"sink {each.name}", ok=not each.place.fault, sentence=each.sentence) for each in look_at_sinks(settings)]
    except GatewayError as error:
        return [Finding("sinks", ok=False, sentence=error.message)]


def check_anchors(settings: Settings) -> list[Finding]:
    """One finding for each anchor of the log, or what it means that there is none."""
    try:
        standings = look_at_anchors(settings)
    except GatewayError as error:
        return [Finding("anchors", ok=False, sentence=error.message)]
    if not standings:
        return [Finding("anchors", ok=True, sentence=f"none. {UNANCHORED_TAIL}")]
    return [Finding(f"anchor {each.name}", ok=not each.place.fault, sentence=each.sentence) for each in standings]


async def _check_tools(config: ToolsConfig, *, may_replace_builtin: bool) -> Finding:
    try:
        return Finding("tools", ok=True, sentence=await describe_tools(config))
    except GatewayError as error:
        if not may_replace_builtin:
            return Finding("tools", ok=False, sentence=error.message)
        alone = await _check_tools(replace(config, builtin=False), may_replace_builtin=False)
        beside = f"beside the built-in tools, as `serve` has them, not so: {error.message}"
        return Finding("tools", ok=True, sentence=f"{alone.sentence}\n        {beside}") if alone.ok else alone


async def _check_port(settings: Settings) -> Finding:
    """Free, or held by the gateway of this very state folder, which is how it should be."""
    place = f"{settings.host}:{settings.port}"
    try:
        described = await ask_gateway(settings.state / SOCKET_NAME, {"command": "describe"})
        own = None if described is None else int(cast("Mapping[str, Any]", described)["port"])
        if own == settings.port:
            return Finding("port", ok=True, sentence=f"{place} is served by this state folder's own gateway, which is running")
        listen(settings).close()
    except GatewayError as error:
        return Finding("port", ok=False, sentence=error.message)
    running = "" if own is None else f"; this state folder's own gateway is running on port {own}"
    return Finding("port", ok=True, sentence=f"{place} is free{running}")
