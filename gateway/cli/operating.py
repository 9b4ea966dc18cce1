"""Asking the running gateway over its control socket, or doing the same without one."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from gateway.core.canonical import Json
from gateway.settings import Settings

BEGINS: Final = frozenset({"enrol", "source-add", "source-import", "secret-set"})
"""What may be done before a gateway was ever started: it makes the state folder. Everything else is about what is in one, and a
folder that was misspelt would be answered with nothing as if that were so."""


async def operate(settings: Settings, command: str, /, **asked: Json) -> Json:
    """The result of a control command, from the running gateway or, when none runs, straight from the ledger.

    Raises Misconfigured where there is neither.
    """
    from gateway.adapters.storage.mark import MARK
    from gateway.adapters.storage.sqlite import require_database
    from gateway.adapters.telemetry.metrics import Metrics
    from gateway.bootstrap import build
    from gateway.commands import control_commands
    from gateway.server.control import SOCKET_NAME, ask_gateway

    question: Mapping[str, Json] = {"command": command, **asked}
    answer = await ask_gateway(settings.state / SOCKET_NAME, question)
    if answer is not None:
        return answer
    # A database that was there and is gone is told by the storage, which says what to do about it.
    if command not in BEGINS and not (settings.state / MARK).exists():
        require_database(settings.state)
    with _work_nowhere(settings) as quiet:
        async with build(quiet, Metrics(), port=settings.port) as application:
            await application.settings.restore()
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
