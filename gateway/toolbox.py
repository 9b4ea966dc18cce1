"""Which tools there are: the built-in ones, those of installed packages and named modules, and the programs of tool files."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import gateway
from gateway.adapters.tools.discovery import add_installed, add_module
from gateway.adapters.tools.egress import Egress
from gateway.adapters.tools.fetching import Fetcher, web_tools
from gateway.adapters.tools.files import Workspace
from gateway.adapters.tools.process import Processes
from gateway.adapters.tools.registry import Registry
from gateway.adapters.tools.sandbox.cage import Cage, Preference, Unavailable
from gateway.adapters.tools.sandbox.choice import choose
from gateway.adapters.tools.toolfile import Surroundings, add_tool_file
from gateway.adapters.tools.workspace import AuditReader, file_tools, system_tools
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolSpec
from gateway.runtime.ports import AuditQuery, AuditRow
from gateway.settings import CONFIG_FILE, Settings

_log = logging.getLogger(__name__)


def build_toolbox(settings: Settings, read_audit: AuditReader, *, policy: Path) -> Registry:
    """Every tool that the settings ask for; `policy` is the folder of the policy in force.

    Raises Misconfigured for a module or file that cannot be used; a missing cage only makes programs unavailable.
    """
    registry, _ = _fill(settings, read_audit, policy)
    return registry


def describe_tools(settings: Settings, *, policy: Path) -> str:
    """What would be published, programs with what they run. Raises Misconfigured where something must be mended first."""
    registry, programs = _fill(settings, _no_audit, policy)
    count = len(registry.specs())
    if missing := next((spec.unavailable for spec in programs if spec.unavailable), None):
        raise Misconfigured(f"{len(programs)} of {count} tools are programs, and none can run: {missing}")
    lines = [f"{count}, of which {len(programs)} are programs" if programs else f"{count}"]
    lines += [f"{spec.name} ({spec.category}, {spec.source}): {'; '.join(map(_as_written, spec.effects))}" for spec in programs]
    return "\n        ".join(lines)


def describe_cage(settings: Settings) -> str:
    """What programs are caged with, tried out. Raises Misconfigured where there are programs and no cage for them."""
    cage = _choose_cage(settings)
    if isinstance(cage, Unavailable):
        if settings.tool_files:
            raise Misconfigured(cage.reason)
        return f"none, and no tool file is there that needs one; {cage.reason}"
    who = "each as a user of its own, because the gateway is root" if os.geteuid() == 0 else "as the gateway's own user"
    return f"{cage.mechanism} works here; programs run {who}"


def _choose_cage(settings: Settings) -> Cage | Unavailable:
    return choose(Preference(settings.sandbox), private=(settings.state.resolve(),))


def _fill(settings: Settings, read_audit: AuditReader, policy: Path) -> tuple[Registry, Sequence[ToolSpec]]:
    registry = Registry()
    workspace = Workspace(settings.workspace)
    if settings.builtin_tools:
        fetcher = Fetcher(Egress(settings.http_allow_hosts))
        for tool in [*file_tools(workspace), *system_tools(workspace, read_audit), *web_tools(fetcher)]:
            registry.add(tool, source="builtin")
    add_installed(registry)
    for module in settings.tools_modules:
        add_module(registry, module)
    return registry, _add_programs(registry, settings, policy)


def _add_programs(registry: Registry, settings: Settings, policy: Path) -> Sequence[ToolSpec]:
    if not settings.tool_files:
        return ()
    # Whoever may write to these decides what is allowed after the next start; whoever may read the first, who signs for it.
    secret = (settings.state, Path(CONFIG_FILE))
    fixed = (policy, Path(gateway.__file__).parent, *settings.tool_files)
    processes = Processes(_choose_cage(settings))
    around = Surroundings(settings.workspace.resolve(), settings.tool_timeout, secret=secret, fixed=fixed)
    programs = [spec for path in settings.tool_files for spec in add_tool_file(registry, path, processes, around)]
    if processes.unavailable is not None:
        _log.warning("%d tools are unavailable: %s", len(programs), processes.unavailable)
    return programs


def _as_written(effect: str) -> str:
    return effect.replace("{{", "{").replace("}}", "}")


async def _no_audit(_query: AuditQuery) -> Sequence[AuditRow]:
    return ()
