"""Where tools come from: the one interface that every kind of source has.

A source is added to the catalog, which starts it, publishes its tools and closes it. What is written here holds for every
kind: `tests/adapters/tools/test_source_contract.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gateway.core.canonical import Json
from gateway.core.model import CallFacts, ToolOutput, ToolSpec
from gateway.core.preview import Preview
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import ArgumentFault, ToolContext


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """Whether calls to this source can succeed now. `unavailable` says in words why not and is None where they can;
    `reason` is what a call is refused with."""

    unavailable: str | None = None
    reason: Reason = Reason.SOURCE_UNAVAILABLE


@runtime_checkable
class PreviewSource(Protocol):
    """A ToolSource that can show what a call would change: a member that a source may have or leave out."""

    async def preview(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Preview | None:
        """What the call would change as things are now; None where there is nothing to show.

        Raises ToolFailed when the call cannot work, so that nobody is asked about it.
        """
        ...


class ToolSource(Protocol):
    """Some tools that come from one place and are run in one way."""

    @property
    def name(self) -> str:
        """What policies and people know the source by, such as `builtin`, `module:mytools` or `tools:tools.json`."""
        ...

    async def start(self) -> None:
        """Read or connect what the tools come from. Raises Misconfigured when that cannot be used as it is written.

        A source that is only away for now starts, and says so by its health.
        """
        ...

    async def health(self) -> SourceHealth:
        """Whether calls can succeed now; may ask the other side, and never raises."""
        ...

    def specs(self) -> Sequence[ToolSpec]:
        """The tools, in a stable order; those that cannot run at the moment have `unavailable` set. Empty before the start."""
        ...

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """What is wrong with arguments that fit the schema; empty when nothing is."""
        ...

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """What the policy may know about this call. Raises ToolFailed when the arguments cannot be understood."""
        ...

    async def call(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run the tool once. Raises ToolFailed, with `sourceUnavailable` for a tool that is not of this source.

        Cancelling the awaiting task stops the work and sets `context.cancelled`. Who waits decides how long: a call that is
        not answered within `spec.timeout` is cancelled.
        """
        ...

    async def close(self) -> None:
        """End what runs and let go of everything; nothing of this source runs when this returns. May be called again."""
        ...
