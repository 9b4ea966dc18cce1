"""The loop as a whole, against the traces that the browser's tests hold theirs to. Requirements 000-02, 000-04, 000-07, 004-01,
004-02, 004-03, 004-04, 004-05, 004-06, 004-08, 004-10."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

import orjson
import pytest
from pydantic.alias_generators import to_camel

from gateway.agent import events
from gateway.agent.events import AgentEvent, TextStreamed
from gateway.agent.intents import probe_prompt
from gateway.agent.messages import ToolMessage
from gateway.agent.ports import ChatRequest
from gateway.agent.prompts import action_prefix, report_prompt
from tests.agent.scripted import WORDS, ScriptedChat, ScriptedGateway, Stage
from tests.agent.vectors import messages_from, name_of, read_vectors

VECTORS = read_vectors("runner")

NOISE = {"conversationId", "turnId", "snapshotId", "snapshotDigest", "model", "tools", "tool"}
OUTSIDE = {"inference/token", "session/describe"}

NAMES = {
    events.TurnBegun: "turn:begun",
    events.TurnEnded: "turn:ended",
    events.ActionsSplit: "actions:split",
    events.ActionBegun: "action:begun",
    events.ModelAsked: "model:asked",
    events.ModelWaitedFor: "model:waited-for",
    events.TextStreamed: "text:streamed",
    events.TextDiscarded: "text:discarded",
    events.AssistantSaid: "assistant:said",
    events.CallProposed: "call:proposed",
    events.CallSent: "call:sent",
    events.CallClosed: "call:closed",
    events.TokensCounted: "tokens:counted",
    events.ContextCondensed: "context:condensed",
    events.ContextFilled: "context:filled",
    events.ContextTrimmed: "context:trimmed",
    events.NoticeRaised: "notice:raised",
}


class Trace:
    """What happened, as a vector writes it."""

    def __init__(self, tools: list[dict[str, Any]], model: dict[str, Any]) -> None:
        self.entries: list[dict[str, Any]] = []
        offered = [tool for tool in tools if tool["permission"] != "forbidden" and not tool.get("local")]
        nothing = ToolMessage("", {"id": "", "name": "", "arguments": {}}, {"outcome": ""})
        self._beginnings = {
            "action": action_prefix(offered, WORDS, more=model.get("more", False)),
            "report": report_prompt("", nothing, "", WORDS)[:-1],
            "probe": probe_prompt(WORDS, "")[:-1],
        }

    def told(self) -> list[dict[str, Any]]:
        """What is compared. Estimated counts are left out: they follow the words of the prompts."""
        is_estimated = any(map(is_estimate, self.entries))
        return [
            {"gateway": "turns/end"} if "usage" in each and is_estimated else without_the_rest_of_a_result(each)
            for each in self.entries
            if not is_estimate(each)
        ]

    def note_event(self, event: AgentEvent) -> None:
        last = self.entries[-1].get("event") if self.entries else None
        if isinstance(event, TextStreamed) and last is not None and last["type"] == "text:streamed":
            last["delta"] += event.delta
            return
        members = {to_camel(each.name): getattr(event, each.name) for each in fields(event)}
        self.entries.append({"event": {"type": NAMES[type(event)], **quiet(members)}})

    def note_request(self, method: str, params: Mapping[str, Any]) -> None:
        if method not in OUTSIDE:
            self.entries.append({"gateway": method, **quiet(params)})

    def note_model(self, request: ChatRequest) -> None:
        messages = list(request.messages)
        prefix = next((name for name, beginning in self._beginnings.items() if messages[: len(beginning)] == beginning), None)
        rest = messages if prefix is None else messages[len(self._beginnings[prefix]) :]
        asked: dict[str, Any] = {"prefix": prefix, "messages": rest}
        if request.schema is not None:
            asked["schema"] = request.schema
        if request.tools:
            asked["tools"] = [tool["function"]["name"] for tool in request.tools]
        self.entries.append({"model": {**asked, "maxTokens": request.max_tokens}})


def is_estimate(entry: dict[str, Any]) -> bool:
    event = entry.get("event", {})
    return event.get("type") == "tokens:counted" and not event["exact"]


def quiet(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in members.items() if name not in NOISE and value is not None}


def plain(value: Any) -> Any:
    """As JSON: tuples and enums become what they stand for."""
    return orjson.loads(orjson.dumps(value))


def test_every_event_has_its_name_in_the_browser() -> None:
    assert set(NAMES) == set(get_args(events.AgentEvent))


def without_the_rest_of_a_result(entry: dict[str, Any]) -> dict[str, Any]:
    """An event's result as far as the script gives it: the gateway of the browser's tests adds members that say nothing here."""
    event = entry.get("event", {})
    if event.get("type") != "call:closed":
        return entry
    kept = {"outcome", "reason", "error", "content", "trust", "truncated"}
    return {"event": {**event, "result": {name: value for name, value in event["result"].items() if name in kept}}}


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
async def test_both_languages_do_the_same(case: dict[str, Any]) -> None:
    tools = VECTORS["tools"][case["tools"]]
    model = VECTORS["models"][case["model"]]
    trace = Trace(tools, model)
    stage = Stage(
        ScriptedGateway(tools, case["results"], note=trace.note_request),
        ScriptedChat(case["replies"], note=trace.note_model),
        messages=messages_from(case.get("history", [])),
        hear=trace.note_event,
    )
    await stage.runner().run(case["says"], model)
    assert trace.told() == [without_the_rest_of_a_result(each) for each in case["trace"]]
