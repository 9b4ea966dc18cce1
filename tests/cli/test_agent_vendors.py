"""The agent with servers that speak chat completions in their own ways, over a real connection."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.adapters.inference.scripted import ScriptedBackend, in_order
from tests.agent.vectors import name_of, read_vectors
from tests.fakes.openai_server import CHAT, serving
from tests.harness.terminal import AgentCommand

SHAPES = [case for case in read_vectors("streams")["cases"] if any(delta.get("call") == 1 for delta in case["deltas"])]
"""What servers of several vendors send for two calls at once."""


def as_peeks(body: str) -> str:
    """The same with a tool that leaves a trace."""
    for tool in ("read_file", "list_directory"):
        body = body.replace(tool, "peek")
    return body.replace("path", "what")


def test_the_recorded_shapes_are_those_of_five_vendors_and_more() -> None:
    names = " ".join(case["name"] for case in SHAPES)
    assert len(SHAPES) >= 5
    assert all(vendor in names for vendor in ("OpenAI", "Gemini", "Ollama", "neither number nor id", "not streamed"))


@pytest.mark.parametrize("case", [case for case in SHAPES if '"now"' not in case["body"]], ids=name_of)
async def test_two_calls_in_any_vendors_shape_run_one_after_the_other_and_are_answered_together(
    tmp_path: Path, case: dict[str, Any]
) -> None:
    kind = "text/event-stream" if case["body"].startswith("data:") else "application/json"
    vendor = Vendor(as_peeks(case["body"]), says("Both.", finish_reason="stop"), first=kind)
    async with serving(vendor.app) as url:
        at = AgentCommand(tmp_path, url, ScriptedBackend(in_order()))
        code, out, err = await at.run("--single", "go")
        assert (code, out, at.effects()) == (0, "Both.\n", ["peek a", "peek b"]), err
        _, log, _ = await at.run("audit", "export", "-")
    events = [line["body"] for line in map(json.loads, log.splitlines()) if line["type"] == "leaf"]
    told = [each["event"] for each in events if each["event"].startswith("call:")]
    assert told == ["call:intended", "call:closed"] * 2, "the second is sent when the first has closed"
    # The whole conversation goes back, with a result for each call, in the order of the calls.
    shown = vendor.asked[1]["messages"]
    ids = [call["id"] for message in shown for call in message.get("tool_calls", ())]
    results = [message for message in shown if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in results] == ids
    assert [("peek a" in message["content"], "peek b" in message["content"]) for message in results] == [
        (True, False),
        (False, True),
    ]
    assert len(set(ids)) == 2


def event(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"


def says(text: str, **more: Any) -> str:
    return event({"choices": [{"index": 0, "delta": {"content": text}, **more}]})


def calls(id_: str, name: str, arguments: str, **more: Any) -> str:
    called = {"index": 0, "id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
    return event({"choices": [{"index": 0, "delta": {"tool_calls": [called]}, **more}]})


class Vendor:
    """A server that answers with these bodies, one after the other, and counts the requests."""

    def __init__(self, *bodies: str, first: str = "text/event-stream") -> None:
        """`first` is the content type of the first reply; the others are streamed."""
        self._bodies: Iterator[str] = iter(bodies)
        self._first = first
        self.asked: list[Mapping[str, Any]] = []
        routes = [Route("/v1/models", self._list), Route(CHAT, self._complete, methods=["POST"])]
        self.app = Starlette(routes=routes)

    async def _list(self, _request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "theirs", "object": "model"}]})

    async def _complete(self, request: Request) -> Response:
        self.asked.append(await request.json())
        kind = self._first if len(self.asked) == 1 else "text/event-stream"
        return Response(next(self._bodies), media_type=kind)


async def single(home: Path, vendor: Vendor, *arguments: str) -> tuple[int, str, str, list[str]]:
    """Ask one question: exit code, standard output, standard error, effects."""
    async with serving(vendor.app) as url:
        at = AgentCommand(home, url, ScriptedBackend(in_order()))
        code, out, err = await at.run("--single", "go", *arguments)
        return code, out, err, at.effects()


async def test_parallel_calls_that_all_have_the_number_0_run_once_each_for_one_request(tmp_path: Path) -> None:
    both = calls("a", "peek", '{"what":"one"}') + calls("b", "peek", '{"what":"two"}', finish_reason="tool_calls")
    vendor = Vendor(both, says("Both.", finish_reason="stop"))
    code, out, err, effects = await single(tmp_path, vendor)
    assert (code, out, effects, len(vendor.asked)) == (0, "Both.\n", ["peek one", "peek two"], 2), err


CUT_CALL = calls("a", "peek", '{"what":"lo', finish_reason="length")


async def test_a_call_that_is_cut_off_where_the_person_set_the_room_costs_one_request_and_names_the_option(
    tmp_path: Path,
) -> None:
    vendor = Vendor(CUT_CALL)
    code, out, err, effects = await single(tmp_path, vendor, "--max-tokens", "300")
    assert (code, effects, len(vendor.asked)) == (1, [], 1), err
    assert "--max-tokens" in out


async def test_a_call_that_is_cut_off_runs_once_when_it_is_whole(tmp_path: Path) -> None:
    whole = calls("a", "peek", '{"what":"long"}', finish_reason="tool_calls")
    vendor = Vendor(CUT_CALL, CUT_CALL, whole, says("Seen.", finish_reason="stop"))
    code, out, err, effects = await single(tmp_path, vendor)
    assert (code, out, effects) == (0, "Seen.\n", ["peek long"]), err
    first, second, third, answer = (asked["max_tokens"] for asked in vendor.asked)
    assert (first, second, answer) == (256, 1024, 256)
    # A server that does not say how much context it has is taken to have 4,096.
    assert 1024 < third < 4096


async def test_a_long_answer_comes_in_several_steps_and_is_one_text(tmp_path: Path) -> None:
    vendor = Vendor(says("One two thr", finish_reason="length"), says("three four.", finish_reason="stop"))
    code, out, err, _ = await single(tmp_path, vendor)
    assert (code, out) == (0, "One two three four.\n"), err
    assert "cut off" not in err


async def test_an_error_in_the_middle_is_said_in_the_servers_words(tmp_path: Path) -> None:
    broken = says("Hel") + event({"error": {"message": "CUDA out of memory", "type": "server_error"}})
    code, out, err, _ = await single(tmp_path, Vendor(broken, broken, broken))
    assert (code, out) == (1, "Hel …\n")
    assert "The model stopped with an error. (CUDA out of memory)" in err


async def test_a_reply_that_is_not_streamed_is_a_reply(tmp_path: Path) -> None:
    whole = json.dumps({"choices": [{"index": 0, "message": {"content": "Hello."}, "finish_reason": "stop"}]})
    vendor = Vendor(whole, first="application/json")
    code, out, err, _ = await single(tmp_path, vendor)
    assert (code, out, len(vendor.asked)) == (0, "Hello.\n", 1), err


async def test_a_key_that_is_refused_is_named(tmp_path: Path) -> None:
    async def refuse(_request: Request) -> Response:
        return JSONResponse({"error": {"message": "Incorrect API key provided: sk-secret"}}, 401)

    async with serving(Starlette(routes=[Route("/v1/models", refuse), Route(CHAT, refuse, methods=["POST"])])) as url:
        at = AgentCommand(tmp_path, url, ScriptedBackend(in_order()))
        code, out, err = await at.run("--single", "go", "--model-name", "theirs")
    assert (code, out) == (1, "")
    assert "COUNTERSIGN_MODEL_KEY" in err
    assert "sk-secret" not in err
