"""Drives one conversation's turns: asks the model, sends what it proposes through the gateway, one call at a time, feeds the
results back, and stops. It holds no authority; every call it sends may be refused, and then stays refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from gateway.agent.asking import Limits, ask_for_step, refresh
from gateway.agent.browser import trim
from gateway.agent.events import (
    ActionBegun,
    ActionsSplit,
    AssistantSaid,
    CallClosed,
    CallProposed,
    CallSent,
    ContextCondensed,
    Ending,
    NoticeRaised,
    TextDiscarded,
    Tone,
    TurnBegun,
    TurnEnded,
)
from gateway.agent.lane import Calls, Condensed, Proposal, Reply, Report, Split, StuckStep
from gateway.agent.messages import CANCELLED, AssistantMessage, Call, Message, Result, ToolMessage, UserMessage, unanswered
from gateway.agent.ports import Halt, Stop, Why
from gateway.agent.standing import Stuck, label_of, standing_of
from gateway.agent.turn import Turn, voids_snapshot
from gateway.agent.world import World
from gateway.core.errors import GatewayError, InvalidParams, NotFound


class Runner:
    """The loop of one conversation. One turn at a time."""

    def __init__(
        self, around: World, conversation_id: str, limits: Limits | None = None, messages: Sequence[Message] = ()
    ) -> None:
        self._around = around
        self._conversation_id = conversation_id
        self._limits = limits or Limits()
        self._messages = list(messages)
        self._shown = list(messages)
        self._stop: Stop | None = None
        self._turn: Turn | None = None

    async def run(self, text: str, model: Mapping[str, Any]) -> Ending | None:
        """Take what the person said through a whole turn. None when it never reached the gateway and can be said again."""
        turn = await self._begin(text, model)
        if turn is None:
            return None
        return await self._see(turn, self._drive(turn, model))

    async def stop(self) -> None:
        """Stop everything of this turn at once: the model, the call that runs, the calls that wait for a person."""
        if self._stop is not None:
            self._stop.set(Why.STOPPED)
        turn = self._turn
        if turn is None:
            return
        try:
            await self._around.gateway.call("turns/cancel", turn.reference)
        except GatewayError as error:
            self._notice(self._around.copy.explain_failure(error))

    def revoked(self, snapshot_id: str) -> None:
        """The gateway voided a snapshot; a fresh one is asked for before it is needed."""
        if self._turn is not None and self._turn.snapshot["id"] == snapshot_id:
            self._turn.stale = True

    def over(self) -> None:
        """The session has ended, and with it whatever is under way."""
        if self._stop is not None:
            self._stop.set(Why.OVER)

    # ── a turn ──

    async def _begin(self, text: str, model: Mapping[str, Any]) -> Turn | None:
        stop = self._stop = Stop()
        message = {"role": "user", "content": text}
        params = {"conversationId": self._conversation_id, "message": message, "modelId": model["id"]}
        try:
            begun = await self._around.gateway.call("turns/begin", params, stop)
        except Halt:
            return None
        except GatewayError as error:
            self._notice(self._around.copy.explain_failure(error))
            return None
        turn = self._turn = Turn(begun["snapshot"], model, self._messages, self._shown, stop)
        turn.keep(UserMessage(turn.id, text))
        self._around.emit(TurnBegun(turn.id, text, turn.snapshot["tools"]))
        return turn

    async def _drive(self, turn: Turn, model: Mapping[str, Any]) -> Ending:
        while True:
            await self._execute(turn)
            match await ask_for_step(self._around, turn, model, self._limits):
                case Split(actions):
                    self._split(turn, actions)
                case Condensed(shown):
                    self._condense(turn, shown)
                case Calls(proposals, text, more):
                    turn.more = more
                    await self._propose(turn, text, proposals)
                case Report(text):
                    await self._say(turn, text)
                    self._begin_action(turn)
                case Reply(text):
                    await self._answer(turn, text)
                    return Ending.ANSWERED
                case StuckStep(why):
                    return await self._give_up(turn, why)

    def _split(self, turn: Turn, actions: Sequence[str]) -> None:
        turn.actions = actions
        if len(actions) > 1:
            self._around.emit(ActionsSplit(actions))
            self._begin_action(turn)

    def _condense(self, turn: Turn, shown: Sequence[Message] | None) -> None:
        turn.may_summarise = shown is not None
        if shown is not None:
            self._around.emit(ContextCondensed())
            self._shown[:] = shown

    def _begin_action(self, turn: Turn) -> None:
        self._around.emit(ActionBegun(standing_of(turn.messages, turn.id).finished))

    async def _answer(self, turn: Turn, text: str) -> None:
        """The last words of a turn. A model that has none leaves what was done to speak for itself."""
        is_silent = not trim(text) and not standing_of(turn.messages, turn.id).closed
        await self._say(turn, self._around.copy.say("silent") if is_silent else text)

    async def _give_up(self, turn: Turn, why: Stuck) -> Ending:
        """End a turn in our own words. What is done stands, and what is not is named."""
        copy, standing = self._around.copy, standing_of(turn.messages, turn.id)
        has_work = standing.finished > 0 or bool(standing.closed)
        words = copy.explain_stuck(why, has_work=has_work)
        actions = turn.actions or []
        rest = actions[standing.finished :] if has_work and len(actions) > 1 else []
        await self._say(turn, f"{words}\n\n{copy.name_the_rest(rest)}" if rest else words)
        return Ending.CAPPED if why in (Stuck.CAPPED, Stuck.LOOPING) else Ending.ANSWERED

    async def _see(self, turn: Turn, work: Awaitable[Ending]) -> Ending:
        """See a turn through: do its work and close it, whatever happened."""
        try:
            ending = await work
        except Exception as error:  # noqa: BLE001 - whatever broke, the turn ends with a sentence and in order
            ending = await self._break_off(turn, error)
        else:
            await self._end(turn)
        self._turn = self._stop = None
        closed = standing_of(turn.messages, turn.id).closed
        self._around.emit(TurnEnded(ending, label_of(closed, turn.snapshot["tools"])))
        return ending

    async def _break_off(self, turn: Turn, error: Exception) -> Ending:
        copy = self._around.copy
        if trim(turn.streamed):
            await self._say(turn, turn.streamed, stopped=True)
        halt = turn.stop.halt
        if halt is not None and halt.why is Why.STOPPED:
            self._call_off(turn)
            return Ending.STOPPED
        if halt is not None:
            self._notice(copy.say("turnOver"))
            return Ending.FAILED
        if isinstance(error, NotFound):
            self._notice(copy.say("superseded"))
        else:
            self._notice(copy.explain_failure(error))
            await self._end(turn)
        return Ending.FAILED

    def _call_off(self, turn: Turn) -> None:
        """Close what has no result yet: the gateway has cancelled it, and model servers want a result for every call."""
        for call in unanswered(turn.messages, turn.id):
            turn.keep(ToolMessage(turn.id, call, CANCELLED))
            self._around.emit(CallClosed(call["id"], CANCELLED))

    # ── calls ──

    async def _propose(self, turn: Turn, text: str, proposals: Sequence[Proposal]) -> None:
        """Put the model's proposals on record before any of them is sent."""
        calls: list[Call] = [
            {"id": self._around.new_call_id(), "name": proposal.name, "arguments": proposal.arguments} for proposal in proposals
        ]
        turn.streamed = ""
        self._around.emit(AssistantSaid(text, stopped=False) if trim(text) else TextDiscarded())
        for call in calls:
            tool = next((each for each in turn.snapshot["tools"] if each["name"] == call["name"]), None)
            self._around.emit(CallProposed(call, tool))
        turn.keep(AssistantMessage(turn.id, text, calls))
        await self._record(turn, {"role": "assistant", "content": text, "toolCalls": calls})

    async def _execute(self, turn: Turn) -> None:
        """Send the calls that have no result yet, one after the other."""
        for call in unanswered(turn.messages, turn.id):
            self._around.emit(CallSent(call["id"]))
            result = await self._invoke(turn, call)
            turn.keep(ToolMessage(turn.id, call, result))
            self._around.emit(CallClosed(call["id"], result))
            turn.stale = turn.stale or voids_snapshot(result.get("reason"))

    async def _invoke(self, turn: Turn, call: Call) -> Result:
        await refresh(self._around, turn)
        snapshot, model = turn.snapshot, turn.model
        params = {
            **turn.reference,
            "snapshotId": snapshot["id"],
            "snapshotDigest": snapshot["digest"],
            "call": call,
            "model": {"id": model["id"], "backend": model["backend"]},
        }
        try:
            return await self._around.gateway.call("tools/invoke", params, turn.stop)
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

    async def _say(self, turn: Turn, content: str, *, stopped: bool = False) -> None:
        turn.streamed = ""
        if not trim(content):
            return
        self._around.emit(AssistantSaid(content, stopped))
        turn.keep(AssistantMessage(turn.id, content))
        await self._record(turn, {"role": "assistant", "content": content})

    async def _record(self, turn: Turn, message: Mapping[str, Any]) -> None:
        """Store what was said. The conversation goes on here even if that fails."""
        try:
            await self._around.gateway.call("messages/append", {**turn.reference, "message": message})
        except GatewayError as error:
            self._notice(self._around.copy.explain_failure(error))

    async def _end(self, turn: Turn) -> None:
        usage = {"promptTokens": turn.prompt_tokens, "completionTokens": turn.completion_tokens}
        try:
            await self._around.gateway.call("turns/end", {**turn.reference, "usage": usage})
        except GatewayError:
            # An open turn holds up nothing: the next one ends it.
            return

    def _notice(self, text: str) -> None:
        self._around.emit(NoticeRaised(Tone.DANGER, text))
