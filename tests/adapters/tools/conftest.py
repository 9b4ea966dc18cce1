"""What the tools' tests share: a context to run in, and a call that goes the way the runtime goes."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.adapters.tools.registry import Registry
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.model import Principal, ToolOutput, ToolSpec
from gateway.core.vocabulary import Profile
from gateway.runtime.ports import ToolContext

PRINCIPAL = Principal("usr_ada", "Ada", Profile.OPERATOR)


def make_context() -> ToolContext:
    return ToolContext(
        principal=PRINCIPAL,
        session_id="ses_1",
        conversation_id="cnv_1",
        turn_id="trn_1",
        call_id="call-1",
        idempotency_key="key-1",
        cancelled=threading.Event(),
        progress=lambda message, fraction: None,
    )


def spec_of(registry: Registry, name: str) -> ToolSpec:
    return next(spec for spec in registry.specs() if spec.name == name)


Call = Callable[..., Awaitable[ToolOutput]]


@pytest.fixture
def call() -> Call:
    """Validate, extract facts and execute, as the runtime does; arguments that do not fit fail the test."""

    async def run(registry: Registry, name: str, /, *, context: ToolContext | None = None, **arguments: Json) -> ToolOutput:
        spec = spec_of(registry, name)
        properties: dict[str, Any] = dict(spec.param_schema["properties"])
        given = {key: value["default"] for key, value in properties.items() if "default" in value} | arguments
        assert not registry.find_faults(spec, given)
        registry.facts(spec, given)
        return await registry.execute(spec, given, context or make_context())

    return run


async def failure_of(outcome: Awaitable[ToolOutput]) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await outcome
    return caught.value
