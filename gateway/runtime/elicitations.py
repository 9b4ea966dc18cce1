"""What the servers of tools ask people while a call runs: put on record, shown on the consoles, answered once or withdrawn.

No approval and nothing like one: an answer is sent to the server that asked and changes nothing else here. It lives no longer
than its call, so nothing of it is kept beyond the audit log.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.core.canonical import Json, digest
from gateway.core.elicitation import (
    NO_ANSWER,
    ElicitationAction,
    ElicitationAnswer,
    ElicitationForm,
    ElicitationRefusal,
    ElicitationStatus,
    find_value_fault,
    read_form,
)
from gateway.core.errors import GatewayError, InvalidParams, NotFound, Refused
from gateway.core.ledger import ElicitationAsked, ElicitationResolved
from gateway.core.model import ToolRequest
from gateway.core.vocabulary import Runner
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.notices import Elicitation, ElicitationRequestedNotice, ElicitationResolvedNotice
from gateway.runtime.ports import Clock, ConsoleSession, Entropy, Ledger, PolicyEngine
from gateway.runtime.tasks import Tasks
from gateway.runtime.timing import Timing

MOST_OF_A_CALL: Final = 5
MOST_OF_A_SESSION: Final = 20
"""Since the session began, or the gateway. One server has no more of them than it leaves to the session's others."""

STATUSES: Final[Mapping[ElicitationAction, ElicitationStatus]] = {
    ElicitationAction.ACCEPT: ElicitationStatus.ACCEPTED,
    ElicitationAction.DECLINE: ElicitationStatus.DECLINED,
    ElicitationAction.CANCEL: ElicitationStatus.CANCELLED,
}

MayRun = Callable[[], bool]
"""Whether the call that asks could still begin: its tool unchanged, and not forbidden under the labels and the policy of now."""

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Waiting:
    """A form that waits. `taken`: somebody answered, and that is being put on record."""

    elicitation: Elicitation
    may_run: MayRun
    answered: asyncio.Future[tuple[ElicitationStatus, ElicitationAnswer]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    taken: bool = False
    recorded: bool = False
    is_late: bool = False
    """Whether its time was over while an answer was being put on record."""

    @property
    def is_open(self) -> bool:
        """Whether a person may still answer."""
        return not self.taken and not self.answered.done()

    def end(self, status: ElicitationStatus, answer: ElicitationAnswer = NO_ANSWER) -> None:
        """Give the server this; the first end counts."""
        if not self.answered.done():
            self.answered.set_result((status, answer))


class Elicitations:
    """Every form that waits in this process."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        policy: PolicyEngine,
        connections: ConnectionRegistry,
        clock: Clock,
        entropy: Entropy,
        tasks: Tasks,
        timing: Timing,
    ) -> None:
        self._ledger = ledger
        self._policy = policy
        self._connections = connections
        self._clock = clock
        self._entropy = entropy
        self._tasks = tasks
        self._timing = timing
        self._waiting: dict[str, _Waiting] = {}

    def of_call(self, request: ToolRequest, source: str, tell: Callable[[str], None], may_run: MayRun) -> CallElicitations:
        """What the server of a running call may ask. `tell` says to whoever waits for the call that a person is asked."""
        return CallElicitations(self, request, source, tell, may_run)

    # ── for the call ──

    async def ask(
        self, request: ToolRequest, source: str, form: ElicitationForm, tell: Callable[[str], None], may_run: MayRun
    ) -> ElicitationAnswer | ElicitationRefusal:
        """Put a form before the person and give their answer. Cancelling this withdraws it."""
        refusal = self._count(request, source) if may_run() else ElicitationRefusal("this call would not be allowed any more")
        if refusal is not None:
            return refusal
        now = self._clock.now()
        elicitation = Elicitation(
            self._entropy.identifier("eli_"), source, request, form, now, now + int(self._timing.approval * 1000)
        )
        waiting = self._waiting[elicitation.id] = _Waiting(elicitation, may_run)
        status = ElicitationStatus.WITHDRAWN
        try:
            asked = ElicitationAsked(now, request, elicitation.id, source, form.digest, elicitation.expires_at)
            await self._ledger.append(asked)
            self._connections.notify_console(request.principal.id, ElicitationRequestedNotice(elicitation))
            tell(f"`{source}` asks you something: answer on the console")
            self._judge(waiting)
            status, answer = await self._wait(waiting)
            return answer
        except GatewayError:
            _log.warning("a question of `%s` could not be put on record, and nobody was asked", source)
            waiting.recorded = True
            return ElicitationRefusal("it could not be put on record")
        finally:
            del self._waiting[elicitation.id]
            # Whoever answers in the same breath is told that nothing was sent.
            waiting.answered.cancel()
            if not waiting.recorded and not waiting.taken:
                self._tasks.spawn(self._record(ElicitationResolved(self._clock.now(), request, elicitation.id, status)))
            self._connections.notify_console(request.principal.id, ElicitationResolvedNotice(elicitation.id, status))

    def withdraw_all(self) -> None:
        """Another policy is in force: what was asked under the one before is asked no more."""
        for waiting in self._waiting.values():
            if not waiting.taken:
                waiting.end(ElicitationStatus.WITHDRAWN)

    def judge_again(self) -> None:
        """A label rose, or tools were changed: what a person answers goes to no server whose call would be forbidden now."""
        for waiting in self._waiting.values():
            self._judge(waiting)

    def _judge(self, waiting: _Waiting) -> None:
        if waiting.is_open and not waiting.may_run():
            waiting.end(ElicitationStatus.WITHDRAWN)

    # ── for the console ──

    def list(self, principal_id: str) -> Sequence[Elicitation]:
        """What waits for this person, the oldest first."""
        return [each.elicitation for each in self._waiting.values() if _is_for(each, principal_id) and each.is_open]

    async def answer(
        self, console: ConsoleSession, elicitation_id: str, action: ElicitationAction, values: Mapping[str, Json]
    ) -> None:
        """Take a person's answer; returns once it is durable and on its way. Raises NotFound, Refused, InvalidParams."""
        waiting = self._waiting.get(elicitation_id)
        if waiting is None or not _is_for(waiting, console.principal.id):
            raise NotFound("that question is not open")
        if not waiting.is_open or self._clock.now() >= waiting.elicitation.expires_at:
            raise Refused("noLongerOpen", "this question is no longer open; nothing was sent", 409)
        if action is not ElicitationAction.ACCEPT:
            values = {}
        elif (fault := find_value_fault(waiting.elicitation.form, values)) is not None:
            raise InvalidParams(fault)
        waiting.taken = True
        try:
            values_digest = digest(values) if action is ElicitationAction.ACCEPT else None
            request = waiting.elicitation.request
            resolved = ElicitationResolved(
                self._clock.now(), request, elicitation_id, STATUSES[action], console.id, values_digest
            )
            await self._ledger.append(resolved)
            waiting.recorded = True
        finally:
            waiting.taken = waiting.recorded
            if not waiting.recorded:
                # Nothing was sent. It can be answered once more, unless what ends a question has come meanwhile.
                if waiting.is_late:
                    waiting.end(ElicitationStatus.EXPIRED)
                self._judge(waiting)
        if waiting.answered.done():
            await self._take_back(waiting)
            raise Refused("noLongerOpen", "the call ended before your answer could be sent", 409)
        # What forbids the call may have come while this was put on record, and did not withdraw what was answered already.
        if action is ElicitationAction.ACCEPT and not waiting.may_run():
            waiting.end(ElicitationStatus.WITHDRAWN)
            await self._take_back(waiting)
            raise Refused("noLongerOpen", "the call would not be allowed any more; nothing was sent", 409)
        waiting.end(STATUSES[action], ElicitationAnswer(action, values))

    # ── inside ──

    def _count(self, request: ToolRequest, source: str) -> ElicitationRefusal | None:
        """Count one more question of a server in a session, if it may have one."""
        if request.runner is Runner.GATEWAY:
            return ElicitationRefusal("a loop in a terminal has no console on which somebody could answer")
        live = self._connections.find(request.session_id)
        if live is None:
            return ElicitationRefusal("the session has ended")
        questions = [each.elicitation for each in self._waiting.values()]
        waiting = Counter(each.source for each in questions if each.request.session_id == request.session_id)
        at_once = self._policy.limits(request.principal.profile).pending_approvals
        if any(
            each[source] >= most - each.total() for each, most in ((live.elicitations, MOST_OF_A_SESSION), (waiting, at_once))
        ):
            return ElicitationRefusal("this session has asked its person too much already")
        live.elicitations[source] += 1
        return None

    async def _wait(self, waiting: _Waiting) -> tuple[ElicitationStatus, ElicitationAnswer]:
        lasts = waiting.elicitation.expires_at - waiting.elicitation.asked_at
        await asyncio.wait({waiting.answered}, timeout=lasts / 1000)
        waiting.is_late = True
        if not waiting.answered.done() and not waiting.taken:
            waiting.end(ElicitationStatus.EXPIRED)
        # An answer that came in time is being put on record. Where that fails before, it can be given once more.
        return await waiting.answered

    async def _take_back(self, waiting: _Waiting) -> None:
        """An answer is on record, and was not sent: the record says that too."""
        now, elicitation = self._clock.now(), waiting.elicitation
        resolved = ElicitationResolved(now, elicitation.request, elicitation.id, ElicitationStatus.WITHDRAWN)
        await self._record(resolved)

    async def _record(self, entry: ElicitationResolved) -> None:
        try:
            await self._ledger.append(entry)
        except GatewayError:
            _log.warning("the end of question %s could not be recorded", entry.elicitation_id)


class CallElicitations:
    """What the server of one call asks: one form at a time, and none any more after a person declined one."""

    def __init__(
        self, room: Elicitations, request: ToolRequest, source: str, tell: Callable[[str], None], may_run: MayRun
    ) -> None:
        self._room = room
        self._request = request
        self._source = source
        self._tell = tell
        self._may_run = may_run
        self._asked = 0
        self._is_asking = False
        self._is_over = False

    async def ask(self, message: str, schema: Json) -> ElicitationAnswer | ElicitationRefusal:
        """What the person made of one form."""
        form = read_form(message, schema)
        if isinstance(form, ElicitationRefusal):
            return form
        if self._is_over:
            return ElicitationRefusal("this call asked before and was not answered")
        if self._is_asking or self._asked >= MOST_OF_A_CALL:
            return ElicitationRefusal("this call asks too much")
        self._asked += 1
        self._is_asking = True
        try:
            answer = await self._room.ask(self._request, self._source, form, self._tell, self._may_run)
        finally:
            self._is_asking = False
        self._is_over = isinstance(answer, ElicitationRefusal) or answer.action is not ElicitationAction.ACCEPT
        return answer


def _is_for(waiting: _Waiting, principal_id: str) -> bool:
    return waiting.elicitation.request.principal.id == principal_id
