"""Which policy a command means, a folder or a version that was in force, and which tools there are for its rules to name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import read_documents
from gateway.cli.operating import operate
from gateway.core.canonical import Json
from gateway.core.errors import GatewayError
from gateway.policy_records import RecordedPolicies
from gateway.settings import Settings

SHORT = 12
"""Digits of a version that are printed: enough to tell apart all that one gateway will ever have."""


def resolve(named: str | None, default: Path, recorded: RecordedPolicies) -> CedarPolicy:
    """The policy that a person named by a folder or by digits of its version; the one in the settings for None.

    Raises Misconfigured or PolicyUnusable.
    """
    if named is None:
        return CedarPolicy(default, recorded.loaded)
    if Path(named).is_dir():
        return CedarPolicy(read_documents(Path(named)), recorded.loaded)
    return CedarPolicy.of_record(recorded.texts(recorded.find(named)))


def find_tool_names(settings: Settings) -> tuple[Sequence[str], str | None]:
    """The names of all tools: the running gateway's, those of its record, or, without one, those of the settings.
    Beside them why they are not known, where they are not."""
    from gateway.adapter_settings import tools_config
    from gateway.adapters.storage.sqlite import DATABASE
    from gateway.adapters.tools.sources import list_tools

    try:
        if (settings.state / DATABASE).is_file():
            return asyncio.run(operate(settings, "policy-tools")), None
        if settings.sources:
            return (), "no gateway has run on this state folder yet, so nothing is known of its sources"
        return [spec.name for spec in asyncio.run(list_tools(tools_config(settings)))], None
    except GatewayError as error:
        return (), error.message


def find_tool_kind(settings: Settings, name: str) -> Mapping[str, Json] | None:
    """What of that tool policies look at (`category`, `network`, `trusted`), asked where `find_tool_names` asks; None where it is
    not known."""
    from gateway.adapter_settings import tools_config
    from gateway.adapters.storage.sqlite import DATABASE
    from gateway.adapters.tools.sources import list_tools
    from gateway.policy_commands import describe_kind

    try:
        if (settings.state / DATABASE).is_file():
            return cast("Mapping[str, Json] | None", asyncio.run(operate(settings, "policy-tool", tool=name)))
        specs = asyncio.run(list_tools(tools_config(settings)))
    except GatewayError:
        return None
    return next((describe_kind(spec) for spec in specs if spec.name == name), None)
