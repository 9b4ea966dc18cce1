"""The loop as a whole, held to scenarios written by hand, which the tests of `web/src/agent` hold theirs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.agent.browser import as_json
from gateway.agent.events import (
    ActionsSplitEvent,
    AgentEvent,
    AssistantSaidEvent,
    ContextCondensedEvent,
    ContextFilledEvent,
    NoticeRaisedEvent,
    TextDiscardedEvent,
    TextStreamedEvent,
    TurnEndedEvent,
)
from gateway.agent.ports import ChatRequest
from tests.agent.scripted import COPY, WORDS, ScriptedChat, ScriptedGateway, Stage, describe_tool
from tests.agent.vectors import messages_from, name_of, read_vectors

SCENARIOS, CHAINED, FORESEEN = read_vectors("scenarios"), read_vectors("chained"), read_vectors("foreseen")
CASES = [*SCENARIOS["cases"], *CHAINED["cases"], *FORESEEN["cases"]]
MODELS = SCENARIOS["models"] | CHAINED["models"]
TOOLS = SCENARIOS["tools"] | CHAINED["tools"] | FORESEEN["tools"]

PROMPTS = {
    "chained": WORDS["chained"]["opening"],
    "action": WORDS["action"]["opening"],
    "report": WORDS["report"]["system"],
    "probe": WORDS["probe"]["system"],
    "summary": WORDS["compaction"]["system"],
    "native": "\n".join(WORDS["native"]["system"]),
}


class Trace:
    """What the loop did, as a scenario writes it."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.ending: dict[str, Any] = {}
        self._streamed = ""

    def note_event(self, event: AgentEvent) -> None:
        match event:
            case TextStreamedEvent(delta):
                self._streamed += delta
            case TextDiscardedEvent():
                if self._streamed:
                    self.steps.append({"takesBack": self._streamed})
                self._streamed = ""
            case AssistantSaidEvent(content):
                self.steps.append({"says": content})
                self._streamed = ""
            case ActionsSplitEvent(actions):
                self.steps.append({"splits": list(actions)})
            case ContextCondensedEvent():
                self.steps.append({"condenses": True})
            case ContextFilledEvent():
                self.steps.append({"fills": True})
            case NoticeRaisedEvent(text=text):
                self.steps.append({"notice": text})
            case TurnEndedEvent(ending, label):
                self.ending = {"ends": ending.value, "label": label}
            case _:
                pass

    def note_request(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "tools/invoke":
            self.steps.append({"calls": params["call"]["name"], "with": params["call"]["arguments"]})

    def note_model(self, request: ChatRequest) -> None:
        messages = [each["content"] for each in request.messages]
        prompt = next(name for name, opening in PROMPTS.items() if messages[0].startswith(opening))
        step = {"asks": prompt, "last": messages[-1], "messages": "\n".join(messages), "room": request.max_tokens}
        match prompt:
            case "action" | "chained":
                assert request.schema is not None
                calls = [each["properties"].get("tool", {}).get("const") for each in request.schema["oneOf"]]
                step["offers"] = [line.split("(")[0] for line in messages[0].splitlines() if "(" in line and " - " in line]
                assert set(calls) - {None} <= set(step["offers"])
                step["callable"] = [each for each in calls if each is not None]
                step["may"] = "answer" if not step["callable"] else "call"
            case "native":
                step["offers"] = [each["function"]["name"] for each in request.tools]
            case _:
                pass
        self.steps.append(step)


def reply_of(said: Any) -> Any:
    """What a scripted model says, from what a scenario writes of it."""
    if isinstance(said, str) or "fails" in said:
        return said
    if "calls" in said or "cut" in said:
        return {**said, "calls": [{"name": name, "arguments": text_of(given)} for name, given in said.get("calls", [])]}
    return as_json(said)


def lengthen(message: dict[str, Any]) -> dict[str, Any]:
    """A message of a history, with `word ×9` written out."""
    word, _, times = message.get("content", "").partition("×")
    return {**message, "content": word * int(times)} if times else message


def text_of(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else as_json(arguments)


def result_of(gives: Any) -> dict[str, Any]:
    if isinstance(gives, str):
        word, _, times = gives.partition("×")
        return {"outcome": "ok", "content": word * int(times or 1), "trust": "untrusted", "truncated": False}
    return {"content": "", "trust": "trusted", "truncated": False, **gives}


def named(text: Any) -> Any:
    """A text, or the sentence that `$name` stands for."""
    return COPY.say(text[1:]) if isinstance(text, str) and text.startswith("$") else text


def assert_step(step: dict[str, Any], expected: dict[str, Any]) -> None:
    if "asks" not in expected:
        assert step == {key: named(value) for key, value in expected.items() if key != "gives"}
        return
    assert step.get("asks") == expected["asks"]
    if "last" in expected:
        assert step["last"] == expected["last"]
    if "may" in expected:
        assert step["may"] == expected["may"]
    if "callable" in expected:
        assert step["callable"] == expected["callable"]
    if "offers" in expected:
        assert step["offers"] == expected["offers"]
    if "room" in expected:
        assert step["room"] == expected["room"]
    shown: str = step["messages"]
    for text in expected.get("shows", ()):
        assert text in shown
    for text in expected.get("hides", ()):
        assert text not in shown


@pytest.mark.requirement("004-02", "both runners do what each written scenario says, request by request")
@pytest.mark.requirement("004-03", "each step is picked, sent, reported and counted in the same order")
@pytest.mark.requirement("004-04", "eight calls are the most, and the person is told calmly")
@pytest.mark.requirement("004-07", "a focus fills the second step of a message, and `it` in a later one")
@pytest.mark.requirement("003-01", "plans in prose and silence of a model end in calm words")
@pytest.mark.requirement("003-05", "a respond call becomes words, then the end of the turn")
@pytest.mark.requirement("003-06", "a respond without words ends the turn, and nothing is sent to the gateway")
@pytest.mark.requirement("003-08", "a turn without tools and a turn with calls go as without respond")
@pytest.mark.parametrize("case", CASES, ids=name_of)
async def test_the_loop_does_what_the_scenario_says(case: dict[str, Any]) -> None:
    trace = Trace()
    replies = [reply_of(step["replies"]) for step in case["steps"] if "asks" in step]
    results = [result_of(step["gives"]) for step in case["steps"] if "calls" in step]
    stage = Stage(
        ScriptedGateway([describe_tool(each) for each in TOOLS[case["tools"]]], results, note=trace.note_request),
        ScriptedChat(replies, note=trace.note_model),
        messages=messages_from([lengthen(each) for each in case.get("history", [])]),
        hear=trace.note_event,
    )
    await stage.runner().run(case["says"], MODELS[case["model"]])
    for step, expected in zip(trace.steps, case["steps"], strict=False):
        assert_step(step, expected)
    assert len(trace.steps) == len(case["steps"]), trace.steps[len(case["steps"]) :]
    assert trace.ending == {"ends": case["ends"], "label": case["label"]}
