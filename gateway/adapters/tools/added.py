"""The sources that were added, connected and published: the SourceHost over the catalog."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from gateway.adapters.tools.catalog import ToolCatalog
from gateway.adapters.tools.client_configurations import read_client_configuration
from gateway.adapters.tools.kinds import SHIPPED_KINDS, SourceKinds, read_labels
from gateway.adapters.tools.oauth.host import OAuthSignIns
from gateway.adapters.tools.offer import DriverResources
from gateway.adapters.tools.pinned import OPEN_SECONDS, PinnedSource
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolSpec
from gateway.core.sources import AddedSource, ClientConfiguration, SeenTool, SourceKind, SourceTool, fill_secrets
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import OnOffer, SourcePhase, SourceState
from gateway.sandbox.job import Sandbox, SandboxUnavailable

FOLDER: Final = "sources"
"""Inside the state folder: one folder for each source."""


class Secrets:
    """The SecretShelf: secrets in memory, for the drivers of this process."""

    def __init__(self) -> None:
        self._values: Mapping[str, str] = {}

    def replace(self, secrets: Mapping[str, str]) -> None:
        """These and no others are there from now on."""
        self._values = dict(secrets)

    def fill(self, text: str) -> str:
        """The text with each `${secret:NAME}` replaced. Raises Misconfigured for a secret that is not there."""
        return fill_secrets(text, self._values)


class AddedSources:
    """Connects the sources that were added, each by itself, and publishes what was decided about their tools."""

    def __init__(
        self,
        catalog: ToolCatalog,
        secrets: Secrets,
        *,
        state: Path,
        private: Sequence[Path],
        find_sandbox: Callable[[], Sandbox | SandboxUnavailable],
        kinds: SourceKinds = SHIPPED_KINDS,
        sign_ins: OAuthSignIns | None = None,
    ) -> None:
        self._catalog = catalog
        self._secrets = secrets
        self._state = state
        self._private = (state, *private)
        self._find_sandbox = find_sandbox
        self._kinds = kinds
        self._sign_ins = sign_ins
        self._sources: dict[str, PinnedSource] = {}
        self._broken: dict[str, str] = {}
        self._on_offer: OnOffer = _forget
        self._on_withdrawn: Callable[[], None] = lambda: None
        self._on_changed: Callable[[], None] = lambda: None
        self._connects = False

    def check(self, kind: SourceKind, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """See SourceHost."""
        return self._kinds.check(kind, settings)

    def read_configuration(self, text: str, *, network: bool) -> ClientConfiguration:
        """See SourceHost."""
        return read_client_configuration(text, {}, network=network)

    def begin(
        self, on_offer: OnOffer, on_withdrawn: Callable[[], None], on_changed: Callable[[], None], *, connect: bool
    ) -> None:
        """See SourceHost."""
        self._on_offer, self._on_withdrawn, self._on_changed, self._connects = on_offer, on_withdrawn, on_changed, connect

    async def attach(self, source: AddedSource, tools: Sequence[SourceTool]) -> None:
        """See SourceHost. Settings that can never work are said by `state`."""
        await self.detach(source.name)
        resources = DriverResources(
            source=source.name,
            folder=self._state / FOLDER / source.name,
            private=self._private,
            find_sandbox=self._find_sandbox,
            fill=self._secrets.fill,
            tokens=None if self._sign_ins is None else self._sign_ins.tokens(source),
        )
        try:
            driver = self._kinds.build(source.kind, source.settings, resources)
            labels = read_labels(source.settings)
        except Misconfigured as error:
            self._broken[source.name] = error.message
            return
        pinned = PinnedSource(source, driver, tools, labels=labels, on_offer=self._on_offer, on_change=self._refresh)
        self._sources[source.name] = pinned
        if source.enabled:
            self._catalog.attach(pinned)
            if self._connects:
                pinned.connect()

    async def detach(self, name: str) -> None:
        """See SourceHost."""
        self._broken.pop(name, None)
        source = self._sources.pop(name, None)
        if source is not None:
            before = self._callable()
            await self._catalog.detach(source.name)
            await source.close()
            self._say_what_is_gone(before)

    def update(self, name: str, tools: Sequence[SourceTool]) -> None:
        """See SourceHost."""
        source = self._sources.get(name)
        if source is not None:
            source.decide(tools)

    async def probe(self, name: str) -> SourceState:
        """See SourceHost."""
        source = self._sources.get(name)
        if source is not None:
            async with asyncio.timeout(OPEN_SECONDS + 5.0):
                await source.probe()
        return self.state(name)

    def state(self, name: str) -> SourceState:
        """See SourceHost."""
        if name in self._broken:
            return SourceState(SourcePhase.AWAY, self._broken[name])
        source = self._sources.get(name)
        if source is None:
            return SourceState()
        state = source.state
        refused = {**state.refused, **self._catalog.left_out(source.name)}
        return SourceState(state.phase, state.why, state.version, refused, state.offered)

    async def close(self) -> None:
        """End every connection, all at the same time."""
        await asyncio.gather(*(self.detach(name) for name in tuple(self._sources)))

    # ── inside ──

    def _refresh(self) -> None:
        before = self._callable()
        self._catalog.refresh()
        self._say_what_is_gone(before)
        self._on_changed()

    def _callable(self) -> Mapping[str, ToolSpec]:
        return {spec.name: spec for spec in self._catalog.specs() if spec.unavailable is None}

    def _say_what_is_gone(self, before: Mapping[str, ToolSpec]) -> None:
        """Tools that could be called and are now others, or nobody may call. One that is only away comes back as it was."""
        for name, spec in before.items():
            now = self._catalog.find(name)
            if now is None or now.digest != spec.digest or _is_forbidden(now):
                self._on_withdrawn()
                return


def _is_forbidden(spec: ToolSpec) -> bool:
    return spec.unavailable is not None and spec.unavailable_because is Reason.FORBIDDEN


async def _forget(_source: str, _seen: Sequence[SeenTool]) -> Sequence[SourceTool]:
    """Until somebody says what is done with an offer."""
    return ()
