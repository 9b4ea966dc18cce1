"""A request of the loop in the words of the OpenAI-compatible interface."""

from __future__ import annotations

from typing import Any

from gateway.agent.ports import ChatMessage, ChatRequest


def completion_body(request: ChatRequest, model: str) -> dict[str, Any]:
    """The body of a POST to `/v1/chat/completions`: streamed, with the server's counts at the end."""
    body: dict[str, Any] = {
        "model": model,
        "messages": list(map(_with_image, request.messages)),
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.tools:
        body["tools"] = request.tools
    if request.schema is not None:
        schema = {"name": "step", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _with_image(message: ChatMessage) -> ChatMessage:
    """An image is named by the id of what was attached: the gateway puts in the bytes."""
    if "image" not in message:
        return message
    shown = {"type": "image_url", "image_url": {"url": f"attachment:{message['image']}"}}
    told = {name: value for name, value in message.items() if name != "image"}
    return {**told, "content": [{"type": "text", "text": message["content"]}, shown]}
