"""Having the newest checkpoint anchored, again and again, for each anchor by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, assert_never

from gateway.adapters.anchoring.cosigner import CosignerAsker
from gateway.adapters.anchoring.file import FileKeeper
from gateway.adapters.anchoring.git import GitKeeper
from gateway.adapters.anchoring.places import AnchorDown, AnchoredLog, AnchorFile, AnchorPlace, AnchorWriter
from gateway.adapters.anchoring.settings import CosignerAnchor, FileAnchor, GitAnchor, NamedAnchor, TimestampAnchor
from gateway.core.errors import GatewayError

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before an anchor that is down is tried again, doubled each time."""

LOOK_SECONDS: Final = 1.0
"""Between two looks for a checkpoint while there is none."""

UNFORESEEN: Final = "it broke in a way that nobody foresaw; the gateway's own log says more"

GONE: Final = "it has a checkpoint that this log does not have: the log was cut off, written anew or put back"

_log = logging.getLogger(__name__)


class AnchorLane:
    """One anchor, and what it has."""

    def __init__(
        self, anchor: NamedAnchor, writer: AnchorWriter, log: AnchoredLog, file: AnchorFile, now: Callable[[], int]
    ) -> None:
        self._name = anchor.name
        self._seconds = anchor.settings.minutes * 60
        self._writer = writer
        self._log = log
        self._file = file
        self._now = now
        self._place = file.read()

    async def follow(self) -> None:
        """Anchor what is new, until cancelled."""
        wait = FIRST_WAIT
        while True:
            try:
                pause = await self._step()
            except AnchorDown as down:
                fault = str(down)
            except GatewayError as error:
                fault = error.message
            except Exception as error:  # noqa: BLE001 - whatever broke, the operator is told, and it is tried again
                fault = UNFORESEEN
                if fault != self._place.fault:
                    _log.error("anchor `%s` broke", self._name, exc_info=error)
            else:
                await asyncio.sleep(pause)
                wait = FIRST_WAIT
                continue
            self._fail(fault)
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    async def _step(self) -> float:
        """Gives the seconds until the next."""
        checkpoint = await asyncio.to_thread(self._log.newest)
        if checkpoint is None:
            return LOOK_SECONDS
        if checkpoint.note == self._place.note:
            if self._place.fault:
                self._keep(replace(self._place, fault=""))
            return self._seconds
        for note in (self._place.note, await self._writer.held()):
            # What it has, and what it is known to have had: the log has to go on from both.
            if note and not await asyncio.to_thread(self._log.has, note):
                raise AnchorDown(GONE)
        proof = await self._writer.put(checkpoint, self._place.size)
        if self._place.fault:
            _log.info("anchor `%s` takes checkpoints again", self._name)
        self._keep(AnchorPlace(checkpoint.size, checkpoint.note, proof, self._now()))
        return self._seconds

    def _fail(self, fault: str) -> None:
        if fault != self._place.fault:
            _log.warning("anchor `%s` takes no checkpoint: %s", self._name, fault)
        self._keep(replace(self._place, fault=fault))

    def _keep(self, place: AnchorPlace) -> None:
        self._place = place
        try:
            self._file.write(place)
        except GatewayError as error:
            _log.warning("%s", error.message)


def open_anchor(anchor: NamedAnchor, state: Path, log: AnchoredLog) -> AnchorWriter:
    """What writes to it. Nothing is opened yet."""
    match anchor.settings:
        case FileAnchor():
            return FileKeeper(anchor.settings.path)
        case GitAnchor():
            return GitKeeper(anchor.settings, state / f"anchor-{anchor.name}.git")
        case CosignerAnchor():
            return CosignerAsker(anchor.settings, log)
        case TimestampAnchor():
            # Imported where there is one: its library brings code for certificates.
            from gateway.adapters.anchoring.timestamp import TimestampAsker

            return TimestampAsker(anchor.settings)
        case _:
            assert_never(anchor.settings)


@asynccontextmanager
async def anchoring(
    anchors: Sequence[NamedAnchor], state: Path, log: AnchoredLog, now: Callable[[], int]
) -> AsyncGenerator[None]:
    """Every anchor is followed while the context lasts."""
    lanes = [AnchorLane(anchor, open_anchor(anchor, state, log), log, AnchorFile(state, anchor.name), now) for anchor in anchors]
    tasks = [asyncio.create_task(lane.follow()) for lane in lanes]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
