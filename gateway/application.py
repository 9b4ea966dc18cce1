"""The parts of one running gateway, as one value that commands and background work are handed."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.adapters.inference.factory import ManagedBackend
from gateway.adapters.storage.store import Store
from gateway.adapters.telemetry.metrics import Metrics
from gateway.core.vocabulary import Profile
from gateway.runtime.clients import Clients
from gateway.runtime.erasures import Erasures
from gateway.runtime.gateway import Gateway
from gateway.runtime.operator_settings import OperatorSettings
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.people import People
from gateway.runtime.policies import Policies
from gateway.runtime.push_tests import OpenPush
from gateway.runtime.sessions import Sessions
from gateway.runtime.sources import Sources
from gateway.server.access import Origins


@dataclass(frozen=True, slots=True)
class Application:
    """A gateway with everything that it is wired to."""

    gateway: Gateway
    sessions: Sessions
    passkeys: PasskeyCeremonies
    people: People
    erasures: Erasures
    sources: Sources
    clients: Clients
    policies: Policies
    settings: OperatorSettings
    push: OpenPush | None
    store: Store
    models: ManagedBackend
    metrics: Metrics
    origins: Origins

    async def offer_enrolment(self, name: str, profile: Profile) -> str:
        """A link with which a person enrols, once."""
        token = await self.passkeys.offer(name, profile, seconds=self.gateway.timing.enrolment)
        return self.origins.enrolment_link(token)
