"""Background work of a running gateway: warm the model, end expired sessions, erase what was kept long enough,
reload the policy on SIGHUP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

from gateway.adapters.inference.factory import WarmingBackend
from gateway.application import Application
from gateway.core.errors import GatewayError, Misconfigured, ModelUnavailable
from gateway.settings import Settings
from gateway.shipped import read_loop_file

if TYPE_CHECKING:
    # Its module brings an HTTP client, which a gateway without a model does without.
    from gateway.adapters.inference.warm_prefix import PrefixState

EXPIRY_SECONDS: Final = 5.0
"""How often expired sessions are ended and approvals counted again; what is void is refused at once in any case."""

RETENTION_SECONDS: Final = 5.0
"""How often calls are looked for whose content has been kept for long enough."""

OnWarmed: TypeAlias = "Callable[[PrefixState | None], None]"
"""Called once, with how the model came to know what every conversation begins with; None when it does not."""

_log = logging.getLogger(__name__)


async def warm_model(application: Application, on_warmed: OnWarmed) -> None:
    """Have a local model read in advance what every conversation of a small model begins with."""
    prefix_state = None
    try:
        if isinstance(application.models, WarmingBackend):
            # Sixty modules, which a gateway without a model does without.
            from gateway.agent.tiers import prefix_for

            await application.models.settle()
            tier = next((model.tier for model in await application.models.models()), None)
            tools = [spec.described() for spec in application.gateway.ports.toolbox.specs() if spec.unavailable is None]
            prefix_state = await application.models.warm(prefix_for(tier, tools, read_loop_file("prompts")))
    except (ModelUnavailable, Misconfigured) as error:
        _log.info("the model was not warmed: %s", error.message)
    finally:
        on_warmed(prefix_state)


@asynccontextmanager
async def ship_records(application: Application, settings: Settings) -> AsyncGenerator[None]:
    """Send the records of the log to the sinks of the settings while the context lasts. Raises Misconfigured."""
    if not settings.sinks:
        yield
        return
    # Imported where there are sinks: their HTTP client takes a tenth of a second.
    from gateway.adapters.shipping.settings import read_sinks
    from gateway.adapters.shipping.shipper import shipping

    store, now = application.store, application.gateway.ports.clock.now
    async with shipping(read_sinks(settings.sinks), store.records, store.verification_key.name, settings.state, now):
        yield


@asynccontextmanager
async def anchor_checkpoints(application: Application, settings: Settings) -> AsyncGenerator[None]:
    """Have the log's checkpoints anchored as the settings say while the context lasts. Raises Misconfigured."""
    if not settings.anchors:
        yield
        return
    from gateway.adapters.anchoring.anchorer import anchoring
    from gateway.adapters.anchoring.settings import read_anchors
    from gateway.anchored_log import LogForAnchors

    log, now = LogForAnchors(settings.state), application.gateway.ports.clock.now
    async with anchoring(read_anchors(settings.anchors), settings.state, log, now):
        yield


async def expire_sessions(application: Application) -> None:
    """End expired sessions, until cancelled."""
    while True:
        await asyncio.sleep(EXPIRY_SECONDS)
        try:
            await application.sessions.end_expired()
            # Somebody who approved with others may have been removed since.
            await application.gateway.approvals.recount()
        except GatewayError as error:
            _log.warning("expired sessions could not be ended now: %s", error.message)


async def keep_retention(application: Application) -> None:
    """Erase what has been kept for long enough, until cancelled. It begins with what fell due while no gateway ran."""
    while True:
        try:
            while await application.erasures.retain():
                pass
        except GatewayError as error:
            _log.warning("what has been kept for long enough could not be erased now: %s", error.message)
        await asyncio.sleep(RETENTION_SECONDS)


async def reload_policy(application: Application, asked: asyncio.Event) -> None:
    """Read the policy again whenever that is asked for; often at once is once. One that does not load changes nothing."""
    while True:
        await asked.wait()
        asked.clear()
        try:
            version = await application.gateway.reload_policy()
            _log.warning("policy %s is in force", version[:16])
        except GatewayError as error:
            _log.error("the policy was not reloaded, the last good one stays in force: %s", error.message)
        except Exception:  # noqa: BLE001 # a mistake of ours must not keep the next signal from being heard
            _log.exception("the policy was not reloaded")
