"""The stub model: fixed rules, the same answer to the same words."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from gateway.adapters.inference.factory import ModelChoice, build_backend
from gateway.adapters.inference.stub import LONGEST, STUB, UNKNOWN, answer_by_rules, stub_backend
from tests.fakes.clock import FakeClock

BUILT_IN: dict[str, list[str]] = {
    "list_directory": ["path"],
    "read_file": ["path"],
    "search_files": ["query"],
    "write_file": ["path", "content"],
    "delete_file": ["path"],
    "http_get": ["url"],
    "system_status": [],
}


SAID: list[tuple[str, tuple[str, dict[str, str]] | None]] = [
    ("what is in notes/?", ("list_directory", {"path": "notes/"})),
    ("Please list the files.", ("list_directory", {"path": "."})),
    ("read the file notes/todo.txt", ("read_file", {"path": "notes/todo.txt"})),
    ("search for `Ana` in notes", ("search_files", {"query": "Ana", "path": "notes"})),
    ('write "milk; then eggs" to notes/list.txt', ("write_file", {"content": "milk; then eggs", "path": "notes/list.txt"})),
    ("read `my notes/b c.txt`", ("read_file", {"path": "my notes/b c.txt"})),
    ('write milk to "my list.txt"', ("write_file", {"content": "milk", "path": "my list.txt"})),
    ("delete notes/old.txt", ("delete_file", {"path": "notes/old.txt"})),
    ("get https://example.com/a?b=c", ("http_get", {"url": "https://example.com/a?b=c"})),
    ("show the system status", ("system_status", {})),
    ('read_file {"path": "a b"}', ("read_file", {"path": "a b"})),
    ("asdf qwer", None),
    ("explain photosynthesis", None),
    ('read_file {"path": ', None),
    ("read_file [1]", ("read_file", {"path": "[1]"})),
    ("", None),
]

SILENT: list[dict[str, Any]] = [
    {},
    {"messages": []},
    {"messages": [3, {"role": 4}, {"role": "user"}], "tools": [None, {"function": {}}, {"function": 7}]},
]


def asked(*messages: tuple[str, str], tools: dict[str, list[str]] = BUILT_IN) -> dict[str, Any]:
    declared = [
        {"type": "function", "function": {"name": name, "parameters": {"required": needs}}} for name, needs in tools.items()
    ]
    return {"messages": [{"role": role, "content": content} for role, content in messages], "tools": declared}


def call_for(message: str, **tools: list[str]) -> tuple[str, Any] | None:
    calls = answer_by_rules(asked(("user", message), tools=tools or BUILT_IN)).calls
    return (calls[0][0], dict(calls[0][1])) if calls else None


@pytest.mark.requirement("002-79", "the stub proposes the call that plain words ask for, the same one every time")
@pytest.mark.parametrize(
    ("message", "call"),
    SAID,
)
def test_plain_words_become_calls(message: str, call: tuple[str, Any] | None) -> None:
    assert call_for(message) == call
    assert call_for(message) == call


def test_a_tool_of_ones_own_is_called_by_its_name() -> None:
    assert call_for("use echo hello there", echo=["text"], echo_twice=["text"]) == ("echo", {"text": "hello there"})
    assert call_for("echo_twice with hello", echo=["text"], echo_twice=["text"]) == ("echo_twice", {"text": "hello"})
    assert call_for("now", now=[]) == ("now", {})
    assert call_for("send hello", send=["to", "text"]) is None


def test_a_tool_that_is_not_declared_is_not_called() -> None:
    assert call_for("delete notes/old.txt", read_file=["path"]) is None


def test_several_wishes_are_done_one_after_the_other_and_the_last_result_is_told() -> None:
    said = [("user", "read a.txt then delete a.txt")]
    assert answer_by_rules(asked(*said)).calls == (("read_file", {"path": "a.txt"}),)
    said += [("assistant", ""), ("tool", "one")]
    assert answer_by_rules(asked(*said)).calls == (("delete_file", {"path": "a.txt"}),)
    said += [("assistant", ""), ("tool", '<tool_result tool="delete_file">\ngone\n</tool_result>')]
    reply = answer_by_rules(asked(*said))
    assert (reply.calls, reply.text) == ((), "The last of 2 results:\ngone")


def test_what_was_said_before_does_not_count() -> None:
    assert answer_by_rules(asked(("user", "delete a.txt"), ("tool", "deleted"), ("user", "thank you"))).text == UNKNOWN


@pytest.mark.parametrize("body", SILENT, ids=["empty", "silent", "misshapen"])
def test_a_request_that_says_nothing_gets_the_rules(body: dict[str, Any]) -> None:
    assert answer_by_rules(body).text == UNKNOWN


@pytest.mark.parametrize("piece", ["write  ", "search for in ", "read ; "])
def test_a_message_longer_than_the_rules_read_is_left_alone(piece: str) -> None:
    assert call_for(piece * LONGEST) is None


async def test_it_is_a_local_backend_that_keeps_nothing() -> None:
    backend = stub_backend()
    body = orjson.dumps({"messages": [{"role": "user", "content": "hello"}]})
    async with asyncio.timeout(10), backend.ask("/v1/chat/completions", body) as answer:
        assert b"stub model" in b"".join([chunk async for chunk in answer.chunks()])
    assert not backend.asked
    assert list(await backend.models()) == [STUB]
    assert STUB.local


async def test_the_setting_names_it(tmp_path: Any) -> None:
    backend = build_backend(ModelChoice("stub", tmp_path, tmp_path), FakeClock())
    assert [model.id for model in await backend.models()] == ["stub:1"]


def test_what_failed_is_said_in_words_and_not_in_those_of_the_protocol() -> None:
    messages = (
        ("user", "list nowhere/"),
        ("tool", '<tool_result tool="list_directory">\ntoolError: there is no nowhere\n</tool_result>'),
    )
    assert answer_by_rules(asked(*messages)).text == "That did not work: there is no nowhere"
