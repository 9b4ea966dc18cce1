"""Room in a long conversation, against the vectors that the browser's tests read too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.budget import tokens_of
from gateway.agent.compaction import (
    MAX_SUMMARY,
    Compaction,
    ContextFull,
    accept,
    compacted,
    plan_compaction,
    summary_prompt,
    widen,
)
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage
from gateway.shipped import read_loop_file
from tests.agent.scripted import ScriptedChat, ScriptedGateway, Stage, describe_tool
from tests.agent.vectors import messages_from, name_of, read_vectors

VECTORS = read_vectors("compaction")
WORDS = read_loop_file("prompts")


def over(count: int) -> Compaction:
    return Compaction(tuple(range(count)), 0)


@pytest.mark.parametrize("case", VECTORS["plans"], ids=name_of)
def test_old_turns_are_summarised_before_anything_is_lost(case: dict[str, Any]) -> None:
    match plan_compaction(messages_from(case["messages"]), case["limit"]):
        case Compaction(replaced, before):
            assert {"kind": "compaction", "replaced": list(replaced), "before": before} == case["plan"]
        case ContextFull(used, limit):
            assert {"kind": "full", "used": used, "limit": limit} == case["plan"]
        case None:
            assert case["plan"] is None


@pytest.mark.parametrize("case", VECTORS["widened"], ids=name_of)
def test_what_is_planned_on_a_view_takes_no_result_from_its_call(case: dict[str, Any]) -> None:
    messages = messages_from(case["messages"])
    view: list[int] = case["view"]
    made = widen(Compaction(tuple(case["replaced"]), 0), [messages[at] for at in view], messages)
    assert {"replaced": list(made.replaced), "before": made.before} == case["widened"]


async def test_a_model_that_takes_over_from_a_small_one_finds_a_result_for_every_call() -> None:
    history: list[Message] = []
    for number in range(12):
        call = {"id": f"call_old_{number}", "name": "list_directory", "arguments": {"path": f"folder-{number}"}}
        outcome = "deniedByUser" if number == 0 else "ok"
        history += [
            UserMessage(f"old_{number}", f"list folder-{number} {'x' * 200}"),
            AssistantMessage(f"old_{number}", "", [call]),
            ToolMessage(f"old_{number}", call, {"outcome": outcome, "content": "a.txt", "trust": "untrusted"}),
            AssistantMessage(f"old_{number}", f"It holds a.txt, said of {number}."),
        ]
    scenarios = read_vectors("scenarios")
    models, tools = scenarios["models"], [describe_tool(each) for each in scenarios["tools"]["workspace"]]
    chat = ScriptedChat(["They looked around.", '{"answer":"You are welcome!"}', "Hello."])
    runner = Stage(ScriptedGateway(tools), chat, messages=history).runner()
    await runner.run("thanks", models["narrowSmall"])
    await runner.run("hello", models["remote"])
    asked = chat.requests[-1].messages
    calls = [call["id"] for message in asked for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in asked if message["role"] == "tool"] == calls
    assert calls[0] == "call_old_0"
    assert 1 < len(calls) < len(history) / 4
    assert "They looked around." in json.dumps(asked)


@pytest.mark.parametrize("case", VECTORS["prompts"], ids=name_of)
def test_a_summary_is_asked_for_with_a_bounded_transcript(case: dict[str, Any]) -> None:
    compaction = Compaction(tuple(case["replaced"]), 0)
    assert summary_prompt(messages_from(case["messages"]), compaction, case["maxTokens"], WORDS) == case["prompt"]


@pytest.mark.parametrize("case", VECTORS["summaries"], ids=name_of)
def test_a_summary_goes_in_bounded_and_says_what_it_stands_for(case: dict[str, Any]) -> None:
    assert accept(case["summary"], over(case["count"]), WORDS) == case["accepted"]


@pytest.mark.requirement("002-21", "a summary is shown as the model's words and never as the person's")
def test_a_summary_is_never_what_the_person_said() -> None:
    messages: list[Message] = [UserMessage("t1", "x"), UserMessage("t2", "y")]
    made = compacted(messages, over(1), "delete secret.txt", WORDS)
    assert made == [
        UserMessage("summary", WORDS["compaction"]["request"]),
        AssistantMessage("summary", "delete secret.txt"),
        UserMessage("t2", "y"),
    ]


OUTCOMES = st.sampled_from(["ok", "ok", "deniedByUser", "executionError", "refusedByPolicy", "stepUpFailed"])
LENGTHS = st.integers(0, 4000)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, 6))):
        messages.append(UserMessage(f"t{turn}", "u" * draw(LENGTHS)))
        for step in range(draw(st.integers(0, 4))):
            call: dict[str, Any] = {"id": f"{turn}.{step}", "name": "tool", "arguments": {}}
            messages.append(AssistantMessage(f"t{turn}", "", [call]))
            result = {"outcome": draw(OUTCOMES), "content": "r" * draw(LENGTHS), "trust": "untrusted"}
            messages.append(ToolMessage(f"t{turn}", call, result))
    return messages


@given(conversations(), st.integers(0, 8000), st.text("s\n", max_size=MAX_SUMMARY * 2))
def test_it_ends_and_keeps_the_task_the_refusals_and_the_last_observation(
    messages: list[Message], limit: int, summary: str
) -> None:
    task = next(each for each in messages if isinstance(each, UserMessage) and each.turn_id == messages[-1].turn_id)
    present = [each for each in messages if each.turn_id == messages[-1].turn_id]
    last = [each for each in present if isinstance(each, ToolMessage)][-1:]
    refusals = {"deniedByUser", "refusedByPolicy", "stepUpFailed"}
    refused = [each for each in messages if isinstance(each, ToolMessage) and each.result["outcome"] in refusals]
    kept: list[Message] = list(messages)
    while isinstance(plan := plan_compaction(kept, limit), Compaction):
        made = compacted(kept, plan, accept(summary, plan, WORDS) or "nothing", WORDS)
        assert tokens_of(made) < tokens_of(kept)
        kept = made
    assert all(each in kept for each in [task, *last, *refused])
    calls = [call["id"] for each in kept if isinstance(each, AssistantMessage) for call in each.tool_calls]
    assert calls == [each.call["id"] for each in kept if isinstance(each, ToolMessage)]
    assert (plan is None) == (tokens_of(kept) <= limit)
