"""What the settings say to the adapters, as the plain values that those know."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import gateway
from gateway.adapters.inference.catalog import models_folder
from gateway.adapters.inference.factory import ModelChoice
from gateway.adapters.inference.presets import keys_of
from gateway.adapters.tools.builtin.kept import KeptTextReader
from gateway.adapters.tools.builtin.passages import TextEmbedder
from gateway.adapters.tools.builtin.workspace import AuditReader
from gateway.adapters.tools.declared import read_declared
from gateway.adapters.tools.sources import ToolsConfig, no_audit, nothing_kept
from gateway.core.sources import AddedSource
from gateway.core.vocabulary import Tier
from gateway.runtime.retention import Retention
from gateway.runtime.timing import Timing
from gateway.sandbox.job import SandboxPreference
from gateway.server.access import Origins
from gateway.settings import CONFIG_FILE, Settings


def tools_config(
    settings: Settings,
    read_audit: AuditReader = no_audit,
    read_kept: KeptTextReader = nothing_kept,
    embedder: TextEmbedder | None = None,
) -> ToolsConfig:
    """What the settings say about tools, as plain values."""
    return ToolsConfig(
        workspace=settings.workspace,
        state=settings.state,
        builtin=settings.builtin_tools,
        modules=settings.tools_modules,
        files=settings.tool_files,
        allow_hosts=settings.http_allow_hosts,
        timeout=settings.tool_timeout,
        sandbox=settings.sandbox,
        secret=(Path(CONFIG_FILE),),
        fixed=tuple(_what_no_tool_may_change(settings)),
        read_audit=read_audit,
        read_kept=read_kept,
        embedder=embedder,
    )


def _what_no_tool_may_change(settings: Settings) -> Iterator[Path]:
    yield from (settings.policy_folder, Path(gateway.__file__).parent)
    if settings.web is not None:
        # What the console shows and asks, with the rights of whoever looks at it.
        yield settings.web
    for table in (*settings.anchors.values(), *settings.sinks.values()):
        # Copies of the record, which the gateway writes to wherever that leads.
        if isinstance(path := table.get("path"), str):
            yield Path(path)


def declared_sources(settings: Settings) -> Sequence[AddedSource]:
    """The sources that the settings declare. Raises Misconfigured."""
    return read_declared(settings.sources)


def model_choice(settings: Settings, origins: Origins) -> ModelChoice:
    """What the settings say about the model, as plain values."""
    return ModelChoice(
        model=settings.model,
        models=models_folder(os.environ),
        state=settings.state,
        context_tokens=settings.model_context,
        sees_images=settings.model_vision,
        preallocate=settings.model_preallocate,
        template=settings.model_template,
        tier=None if settings.model_tier == "auto" else Tier(settings.model_tier),
        llama_server=settings.llama_server,
        llama_server_arguments=settings.llama_server_arguments,
        origins=(origins.agent, origins.console),
        url=settings.model_url,
        url_model=settings.model_name,
        url_key=settings.model_key.get_secret_value(),
        keys=keys_of(os.environ),
        other_models=settings.other_models,
        prompt_cache=settings.prompt_cache,
        sandbox=SandboxPreference(settings.sandbox) if settings.model_sandbox == "on" else None,
    )


def timing_of(settings: Settings) -> Timing:
    """What the settings say about times and sockets."""
    return Timing(
        snapshot=settings.snapshot_seconds,
        grace=settings.grace_seconds,
        approval=settings.approval_seconds,
        enrolment=settings.enrolment_minutes * 60,
        drain=settings.drain_seconds,
        sockets=settings.sockets_per_session,
        zone=ZoneInfo(settings.time_zone),
        retention=Retention(settings.retain_days, settings.retain_days_of),
    )
