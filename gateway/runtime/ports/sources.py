"""Sources of tools that are added, and the secrets that they use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from gateway.core.canonical import Json
from gateway.core.sources import AddedSource, ClientConfiguration, SeenTool, SourceKind, SourceTool


class SourcePhase(StrEnum):
    """How far the connection to a source is."""

    OFF = "off"
    """It is switched off, or this process does not connect."""
    CONNECTING = "connecting"
    READY = "ready"
    AWAY = "away"
    """It cannot be reached now; it is tried again by itself."""
    NEEDS_SIGN_IN = "needsSignIn"
    """It wants a person to sign in, and is not tried again before somebody did."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a source is now. `why` says in words why it is away; `refused` says of offered tools that cannot be published why.
    `offered` names the tools that it offers at the moment, None while nobody knows."""

    phase: SourcePhase = SourcePhase.OFF
    why: str | None = None
    version: str = ""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    offered: frozenset[str] | None = None


OnOffer: TypeAlias = Callable[[str, Sequence[SeenTool]], Awaitable[Sequence[SourceTool]]]
"""From a source's name and what it offers to what is on record about its tools, this offer included."""


class SourceHost(Protocol):
    """Connects sources and publishes those of their tools that were decided about."""

    def check(self, kind: SourceKind, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """The settings in their full form. Raises Misconfigured with all that is wrong with them."""
        ...

    def read_configuration(self, text: str, *, network: bool) -> ClientConfiguration:
        """The servers in a configuration of another MCP client; `network` is what each program is granted. Nothing is looked up
        in this process's environment. Raises Misconfigured for a text that holds none."""
        ...

    def begin(
        self, on_offer: OnOffer, on_withdrawn: Callable[[], None], on_changed: Callable[[], None], *, connect: bool
    ) -> None:
        """Say what is done with an offer, when tools that could be called are there no more, and whenever a source may not be as
        it was. Called once.

        Without `connect` no source is connected but by `probe`."""
        ...

    async def attach(self, source: AddedSource, tools: Sequence[SourceTool]) -> None:
        """Publish what is known of a source and begin to connect it, unless it is switched off."""
        ...

    async def detach(self, name: str) -> None:
        """Take its tools away and end its connection; nothing of it runs when this returns."""
        ...

    def update(self, name: str, tools: Sequence[SourceTool]) -> None:
        """Publish by other decisions from now on."""
        ...

    async def probe(self, name: str) -> SourceState:
        """Connect now, or ask again what is offered, and say how that went. Takes a bounded time."""
        ...

    def state(self, name: str) -> SourceState:
        """How it is now."""
        ...


class SecretSealer(Protocol):
    """Encrypts secrets for the database."""

    def seal(self, name: str, value: str) -> bytes:
        """Encrypted and bound to the name."""
        ...

    def unseal(self, name: str, sealed: bytes) -> str:
        """The value again. Raises Misconfigured when the key is another one or the bytes were changed."""
        ...


class SecretShelf(Protocol):
    """Where the drivers of this process find secrets."""

    def replace(self, secrets: Mapping[str, str]) -> None:
        """These and no others are there from now on."""
        ...
