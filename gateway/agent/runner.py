"""Drives one conversation's turns: asks the model, sends what it proposes through the gateway, one call at a time, feeds the
results back, and stops. It holds no authority; every call it sends may be refused, and then stays refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final, assert_never

from gateway.agent.acts import is_named_in, left_undone
from gateway.agent.browser import trim
from gateway.agent.claims import record_of, without_false_claims
from gateway.agent.dependencies import LoopDependencies
from gateway.agent.events import (
    ActionBegunEvent,
    ActionsSplitEvent,
    AssistantSaidEvent,
    CallClosedEvent,
    CallProposedEvent,
    CallSentEvent,
    ContextCondensedEvent,
    NoticeRaisedEvent,
    NoticeTone,
    TextDiscardedEvent,
    TurnBegunEvent,
    TurnEndedEvent,
    TurnOutcome,
    TurnSteeredEvent,
)
from gateway.agent.german import is_german
from gateway.agent.german_words import in_german
from gateway.agent.holding import hold_to_record
from gateway.agent.lane import AnswerStep, CallsStep, CondensedStep, ProposedCall, ReportStep, SplitStep, StuckStep
from gateway.agent.messages import (
    CANCELLED,
    AssistantMessage,
    Call,
    Message,
    Result,
    ToolMessage,
    UserMessage,
    count_rounds,
    unanswered,
)
from gateway.agent.plans import plan_at_front
from gateway.agent.ports import StopReason, StopSignal, TurnStopped
from gateway.agent.retries import TurnLimits, ask_for_step, refresh
from gateway.agent.tiers import tier_of
from gateway.agent.turn import LoopTurn, voids_snapshot
from gateway.agent.turn_progress import StuckReason, label_of, progress_of
from gateway.core.errors import GatewayError, InvalidParams, NotFound
from gateway.core.vocabulary import Tier

_NO_ANSWER: Final = frozenset(
    {
        StuckReason.UNREADABLE,
        StuckReason.PLANNING,
        StuckReason.CAPPED,
        StuckReason.LOOPING,
        StuckReason.CUT,
        StuckReason.FILTERED,
    }
)
"""Reasons to give up that are no answer, however calmly they are said."""


class TurnRunner:
    """The loop of one conversation. One turn at a time."""

    def __init__(
        self,
        dependencies: LoopDependencies,
        conversation_id: str,
        limits: TurnLimits | None = None,
        messages: Sequence[Message] = (),
    ) -> None:
        self._dependencies = dependencies
        self._conversation_id = conversation_id
        self._limits = limits or TurnLimits()
        self._messages = list(messages)
        self._shown = list(messages)
        self._stop: StopSignal | None = None
        self._turn: LoopTurn | None = None

    async def run(self, text: str, model: Mapping[str, Any]) -> TurnOutcome | None:
        """Take what the person said through a whole turn. None when it never reached the gateway and can be said again."""
        turn = await self._begin(text, model)
        if turn is None:
            return None
        return await self._finish(turn, self._drive(turn, model))

    async def call(self, text: str, proposal: ProposedCall) -> TurnOutcome | None:
        """Make a call that the person asked for themself, in a turn of its own and without a model. None when it never reached
        the gateway."""
        turn = await self._begin(text, None)
        if turn is None:
            return None
        return await self._finish(turn, self._make(turn, proposal))

    async def stop(self) -> None:
        """Stop everything of this turn at once: the model, the call that runs, the calls that wait for a person."""
        if self._stop is not None:
            self._stop.set(StopReason.STOPPED)
        turn = self._turn
        if turn is None:
            return
        try:
            await self._dependencies.gateway.call("turns/cancel", turn.reference)
        except GatewayError as error:
            self._notice(self._dependencies.copy.explain_failure(error))

    def revoked(self, snapshot_id: str) -> None:
        """The gateway voided a snapshot; a fresh one is asked for before it is needed."""
        if self._turn is not None and self._turn.snapshot["id"] == snapshot_id:
            self._turn.stale = True

    def over(self) -> None:
        """The session has ended, and with it whatever is under way."""
        if self._stop is not None:
            self._stop.set(StopReason.OVER)

    # ── a turn ──

    async def _begin(self, text: str, model: Mapping[str, Any] | None) -> LoopTurn | None:
        stop = self._stop = StopSignal()
        params: dict[str, Any] = {"conversationId": self._conversation_id, "message": {"role": "user", "content": text}}
        if model is not None:
            params["modelId"] = model["id"]
        try:
            begun = await self._dependencies.gateway.call("turns/begin", params, stop)
        except TurnStopped:
            return None
        except GatewayError as error:
            self._notice(self._dependencies.copy.explain_failure(error))
            return None
        turn = self._turn = LoopTurn(begun["snapshot"], model, self._messages, self._shown, stop)
        turn.keep(UserMessage(turn.id, text))
        self._dependencies.emit(TurnBegunEvent(turn.id, text, turn.snapshot["tools"]))
        return turn

    async def _drive(self, turn: LoopTurn, model: Mapping[str, Any]) -> TurnOutcome:
        while True:
            await self._execute(turn)
            await self._take_steered(turn, model)
            match step := await ask_for_step(self._dependencies, turn, model, self._limits):
                case SplitStep(actions):
                    self._split(turn, actions)
                case CondensedStep(shown):
                    self._condense(turn, shown)
                case CallsStep(proposals, text):
                    await self._propose(turn, text, proposals)
                case ReportStep(text):
                    await self._say(turn, self._hold_to_record(turn, text))
                    self._begin_action(turn)
                case AnswerStep(text):
                    await self._answer(turn, text)
                    return TurnOutcome.ANSWERED
                case StuckStep(why):
                    return await self._give_up(turn, why)
                case _:
                    assert_never(step)

    async def _take_steered(self, turn: LoopTurn, model: Mapping[str, Any]) -> None:
        """Take in what the person has said meanwhile, as their own words of this turn. It gives no permission: what it asks for
        are calls like any other. A model that takes one action at a time has it as a further one."""
        message = progress_of(turn.messages, turn.id).message
        is_single = tier_of(model) is Tier.SINGLE or turn.actions is not None
        if is_single and turn.actions is None and count_rounds(turn.messages, turn.id) == 0:
            # What the message itself asks for is not known before the first step.
            return
        for content in self._dependencies.take_steered():
            turn.keep(UserMessage(turn.id, content))
            self._dependencies.emit(TurnSteeredEvent(content))
            await self._record(turn, {"role": "user", "content": content})
            if is_single:
                self._split(turn, [*(turn.actions or [message]), content])

    async def _make(self, turn: LoopTurn, proposal: ProposedCall) -> TurnOutcome:
        await self._propose(turn, "", [proposal])
        await self._execute(turn)
        return TurnOutcome.ANSWERED

    def _split(self, turn: LoopTurn, actions: Sequence[str]) -> None:
        turn.actions = actions
        if len(actions) > 1:
            self._dependencies.emit(ActionsSplitEvent(actions))
            self._begin_action(turn)

    def _condense(self, turn: LoopTurn, shown: Sequence[Message] | None) -> None:
        turn.may_summarise = shown is not None
        if shown is not None:
            self._dependencies.emit(ContextCondensedEvent())
            self._shown[:] = shown

    def _begin_action(self, turn: LoopTurn) -> None:
        self._dependencies.emit(ActionBegunEvent(progress_of(turn.messages, turn.id).finished))

    async def _answer(self, turn: LoopTurn, text: str) -> None:
        """The last words of a turn. A model that has none leaves what was done to speak for itself."""
        copy, state = self._dependencies.copy, progress_of(turn.messages, turn.id)
        said = self._hold_to_record(turn, text)
        told = "\n".join((said, *self._told_undone(turn)))
        rest = [each for each in left_undone(state.message, state.closed, turn.snapshot["tools"]) if not is_named_in(told, each)]
        words = [each for each in (said, copy.name_the_rest(rest) if rest else "") if trim(each)]
        await self._say(turn, "\n\n".join(words) if words or state.closed else copy.say("silent"))

    def _told_undone(self, turn: LoopTurn) -> Sequence[str]:
        """What was said in this turn of wishes that are not done, each in a sentence of its own."""
        sentences = {self._dependencies.copy.name_the_rest([each]) for each in turn.actions or ()}
        spoken = (each.content for each in turn.messages if each.turn_id == turn.id and isinstance(each, AssistantMessage))
        return [each for each in spoken if each in sentences]

    def _hold_to_record(self, turn: LoopTurn, text: str) -> str:
        """A model's words without what they claim and no call did."""
        record = record_of(turn.messages, turn.id, turn.snapshot["tools"], turn.actions)
        return hold_to_record(text, record, self._dependencies.copy)

    async def _give_up(self, turn: LoopTurn, why: StuckReason) -> TurnOutcome:
        """End a turn in our own words. What is done stands, and what is not is named."""
        copy, state = self._dependencies.copy, progress_of(turn.messages, turn.id)
        has_work = state.finished > 0 or bool(state.closed)
        words = copy.explain_stuck(why, has_work=has_work)
        actions = turn.actions or []
        rest = actions[state.finished :] if has_work and len(actions) > 1 else []
        await self._say(turn, f"{words}\n\n{copy.name_the_rest(rest)}" if rest else words)
        return TurnOutcome.CAPPED if why in _NO_ANSWER else TurnOutcome.ANSWERED

    async def _finish(self, turn: LoopTurn, work: Awaitable[TurnOutcome]) -> TurnOutcome:
        """See a turn through: do its work and close it, whatever happened."""
        try:
            ending = await work
        except Exception as error:  # noqa: BLE001 - whatever broke, the turn ends with a sentence and in order
            ending = await self._handle_failure(turn, error)
        else:
            await self._end(turn)
        self._turn = self._stop = None
        closed = progress_of(turn.messages, turn.id).closed
        self._dependencies.emit(TurnEndedEvent(ending, label_of(closed, turn.snapshot["tools"])))
        return ending

    async def _handle_failure(self, turn: LoopTurn, error: Exception) -> TurnOutcome:
        copy = self._dependencies.copy
        begun = turn.streamed or turn.broken
        if trim(begun):
            await self._say(turn, begun, stopped=True)
        halt = turn.stop.halt
        if halt is not None and halt.why is StopReason.STOPPED:
            self._cancel_calls(turn)
            return TurnOutcome.STOPPED
        if halt is not None:
            self._notice(copy.say("turnOver"))
            return TurnOutcome.FAILED
        if isinstance(error, NotFound):
            self._notice(copy.say("superseded"))
        else:
            self._notice(copy.explain_failure(error))
            await self._end(turn)
        return TurnOutcome.FAILED

    def _cancel_calls(self, turn: LoopTurn) -> None:
        """Close what has no result yet: the gateway has cancelled it, and model servers want a result for every call."""
        unheard = {**CANCELLED, "error": self._dependencies.copy.say("unheard")}
        for call in unanswered(turn.messages, turn.id):
            result = unheard if call["id"] == turn.sent else CANCELLED
            turn.keep(ToolMessage(turn.id, call, result))
            self._dependencies.emit(CallClosedEvent(call["id"], result))

    # ── calls ──

    async def _propose(self, turn: LoopTurn, text: str, proposals: Sequence[ProposedCall]) -> None:
        """Put the model's proposals on record before any of them is sent."""
        calls: list[Call] = [
            {"id": self._dependencies.new_call_id(), "name": proposal.name, "arguments": proposal.arguments}
            for proposal in proposals
        ]
        turn.streamed = ""
        # Nothing of it has run yet, whatever the model says beside it.
        text = without_false_claims(text, record_of(turn.messages, turn.id, turn.snapshot["tools"]))
        self._dependencies.emit(AssistantSaidEvent(text, stopped=False) if trim(text) else TextDiscardedEvent())
        for call in calls:
            tool = next((each for each in turn.snapshot["tools"] if each["name"] == call["name"]), None)
            self._dependencies.emit(CallProposedEvent(call, tool))
        turn.keep(AssistantMessage(turn.id, text, calls))
        await self._record(turn, {"role": "assistant", "content": text, "toolCalls": calls})

    async def _execute(self, turn: LoopTurn) -> None:
        """Send the calls that have no result yet, one after the other; those that a person is asked about in a row, at once."""
        waiting = unanswered(turn.messages, turn.id)
        while waiting:
            plan = plan_at_front(waiting, turn.snapshot["tools"])
            waiting = waiting[len(plan) :]
            await self._execute_plan(turn, plan)

    async def _execute_plan(self, turn: LoopTurn, plan: Sequence[Call]) -> None:
        """Send calls that the gateway runs one after another, and that a person is asked about together."""
        await refresh(self._dependencies, turn)
        earlier = [None, *(call["id"] for call in plan)]
        for call in plan:
            self._dependencies.emit(CallSentEvent(call["id"]))
        calls = [self._invoke(turn, call, after) for call, after in zip(plan, earlier, strict=False)]
        results = self._dependencies.side_by_side(calls)
        try:
            for call in plan:
                turn.sent = call["id"]
                result = await anext(results)
                turn.keep(ToolMessage(turn.id, call, result))
                self._dependencies.emit(CallClosedEvent(call["id"], result))
                turn.stale = turn.stale or voids_snapshot(result.get("reason"))
        finally:
            await results.aclose()

    async def _invoke(self, turn: LoopTurn, call: Call, after: str | None) -> Result:
        snapshot, model = turn.snapshot, turn.model
        params: dict[str, Any] = {
            **turn.reference,
            "snapshotId": snapshot["id"],
            "snapshotDigest": snapshot["digest"],
            "call": call,
        }
        if model is not None:
            params["model"] = {"id": model["id"], "backend": model["backend"]}
        if after is not None:
            params["after"] = after
        try:
            return await self._dependencies.gateway.call("tools/invoke", params, turn.stop)
        except InvalidParams as error:
            # No well-formed call, and the gateway has no record of it; the model hears of it as of any mistake.
            return {
                "outcome": "invalidArguments",
                "reason": "schema",
                "error": error.message,
                "content": "",
                "trust": "trusted",
                "truncated": False,
            }

    # ── what is said ──

    async def _say(self, turn: LoopTurn, content: str, *, stopped: bool = False) -> None:
        turn.streamed = ""
        if not trim(content):
            return
        told = in_german(content) if is_german(progress_of(turn.messages, turn.id).message) else content
        self._dependencies.emit(AssistantSaidEvent(told, stopped))
        turn.keep(AssistantMessage(turn.id, content))
        await self._record(turn, {"role": "assistant", "content": told})

    async def _record(self, turn: LoopTurn, message: Mapping[str, Any]) -> None:
        """Store what was said. The conversation goes on here even if that fails."""
        try:
            await self._dependencies.gateway.call("messages/append", {**turn.reference, "message": message})
        except GatewayError as error:
            self._notice(self._dependencies.copy.explain_failure(error))

    async def _end(self, turn: LoopTurn) -> None:
        usage = {"promptTokens": turn.prompt_tokens, "completionTokens": turn.completion_tokens}
        try:
            await self._dependencies.gateway.call("turns/end", {**turn.reference, "usage": usage})
        except GatewayError:
            # An open turn holds up nothing: the next one ends it.
            return

    def _notice(self, text: str) -> None:
        self._dependencies.emit(NoticeRaisedEvent(NoticeTone.DANGER, text))
