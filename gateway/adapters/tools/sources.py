"""Which sources a gateway has. A new kind of source is a folder beside this file and a line in `_sources`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gateway.adapters.tools.builtin.kept import KeptTextReader
from gateway.adapters.tools.builtin.passages import TextEmbedder
from gateway.adapters.tools.builtin.source import builtin_source
from gateway.adapters.tools.builtin.workspace import AuditReader
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.adapters.tools.functions import tool_threads
from gateway.adapters.tools.python_module.source import installed_sources, module_source
from gateway.adapters.tools.source import ToolSource
from gateway.adapters.tools.tool_file.document import ToolFileSettings, read_tool_file
from gateway.adapters.tools.tool_file.hints import hints_about
from gateway.adapters.tools.tool_file.programs import ENVIRONMENT, ProgramRunner
from gateway.adapters.tools.tool_file.source import tool_file_source
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.model import DEFAULT_TOOL_TIMEOUT, ToolSpec
from gateway.runtime.ports import AuditQuery, AuditRow, KeptResult
from gateway.sandbox.choice import choose_sandbox
from gateway.sandbox.job import Sandbox, SandboxPreference, SandboxUnavailable
from gateway.sandbox.machine_paths import overlap

PASSAGES = "passages"
"""Inside the state folder: vectors of the workspace's passages."""

_log = logging.getLogger(__name__)


async def no_audit(_query: AuditQuery) -> Sequence[AuditRow]:
    """An audit log without rows, for looking at tools without running any."""
    return ()


async def nothing_kept(_principal_id: str, _conversation_id: str, _result_id: str) -> KeptResult | None:
    """No long result is kept, for looking at tools without running any."""
    return None


@dataclass(frozen=True)
class ToolsConfig:
    """What the operator decides about tools. `timeout` in seconds; `allow_hosts` are `host:port` pairs.

    `state` is the gateway's own folder, which no tool may see. `secret` and `fixed` are what else no tool may read, and what
    none may write: a tool that can write to the policy or the code decides what is allowed after the next start.
    """

    workspace: Path
    state: Path
    builtin: bool = True
    modules: Sequence[str] = ()
    files: Sequence[Path] = ()
    allow_hosts: Sequence[str] = ()
    timeout: float = DEFAULT_TOOL_TIMEOUT
    sandbox: str = "auto"
    secret: Sequence[Path] = ()
    fixed: Sequence[Path] = ()
    read_audit: AuditReader = no_audit
    read_kept: KeptTextReader = nothing_kept
    embedder: TextEmbedder | None = None

    @cached_property
    def chosen_sandbox(self) -> Sandbox | SandboxUnavailable:
        """The sandbox that programs run in, tried out once."""
        return choose_sandbox(SandboxPreference(self.sandbox), private=(self.state.resolve(),))

    @cached_property
    def sandbox_for_sources(self) -> Sandbox | SandboxUnavailable:
        """The same for programs of sources that were added: each has a folder of its own inside the state folder, and its
        driver sees to it that it is shown nothing else of that."""
        return choose_sandbox(SandboxPreference(self.sandbox))


async def open_tools(config: ToolsConfig) -> ToolCatalog:
    """A catalog of every tool that is asked for; to be closed by the caller.

    Raises Misconfigured for a module or file that cannot be used; a missing sandbox only makes programs unavailable.
    """
    catalog = ToolCatalog()
    try:
        for source in _sources(config, catalog):
            await catalog.add(source)
    except BaseException:
        await catalog.close()
        raise
    unavailable = [spec for spec in catalog.specs() if spec.unavailable is not None]
    for reason in dict.fromkeys(spec.unavailable for spec in unavailable):
        count = sum(spec.unavailable == reason for spec in unavailable)
        _log.warning("%d tools are unavailable: %s", count, reason)
    return catalog


def _sources(config: ToolsConfig, catalog: ToolCatalog) -> Iterator[ToolSource]:
    """In the order in which they are started; each sees in `catalog` what the earlier ones published."""
    threads = tool_threads()
    if config.builtin:
        _require_apart(config.workspace, (config.state, *config.secret, *config.fixed, *config.files))
        yield builtin_source(
            config.workspace,
            config.read_audit,
            config.read_kept,
            threads,
            allow_hosts=config.allow_hosts,
            index=config.state / PASSAGES,
            embedder=config.embedder,
        )
    yield from installed_sources(threads)
    yield from (module_source(name, threads) for name in config.modules)
    if config.builtin:
        _require_apart(config.workspace, _code_of(config.modules))
    if config.files:
        programs, settings = ProgramRunner(config.chosen_sandbox), _file_settings(config)
        yield from (tool_file_source(path, programs, settings, find_taken=catalog.find_alike) for path in config.files)


def _file_settings(config: ToolsConfig) -> ToolFileSettings:
    """Of every tool file, once the modules are imported."""
    secret = (config.state, *config.secret)
    fixed = (*config.fixed, *config.files, *_code_of(config.modules))
    return ToolFileSettings(config.workspace.resolve(), config.timeout, secret=secret, fixed=fixed)


def _require_apart(workspace: Path, kept: Iterable[Path]) -> None:
    """Raises Misconfigured where file tools would reach what they must not change."""
    real = workspace.resolve()
    for path in kept:
        if overlap(real, path.resolve()):
            raise Misconfigured(
                f"the workspace `{escape(real.name)}` and `{escape(path.name)}`, which no tool may change, lie in one another; "
                "keep the two apart: start in another folder, and name this one with `--workspace`"
            )


def _code_of(modules: Iterable[str]) -> Iterator[Path]:
    """The files of imported modules; of a package its folder."""
    for name in modules:
        module = sys.modules[name]
        folders = getattr(module, "__path__", None)
        if folders is not None:
            yield from map(Path, folders)
        elif module.__file__ is not None:
            yield Path(module.__file__)


# ── what `countersign doctor` says ──────────────────────────────────────────────────────────────────────────────────────


async def describe_tools(config: ToolsConfig) -> str:
    """What would be published, programs with what they run and what their authors may not have thought of.

    Raises Misconfigured where something must be fixed first.
    """
    catalog = await open_tools(config)
    specs = catalog.specs()
    await catalog.close()
    programs = [spec for spec in specs if spec.source in {f"tools:{path.name}" for path in config.files}]
    if missing := next((spec.unavailable for spec in programs if spec.unavailable), None):
        raise Misconfigured(f"{len(programs)} of {len(specs)} tools are programs, and none can run: {missing}")
    lines = [f"{len(specs)}, of which {len(programs)} are programs" if programs else f"{len(specs)}"]
    hints = _hints_by_name(config)
    for spec in programs:
        lines.append(f"{spec.name} ({spec.category}, {spec.source}): {'; '.join(map(_as_written, spec.effects))}")
        lines += [f"  {spec.name}: {hint}" for hint in hints.get(spec.name, ())]
    return "\n        ".join(lines)


async def list_tools(config: ToolsConfig) -> Sequence[ToolSpec]:
    """The tools that the gateway has by itself. Raises Misconfigured."""
    catalog = await open_tools(config)
    specs = catalog.specs()
    await catalog.close()
    return specs


def _hints_by_name(config: ToolsConfig) -> Mapping[str, Sequence[str]]:
    settings = _file_settings(config)
    tools = [tool for path in config.files for tool in read_tool_file(path, path.name, settings, lambda _: None)]
    return {tool.name: hints_about(tool.command, ENVIRONMENT["PATH"]) for tool in tools}


def describe_sandbox(config: ToolsConfig) -> str:
    """What programs are sandboxed with, tried out. Raises Misconfigured where there are programs and no sandbox for them."""
    sandbox = config.chosen_sandbox
    if isinstance(sandbox, SandboxUnavailable):
        if config.files:
            raise Misconfigured(sandbox.reason)
        return f"none, and no tool file is there that needs one; {sandbox.reason}"
    who = "each as a user of its own, because the gateway is root" if os.geteuid() == 0 else "as the gateway's own user"
    return f"{sandbox.mechanism} works here; programs run {who}"


def _as_written(effect: str) -> str:
    return effect.replace("{{", "{").replace("}}", "}")
