"""The composition root: settings become adapters, adapters become a runtime. `web_server` gives it its servers.

The only place where adapters meet ports. Nothing here decides anything about a call, and nothing runs; see `serving`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable
from functools import partial
from urllib.parse import urlsplit

import click

from gateway.adapter_settings import declared_sources, model_choice, timing_of, tools_config
from gateway.adapters.identity.passkeys import WebAuthnVerifier
from gateway.adapters.inference.embedder import build_embedder, close_embedder
from gateway.adapters.inference.factory import build_models
from gateway.adapters.storage.secret_box import SecretBox
from gateway.adapters.storage.store import open_store
from gateway.adapters.system.clock import SystemClock
from gateway.adapters.system.entropy import SystemEntropy
from gateway.adapters.system.redaction import RedactionProcesses
from gateway.adapters.telemetry.metrics import Metrics
from gateway.adapters.tools.added import AddedSources, Secrets
from gateway.adapters.tools.builtin.sample_workspace import prepared_workspace
from gateway.adapters.tools.oauth.host import OAuthSignIns
from gateway.adapters.tools.sources import open_tools
from gateway.anchored_notes import anchored_notes
from gateway.application import Application
from gateway.changeable_settings import operator_settings
from gateway.policy_records import open_policy
from gateway.runtime.announcements import SourceAnnouncements
from gateway.runtime.clients import assemble_clients
from gateway.runtime.erasures import Erasures
from gateway.runtime.gateway import Ports, assemble
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.people import People
from gateway.runtime.ports import PolicyEngine
from gateway.runtime.sessions import Sessions
from gateway.runtime.sign_ins import SignIns
from gateway.runtime.sources import Sources
from gateway.server.access import Origins
from gateway.settings import Settings
from gateway.web_push import open_push

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
    origins, clock, entropy = Origins(*settings.origins(port)), SystemClock(), SystemEntropy()
    policy = policy_wrapper((opened := open_policy(settings)).policy)
    declared, models = declared_sources(settings), build_models(choice := model_choice(settings, origins), clock)
    embedder, anchored = build_embedder(choice, clock), await anchored_notes(settings)
    async with (
        prepared_workspace(settings.workspace, partial(click.echo, err=True)),
        open_store(settings.state, origin=urlsplit(origins.console).netloc, salt=entropy.octets, anchored=anchored) as store,
    ):
        tools = tools_config(settings, store.records.audit, store.records.kept_result, embedder)
        toolbox = await open_tools(tools)
        added = AddedSources(
            toolbox,
            shelf := Secrets(),
            state=settings.state,
            private=tools.secret,
            find_sandbox=lambda: tools.sandbox_for_sources,
            sign_ins=(oauth := OAuthSignIns(shelf.fill, clock.now)),
        )
        verifier = WebAuthnVerifier(rp_id=urlsplit(origins.console).hostname or "", rp_name="Countersign", origin=origins.console)
        ports = Ports(
            ledger=store.ledger,
            records=store.records,
            policy=policy,
            toolbox=toolbox,
            redactor=RedactionProcesses(),
            passkeys=verifier,
            inference=models,
            clock=clock,
            entropy=entropy,
            observer=metrics,
        )
        gateway = assemble(ports, timing_of(settings))
        ledger = gateway.ports.ledger
        sessions = Sessions(
            ledger=ledger,
            records=store.records,
            connections=gateway.connections,
            policy=policy,
            clock=clock,
            entropy=entropy,
        )
        passkeys = PasskeyCeremonies(
            sessions=sessions, verifier=verifier, ledger=ledger, records=store.records, clock=clock, entropy=entropy
        )
        people = People(
            ledger=ledger,
            records=store.records,
            sessions=sessions,
            connections=gateway.connections,
            exposures=gateway.exposures,
            turns=gateway.turns,
            clock=clock,
        )
        erasures = Erasures(ledger, store.records, gateway.conversations, gateway.grants, sessions, clock)
        sealer = SecretBox(settings.state)
        sign_ins = SignIns(
            ledger=ledger,
            records=store.records,
            host=oauth,
            sealer=sealer,
            clock=clock,
            entropy=entropy,
            console=origins.console,
        )
        sources = Sources(
            ledger=ledger,
            records=store.records,
            host=added,
            sealer=sealer,
            shelf=shelf,
            sign_ins=sign_ins,
            declared=declared,
            clock=clock,
            on_withdrawn=gateway.withdraw_tools,
            on_changed=SourceAnnouncements(gateway.connections).changed,
        )
        clients, policies = assemble_clients(gateway.ports, sessions, gateway.connections), opened.assemble(gateway, verifier)
        chosen, push = operator_settings(settings, gateway), open_push(settings, gateway, sealer, origins)
        rooms = gateway, sessions, passkeys, people, erasures, sources, clients, policies
        try:
            yield Application(*rooms, chosen, push, store, models, metrics, origins)
        finally:
            await gateway.stop()
            if push is not None:
                push.devices.sender.close()
            await added.close()
            await oauth.close()
            await toolbox.close()
            await models.stop()
            await close_embedder(embedder)
