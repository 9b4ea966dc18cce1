"""The composition root: settings become adapters, adapters become a runtime, the runtime gets its servers.

The only place where adapters meet ports. Nothing here decides anything about a call, and nothing runs; see `serving`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import click

from gateway.adapter_settings import model_choice, tools_config
from gateway.adapters.identity.cookies import ItsdangerousSigner, read_key
from gateway.adapters.identity.passkeys import WebAuthnVerifier
from gateway.adapters.inference.embedder import build_embedder, close_embedder
from gateway.adapters.inference.factory import build_models
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.storage.inspection import verify_stored_log
from gateway.adapters.storage.store import open_store
from gateway.adapters.system.clock import SystemClock
from gateway.adapters.system.entropy import SystemEntropy
from gateway.adapters.telemetry.metrics import Metrics
from gateway.adapters.tools.builtin.workspace import prepare_workspace
from gateway.adapters.tools.sources import open_tools
from gateway.application import Application
from gateway.runtime.gateway import Ports, Timing, assemble
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.people import People
from gateway.runtime.ports import PolicyEngine
from gateway.runtime.sessions import Sessions
from gateway.server.access import Access, Origins, Site
from gateway.server.assets import WebApp
from gateway.server.methods.agent import AgentMethods
from gateway.server.methods.console import ConsoleMethods
from gateway.server.methods.verification import AuditVerifier
from gateway.server.parts import ServerParts
from gateway.server.websocket import agent_socket, console_socket
from gateway.settings import Settings

COOKIE_KEY: Final = "cookies.key"
"""In the state folder."""

PolicyWrapper = Callable[[PolicyEngine], PolicyEngine]
"""From the policy in force to a stricter one."""


def keep_policy(policy: PolicyEngine) -> PolicyEngine:
    """The wrapper that changes nothing."""
    return policy


@contextlib.asynccontextmanager
async def build(
    settings: Settings, metrics: Metrics, *, port: int, policy_wrapper: PolicyWrapper = keep_policy
) -> AsyncGenerator[Application]:
    """Open and connect everything; close it again in the opposite order. Raises GatewayError."""
    agent, console = settings.origins(port)
    origins = Origins(agent=agent, console=console)
    clock, entropy = SystemClock(), SystemEntropy()
    policy = policy_wrapper(CedarPolicy(settings.policy_folder))
    models = build_models(choice := model_choice(settings, origins), clock)
    embedder = build_embedder(choice, clock)
    if prepare_workspace(settings.workspace):
        click.echo(f"Made {settings.workspace}/ with a few sample files; tools work there and nowhere else.", err=True)
    async with open_store(settings.state, origin=urlsplit(console).netloc, salt=entropy.octets) as store:
        toolbox = await open_tools(tools_config(settings, store.records.audit, embedder))
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
        gateway = assemble(ports, timing)
        sessions = Sessions(
            ledger=store.ledger,
            records=store.records,
            connections=gateway.connections,
            policy=policy,
            clock=clock,
            entropy=entropy,
        )
        passkeys = PasskeyCeremonies(
            sessions=sessions,
            verifier=verifier,
            ledger=store.ledger,
            records=store.records,
            clock=clock,
            entropy=entropy,
        )
        people = People(
            ledger=store.ledger,
            records=store.records,
            sessions=sessions,
            connections=gateway.connections,
            exposures=gateway.exposures,
            turns=gateway.turns,
            clock=clock,
        )
        try:
            yield Application(gateway, sessions, passkeys, people, store, models, metrics, origins)
        finally:
            await gateway.stop()
            await toolbox.close()
            await models.stop()
            await close_embedder(embedder)


def server_parts(application: Application, settings: Settings) -> ServerParts:
    """What the HTTP and WebSocket server is made of. Raises Misconfigured without the built web apps."""
    gateway, origins = application.gateway, application.origins
    access = Access(
        origins=origins,
        sessions=application.sessions,
        inference=gateway.inference,
        signer=ItsdangerousSigner(read_key(settings.state / COOKIE_KEY)),
        metrics_token=settings.metrics_token.get_secret_value() or None,
    )
    web = settings.web_folder
    agent_methods = AgentMethods(gateway, agent_origin=origins.agent, console_origin=origins.console)
    verifier = AuditVerifier(partial(verify_stored_log, settings.state))
    console_methods = ConsoleMethods(gateway, application.passkeys, verifier, agent_origin=origins.agent)
    return ServerParts(
        access=access,
        passkeys=application.passkeys,
        inference=gateway.inference,
        records=application.store.records,
        toolbox=gateway.ports.toolbox,
        entropy=gateway.ports.entropy,
        metrics=application.metrics,
        shell=WebApp.load(web / "shell"),
        console=WebApp.load(web / "console"),
        admission=gateway.admission,
        agent_socket=agent_socket(
            gateway, agent_methods, host=origins.host(Site.AGENT), origin=origins.agent, recognise=access.agent
        ),
        console_socket=console_socket(
            gateway, console_methods, host=origins.host(Site.CONSOLE), origin=origins.console, recognise=access.console
        ),
    )
