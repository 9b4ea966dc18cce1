"""A source that the operator added: a driver, what it offers, and what people decided about that.

Only a tool that somebody gave a category, and that is still offered with the very definition they saw, can be called. The
others are published as unavailable with the reason, so that operators see them and no model is offered them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from gateway.adapters.tools.offer import SignInNeeded, SourceAway, SourceDriver, SourceOffer, ToolOffer, read_described
from gateway.adapters.tools.restlessness import LONGEST_PAUSE, QUIET_SECONDS, Restlessness
from gateway.adapters.tools.schemas import Validator
from gateway.adapters.tools.source import SourceHealth
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import GatewayError, Misconfigured, ToolFailed
from gateway.core.model import CallFacts, ToolOutput, ToolSpec
from gateway.core.preview import Preview
from gateway.core.sources import MAX_TOOLS, AddedSource, SeenTool, SourceTool, Standing
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import ArgumentFault, SourcePhase, SourceState, ToolContext

OPEN_SECONDS: Final = 60.0
"""For connecting and asking what is offered: a package runner may have to fetch its package first."""

FIRST_PAUSE: Final = 1.0
"""Seconds before a source that is away is tried again: doubled up to the longest."""

MOST_LATE: Final = 3
"""Calls in a row without an answer in time, after which a source is taken for one that is away until it says what it offers."""

MAX_DESCRIPTION: Final = 2_000
"""Characters of a description that are published."""

MAX_DEFINITION: Final = 64 * 1024
"""Bytes of one tool's definition."""

_UNNAMEABLE: Final = re.compile(r"[^A-Za-z0-9_]")
_LONGEST_NAME: Final = 64

_log = logging.getLogger(__name__)


class PinnedSource:
    """A ToolSource over a driver. `labels` are those of every result of this source.

    `on_offer` is told what is offered and gives what is on record about it; `on_change` is called whenever `specs` may be
    others than before.
    """

    def __init__(
        self,
        source: AddedSource,
        driver: SourceDriver,
        tools: Sequence[SourceTool],
        *,
        labels: Sequence[str],
        on_offer: Callable[[str, Sequence[SeenTool]], Awaitable[Sequence[SourceTool]]],
        on_change: Callable[[], None],
    ) -> None:
        self.source = source
        self.refused: Mapping[str, str] = {}
        self._driver = driver
        self._labels = tuple(labels)
        self._on_offer = on_offer
        self._on_change = on_change
        self._phase = SourcePhase.OFF
        self._why: str | None = None
        """Told to whoever calls; `_detail` is not."""
        self._detail = ""
        self._offer: SourceOffer | None = None
        self._offered: dict[str, tuple[str, ToolOffer]] = {}
        """Pin and offer of each tool by its own name; kept while the source is away."""
        self._specs: tuple[ToolSpec, ...] = ()
        self._found: dict[str, tuple[SourceTool, ToolOffer]] = {}
        self._opening = asyncio.Lock()
        self._attempt: asyncio.Timeout | None = None
        """The time that is left to the driver, while it is opened."""
        self._wake = asyncio.Event()
        self._restless = Restlessness()
        self._keeper: asyncio.Task[None] | None = None
        self._closed = False
        self._late = 0
        """Calls since the last one that was answered."""
        self._tools = tuple(tools)
        self._describe_all()

    # ── what people decided ──

    def decide(self, tools: Sequence[SourceTool]) -> None:
        """Publish by these decisions."""
        self._tools = tuple(tools)
        self._publish()

    # ── the connection ──

    def connect(self) -> None:
        """Keep the driver open from now on, in a task of its own."""
        if self._keeper is None and not self._closed:
            self._phase = SourcePhase.CONNECTING
            self._keeper = asyncio.create_task(self._keep_open(), name=f"source {self.source.name}")

    async def probe(self) -> None:
        """Connect now or ask again, whatever the pause says."""
        self._restless.calm()
        await self._open()
        self._wake.set()

    @property
    def state(self) -> SourceState:
        """How it is now."""
        offered = None if self._offer is None else frozenset(self._offered)
        version = "" if self._offer is None else escape(self._offer.version)[:100]
        why = f"{self._why} ({self._detail})" if self._detail else self._why
        return SourceState(self._phase, why, version, self.refused, offered)

    def changed(self) -> None:
        """See OfferListener."""
        self._wake.set()

    def went_away(self, why: str, detail: str = "") -> None:
        """See OfferListener; `detail` is for the operator alone."""
        if self._phase is SourcePhase.READY:
            self._set_phase(SourcePhase.AWAY, why, detail)
            self._wake.set()

    async def _keep_open(self) -> None:
        pause = FIRST_PAUSE
        while True:
            self._wake.clear()
            await self._open()
            # A driver whose answer is there when it is cancelled gives the answer, and the cancellation is gone with it.
            if self._closed:
                return
            is_ready = self._phase is SourcePhase.READY
            # Only a person can help, and whoever signs in has the source connect anew.
            waits = is_ready or self._phase is SourcePhase.NEEDS_SIGN_IN
            pause = FIRST_PAUSE if is_ready else min(2 * pause, LONGEST_PAUSE)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if waits else pause):
                    await self._wake.wait()
            quiet = self._restless.next_pause() if waits else QUIET_SECONDS
            if quiet > QUIET_SECONDS and self._phase is SourcePhase.READY:
                # Until somebody looked, nobody knows whether its tools are still what was decided about.
                self._set_phase(
                    SourcePhase.AWAY, "it says again and again that its tools changed; it is asked again in some minutes"
                )
            await asyncio.sleep(quiet)

    async def _open(self) -> None:
        async with self._opening:
            if self._closed:
                return
            if self._phase is not SourcePhase.READY:
                self._set_phase(SourcePhase.CONNECTING, self._why, self._detail)
            try:
                await self._take(await self._ask_for_offer())
            except TimeoutError:
                self._set_phase(SourcePhase.AWAY, f"it did not say within {OPEN_SECONDS:g} seconds what it offers")
            except SourceAway as error:
                self._set_phase(_phase_of(error), escape(error.message)[:500], escape(error.detail)[:200])
            except GatewayError as error:
                self._set_phase(SourcePhase.AWAY, escape(error.message)[:500])
            except Exception:  # noqa: BLE001 # logged; a driver that breaks down keeps no other source from working
                _log.exception("the driver of source %s failed", self.source.name)
                self._set_phase(SourcePhase.AWAY, "it could not be asked what it offers; the gateway's log says why")

    async def _ask_for_offer(self) -> SourceOffer:
        async with asyncio.timeout(OPEN_SECONDS) as attempt:
            self._attempt = attempt
            try:
                return await self._driver.open(self)
            finally:
                self._attempt = None

    async def _take(self, offer: SourceOffer) -> None:
        seen: dict[str, SeenTool] = {}
        refused = {escape(name)[:200]: escape(why)[:500] for name, why in offer.refused.items()}
        offered: dict[str, tuple[str, ToolOffer]] = {}
        names: set[str] = set()
        for tool in offer.tools:
            try:
                each = self._examine(offer, tool, names)
            except GatewayError as error:
                refused[escape(tool.name)[:200]] = error.message
                continue
            if tool.name in seen:
                refused[escape(tool.name)[:200]] = "it is offered twice, so neither is published"
                continue
            seen[tool.name] = each
            offered[tool.name] = (each.pin, tool)
            names.add(each.name)
        for name in seen.keys() & refused.keys():
            del seen[name], offered[name]
        known = await self._on_offer(self.source.name, tuple(seen.values()))
        self._offer, self._offered, self.refused = offer, offered, refused
        self._tools = tuple(known)
        self._phase, self._why, self._detail = SourcePhase.READY, None, ""
        self._publish()

    def _examine(self, offer: SourceOffer, tool: ToolOffer, names: set[str]) -> SeenTool:
        """The tool as it is recorded. Raises GatewayError for one that can never be published."""
        if len(names) >= MAX_TOOLS:
            raise Misconfigured(f"a source offers at most {MAX_TOOLS} tools")
        # Canonical, so that whatever is pinned can be written down: no NaN, no lone surrogate, no integer beyond 2^53.
        definition = tool.described()
        if len(repr(definition)) > MAX_DEFINITION:
            raise Misconfigured(f"its definition is longer than {MAX_DEFINITION} characters")
        if not tool.description.strip():
            raise Misconfigured("it has no description, so no model can know when to call it")
        pin = offer.pin(tool)
        Validator(tool.param_schema)
        name = publish_name(self.source.name, tool.name)
        if name in names:
            raise Misconfigured(f"it would be published as `{name}`, as another tool of this source is")
        return SeenTool(tool.name, name, pin, definition)

    def _set_phase(self, phase: SourcePhase, why: str | None, detail: str = "") -> None:
        changed = (phase, why, detail) != (self._phase, self._why, self._detail)
        self._phase, self._why, self._detail = phase, why, detail
        if changed:
            self._publish()

    def _publish(self) -> None:
        self._describe_all()
        self._on_change()

    def _describe_all(self) -> None:
        specs: list[ToolSpec] = []
        found: dict[str, tuple[SourceTool, ToolOffer]] = {}
        for tool in self._tools:
            offer = read_described(tool.seen.definition)
            current = self._offered.get(tool.seen.tool)
            if current is not None and current[0] == tool.seen.pin:
                offer = current[1]
            specs.append(self._describe(tool, offer))
            found[tool.seen.name] = (tool, offer)
        self._specs, self._found = tuple(specs), found

    def _describe(self, tool: SourceTool, offer: ToolOffer) -> ToolSpec:
        unavailable, because = self._obstacle(tool)
        return ToolSpec(
            name=tool.seen.name,
            description=escape(offer.description)[:MAX_DESCRIPTION],
            interface_id=self.source.kind.value,
            # What was decided about, so that an approval or a grant for one definition never covers another.
            method_name=f"{tool.seen.name}@{tool.seen.pin[:32]}",
            param_schema=offer.param_schema,
            category=tool.category or offer.proposed,
            source=f"{self.source.kind.value}:{self.source.name}",
            title=None if offer.title is None else escape(offer.title)[:200],
            summary=offer.summary,
            effects=offer.effects,
            labels=self._labels,
            recovery=offer.recovery,
            result_cap=offer.result_cap,
            timeout=offer.timeout,
            network=offer.network,
            unavailable=unavailable,
            unavailable_because=because,
        )

    def _obstacle(self, tool: SourceTool) -> tuple[str | None, Reason]:
        match tool.standing:
            case Standing.PROPOSED:
                return "nobody has decided about it yet; give it a category on the console", Reason.FORBIDDEN
            case Standing.KEPT_OUT:
                return "an operator decided that nobody calls it", Reason.FORBIDDEN
            case Standing.QUARANTINED:
                return "its definition changed after it was approved; look at the change on the console", Reason.FORBIDDEN
            case Standing.IN_USE:
                pass
        if self._phase is SourcePhase.NEEDS_SIGN_IN:
            return f"`{self.source.name}` needs a sign-in: {self._why}", Reason.SIGN_IN_NEEDED
        if self._phase is not SourcePhase.READY:
            return f"`{self.source.name}` is away: {self._why or 'it is not connected yet'}", Reason.SOURCE_UNAVAILABLE
        if tool.seen.tool not in self._offered:
            return f"`{self.source.name}` does not offer it any more", Reason.SOURCE_UNAVAILABLE
        return None, Reason.SOURCE_UNAVAILABLE

    # ── the interface of every source ──

    @property
    def name(self) -> str:
        """See ToolSource."""
        return f"{self.source.kind.value}:{self.source.name}"

    async def start(self) -> None:
        """Nothing: what is on record is published at once, and `connect` does not wait."""

    async def health(self) -> SourceHealth:
        """Whether it is connected."""
        return SourceHealth(None if self._phase is SourcePhase.READY else self._why or "it is not connected yet")

    def specs(self) -> Sequence[ToolSpec]:
        """Every tool that is on record, most of them perhaps unavailable."""
        return self._specs

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """What the driver refuses although the schema lets it pass."""
        return self._driver.find_faults(self._find(spec)[1], arguments)

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """What the driver says about the call."""
        return self._driver.facts(self._find(spec)[1], arguments)

    async def preview(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Preview | None:
        """What the driver shows of the call."""
        try:
            return await self._driver.preview(self._require_callable(spec), arguments)
        except SourceAway as error:
            raise self._failed(error) from None

    async def call(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Have the driver run it, if it is still what was decided about."""
        offer = self._require_callable(spec)
        try:
            output = await self._driver.call(offer, arguments, context)
        except SourceAway as error:
            raise self._failed(error) from None
        except ToolFailed as error:
            self._count_late(error)
            raise
        self._late = 0
        return output

    async def close(self) -> None:
        """End the connection."""
        self._closed = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        if self._attempt is not None:
            # Somebody has it tried by hand. Whoever removes it, or ends the gateway, waits for no answer of the other side.
            self._attempt.reschedule(asyncio.get_running_loop().time())
        async with self._opening:
            await self._driver.close()
        self._phase, self._why, self._detail = SourcePhase.OFF, None, ""

    def _find(self, spec: ToolSpec) -> tuple[SourceTool, ToolOffer]:
        found = self._found.get(spec.name)
        if found is None:
            raise ToolFailed(f"`{escape(spec.name)}` is no tool of {self.name}", Reason.SOURCE_UNAVAILABLE)
        return found

    def _require_callable(self, spec: ToolSpec) -> ToolOffer:
        tool, offer = self._find(spec)
        unavailable, because = self._obstacle(tool)
        if unavailable is not None:
            raise ToolFailed(unavailable, because)
        # Between an offer that changed and the record of it, the decision on record is about what is gone.
        if self._offered[tool.seen.tool][0] != tool.seen.pin:
            raise ToolFailed("its definition changed after it was approved", Reason.FORBIDDEN)
        return offer

    def _count_late(self, error: ToolFailed) -> None:
        """One caller's slow statements are no sign that a database is away, which says itself that their time is up."""
        self._late = self._late + 1 if error.reason == Reason.TOOL_TIMEOUT and not error.answered else 0
        if self._late >= MOST_LATE:
            # One more is enough after that, until a call is answered.
            self._late = MOST_LATE - 1
            self.went_away(f"{MOST_LATE} calls in a row had no answer in time")

    def _failed(self, error: SourceAway) -> ToolFailed:
        if isinstance(error, SignInNeeded):
            self._set_phase(SourcePhase.NEEDS_SIGN_IN, escape(error.message)[:500])
            return ToolFailed(f"`{self.source.name}` needs a sign-in: {error.message}", Reason.SIGN_IN_NEEDED)
        self.went_away(escape(error.message)[:500], escape(error.detail)[:200])
        return ToolFailed(f"`{self.source.name}` is away: {error.message}", Reason.SOURCE_UNAVAILABLE)


def _phase_of(error: SourceAway) -> SourcePhase:
    return SourcePhase.NEEDS_SIGN_IN if isinstance(error, SignInNeeded) else SourcePhase.AWAY


def publish_name(source: str, tool: str) -> str:
    """`source__tool` in the letters that a model may see. A name that is too long for it ends with a digest of the whole."""
    name = f"{_UNNAMEABLE.sub('_', source)}__{_UNNAMEABLE.sub('_', tool)}"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 9]}_{sha256(tool.encode('utf-8', 'replace')).hexdigest()[:8]}"
