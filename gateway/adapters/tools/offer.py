"""What another side offers, and how it is asked: the interface of every kind of source that the operator adds.

A driver knows one other side: an MCP server, an HTTP API, a database. It finds what is offered and calls it, and decides
nothing. Which of the offered tools are published, under which category and until when is decided by `PinnedSource`, from what
a person has decided about exactly this definition. Texts of an offer are untrusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gateway.core.canonical import Json, digest
from gateway.core.model import DEFAULT_RESULT_CAP, DEFAULT_TOOL_TIMEOUT, CallFacts, ToolOutput
from gateway.core.preview import Preview
from gateway.core.vocabulary import Category, Recovery
from gateway.runtime.ports import ArgumentFault, ToolContext
from gateway.sandbox.job import Sandbox, SandboxUnavailable


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """One tool as the other side offers it. `name` is its own name there, `timeout` in seconds.

    `proposed` is only what a person is shown first, with `because` in words (`readOnlyHint`, `GET`). `summary` and `effects`
    are templates over argument names, written by the driver: the other side's text never says what a call does.
    """

    name: str
    description: str
    param_schema: Mapping[str, Json]
    title: str | None = None
    output_schema: Mapping[str, Json] | None = None
    proposed: Category = Category.EXECUTE
    because: str = ""
    summary: str = ""
    effects: tuple[str, ...] = ()
    network: bool = False
    recovery: Recovery = Recovery.UNSAFE
    result_cap: int = DEFAULT_RESULT_CAP
    timeout: float = DEFAULT_TOOL_TIMEOUT

    def described(self) -> dict[str, Json]:
        """All that a person decides about, as JSON; what is pinned is the digest of this and of the offer's identity."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "paramSchema": self.param_schema,
            "outputSchema": self.output_schema,
            "proposed": self.proposed.value,
            "because": self.because,
            "summary": self.summary,
            "effects": list(self.effects),
            "network": self.network,
            "recovery": self.recovery.value,
        }


def read_described(definition: Mapping[str, Json]) -> ToolOffer:
    """The offer that was described so, as far as it is on record: what the driver adds to run it is not."""
    return ToolOffer(
        name=definition["name"],
        description=definition["description"],
        param_schema=definition["paramSchema"],
        title=definition["title"],
        output_schema=definition["outputSchema"],
        proposed=Category(definition["proposed"]),
        because=definition["because"],
        summary=definition["summary"],
        effects=tuple(definition["effects"]),
        network=definition["network"],
        recovery=Recovery(definition["recovery"]),
    )


@dataclass(frozen=True, slots=True)
class SourceOffer:
    """Everything that one side offers. `identity` is who it says it is and where it was reached; a tool is the same tool only
    under the same identity. `version` is shown, and may change without a new decision. `refused` says in words, by name,
    which tools the driver itself had to leave out."""

    identity: str
    tools: tuple[ToolOffer, ...]
    version: str = ""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])

    def pin(self, tool: ToolOffer) -> str:
        """The digest that a decision about this tool is bound to."""
        return digest({"identity": self.identity, "tool": tool.described()})


class SourceAway(Exception):
    """The other side cannot be reached or does not answer as it should, for now. `message` is one sentence for the operator and
    whoever calls, that names neither a secret nor a path of this machine; `detail` is for the operator alone."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class SignInNeeded(SourceAway):
    """The other side wants a person to sign in, or to do it again. No call helps before that."""


class AccessTokens(Protocol):
    """The access that a person gave to one source by signing in. What is given out is good for that source's address alone,
    and must never get into a message, a result or a log."""

    async def current(self) -> str | None:
        """A token that lasts a while; None where nobody signed in. Raises SignInNeeded where the sign-in is over, and
        SourceAway where it cannot be renewed now."""
        ...

    async def renew(self, refused: str) -> str:
        """Another one, for a token that the other side refused. Raises SignInNeeded and SourceAway."""
        ...

    def challenged(self, challenge: str) -> None:
        """The other side said what a sign-in has to be like (a `WWW-Authenticate` field)."""
        ...


@dataclass(frozen=True, slots=True)
class DriverResources:
    """What the gateway lends a driver. `folder` is the source's own and is made when it is first needed; `private` no program
    of a source may see. `find_sandbox` may block. `fill` puts secrets in the place of `${secret:NAME}` in a setting, and
    raises Misconfigured for a name that is not stored; what it gives must never get into a message, a result or a log.
    `tokens` are of a kind of source that people sign in to."""

    source: str
    folder: Path
    private: tuple[Path, ...]
    find_sandbox: Callable[[], Sandbox | SandboxUnavailable]
    fill: Callable[[str], str]
    tokens: AccessTokens | None = None


class OfferListener(Protocol):
    """What a driver tells by itself, from the event loop's thread."""

    def changed(self) -> None:
        """The other side says that its tools changed; `open` is asked again."""
        ...

    def went_away(self, why: str) -> None:
        """The connection is lost; `why` is one sentence for the operator."""
        ...


class SourceDriver(Protocol):
    """The connection to one other side. Nothing here is called by two tasks at once but `call` and `preview`."""

    async def open(self, listener: OfferListener) -> SourceOffer:
        """Connect where that is not done, and ask what is offered. May be called again at any time, after a failure too.

        Raises SourceAway for what may pass, and Misconfigured for settings that can never work. Cancelled after a while.
        """
        ...

    def find_faults(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """What is wrong with arguments that fit the schema; empty when nothing is."""
        ...

    def facts(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> CallFacts:
        """What the policy may know about this call. Raises ToolFailed when the arguments cannot be understood."""
        ...

    async def preview(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Preview | None:
        """What the call would change or send; None where there is nothing to show. Raises ToolFailed when it cannot work."""
        ...

    async def call(self, tool: ToolOffer, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run the tool once. Raises ToolFailed, and SourceAway only where it is sure that nothing ran.

        Cancelling the awaiting task tells the other side to stop.
        """
        ...

    async def close(self) -> None:
        """End what runs and let go of everything. May be called again, and before `open`."""
        ...
