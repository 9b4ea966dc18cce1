"""One JSON action out of a model: asked for, read, corrected where it is none, and given up after that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from gateway.agent.circles import goes_round, without_circles
from gateway.agent.lane import AnswerStep, LaneInput, ProposedCall, StuckStep, collect
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool
from gateway.agent.nudges import looks_like_planning
from gateway.agent.parse import AnswerChoice, AnswerReader, ParseFailure, ToolChoice, parse_envelope
from gateway.agent.ports import ChatMessage, ChatRequest, JsonSchema
from gateway.agent.repair import RepairDialogue, correction
from gateway.agent.reply import ReplyEnd
from gateway.agent.respond import is_respond, message_of
from gateway.agent.turn_progress import StuckReason

MAX_STEP_TOKENS: Final = LIMITS.json_lane_tokens
"""Requirement 000-07: tokens of one step, unless told otherwise."""


def tokens_for(lane: LaneInput) -> int:
    """How much a model that writes JSON may write at once."""
    return lane.step_tokens or MAX_STEP_TOKENS


def offered(tools: Sequence[Tool]) -> list[Tool]:
    """The tools that a model may be shown as callable."""
    return [tool for tool in tools if tool["permission"] != "forbidden" and tool.get("local") is not True]


async def choose(
    lane: LaneInput, prompt: Sequence[ChatMessage], schema: JsonSchema, *, can_call: bool
) -> ProposedCall | AnswerStep | StuckStep:
    """The action that the model chooses: a call, or words for the person, which are streamed as they come.

    With `can_call`, words that only announce a step are no answer.
    """
    dialogue = RepairDialogue()
    while True:
        showing = _Showing(lane)
        request = ChatRequest((*prompt, *dialogue.turns), tokens_for(lane), lane.stop, schema=schema)
        heard = await collect(lane, request, ReplyEnd.AFTER_OBJECT, showing.hear)
        if showing.goes_round:
            lane.observer.faulted("it says the same over and over")
            return AnswerStep(f"{without_circles(showing.said)}\n\n{lane.copy.say('saidAgain')}")
        match choice := parse_envelope(heard.text):
            case ToolChoice(tool, arguments) if not is_respond(tool, lane.tools):
                return ProposedCall(tool, arguments)
            case ParseFailure(reason):
                lane.observer.faulted(reason)
                showing.discard()
                if not dialogue.repair(heard.text, correction(reason)):
                    return StuckStep(StuckReason.UNREADABLE)
                continue
            case ToolChoice(_, arguments):
                said = message_of(arguments)
            case AnswerChoice(text):
                said = text
            case _:
                assert_never(choice)
        if not (can_call and looks_like_planning(said, lane.words)):
            return AnswerStep(said)
        lane.observer.faulted("it only announces a step")
        showing.discard()
        if not dialogue.nudge(heard.text, lane.words):
            return StuckStep(StuckReason.PLANNING)


class _Showing:
    """Shows an answer as it is written."""

    def __init__(self, lane: LaneInput) -> None:
        self._listener = lane.listener
        self._answer = AnswerReader()
        self._is_shown = False
        self.said = ""
        self.goes_round = False

    def hear(self, text: str) -> bool:
        """Show what is new of it; whether that is enough, since it only says again what it said."""
        if said := self._answer.read(text):
            self._listener.streamed(said)
            self._is_shown = True
            self.said += said
            self.goes_round = goes_round(self.said)
        return self.goes_round

    def discard(self) -> None:
        if self._is_shown:
            self._listener.discarded()
