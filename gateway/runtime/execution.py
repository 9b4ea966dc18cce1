"""Running one tool: time-boxed, told of a cancel at once, never waited for beyond that (row 15)."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, ToolFailed
from gateway.core.gate import Refuse
from gateway.core.ledger import LateResultDiscarded
from gateway.core.model import ToolOutput, ToolRequest
from gateway.core.results import digest_of_output
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.checks import Checked
from gateway.runtime.connections import Hub, Urgency
from gateway.runtime.flights import Flight
from gateway.runtime.ports import Clock, Ledger, Toolbox, ToolContext
from gateway.runtime.tasks import Tasks

PROGRESS_CHARACTERS = 500

_log = logging.getLogger(__name__)


class Execution:
    """Starts tools and lets go of them."""

    def __init__(self, *, toolbox: Toolbox, ledger: Ledger, hub: Hub, clock: Clock, tasks: Tasks) -> None:
        self._toolbox = toolbox
        self._ledger = ledger
        self._hub = hub
        self._clock = clock
        self._tasks = tasks

    async def run(self, flight: Flight, checked: Checked) -> ToolOutput | Refuse:
        """What the tool gave, or why it gave nothing. Returns within the tool's time box whatever the tool does."""
        spec = checked.spec
        context = self._context(checked.request)
        work = asyncio.get_running_loop().create_task(self._toolbox.execute(spec, checked.arguments, context))
        await _first_of(work, flight.stopped, seconds=spec.timeout)
        if work.done() and not work.cancelled():
            return _outcome_of(work)
        context.cancelled.set()
        work.cancel()
        work.add_done_callback(lambda late: self._discard(checked.request, late))
        if flight.stopped.done():
            return Refuse(Outcome.CANCELLED, flight.stopped.result(), "the call was cancelled while it ran")
        return Refuse(Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT, f"the tool did not finish within {spec.timeout:g} seconds")

    def _context(self, request: ToolRequest) -> ToolContext:
        loop = asyncio.get_running_loop()

        def progress(message: str, fraction: float | None) -> None:
            loop.call_soon_threadsafe(self._tell_progress, request, message, fraction)

        return ToolContext(
            principal=request.principal,
            session_id=request.session_id,
            conversation_id=request.conversation_id,
            turn_id=request.turn_id,
            call_id=request.call_id,
            idempotency_key=request.digest,
            cancelled=threading.Event(),
            progress=progress,
        )

    def _tell_progress(self, request: ToolRequest, message: str, fraction: float | None) -> None:
        params: dict[str, Json] = {"callId": request.call_id, "message": message[:PROGRESS_CHARACTERS]}
        if fraction is not None:
            params["fraction"] = min(1.0, max(0.0, fraction))
        self._hub.notify(request.session_id, "tools/progress", params, Urgency.LATER)

    def _discard(self, request: ToolRequest, late: asyncio.Task[ToolOutput]) -> None:
        """A result that nobody waits for any more goes on record, by its digest, and nowhere else."""
        if late.cancelled() or late.exception() is not None:
            return
        output = late.result()
        entry = LateResultDiscarded(
            self._clock.now(),
            request.principal.id,
            request.conversation_id,
            request.call_id,
            digest_of_output(output.text, output.structured),
        )
        self._tasks.spawn(self._record(entry))

    async def _record(self, entry: LateResultDiscarded) -> None:
        try:
            await self._ledger.append(entry)
        except GatewayError:
            _log.warning("a late result of call %s was discarded and could not be recorded", entry.call_id)


async def _first_of(*futures: asyncio.Future[Any], seconds: float) -> None:
    """Return when one of them is done or time is up; as `asyncio.wait` does, at half of its cost, which every call pays."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def end(_done: object = None) -> None:
        if not ended.done():
            ended.set_result(None)

    timer = loop.call_later(seconds, end)
    for future in futures:
        future.add_done_callback(end)
    try:
        await ended
    finally:
        timer.cancel()
        for future in futures:
            future.remove_done_callback(end)


def _outcome_of(work: asyncio.Task[ToolOutput]) -> ToolOutput | Refuse:
    error = work.exception()
    match error:
        case None:
            return work.result()
        case ToolFailed(reason=Reason.TOOL_TIMEOUT):
            return Refuse(Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT, error.message)
        case ToolFailed():
            return Refuse(Outcome.EXECUTION_ERROR, _reason(error.reason), error.message)
        case _:
            _log.error("tool failed", exc_info=error)
            return Refuse(Outcome.EXECUTION_ERROR, Reason.TOOL_ERROR, "the tool failed; see the gateway's log")


def _reason(word: str) -> Reason:
    try:
        return Reason(word)
    except ValueError:
        return Reason.TOOL_ERROR
