"""What a request of the loop looks like to an OpenAI-compatible server."""

from __future__ import annotations

from gateway.agent.completion_request import completion_body
from gateway.agent.messages import Tool
from gateway.agent.ports import ChatRequest, StopSignal

ASKED = [{"role": "user", "content": "hi"}]


def test_a_request_is_streamed_and_counted_and_says_no_more_than_it_needs() -> None:
    assert completion_body(ChatRequest(ASKED, 9, StopSignal()), "m") == {
        "model": "m",
        "messages": ASKED,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 9,
        "temperature": 0,
    }


def test_tools_and_a_schema_go_along_where_there_are_any() -> None:
    tools: list[Tool] = [{"type": "function", "function": {"name": "look"}}]
    body = completion_body(ChatRequest(ASKED, 9, StopSignal(), tools=tools, schema={"type": "object"}), "m")
    assert body["tools"] == tools
    schema = {"name": "step", "strict": True, "schema": {"type": "object"}}
    assert body["response_format"] == {"type": "json_schema", "json_schema": schema}


def test_an_image_is_named_by_the_id_of_what_was_attached() -> None:
    (asked, shown) = completion_body(ChatRequest([*ASKED, {**ASKED[0], "image": "res_1"}], 9, StopSignal()), "m")["messages"]
    assert asked == ASKED[0]
    image = {"type": "image_url", "image_url": {"url": "attachment:res_1"}}
    assert shown == {"role": "user", "content": [{"type": "text", "text": "hi"}, image]}
