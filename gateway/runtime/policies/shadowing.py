"""A candidate policy beside the one in force: it is put to every call that is decided, after that, and decides none.

What it is put to are the records of the calls, as in a rehearsal. So a call does not wait for it, and a restart loses nothing:
the counts are made again from the record at which the candidate began.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.core.errors import GatewayError, PolicyUnusable, Refused
from gateway.core.ledger import PolicyShadowEnded, PolicyShadowStarted
from gateway.core.vocabulary import ShadowEnding
from gateway.runtime.asking import ChangeLock
from gateway.runtime.policies.proposals import require_reason
from gateway.runtime.ports import Clock, Entropy, Ledger, PolicyDraft, PolicyWorkshop, RecoveryRecords, StartedShadow
from gateway.runtime.rehearsal import Rehearsal

PAUSE_SECONDS: Final = 1.0
"""Between two looks for calls that were decided."""

QUIET_SECONDS: Final = 0.25
"""Since the last commit, before records are read: reading shares the interpreter with the calls."""

LONGEST_WAIT_SECONDS: Final = 30.0
"""For such a quiet moment. Where none comes, one stretch is read in each pause."""

STRETCHES_FOR_A_QUESTION: Final = 8
"""Stretches that are read before it is told what came of it. Where the log is further ahead, that is told too."""

_log = logging.getLogger(__name__)


class ShadowReading(Protocol):
    """A candidate and what it has been put to."""

    @property
    def result(self) -> Rehearsal:
        """What came out so far."""
        ...

    def read_on(self) -> bool:
        """Put it to the calls of the next stretch of the log. Whether there may be more to read.

        Blocks; one call at a time. Raises PolicyUnusable where its texts are lost or do not load, LedgerUnavailable.
        """
        ...


class OpenReading(Protocol):
    """Makes what reads for a candidate from where it began; reads nothing yet."""

    def __call__(self, shadow: StartedShadow, /) -> ShadowReading: ...


@dataclass(frozen=True, slots=True)
class ShadowState:
    """A candidate that runs: since when, and what came of it. `behind` says that further calls are on record already."""

    shadow: StartedShadow
    result: Rehearsal
    behind: bool

    @property
    def differing(self) -> int:
        """Calls that it decides otherwise than the policy in force did."""
        return sum(self.result.differences.values())


class PolicyShadow:
    """Starts and stops a candidate, one at a time, and follows the log for it."""

    def __init__(
        self,
        workshop: PolicyWorkshop,
        open_reading: OpenReading,
        *,
        ledger: Ledger,
        records: RecoveryRecords,
        clock: Clock,
        entropy: Entropy,
        on_changed: Callable[[], None],
    ) -> None:
        """`on_changed` tells whoever looks that one was started or has ended."""
        self._workshop = workshop
        self._open_reading = open_reading
        self._ledger = ledger
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self._on_changed = on_changed
        self._shadow: StartedShadow | None = None
        self._reading: ShadowReading | None = None
        self._reading_on = asyncio.Lock()
        self._changing = ChangeLock()

    async def restore(self) -> None:
        """Take up the candidate that the record says runs."""
        self._take(self._shadow or await self._records.open_shadow())

    async def start(self, documents: Mapping[str, str], why: str, by: str | None) -> StartedShadow:
        """Put a candidate to every call from now on. Raises PolicyUnusable; Refused `reason`, `shadowRuns`, and `unchanged` for
        what is in force already."""
        why = require_reason(why)
        draft = await asyncio.to_thread(self._workshop.load, documents)
        async with self._changing:
            self._require_startable(draft)
            id_, now = self._entropy.identifier("shd_"), self._clock.now()
            base = self._workshop.active.version
            started = PolicyShadowStarted(now, by, id_, draft.version, base, why, draft.documents)
            (index,) = await self._ledger.append(started)
            assert index is not None, "a candidate's start is audited"
            shadow = StartedShadow(id_, now, draft.version, index)
            self._take(shadow)
        self._on_changed()
        return shadow

    async def stop(self, by: str | None) -> ShadowState:
        """Put it to no further call. What came of it is on record then. Raises Refused `noShadow`."""
        try:
            state = await self.look(stretches=STRETCHES_FOR_A_QUESTION)
        except GatewayError:
            # Whatever is the matter with it, it can be stopped.
            state = self._without_result()
        if state is None or not await self._end(state, ShadowEnding.STOPPED, by):
            raise Refused("noShadow", "no policy runs in shadow", 409)
        return state

    async def look(self, *, stretches: int = STRETCHES_FOR_A_QUESTION) -> ShadowState | None:
        """What came of the candidate until now, after at most `stretches` further stretches of the log; None where none runs."""
        async with self._reading_on:
            shadow, reading = self._shadow, self._reading
            if shadow is None or reading is None:
                return None
            behind = True
            for _ in range(stretches):
                behind = await asyncio.to_thread(reading.read_on)
                if not behind:
                    break
            return ShadowState(shadow, reading.result, behind)

    async def follow(self, quiet_seconds: Callable[[], float]) -> None:
        """Read on in the log, until cancelled. `quiet_seconds` says since when the ledger had nothing to do."""
        loop = asyncio.get_running_loop()
        read_at = -LONGEST_WAIT_SECONDS
        behind = False
        while True:
            await asyncio.sleep(0 if behind else PAUSE_SECONDS)
            now, idle = loop.time(), quiet_seconds()
            quiet, waited = idle >= QUIET_SECONDS, now - read_at >= LONGEST_WAIT_SECONDS
            behind = False
            if self._shadow is None or now - idle < read_at or not (quiet or waited):
                continue
            try:
                more = await self.follow_once()
            except GatewayError as error:
                _log.warning("the policy in shadow is behind: %s", error.message)
                more = False
            if not more:
                read_at = now
            behind = more and quiet

    async def follow_once(self) -> bool:
        """Read one stretch, and end a candidate that is in force or does not load. Whether there may be more to read."""
        try:
            state = await self.look(stretches=1)
        except PolicyUnusable as error:
            _log.warning("the policy in shadow cannot be used: %s", error.message)
            if (unusable := self._without_result()) is not None:
                await self._end(unusable, ShadowEnding.UNUSABLE, None)
            return False
        if state is None or state.behind:
            return state is not None
        if state.shadow.version == self._workshop.active.version:
            await self._end(state, ShadowEnding.PUBLISHED, None)
        return False

    # ── inside ──

    def _take(self, shadow: StartedShadow | None) -> None:
        self._shadow = shadow
        self._reading = None if shadow is None else self._open_reading(shadow)

    def _require_startable(self, draft: PolicyDraft) -> None:
        if self._shadow is not None:
            raise Refused("shadowRuns", f"policy {self._shadow.version[:12]} runs in shadow; stop it first", 409)
        if draft.version == self._workshop.active.version:
            raise Refused("unchanged", "that policy is in force already", 409)

    def _without_result(self) -> ShadowState | None:
        return None if self._shadow is None else ShadowState(self._shadow, Rehearsal(), behind=True)

    async def _end(self, state: ShadowState, ending: ShadowEnding, by: str | None) -> bool:
        """Whether it was this that ended it."""
        shadow = state.shadow
        async with self._changing:
            if self._shadow is not shadow:
                return False
            judged, differing = state.result.judged, state.differing
            await self._ledger.append(
                PolicyShadowEnded(self._clock.now(), by, shadow.id, shadow.version, ending, judged, differing)
            )
            self._take(None)
        self._on_changed()
        return True
