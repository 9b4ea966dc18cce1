"""The planner for small models, against the vectors that the browser's tests read too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from gateway.agent.actions import (
    DEFAULT_ACTIONS,
    FIELDS,
    Action,
    ActionDefaults,
    ActionKind,
    PlannerTool,
    planner_schema,
    read_action,
    shape_of,
)
from gateway.agent.budget import PER_MESSAGE, estimate_tokens
from gateway.agent.parse import ParseFailure, read_reply
from gateway.agent.planner import (
    ActionChunk,
    OnDevicePlanner,
    Planner,
    PlannerChunk,
    ReasoningChunk,
    RepairChunk,
    TextChunk,
    TrimmedChunk,
)
from gateway.agent.planner_prompt import AgentContext, AgentProfile, ContextMessage, ContextStep
from gateway.agent.repair import GenerateRequest
from gateway.core.errors import OnDevicePlannerError
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("planner")
STAMPS = ActionDefaults(lambda: "made-up", lambda: "2026-11-21T10:00:00.000Z")
ANSWER = '{"type":"final_answer","content":"hi"}'
CONTEXT = AgentContext(AgentProfile("helper"), "say hi")


def context_from(written: dict[str, Any]) -> AgentContext:
    """A context as a vector writes it: the browser's own shape."""
    agent = written["agent"]
    return AgentContext(
        AgentProfile(agent["role"], agent.get("goal", ""), agent.get("instructions", "")),
        written["task"]["input"],
        tools_from(written.get("tools", [])),
        [ContextMessage(each["role"], each["content"]) for each in written.get("messages", [])],
        [ContextStep(each["action"], each["observation"]) for each in written.get("steps", [])],
        written.get("memory", []),
        written.get("compactedSummary"),
    )


def tools_from(written: Sequence[dict[str, Any]]) -> list[PlannerTool]:
    return [PlannerTool(each["name"], each["description"], each["inputSchema"]) for each in written]


def chunk_written(chunk: PlannerChunk) -> dict[str, Any]:
    match chunk:
        case ReasoningChunk(delta):
            return {"type": "reasoning", "delta": delta}
        case TextChunk(delta):
            return {"type": "text", "delta": delta}
        case TrimmedChunk(dropped, left_out):
            return {"type": "trimmed", "dropped": dropped, "leftOut": left_out}
        case RepairChunk(attempt, reason):
            return {"type": "repair", "attempt": attempt, "reason": reason}
        case ActionChunk(action):
            return {"type": "action", "action": action.to_json()}


def read(case: dict[str, Any]) -> dict[str, Any]:
    """What a reply comes to."""
    value = read_reply(case["reply"])
    kinds = [ActionKind(kind) for kind in case.get("actions", DEFAULT_ACTIONS)]
    made = value if isinstance(value, ParseFailure) else read_action(value, kinds, VECTORS["tools"], STAMPS)
    return {"reason": made.reason} if isinstance(made, ParseFailure) else {"action": made.to_json()}


async def play(case: dict[str, Any]) -> dict[str, Any]:
    """What planning a case comes to: chunks, and the action or the error; the prompts; their schema."""
    asked: list[GenerateRequest] = []

    async def stream(pieces: Sequence[str]) -> AsyncIterator[str]:
        for piece in pieces:
            yield piece

    def generate(request: GenerateRequest) -> Any:
        asked.append(request)
        reply = case["replies"][len(asked) - 1]
        return reply if isinstance(reply, str) else stream(reply)

    options = case.get("options", {})
    planner = OnDevicePlanner(
        generate,
        actions=options.get("actions", DEFAULT_ACTIONS),
        max_repair_attempts=options.get("maxRepairAttempts", 2),
        max_prompt_tokens=options.get("maxPromptTokens", 3500),
        clock=lambda: 1_795_255_200_000,
    )
    chunks: list[dict[str, Any]] = []
    outcome: dict[str, Any] = {}
    try:
        async for chunk in planner.plan_stream(context_from(case["context"])):
            chunks += [chunk_written(chunk)]
    except OnDevicePlannerError as error:
        outcome = {"error": {"attempts": error.attempts, "reason": error.reason, "message": error.message}}
    for request in asked:
        taken = sum(PER_MESSAGE + estimate_tokens(message["content"]) for message in request.messages)
        assert taken <= options.get("maxPromptTokens", 3500)
    return {"chunks": chunks, **outcome, "prompts": [list(request.messages) for request in asked]}


@pytest.mark.requirement("001-10", "each action's required fields are checked, ids and times stamped")
@pytest.mark.requirement("001-15", "every action, those not opted in, and missing ids")
@pytest.mark.parametrize("case", VECTORS["readings"], ids=name_of)
def test_a_reply_is_an_action_of_the_vocabulary_or_there_is_a_reason(case: dict[str, Any]) -> None:
    assert read(case) == {key: case[key] for key in ("action", "reason") if key in case}


@pytest.mark.parametrize("case", VECTORS["shapes"], ids=name_of)
def test_every_action_is_shown_by_its_shape(case: dict[str, Any]) -> None:
    assert shape_of(ActionKind(case["name"])) == case["shape"]


def test_every_action_has_a_shape() -> None:
    assert [case["name"] for case in VECTORS["shapes"]] == list(ActionKind) == list(FIELDS)


@pytest.mark.parametrize("case", VECTORS["schemas"], ids=name_of)
def test_the_schema_holds_a_model_to_the_vocabulary_and_the_tools(case: dict[str, Any]) -> None:
    kinds = [ActionKind(kind) for kind in case["actions"]]
    assert planner_schema(kinds, tools_from(case["tools"])) == case["schema"]


@pytest.mark.requirement("001-08", "the prompt holds role, tools, memory and a terse transcript")
@pytest.mark.requirement("001-09", "over budget the oldest goes first, never the task, the tools and the last observation")
@pytest.mark.requirement("001-12", "after the last repair the plan fails with one error")
@pytest.mark.parametrize("case", VECTORS["plans"], ids=name_of)
async def test_a_plan_is_one_action_or_one_error(case: dict[str, Any]) -> None:
    assert await play(case) == {key: case[key] for key in ("chunks", "error", "prompts") if key in case}


@pytest.mark.requirement("001-06", "five actions by default, six opt in")
def test_the_defaults_are_the_stated_ones() -> None:
    assert list(DEFAULT_ACTIONS) == ["tool_call", "final_answer", "ask_user", "stop", "thought"]
    assert {kind.value for kind in ActionKind} - {kind.value for kind in DEFAULT_ACTIONS} == {
        "spawn_subagent",
        "join_subagent",
        "cancel_subagent",
        "push_goal",
        "complete_goal",
        "schedule",
    }


@pytest.mark.requirement("001-05", "a prompt has 3500 tokens by default, of four characters each")
async def test_a_prompt_has_room_for_3500_tokens_unless_told_otherwise() -> None:
    async def longest(**more: Any) -> int:
        sizes: list[int] = []

        def generate(request: GenerateRequest) -> str:
            sizes.append(sum(PER_MESSAGE + estimate_tokens(message["content"]) for message in request.messages))
            return ANSWER

        memory = ["m" * 400] * 100
        await OnDevicePlanner(generate, **more).plan(AgentContext(AgentProfile("helper"), "say hi", memory=memory))
        return sizes[0]

    assert 3350 < await longest() <= 3500
    assert 850 < await longest(max_prompt_tokens=1000) <= 1000
    assert await longest(count_tokens=len, max_prompt_tokens=1000) <= 260


async def test_an_action_without_id_and_time_gets_them() -> None:
    planner = OnDevicePlanner(lambda _: ANSWER, clock=lambda: 0, id_generator=lambda: "x")
    assert await planner.plan(CONTEXT) == Action("x", ActionKind.FINAL_ANSWER, {"content": "hi"}, "1970-01-01T00:00:00.000Z")


async def test_without_clock_and_ids_actions_are_numbered_and_have_no_time() -> None:
    planner = OnDevicePlanner(lambda _: ANSWER)
    made = [(await planner.plan(CONTEXT)).to_json() for _ in range(2)]
    assert made == [{"id": f"action-{number}", "type": "final_answer", "content": "hi"} for number in (1, 2)]


@pytest.mark.requirement("001-07", "text, repairs and the action reach who listens")
@pytest.mark.requirement("001-12", "attempts are told to the listener only")
async def test_chunks_reach_whoever_waits_for_the_action() -> None:
    chunks: list[PlannerChunk] = []
    replies = iter(["no", ANSWER])
    action = await OnDevicePlanner(lambda _: next(replies)).plan(CONTEXT, on_chunk=chunks.append)
    assert chunks == [TextChunk("no"), RepairChunk(1, "there is no JSON object"), TextChunk(ANSWER), ActionChunk(action)]


async def test_the_schema_and_the_signal_reach_the_generator() -> None:
    class Signal:
        def check(self) -> None:
            pass

    seen: list[GenerateRequest] = []

    def generate(request: GenerateRequest) -> str:
        seen.append(request)
        return ANSWER

    signal = Signal()
    await OnDevicePlanner(generate, actions=["final_answer"]).plan(CONTEXT, signal=signal)
    assert seen[0].schema == planner_schema([ActionKind.FINAL_ANSWER], [])
    assert seen[0].signal is signal


async def test_halves_of_characters_are_shown_as_such() -> None:
    """No vector can hold them: JSON readers refuse halves."""
    prompts: list[str] = []

    def generate(request: GenerateRequest) -> str:
        prompts.append(request.messages[1]["content"])
        return ANSWER

    steps = [ContextStep({"type": "stop"}, "\ude00 \ud83d\ude00 \ud83d")]
    await OnDevicePlanner(generate).plan(AgentContext(AgentProfile("helper"), "a\ud83d b", steps=steps))
    assert prompts == ["Task: a\ufffd b\nDone so far:\n1. stop{} -> \ufffd 😀 \ufffd\nNext action:"]


@pytest.mark.requirement("001-02", "an error of the generator passes through")
async def test_what_the_generator_raises_is_not_hidden() -> None:
    async def generate(_: GenerateRequest) -> str:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        await OnDevicePlanner(generate).plan(CONTEXT)


@pytest.mark.parametrize(
    "wrong",
    [{"actions": []}, {"actions": ["dance"]}, {"max_repair_attempts": -1}, {"max_prompt_tokens": 0}],
    ids=["no action", "unknown action", "negative repairs", "no room"],
)
def test_options_that_make_no_sense_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"[Aa]ction"):
        OnDevicePlanner(lambda _: ANSWER, **wrong)


async def test_the_stream_of_one_who_leaves_early_is_closed() -> None:
    closed = asyncio.Event()

    async def generate() -> AsyncIterator[str]:
        try:
            yield "{"
            yield "}"
        finally:
            closed.set()

    async with aclosing(OnDevicePlanner(lambda _: generate()).plan_stream(CONTEXT)) as chunks:
        assert await anext(chunks) == TextChunk("{")
    assert closed.is_set()


async def test_a_listener_that_fails_closes_the_stream() -> None:
    closed = asyncio.Event()

    async def generate() -> AsyncIterator[str]:
        try:
            yield "{"
        finally:
            closed.set()

    def fail(_: PlannerChunk) -> None:
        raise LookupError("nobody there")

    with pytest.raises(LookupError):
        await OnDevicePlanner(lambda _: generate()).plan(CONTEXT, on_chunk=fail)
    assert closed.is_set()


@pytest.mark.requirement("001-01", "a lane that gives up leaves the other its own result")
@pytest.mark.requirement("001-02", "a small planner's failure is its own")
@pytest.mark.requirement("001-03a", "two planners fit one protocol")
@pytest.mark.requirement("001-16", "both lanes are given one list of memories")
async def test_two_planners_share_nothing_but_the_memory_they_are_given() -> None:
    """Any planner fits the seam, and one that gives up leaves the other alone."""

    class LargePlanner:
        async def plan(self, context: AgentContext) -> Action:
            return Action("large", ActionKind.FINAL_ANSWER, {"content": context.memory[0]})

        async def plan_stream(self, context: AgentContext) -> AsyncIterator[PlannerChunk]:
            yield ActionChunk(await self.plan(context))

    context = AgentContext(AgentProfile("helper"), "say hi", memory=["likes tea"])
    prompts: list[str] = []

    def generate(request: GenerateRequest) -> str:
        prompts.append(request.messages[1]["content"])
        return "prose"

    lanes: list[Planner] = [OnDevicePlanner(generate), LargePlanner()]
    small, large = await asyncio.gather(*(lane.plan(context) for lane in lanes), return_exceptions=True)
    assert isinstance(small, OnDevicePlannerError)
    assert isinstance(large, Action)
    assert large.fields == {"content": "likes tea"}
    assert "- likes tea" in prompts[0]
