"""Running one tool: time-boxed, told of a cancel at once, never waited for beyond that (row 15)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from gateway.core.canonical import Json
from gateway.core.elicitation import ElicitationAnswer, ElicitationRefusal
from gateway.core.errors import GatewayError, ToolFailed
from gateway.core.gate import Refuse
from gateway.core.ledger import CallSubject, ErasureReason, LateResultDiscarded, RecordsErased
from gateway.core.model import ToolOutput, ToolRequest
from gateway.core.redaction import weighs_more
from gateway.core.results import (
    BoundedOutput,
    PresentedOutput,
    digest_of_output,
    present_output,
    redact_failure,
    redact_output,
    refused_result,
)
from gateway.core.value_types import quick
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.calls import InFlightCall, cancelled_before_it_ran, cancelled_while_it_ran
from gateway.runtime.cancellation import CallCancelled
from gateway.runtime.checks import CheckedCall
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.elicitations import CallElicitations, Elicitations
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import ASKED_BY, Clock, ErasureRecordsReader, Ledger, PolicyVerdict, Redactor, Toolbox, ToolContext
from gateway.runtime.progress import Progress, SaidLines
from gateway.runtime.releases import Releases
from gateway.runtime.tasks import Tasks

REDACTED_AT_ONCE = 64 * 1024
"""Characters that are redacted on the event loop; more take longer than a few milliseconds."""

Withhold: TypeAlias = Callable[[Iterable[str]], str | None]
"""From labels to why what has them may not leave."""

MayBegin: TypeAlias = Callable[[Conversation, CheckedCall], bool]
"""Whether a call that runs could still begin as things are now."""

_log = logging.getLogger(__name__)


class _TimeBox:
    """How long one call may take."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._left = seconds
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._pauses = 0

    async def first_of(self, *futures: asyncio.Future[Any]) -> None:
        """Return when one of them is done or time is up; as `asyncio.wait` does, at half of its cost, which every call pays."""
        self._timer = self._loop.call_later(self._left, self._end)
        for future in futures:
            future.add_done_callback(self._end)
        try:
            await self._ended
        finally:
            self._timer.cancel()
            for future in futures:
                future.remove_done_callback(self._end)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let no time pass meanwhile."""
        self._pauses += 1
        if self._pauses == 1 and self._timer is not None:
            self._left = max(0.0, self._timer.when() - self._loop.time())
            self._timer.cancel()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses and not self._ended.done():
                self._timer = self._loop.call_later(self._left, self._end)

    def _end(self, _done: object = None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


@quick
@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A tool with all that it is given. `withhold` says for labels why what has them may not leave."""

    checked: CheckedCall
    judged: PolicyVerdict
    box: _TimeBox
    context: ToolContext
    withhold: Withhold
    redactor: Redactor


class Execution:
    """Starts tools and lets go of them."""

    def __init__(
        self,
        *,
        toolbox: Toolbox,
        redactor: Redactor,
        elicitations: Elicitations,
        exposures: Exposures,
        releases: Releases,
        ledger: Ledger,
        records: ErasureRecordsReader,
        connections: ConnectionRegistry,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._records = records
        self._toolbox = toolbox
        self._redactor = redactor
        self._elicitations = elicitations
        self._exposures = exposures
        self._releases = releases
        self._ledger = ledger
        self._connections = connections
        self._clock = clock
        self._tasks = tasks

    def prepare(
        self, conversation: Conversation, checked: CheckedCall, judged: PolicyVerdict, may_begin: MayBegin
    ) -> PreparedRun:
        """What the tool will be given; nothing of it runs yet."""
        spec = checked.spec
        seconds = min(spec.timeout, judged.obligations.timeout or spec.timeout)
        box = _TimeBox(seconds)
        withhold = self._withhold(conversation, checked, judged)
        context = self._context(conversation, checked, judged, box, withhold, may_begin)
        return PreparedRun(checked, judged, box, context, withhold, self._redactor)

    async def find_obstacle(self, conversation: Conversation, checked: CheckedCall, judged: PolicyVerdict) -> Refuse | None:
        """Between rows 11 and 12: what cannot work as things are now is not asked about. Why it cannot are the tool's words, and
        leave as those of a call that ran."""
        ASKED_BY.set(checked.request.principal.id)
        try:
            await self._toolbox.preview(checked.spec, checked.request.parsed_arguments)
        except ToolFailed as error:
            return self._tell(
                Refuse(Outcome.EXECUTION_ERROR, Reason.TOOL_ERROR, error.message, labels=error.labels),
                conversation,
                checked,
                judged,
            )
        return None

    def _tell(self, failed: Refuse, conversation: Conversation, checked: CheckedCall, judged: PolicyVerdict) -> Refuse:
        why = self._withhold(conversation, checked, judged)({*checked.spec.labels, *failed.labels})
        return replace(failed, message=why, labels=()) if why is not None else _own_words(failed, checked, judged)

    async def run(self, call: InFlightCall, prepared: PreparedRun) -> tuple[ToolOutput | Refuse, bool]:
        """What the tool gave, or why it gave nothing, and whether it began. Returns within the tool's time box whatever the tool
        does; the box stands still while a person is asked, for a time that is bounded too."""
        checked, box, context = prepared.checked, prepared.box, prepared.context
        work = asyncio.get_running_loop().create_task(self._toolbox.execute(checked.spec, checked.arguments, context))
        try:
            await box.first_of(work, call.stopped)
        finally:
            if not work.done():
                # Time is up, the call was cancelled, or the gateway stops: whatever still comes of it is told to nobody.
                context.cancelled.set()
                work.cancel()
                work.add_done_callback(lambda late: self._discard(checked.request, late))
        if work.done() and not work.cancelled():
            return _outcome_of(work), True
        began = not context.place.is_waiting
        if call.stopped.done():
            return (cancelled_while_it_ran if began else cancelled_before_it_ran)(call), began
        late = f"did not finish within {box.seconds:g} seconds; it may have taken effect"
        if not began:
            late = f"did not begin within {box.seconds:g} seconds, because others ran; nothing ran"
        return Refuse(Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT, f"the tool {late}"), began

    def _withhold(self, conversation: Conversation, checked: CheckedCall, judged: PolicyVerdict) -> Withhold:
        """What says, for the labels of something that this call gives, why it may not leave; None if it may."""
        release = judged.obligations.release
        return lambda labels: self._releases.find_withheld(conversation, checked.request, release, labels)

    def _context(
        self,
        conversation: Conversation,
        checked: CheckedCall,
        judged: PolicyVerdict,
        box: _TimeBox,
        withhold: Withhold,
        may_begin: MayBegin,
    ) -> ToolContext:
        request, cancelled = checked.request, CallCancelled()
        lines: Progress | None = None
        asking: CallElicitations | None = None

        def report(message: str, fraction: float | None) -> None:
            nonlocal lines
            if withhold(checked.spec.labels) is not None:
                return
            # Made by the first line: most tools say nothing.
            if lines is None:
                lines = Progress(
                    request,
                    checked.spec,
                    conversation,
                    judged.redact,
                    exposures=self._exposures,
                    ledger=self._ledger,
                    connections=self._connections,
                    tasks=self._tasks,
                )
            lines.report(message, fraction)

        said = SaidLines(report)

        def progress(message: str, fraction: float | None) -> None:
            # Nobody waits for a call that was cancelled, and its late result is told to nobody either.
            if not cancelled.is_set():
                said.add(message, fraction)

        async def elicit(message: str, schema: Json) -> ElicitationAnswer | ElicitationRefusal:
            nonlocal asking
            if asking is None:
                may_run = partial(may_begin, conversation, checked)
                _, _, source = checked.spec.source.partition(":")
                asking = self._elicitations.of_call(request, source, lambda message: progress(message, None), may_run)
            with box.paused():
                return await asking.ask(message, schema)

        return ToolContext(
            principal=request.principal,
            session_id=request.session_id,
            conversation_id=request.conversation_id,
            turn_id=request.turn_id,
            call_id=request.call_id,
            idempotency_key=request.digest,
            cancelled=cancelled,
            progress=progress,
            result_cap=_cap_of(checked, judged),
            redact=frozenset(judged.redact),
            elicit=elicit,
        )

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
            (place,) = await self._ledger.append(entry)
            call = CallSubject(entry.conversation_id, entry.call_id)
            left = await self._records.plan_erasure(call, ErasureReason.REQUESTED, self._clock.now())
            # Where this is all that is left of the call, the rest was erased before, and this goes as well.
            if {each for erased in left if isinstance(erased, RecordsErased) for each in erased.records} == {place}:
                await self._ledger.append(*left)
        except GatewayError:
            _log.warning("a late result of call %s was discarded and could not be recorded", entry.call_id)


async def present(
    ran: ToolOutput | Refuse, prepared: PreparedRun, *, elapsed: int, receipt_id: str, keep: Callable[[int], str | None]
) -> PresentedOutput:
    """What a tool gave, or why it gave nothing, as it may leave: redacted, capped, labelled. `elapsed` in milliseconds; `keep` as
    for `present_output`. What is withheld is not kept either, and tells nothing, so it raises no label."""
    checked, judged = prepared.checked, prepared.judged
    call_id, cap = checked.request.call_id, _cap_of(checked, judged)
    said = not isinstance(ran, Refuse) or ran.outcome is Outcome.EXECUTION_ERROR or bool(ran.labels)
    why = prepared.withhold({*checked.spec.labels, *ran.labels}) if said else None
    if why is not None:
        outcome, reason = (ran.outcome, ran.reason) if isinstance(ran, Refuse) else (Outcome.OK, None)
        instead = refused_result(call_id, outcome, reason, why, receipt_id=receipt_id, duration_ms=elapsed)
        return PresentedOutput(instead if isinstance(ran, Refuse) else replace(instead, error=None), None)
    if not isinstance(ran, Refuse):
        if judged.obligations.max_result_bytes is not None:
            # Whoever bounds what a result may release has not let images out beside it.
            ran = replace(ran, attached=())
        # Nobody else may have to wait for a long text, nor for data of many names beside a short one.
        long = len(ran.text) > REDACTED_AT_ONCE or weighs_more(ran.structured, REDACTED_AT_ONCE)
        if long:
            try:
                redacted = await prepared.redactor.redact(ran, judged.redact, checked.request.principal.id)
            except ToolFailed as error:
                failed = refused_result(
                    call_id, Outcome.EXECUTION_ERROR, Reason.TOOL_ERROR, error.message, receipt_id=receipt_id, duration_ms=elapsed
                )
                return PresentedOutput(failed, None)
        else:
            redacted = redact_output(BoundedOutput(ran), judged.redact)
        return present_output(call_id, checked.spec, redacted, receipt_id=receipt_id, duration_ms=elapsed, cap=cap, keep=keep)
    ran = _own_words(ran, checked, judged) if said else replace(ran, message=_clean(ran.message, checked, judged))
    result = refused_result(call_id, ran.outcome, ran.reason, ran.message, receipt_id=receipt_id, duration_ms=elapsed)
    return PresentedOutput(replace(result, trust=ran.trust, labels=ran.labels, own=ran.own), None)


def _own_words(failed: Refuse, checked: CheckedCall, judged: PolicyVerdict) -> Refuse:
    """What a tool says of its failure may come from where its results come from: it leaves like these and is believed no more."""
    labels = tuple(sorted({*checked.spec.labels, *failed.labels}))
    message, spec = _clean(failed.message, checked, judged), checked.spec
    return replace(failed, message=message, trust=spec.trust, labels=labels, own=spec.own)


def _clean(message: str, checked: CheckedCall, judged: PolicyVerdict) -> str:
    return redact_failure(message, judged.redact, _cap_of(checked, judged))


def _cap_of(checked: CheckedCall, judged: PolicyVerdict) -> int:
    return min(checked.spec.result_cap, judged.obligations.max_result_bytes or checked.spec.result_cap)


def _outcome_of(work: asyncio.Task[ToolOutput]) -> ToolOutput | Refuse:
    error = work.exception()
    match error:
        case None:
            return work.result()
        case ToolFailed(reason=Reason.TOOL_TIMEOUT):
            return Refuse(Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT, error.message, labels=error.labels)
        case ToolFailed():
            return Refuse(Outcome.EXECUTION_ERROR, _reason(error.reason), error.message, labels=error.labels)
        case _:
            _log.error("tool failed", exc_info=error)
            return Refuse(Outcome.EXECUTION_ERROR, Reason.TOOL_ERROR, "the tool failed; see the gateway's log")


def _reason(word: str) -> Reason:
    try:
        return Reason(word)
    except ValueError:
        return Reason.TOOL_ERROR
