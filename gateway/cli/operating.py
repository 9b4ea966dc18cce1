"""Asking the running gateway over its control socket, or doing the same without one."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core.canonical import Json
from gateway.settings import Settings


async def operate(settings: Settings, command: str, /, **asked: Json) -> Json:
    """The result of a control command, from the running gateway or, when none runs, straight from the ledger."""
    from gateway.adapters.telemetry.metrics import Metrics
    from gateway.bootstrap import build
    from gateway.commands import control_commands
    from gateway.server.control import SOCKET_NAME, ask_gateway

    question: Mapping[str, Json] = {"command": command, **asked}
    answer = await ask_gateway(settings.state / SOCKET_NAME, question)
    if answer is not None:
        return answer
    async with build(settings, Metrics(), port=settings.port) as application:
        await application.sources.start(connect=False)
        await application.clients.grants.restore()
        return await control_commands(application, settings, settings.port)[command](question)
