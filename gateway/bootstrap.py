"""The composition root: settings become adapters, adapters become a runtime, the runtime gets its servers.

The only place where adapters meet ports. Nothing here decides anything about a call.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import orjson
import uvloop

import gateway
from gateway import __version__
from gateway.adapters.identity.cookies import ItsdangerousSigner, read_key
from gateway.adapters.identity.passkeys import WebAuthnVerifier
from gateway.adapters.inference.catalog import models_folder
from gateway.adapters.inference.diagnosis import Finding
from gateway.adapters.inference.diagnosis import diagnose as diagnose_model
from gateway.adapters.inference.factory import ManagedBackend, ModelChoice, build_backend
from gateway.adapters.inference.local import LocalBackend
from gateway.adapters.inference.warmth import Warmth
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.storage.engine import choose_driver
from gateway.adapters.storage.store import Store, open_store
from gateway.adapters.system.clock import SystemClock
from gateway.adapters.system.entropy import SystemEntropy
from gateway.adapters.telemetry.metrics import Metrics
from gateway.adapters.tools.workspace import prepare_workspace
from gateway.agent.prompts import action_prefix
from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, InvalidParams, Misconfigured, ModelUnavailable
from gateway.core.vocabulary import Profile
from gateway.runtime.gateway import Gateway, Ports, Timing, assemble
from gateway.runtime.passkeys import PasskeyDesk
from gateway.runtime.ports import PolicyEngine
from gateway.runtime.sessions import SessionDesk
from gateway.server.access import Access, Origins, Site
from gateway.server.app import create_app
from gateway.server.assets import WebApp
from gateway.server.control import ControlSocket, ask_gateway
from gateway.server.listener import listener
from gateway.server.methods.agent import AgentMethods
from gateway.server.methods.console import ConsoleMethods
from gateway.server.methods.verification import AuditVerifier
from gateway.server.parts import ServerParts
from gateway.server.running import AsgiApp, Server, serving_beside
from gateway.server.websocket import agent_socket, console_socket
from gateway.settings import Settings
from gateway.toolbox import build_toolbox, describe_cage, describe_tools

CONTROL = "control.sock"
COOKIE_KEY = "cookies.key"
EXPIRY_SECONDS = 5.0
"""How often sessions that ran out are looked for; a request or message of one is refused at once in any case."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class House:
    """A gateway with everything it stands on."""

    gateway: Gateway
    sessions: SessionDesk
    passkeys: PasskeyDesk
    store: Store
    models: ManagedBackend
    metrics: Metrics
    origins: Origins


# ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def run(settings: Settings, *, metrics: Metrics | None = None) -> None:
    """Serve until SIGINT or SIGTERM. Raises GatewayError for whatever keeps it from starting."""
    logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    # Libraries tell at INFO what only their authors want to know.
    for chatty in ("uvicorn", "uvicorn.error", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    uvloop.run(_serve(settings, metrics or Metrics()))


async def offer_enrolment(settings: Settings, name: str, profile: Profile) -> str:
    """A link for one more person, from the running gateway or, when none runs, straight from the ledger."""
    command = {"command": "enrol", "name": name, "profile": profile.value}
    link = await ask_gateway(settings.state / CONTROL, command)
    if link is not None:
        return str(link)
    async with _furnish(settings, Metrics(), port=settings.port) as house:
        return await offer(house, settings, name, profile)


async def diagnose(settings: Settings) -> list[Finding]:
    """What `countersign doctor` says: everything that `serve` needs, looked at without starting it."""
    agent, console = settings.origins(settings.port)
    choice = model_choice(settings, Origins(agent=agent, console=console))
    return [
        _look("policy", lambda: f"loads, version {CedarPolicy(policy_folder(settings)).version[:16]}"),
        _look("sqlite", lambda: f"{choose_driver().sqlite_version}, without the WAL-reset bug"),
        _look("tools", lambda: describe_tools(settings, policy=policy_folder(settings))),
        _look("sandbox", lambda: describe_cage(settings)),
        _look("web apps", lambda: f"built in {_require_web(settings)}"),
        _look("port", lambda: _probe_port(settings)),
        *await diagnose_model(choice, SystemClock()),
    ]


def model_choice(settings: Settings, origins: Origins) -> ModelChoice:
    """What the settings say about the model, as plain values."""
    return ModelChoice(
        model=settings.model,
        models=models_folder(os.environ),
        state=settings.state,
        context_tokens=settings.model_context,
        llama_server=settings.llama_server,
        origins=(origins.agent, origins.console),
        url=settings.model_url,
        url_model=settings.model_name,
        url_key=settings.model_key.get_secret_value(),
        prompt_cache=settings.prompt_cache,
    )


# ── serving ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _serve(settings: Settings, metrics: Metrics) -> None:
    listening = _listen(settings)
    port = int(listening.getsockname()[1])
    async with _furnish(settings, metrics, port=port) as house, _alive(house, settings):
        greeting = await _greet(house, settings)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, lambda: house.gateway.tasks.spawn(_reload(house)))
        _settle_memory()
        app = create_app(_parts(house, settings))
        server = Server(listener(app, host=settings.host, port=port), lambda: click.echo(greeting) or sys.stdout.flush())
        await server.serve(sockets=[listening])


@contextlib.asynccontextmanager
async def open_house(
    settings: Settings, dress: Callable[[PolicyEngine], PolicyEngine], warmed: Callable[[Warmth | None], None] = lambda _: None
) -> AsyncGenerator[tuple[House, AsgiApp]]:
    """A gateway for another command of this process, with the app that it serves: its console answers as ever, and it says
    nothing by itself. `dress` may make the policy stricter. Where the port is taken, a free one serves as well. `warmed` is
    told, once, how the model came to know what every conversation begins with; None when it does not."""
    try:
        listening = _listen(settings)
    except Misconfigured:
        if settings.agent_origin:
            raise
        listening = _listen(settings.model_copy(update={"port": 0}))
    port = int(listening.getsockname()[1])
    with listening:
        async with _furnish(settings, Metrics(), port=port, dress=dress) as house, _alive(house, settings, warmed):
            app = create_app(_parts(house, settings))
            async with serving_beside(listener(app, host=settings.host, port=port), listening):
                yield house, app


@contextlib.asynccontextmanager
async def _alive(
    house: House, settings: Settings, warmed: Callable[[Warmth | None], None] = lambda _: None
) -> AsyncGenerator[None]:
    """Recovered from the last run, with its model on the way, and answering commands."""
    unknown = await house.gateway.start(__version__)
    if unknown:
        click.echo(f"{unknown} calls were under way when the gateway last stopped; their outcome is unknown.", err=True)
    await house.models.start()
    house.gateway.tasks.spawn(_warm(house, warmed))
    house.gateway.tasks.spawn(_expire(house))
    control = ControlSocket(settings.state / CONTROL, _answers(house, settings))
    await control.start()
    try:
        yield
    finally:
        await control.stop()


def _settle_memory() -> None:
    """What start-up made stays for good. Left to itself the collector looks through it again and again, and through every
    call that is still remembered: a tenth of the time of a busy gateway (measured)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@contextlib.asynccontextmanager
async def _furnish(
    settings: Settings, metrics: Metrics, *, port: int, dress: Callable[[PolicyEngine], PolicyEngine] = lambda policy: policy
) -> AsyncGenerator[House]:
    """Open and connect everything; close it again in the opposite order."""
    agent, console = settings.origins(port)
    origins = Origins(agent=agent, console=console)
    clock, entropy = SystemClock(), SystemEntropy()
    policy = dress(CedarPolicy(policy_folder(settings)))
    models = build_backend(model_choice(settings, origins), clock)
    if prepare_workspace(settings.workspace):
        click.echo(f"Made {settings.workspace}/ with a few sample files; tools work there and nowhere else.", err=True)
    async with open_store(settings.state, origin=urlsplit(console).netloc) as store:
        toolbox = build_toolbox(settings, store.records.audit, policy=policy_folder(settings))
        verifier = WebAuthnVerifier(rp_id=urlsplit(console).hostname or "", rp_name="Countersign", origin=console)
        ports = Ports(
            ledger=store.ledger,
            records=store.records,
            policy=policy,
            toolbox=toolbox,
            passkeys=verifier,
            inference=models,
            clock=clock,
            entropy=entropy,
            observer=metrics,
        )
        timing = Timing(snapshot=settings.snapshot_seconds, grace=settings.grace_seconds, approval=settings.approval_seconds)
        built = assemble(ports, timing)
        sessions = SessionDesk(
            ledger=store.ledger, records=store.records, hub=built.hub, policy=policy, clock=clock, entropy=entropy
        )
        passkeys = PasskeyDesk(
            sessions=sessions,
            verifier=verifier,
            ledger=store.ledger,
            records=store.records,
            clock=clock,
            entropy=entropy,
        )
        try:
            yield House(built, sessions, passkeys, store, models, metrics, origins)
        finally:
            await built.stop()
            await models.stop()


def _parts(house: House, settings: Settings) -> ServerParts:
    built, origins = house.gateway, house.origins
    access = Access(
        origins=origins,
        sessions=house.sessions,
        inference=built.inference,
        signer=ItsdangerousSigner(read_key(settings.state / COOKIE_KEY)),
        metrics_token=settings.metrics_token.get_secret_value() or None,
    )
    web = _find_web(settings)
    agent_methods = AgentMethods(built, agent_origin=origins.agent, console_origin=origins.console)
    verifier = AuditVerifier(house.store.records, house.store.verification_key)
    console_methods = ConsoleMethods(built, house.passkeys, verifier, agent_origin=origins.agent)
    return ServerParts(
        access=access,
        passkeys=house.passkeys,
        inference=built.inference,
        records=house.store.records,
        toolbox=built.ports.toolbox,
        entropy=built.ports.entropy,
        metrics=house.metrics.registry,
        shell=WebApp.load(web / "shell"),
        console=WebApp.load(web / "console"),
        agent_socket=agent_socket(
            built, agent_methods, host=origins.host(Site.AGENT), origin=origins.agent, recognise=access.agent
        ),
        console_socket=console_socket(
            built, console_methods, host=origins.host(Site.CONSOLE), origin=origins.console, recognise=access.console
        ),
    )


async def _greet(house: House, settings: Settings) -> str:
    names = ", ".join(model.display_name for model in await house.models.models())
    phase, detail = house.models.state().phase, house.models.state().detail
    lines = [
        "Countersign is ready.",
        f"  web shell  {house.origins.agent}",
        f"  console    {house.origins.console}",
        f"  model      {names or 'none'} ({': '.join(filter(None, (phase, detail)))})",
    ]
    if await house.passkeys.is_anyone_enrolled():
        return "\n".join([*lines, "", "Open the console to sign in:", "", f"  {house.origins.console}", ""])
    link = await offer(house, settings, "Operator", Profile.OPERATOR)
    minutes = f"{settings.enrolment_minutes:g} minutes"
    return "\n".join([*lines, "", f"Open this link to register your passkey; it works once, for {minutes}:", "", f"  {link}", ""])


async def _warm(house: House, warmed: Callable[[Warmth | None], None]) -> None:
    """Have the model read, before anybody asks, what every conversation of a small model begins with."""
    warmth = None
    try:
        if isinstance(house.models, LocalBackend):
            await house.models.settle()
            tools = [spec.described() for spec in house.gateway.ports.toolbox.specs()]
            warmth = await house.models.warm(action_prefix(tools, read_words("prompts")))
    except (ModelUnavailable, Misconfigured) as error:
        _log.info("the model was not warmed: %s", error.message)
    finally:
        warmed(warmth)


def read_words(name: str) -> Mapping[str, Any]:
    """A file of words that the loops of both languages read: `prompts` or `copy`. Raises Misconfigured."""
    path = _beside_package("web") / "src" / "agent" / f"{name}.json"
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        raise Misconfigured(f"`{path.name}` of the web sources is missing or does not read") from None


async def offer(house: House, settings: Settings, name: str, profile: Profile) -> str:
    """A link with which a person enrols, once."""
    token = await house.passkeys.offer(name, profile, seconds=settings.enrolment_minutes * 60)
    # In the fragment, which browsers send to nobody and servers do not log.
    return f"{house.origins.console}/enrol#t={token}"


def _answers(house: House, settings: Settings):
    async def enrol(asked: Mapping[str, Json]) -> Json:
        try:
            profile = Profile(asked["profile"])
        except (KeyError, ValueError):
            raise InvalidParams("`profile` must be operator or guest") from None
        return await offer(house, settings, str(asked.get("name", "")), profile)

    async def reload(_asked: Mapping[str, Json]) -> Json:
        return await house.gateway.reload_policy()

    return {"enrol": enrol, "reload": reload}


async def _reload(house: House) -> None:
    """SIGHUP. A policy that does not load changes nothing."""
    try:
        version = await house.gateway.reload_policy()
        _log.warning("policy %s is in force", version[:16])
    except GatewayError as error:
        _log.error("the policy was not reloaded, the last good one stays in force: %s", error.message)


async def _expire(house: House) -> None:
    while True:
        await asyncio.sleep(EXPIRY_SECONDS)
        try:
            await house.sessions.end_expired()
        except GatewayError as error:
            _log.warning("expired sessions could not be ended now: %s", error.message)


# ── finding things ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _listen(settings: Settings) -> socket.socket:
    try:
        return socket.create_server((settings.host, settings.port), backlog=1024)
    except OSError as error:
        raise Misconfigured(
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror}); stop what uses it or set another --port"
        ) from None


def _look(name: str, see: Callable[[], str]) -> Finding:
    try:
        return Finding(name, ok=True, sentence=see())
    except GatewayError as error:
        return Finding(name, ok=False, sentence=error.message)


def _probe_port(settings: Settings) -> str:
    _listen(settings).close()
    return f"{settings.host}:{settings.port} is free"


def _beside_package(name: str) -> Path:
    """A folder that an installed package carries inside, and a checkout beside."""
    package = Path(gateway.__file__).parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


def policy_folder(settings: Settings) -> Path:
    """The policy that these settings name, or the shipped one."""
    return settings.policy or _beside_package("policy")


def _find_web(settings: Settings) -> Path:
    return settings.web or _beside_package("web") / "dist"


def _require_web(settings: Settings) -> Path:
    web = _find_web(settings)
    if not (web / "shell" / "index.html").is_file() or not (web / "console" / "index.html").is_file():
        raise Misconfigured("the web apps are not built; run `make web/dist/ready`")
    return web
