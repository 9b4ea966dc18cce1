"""`/v1`: OpenAI-shaped requests of a turn, under the token of `inference/token`.

The token decides the model and the tools. A request may declare fewer tools than the turn's snapshot, never others, and
never with another schema: the tools that the model gets are the tools that the gate accepts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast

import orjson
from starlette.responses import Response

from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import TooManyRequests
from gateway.core.local_tools import RESPOND
from gateway.core.model import Snapshot
from gateway.core.vocabulary import InferenceRefusal, PermissionMode
from gateway.runtime.inference import Lease
from gateway.server.answers import KeptReply, LiveAnswer
from gateway.server.parts import RequestContext
from gateway.server.relay import BYTES_PER_TOKEN, REVOKED, Relay
from gateway.server.responses import HttpError, answer, refuse_as_openai
from gateway.server.shown_images import TOKENS_PER_IMAGE, judge_parts, put_in

_CHAT = frozenset(
    {
        # OpenAI's chat completions, without the parameters that declare tools in another way (`functions`, `web_search_options`).
        *("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "n", "stop", "seed"),
        *("max_tokens", "max_completion_tokens", "temperature", "top_p", "frequency_penalty", "presence_penalty"),
        *("response_format", "logit_bias", "logprobs", "top_logprobs", "user", "reasoning_effort"),
        # llama.cpp's server, without the parameters that affect other requests' slots, adapters or files.
        *("top_k", "min_p", "repeat_penalty", "cache_prompt", "grammar", "json_schema", "chat_template_kwargs"),
    }
)
CHAT = "/v1/chat/completions"
_EMBEDDINGS = frozenset({"model", "input", "encoding_format", "dimensions", "user"})
_LIMITS = ("max_tokens", "max_completion_tokens")

_BUSY = HttpError(429, "too_many_requests", "this session has enough answers under way", headers={"retry-after": "1"})


def _bad(code: str, message: str) -> HttpError:
    return HttpError(400, code, message)


async def complete_chat(context: RequestContext) -> Response:
    """`POST /v1/chat/completions`, streamed or whole."""
    return await _relay(context, CHAT, _judge_chat(context.body, context.lease))


async def embed(context: RequestContext) -> Response:
    """`POST /v1/embeddings`."""
    return await _relay(context, "/v1/embeddings", _judge_embedding(context.body, context.lease))


async def list_models(context: RequestContext) -> Response:
    """`GET /v1/models`: the one model that the token is for."""
    model = context.lease.model
    entry = {"id": model.id, "object": "model", "owned_by": model.backend, "created": 0}
    return answer({"object": "list", "data": [entry]})


async def _relay(context: RequestContext, path: str, judged: dict[str, Json] | HttpError) -> Response:
    lease, broker, streams = context.lease, context.parts.inference, context.parts.streams
    if isinstance(judged, HttpError):
        return await _refuse(context, judged, InferenceRefusal.REQUEST)
    images = judge_parts(judged.get("messages", []))
    if isinstance(images, HttpError):
        return await _refuse(context, images, InferenceRefusal.REQUEST)
    prompt_tokens = len(orjson.dumps(judged)) // BYTES_PER_TOKEN + len(images) * TOKENS_PER_IMAGE
    fault = await put_in(images, lease, context.parts.attachments)
    if fault is not None:
        return await _refuse(context, fault, InferenceRefusal.REQUEST)
    # Once more: the body took its time to arrive.
    if not broker.stands(lease):
        return await _refuse(context, REVOKED, InferenceRefusal.TOKEN)
    # Encoded again from the checked values, so that another parser cannot read the body differently.
    body = orjson.dumps(judged)
    is_stream = path == CHAT and judged.get("stream") is True
    # A page that was loaded again may write the same members in another order.
    asked = orjson.dumps(judged, option=orjson.OPT_SORT_KEYS)
    kept = streams.take_up(lease.turn.id, asked, broker) if is_stream else None
    if kept is not None:
        return KeptReply(kept, lease)
    place = streams.take_place(lease.session.id)
    if place is None:
        return await _refuse(context, _BUSY, InferenceRefusal.QUOTA)
    answer_tokens = max((int(judged[name]) for name in _LIMITS if name in judged), default=0)
    try:
        reserved = await broker.reserve_tokens(lease, prompt_tokens + answer_tokens)
    except TooManyRequests as refusal:
        place.leave()
        return await _refuse(context, HttpError(429, "quota_exceeded", refusal.message), InferenceRefusal.QUOTA)
    except BaseException:
        place.leave()
        raise
    # The model is asked while that becomes durable. It is in a task of its own, which ends also where nobody reads the answer.
    recorded = asyncio.ensure_future(broker.record_reserved(lease, reserved))
    nonce = broker.begin(lease) if path == CHAT else ""
    answer = LiveAnswer(lease, asked) if is_stream else None
    return Relay(
        broker=broker,
        streams=streams,
        place=place,
        lease=lease,
        path=path,
        body=body,
        nonce=nonce,
        recorded=recorded,
        answer=answer,
    )


async def _refuse(context: RequestContext, fault: HttpError, reason: InferenceRefusal) -> Response:
    await context.parts.inference.refuse(context.lease, reason)
    return refuse_as_openai(fault)


def _judge_members(body: Json, lease: Lease, known: frozenset[str]) -> dict[str, Json] | HttpError:
    if not isinstance(body, dict):
        return _bad("invalid_params", "the body is not an object")
    asked = cast("dict[str, Json]", body)
    unknown = sorted(set(asked) - known)
    if unknown:
        return _bad("unknown_parameter", f"`{unknown[0][:64]}` is not taken here")
    if asked.get("model", lease.model.id) != lease.model.id:
        return _bad("model_not_in_token", "this token is for another model")
    return {**asked, "model": lease.model.id}


def _judge_embedding(body: Json, lease: Lease) -> dict[str, Json] | HttpError:
    asked = _judge_members(body, lease, _EMBEDDINGS)
    if isinstance(asked, HttpError):
        return asked
    given = asked.get("input")
    texts = cast("list[Json]", given) if isinstance(given, list) else [given]
    # llama.cpp's server takes objects with media here, which nobody attached and no record has.
    if not texts or not all(isinstance(text, str) for text in texts):
        return _bad("invalid_params", "`input` is text, or a list of texts")
    return asked


def _judge_chat(body: Json, lease: Lease) -> dict[str, Json] | HttpError:
    asked = _judge_members(body, lease, _CHAT)
    if isinstance(asked, HttpError):
        return asked
    if not asked.get("messages"):
        return _bad("invalid_params", "`messages` must hold at least one message")
    if type(asked.get("stream", False)) is not bool:
        return _bad("invalid_params", "`stream` must be true or false")
    if asked.get("n", 1) != 1:
        return _bad("invalid_params", "`n` must be 1")
    for name in _LIMITS:
        limit = asked.get(name, 1)
        if type(limit) is not int or limit < 1:
            return _bad("invalid_params", f"`{name}` must be a positive integer")
    tools = asked.get("tools", [])
    if not isinstance(tools, list):
        return _bad("invalid_params", "`tools` must be an array")
    for tool in cast("list[Json]", tools):
        fault = _judge_tool(tool, lease.turn.snapshot)
        if fault is not None:
            return fault
    return _bounded(asked, lease.model.output_tokens)


def _judge_tool(tool: Json, snapshot: Snapshot | None) -> HttpError | None:
    match tool:
        case {"type": "function", "function": {"name": str(name), **rest}}:
            declared = cast("Mapping[str, Json]", rest)
        case _:
            return _bad("invalid_params", "each of `tools` must be a function with a name")
    published = None if snapshot is None else snapshot.by_name.get(name)
    if published is None:
        # The loop may declare its pseudo-tool to the model where it is not published; the gateway never runs it.
        is_local = name == RESPOND.name and canonical_bytes(declared.get("parameters")) == canonical_bytes(RESPOND.param_schema)
        return None if is_local else _not_in_snapshot(name, "is not in this turn's snapshot")
    if published.permission is PermissionMode.FORBIDDEN:
        return _not_in_snapshot(name, "may not be called in this turn")
    if canonical_bytes(declared.get("parameters")) != canonical_bytes(published.spec.param_schema):
        return _not_in_snapshot(name, "has another schema in this turn's snapshot")
    return None


def _not_in_snapshot(name: str, why: str) -> HttpError:
    return _bad("tool_not_in_snapshot", f"`{name[:64]}` {why}")


def _bounded(asked: dict[str, Json], output_tokens: int) -> dict[str, Json]:
    """The body with an upper limit of generated tokens: without one, llama.cpp generates until its context is full."""
    if output_tokens < 1:
        return asked
    limits = {name: min(asked[name], output_tokens) for name in _LIMITS if name in asked}
    return {**asked, **(limits or {"max_tokens": output_tokens})}
