"""What the loop tells becomes one trajectory, in the order in which the model was told and wrote."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.events import (
    AssistantSaidEvent,
    CallClosedEvent,
    CallProposedEvent,
    CallSentEvent,
    TurnBegunEvent,
    TurnEndedEvent,
    TurnOutcome,
)
from gateway.agent.recorder import TrajectoryRecorder
from gateway.agent.rollout import Rollout
from gateway.agent.trajectory import TokenIds, TrajectoryCall, TrajectoryResult, TrajectoryRole, TrajectoryStep

SYSTEM = {"role": "system", "content": "You have tools."}
REPORT = {"role": "system", "content": "Report."}
CALL = {"id": "c1", "name": "read_file", "arguments": {"path": "ä.txt"}}
OK = {"outcome": "ok", "content": "one", "durationMs": 250}
PROPOSED = '{"tool": "read_file", "arguments": {"path": "ä.txt"}}'


def user(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


class Desk:
    """A recorder, and shorthand for what a turn tells it."""

    def __init__(self) -> None:
        self.recorder = TrajectoryRecorder(Rollout(id="r", task="t", model="m", started_at=0))

    def begin(self, text: str) -> None:
        self.recorder.hear(TurnBegunEvent("turn", text, ()))

    def propose(self, call: dict[str, Any] = CALL) -> None:
        self.recorder.hear(CallProposedEvent(call, None))

    def close(self, result: dict[str, Any] = OK, call_id: str = "c1") -> None:
        self.recorder.hear(CallSentEvent(call_id))
        self.recorder.hear(CallClosedEvent(call_id, result))

    def say(self, content: str) -> None:
        self.recorder.hear(AssistantSaidEvent(content, stopped=False))

    def end(self) -> list[TrajectoryStep]:
        self.recorder.hear(TurnEndedEvent(TurnOutcome.ANSWERED, "words"))
        return list(self.recorder.trajectory.steps)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.requirement("000-36", "a turn becomes a rollout with its call, result and ids")
def test_a_turn_with_a_call_and_a_report(desk: Desk) -> None:
    desk.begin("what is in ä.txt?")
    desk.recorder.wrote([SYSTEM, user("what is in ä.txt?")], PROPOSED, TokenIds((1, 2, 3), (4, 5)))
    desk.say("")
    desk.propose()
    desk.close()
    desk.recorder.wrote([REPORT, user("QUESTION: …")], "It says one.", TokenIds((1, 9), (8,)))
    desk.say("It says one.")
    assert desk.end() == [
        TrajectoryStep(TrajectoryRole.SYSTEM, "You have tools."),
        TrajectoryStep(TrajectoryRole.USER, "what is in ä.txt?", input_ids=(1, 2, 3)),
        TrajectoryStep(
            TrajectoryRole.ASSISTANT, PROPOSED, output_ids=(4, 5), tool_call=TrajectoryCall("read_file", '{"path":"ä.txt"}')
        ),
        TrajectoryStep(TrajectoryRole.SYSTEM, "Report."),
        TrajectoryStep(
            TrajectoryRole.TOOL, "one", input_ids=(9,), kept=1, tool_result=TrajectoryResult("read_file", "one", "", 0, 0.25)
        ),
        TrajectoryStep(TrajectoryRole.ASSISTANT, "It says one.", output_ids=(8,)),
    ]


def test_a_repair_shows_what_was_wrong_and_what_was_asked(desk: Desk) -> None:
    desk.begin("read it")
    desk.recorder.wrote([SYSTEM, user("read it")], "Sure!", None)
    desk.recorder.faulted("not JSON")
    desk.recorder.wrote([SYSTEM, user("read it"), user("Reply with JSON.")], PROPOSED, None)
    desk.propose()
    assert [(step.role, step.content, step.fault) for step in desk.end()] == [
        (TrajectoryRole.SYSTEM, "You have tools.", None),
        (TrajectoryRole.USER, "read it", None),
        (TrajectoryRole.ASSISTANT, "Sure!", "not JSON"),
        (TrajectoryRole.USER, "Reply with JSON.", None),
        (TrajectoryRole.ASSISTANT, PROPOSED, None),
    ]


def test_what_the_loop_says_in_the_models_place_is_kept_without_ids(desk: Desk) -> None:
    desk.begin("delete it")
    desk.recorder.wrote([SYSTEM, user("delete it")], PROPOSED, TokenIds((1,), (2,)))
    desk.propose()
    desk.close({"outcome": "deniedByUser", "reason": "userDenied", "content": ""})
    desk.say("You said no.")
    *_, result, said = desk.end()
    assert result.tool_result == TrajectoryResult("read_file", "", "deniedByUser: userDenied", None, 0)
    assert said == TrajectoryStep(TrajectoryRole.ASSISTANT, "You said no.")
    assert [index for index, _ in desk.recorder.trajectory.generations()] == [2]


def test_giving_up_after_replies_that_could_not_be_used_is_kept(desk: Desk) -> None:
    desk.begin("hm")
    desk.recorder.wrote([user("hm")], "Sure!", None)
    desk.recorder.faulted("not JSON")
    desk.say("Please say it in other words.")
    assert [step.content for step in desk.end()] == ["hm", "Sure!", "Please say it in other words."]


def test_two_calls_of_one_reply_have_a_step_each_before_their_results(desk: Desk) -> None:
    desk.begin("both")
    desk.recorder.wrote([SYSTEM, user("both")], "two calls", TokenIds((1,), (2,)))
    desk.propose()
    desk.propose({**CALL, "id": "c2", "name": "list"})
    desk.close()
    desk.close(call_id="c2")
    assert [(step.role, step.tool_call is not None) for step in desk.end()] == [
        (TrajectoryRole.SYSTEM, False),
        (TrajectoryRole.USER, False),
        (TrajectoryRole.ASSISTANT, True),
        (TrajectoryRole.ASSISTANT, True),
        (TrajectoryRole.TOOL, False),
        (TrajectoryRole.TOOL, False),
    ]


def test_a_programs_run_is_told_as_it_says_itself(desk: Desk) -> None:
    run = {"tool": "run_test", "stdout": "1 failed", "stderr": "warning", "exit_code": 1, "duration_sec": 2}
    desk.begin("test")
    desk.propose()
    desk.close({**OK, "structured": run})
    assert desk.end()[-1].tool_result == TrajectoryResult("read_file", "1 failed", "warning", 1, 2)


def test_a_result_of_a_call_that_nobody_proposed_is_kept_without_a_name(desk: Desk) -> None:
    desk.close({"outcome": "executionError", "content": "", "error": "it broke"}, call_id="unknown")
    (step,) = desk.end()
    assert step.tool_result == TrajectoryResult("", "", "executionError: it broke", None, 0)


def test_a_conversation_goes_on_in_one_trajectory_and_names_its_system_once(desk: Desk) -> None:
    for text in ("hello", "and now?"):
        desk.begin(text)
        desk.recorder.wrote([SYSTEM, user(text)], "Hi.", TokenIds((1, 2), (3,)))
        desk.say("Hi.")
        steps = desk.end()
    assert [step.role for step in steps] == [
        TrajectoryRole.SYSTEM,
        TrajectoryRole.USER,
        TrajectoryRole.ASSISTANT,
        TrajectoryRole.USER,
        TrajectoryRole.ASSISTANT,
    ]


def test_a_message_that_was_never_answered_is_kept(desk: Desk) -> None:
    desk.begin("are you there?")
    assert desk.end() == [TrajectoryStep(TrajectoryRole.USER, "are you there?")]
