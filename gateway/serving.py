"""Serving a wired gateway: alone in its process until a signal, or beside another command."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import sys
from collections.abc import AsyncGenerator
from typing import Final

import click
import uvloop

from gateway import __version__
from gateway.adapters.storage.keys import leave_no_core_file
from gateway.adapters.telemetry.metrics import Metrics
from gateway.application import Application
from gateway.background import (
    OnWarmed,
    anchor_checkpoints,
    expire_sessions,
    keep_retention,
    reload_policy,
    ship_records,
    warm_model,
)
from gateway.bootstrap import PolicyWrapper, build, keep_policy
from gateway.commands import control_commands
from gateway.draining import drain
from gateway.greeting import greeting_for
from gateway.listening import check_limits, listen, listen_or_any, port_of
from gateway.server.app import create_app
from gateway.server.control import SOCKET_NAME, ControlSocket
from gateway.server.listener import listener
from gateway.server.mcp.door import CLIENT_COMMAND, ClientDoor
from gateway.server.report_budget import FewWarnings, ReportBudget
from gateway.server.running import AsgiApp, Server, serving_beside
from gateway.settings import Settings
from gateway.web_server import server_parts

MEANINGLESS: Final = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
"""Other servers open their logs again, or tell how they are. A log here is what is written to the standard error."""

_log = logging.getLogger(__name__)


def run(settings: Settings, *, metrics: Metrics | None = None) -> None:
    """Serve until a signal to stop, then drain. Raises GatewayError for whatever keeps it from starting."""
    logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    # At INFO these libraries log what only their authors want to know.
    for library in ("uvicorn", "uvicorn.error", "alembic"):
        logging.getLogger(library).setLevel(logging.WARNING)
    # Of what is no HTTP it warns for each connection.
    logging.getLogger("uvicorn.error").addFilter(FewWarnings(ReportBudget()))
    # It warns of whatever a client sends that is not valid; the client is told, and a hostile one would fill the log.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    leave_no_core_file()
    check_limits(settings)
    uvloop.run(_serve(settings, metrics or Metrics()))
    # The loop heard these. What is left takes a moment, and has been done in order.
    for number in (signal.SIGHUP, *MEANINGLESS):
        signal.signal(number, signal.SIG_IGN)


async def _serve(settings: Settings, metrics: Metrics) -> None:
    read_again = _hear_signals()
    listening = listen(settings)
    port = port_of(listening)
    async with (
        build(settings, metrics, port=port) as application,
        lifespan(application, settings, port) as door,
        contextlib.AsyncExitStack() as held,
    ):
        greeting = await greeting_for(application)
        application.gateway.tasks.spawn(reload_policy(application, read_again))
        _freeze_startup_objects()
        parts = server_parts(application, settings, held)
        sites = () if parts.client_site is None else (parts.client_site,)
        connected = (parts.agent_socket, parts.console_socket, door, *sites)
        server = Server(
            listener(create_app(parts), host=settings.host, port=port),
            on_ready=lambda: click.echo(greeting) or sys.stdout.flush(),
            drain=lambda: drain(application.gateway, connected, application.gateway.timing.drain),
        )
        await server.serve(sockets=[listening])


def _hear_signals() -> asyncio.Event:
    """Have no signal end this process that is no word to stop: it would, with calls under way, where nobody hears it.

    The event is set by the one that asks for the policy to be read again.
    """
    read_again = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, read_again.set)
    for number in MEANINGLESS:
        loop.add_signal_handler(number, _log.warning, "%s means nothing here; SIGHUP reads the policy again", number.name)
    return read_again


@contextlib.asynccontextmanager
async def open_application(
    settings: Settings,
    policy_wrapper: PolicyWrapper = keep_policy,
    on_warmed: OnWarmed = lambda _: None,
) -> AsyncGenerator[tuple[Application, AsgiApp]]:
    """A gateway for another command of this process, with the app that it serves.

    Its console can be used as with `serve`, and it prints nothing. Where the port is taken, a free one is used.
    Raises GatewayError for whatever keeps it from starting.
    """
    leave_no_core_file()
    check_limits(settings)
    with listen_or_any(settings) as listening:
        port = port_of(listening)
        async with (
            build(settings, Metrics(), port=port, policy_wrapper=policy_wrapper) as application,
            lifespan(application, settings, port, on_warmed),
            contextlib.AsyncExitStack() as held,
        ):
            app = create_app(server_parts(application, settings, held))
            async with serving_beside(listener(app, host=settings.host, port=port), listening):
                yield application, app


@contextlib.asynccontextmanager
async def lifespan(
    application: Application, settings: Settings, port: int, on_warmed: OnWarmed = lambda _: None
) -> AsyncGenerator[ClientDoor]:
    """Recover from the last run, start the model and the background work, answer other commands and MCP clients; undo it at the
    end. Gives the door of the clients."""
    await application.settings.restore()
    await application.policies.start()
    unknown = await application.gateway.start(__version__)
    if unknown:
        click.echo(f"{unknown} calls were running when the gateway last stopped; their outcome is unknown.", err=True)
    await application.clients.grants.restore()
    for complaint in await application.sources.start(connect=True):
        _log.warning("%s", complaint)
    await application.models.start()
    application.gateway.tasks.spawn(warm_model(application, on_warmed))
    application.gateway.tasks.spawn(expire_sessions(application))
    application.gateway.tasks.spawn(keep_retention(application))
    application.gateway.tasks.spawn(application.policies.shadow.follow(application.store.ledger.quiet_seconds))
    door = ClientDoor(
        application.gateway,
        application.sessions,
        application.people,
        application.clients,
        console_origin=application.origins.console,
    )
    control = ControlSocket(
        settings.state / SOCKET_NAME, control_commands(application, settings, port), {CLIENT_COMMAND: door.welcome}
    )
    await control.start()
    try:
        async with ship_records(application, settings), anchor_checkpoints(application, settings):
            yield door
    finally:
        await control.stop()


def _freeze_startup_objects() -> None:
    """Keep the garbage collector away from what start-up made, which is never freed.

    It would look through it again and again, and through every call that is still remembered: a tenth of the time of a busy
    gateway (measured).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
