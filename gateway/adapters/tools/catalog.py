"""The Toolbox over tool sources: which tools there are, whether arguments fit them, and running one so that only ToolFailed
comes out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from gateway.adapters.tools.definitions import Definitions
from gateway.adapters.tools.outputs import FAILURES, hide_failure, make_encodable
from gateway.adapters.tools.source import PreviewSource, SourceHealth, ToolSource
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.model import CallFacts, ToolOutput, ToolSpec
from gateway.core.preview import Preview
from gateway.core.results import MAX_FAILURE
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import ASKED_BY, ArgumentFault, ToolContext

MAX_FAILURE_TEXT = 1024 * 1024
"""Characters of a tool's own failure message. Far more than is handed out: what cuts it there looks for credentials first, and
half of one would not be recognised."""

PREVIEW_SECONDS = 2.0
"""How long a question waits for its preview. It is asked without one otherwise."""


class ToolCatalog:
    """A Toolbox. Its own sources are added while the gateway starts and stay; others are attached and detached at any time.

    What an own source has wrong keeps the gateway from starting; of an attached one only the tools that are wrong are left out.
    """

    def __init__(self) -> None:
        self._own = Definitions()
        self._definitions = self._own
        self._sources: list[ToolSource] = []
        self._attached: dict[str, ToolSource] = {}
        self._left_out: dict[str, Mapping[str, str]] = {}
        self._own_source_of: dict[str, ToolSource] = {}
        self._source_of: Mapping[str, ToolSource] = self._own_source_of
        self._specs: Sequence[ToolSpec] = ()

    async def add(self, source: ToolSource) -> None:
        """Start a source and publish its tools, all or none. Raises Misconfigured; the source is closed then."""
        try:
            await source.start()
            self.publish(source)
        except BaseException:
            await source.close()
            raise

    def publish(self, source: ToolSource) -> None:
        """Publish the tools of a source that was started. Raises Misconfigured, naming source and tool."""
        checked = self._own.copy()
        try:
            for spec in source.specs():
                checked.add(spec)
        except Misconfigured as error:
            raise Misconfigured(f"`{escape(source.name)}`: {error.message}") from None
        self._own = checked
        self._sources.append(source)
        self._own_source_of |= {spec.name: source for spec in source.specs()}
        self.refresh()

    def attach(self, source: ToolSource) -> None:
        """Publish the tools of one more source, as far as they can be beside the others."""
        self._attached[source.name] = source
        self.refresh()

    async def detach(self, name: str) -> None:
        """Take an attached source's tools away, then close it; nothing where there is none of that name."""
        source = self._attached.pop(name, None)
        self._left_out.pop(name, None)
        self.refresh()
        if source is not None:
            await source.close()

    def refresh(self) -> None:
        """Publish what the attached sources have now."""
        definitions, source_of = self._own.copy(), dict(self._own_source_of)
        for source in self._attached.values():
            left_out: dict[str, str] = {}
            for spec in source.specs():
                try:
                    definitions.add(spec, self._definitions)
                except Misconfigured as error:
                    left_out[spec.name] = error.message
                else:
                    source_of[spec.name] = source
            self._left_out[source.name] = left_out
        self._definitions, self._source_of, self._specs = definitions, source_of, definitions.all()

    def left_out(self, name: str) -> Mapping[str, str]:
        """The tools of an attached source that cannot be published beside the others, with the reason."""
        return self._left_out.get(name, {})

    async def health(self) -> Mapping[str, SourceHealth]:
        """How each source is, by its name."""
        return {source.name: await source.health() for source in (*self._sources, *self._attached.values())}

    async def close(self) -> None:
        """Close all sources, the last first; once more does nothing."""
        for name in tuple(self._attached):
            await self.detach(name)
        while self._sources:
            await self._sources.pop().close()

    # ── the port ──

    def specs(self) -> Sequence[ToolSpec]:
        """All tools, in the order in which they were added; the same object until something changed."""
        return self._specs

    def find(self, name: str) -> ToolSpec | None:
        """The tool of that name."""
        return self._definitions.find(name)

    def find_alike(self, name: str) -> ToolSpec | None:
        """The tool of that name or of one that looks like it."""
        return self._definitions.find_alike(name)

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """Every fault of the arguments, first against the schema, then as the source sees them."""
        return self._definitions.find_faults(spec, arguments) or self._find_source(spec).find_faults(spec, arguments)

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """What the policy may know about this call."""
        source = self._find_source(spec)
        try:
            return source.facts(spec, arguments)
        except ToolFailed as error:
            raise _encodable(error, MAX_FAILURE) from error
        except FAILURES as error:
            raise hide_failure(spec, error) from error

    async def preview(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Preview | None:
        """What the call would change; None where its source shows nothing, breaks down or takes longer than a person waits."""
        source = self._find_source(spec)
        if not isinstance(source, PreviewSource):
            return None
        try:
            async with asyncio.timeout(PREVIEW_SECONDS):
                return await source.preview(spec, arguments)
        except ToolFailed as error:
            raise _encodable(error) from error
        except TimeoutError:
            return None
        except FAILURES as error:
            # A question without a preview is still a question.
            hide_failure(spec, error)
            return None

    async def execute(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run the tool once. When the awaiting task is cancelled, the tool is notified and its source stops it."""
        source = self._find_source(spec)
        if spec.unavailable is not None:
            raise ToolFailed(spec.unavailable, spec.unavailable_because)
        # The task is the call's own.
        ASKED_BY.set(context.principal.id)
        try:
            return await source.call(spec, arguments, context)
        except asyncio.CancelledError:
            context.cancelled.set()
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise ToolFailed("the tool gave up") from None
        except ToolFailed as error:
            raise _encodable(error) from error
        except FAILURES as error:
            raise hide_failure(spec, error) from error

    # ── inside ──

    def _find_source(self, spec: ToolSpec) -> ToolSource:
        current = self._definitions.find(spec.name)
        if current is None:
            raise ToolFailed(f"there is no tool `{escape(spec.name)}`", Reason.SOURCE_UNAVAILABLE)
        if current.digest != spec.digest:
            raise ToolFailed(f"the definition of `{escape(spec.name)}` changed", Reason.SOURCE_UNAVAILABLE)
        return self._source_of[spec.name]


def _encodable(error: ToolFailed, most: int = MAX_FAILURE_TEXT) -> ToolFailed:
    message = make_encodable(error.message[:most])
    return ToolFailed(message, error.reason, labels=error.labels, answered=error.answered)
