"""Asking the running gateway over its control socket, or doing the same without one."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

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
    with _work_nowhere(settings) as quiet:
        async with build(quiet, Metrics(), port=settings.port) as application:
            await application.sources.start(connect=False)
            await application.clients.grants.restore()
            return await control_commands(application, settings, settings.port)[command](question)


@contextmanager
def _work_nowhere(settings: Settings) -> Generator[Settings]:
    """The settings. Where there is no workspace yet, with an empty folder that goes with the command: it runs no tool, and nobody
    asked for the workspace to be made where they happen to be."""
    if settings.workspace.exists():
        yield settings
        return
    with TemporaryDirectory(prefix="countersign-") as folder:
        yield settings.model_copy(update={"workspace": Path(folder)})
