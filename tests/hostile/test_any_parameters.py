"""Parameters that fit the contract and mean nothing: every method answers them with a result or an error that says why."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
import pytest_asyncio
from websockets.exceptions import InvalidStatus

from gateway.core.canonical import Json
from gateway.protocol.closing import CloseCause
from gateway.protocol.frames import AGENT, CONSOLE, Dialect
from tests.harness.person import Person
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene, make_gateway

pytestmark = pytest.mark.asyncio(loop_scope="module")

INTERNAL_ERROR = -32603

SESSION_OVER = frozenset({CloseCause.SESSION_EXPIRED.code, CloseCause.SESSION_ENDED.code})

LEFT_OUT = frozenset({"policy/freeze", "passkeys/remove"})
"""After these nobody could call anything any more."""

TEXTS = (
    "",
    "\0",
    "a",
    "../../etc/passwd",
    "\u202e\u200b",
    "\U0001f600" * 40,
    "é" * 300,
    "x" * 5_000,
    "%00%2e%2e",
    "' OR 1=1 --",
    "{{7*7}}",
    "1970-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "0000-00-00T00:00:00Z",
    "-1",
    "1e400",
    "public",
    "default.cedar",
    "file:///etc/passwd",
    "http://[::1]:1/",
    "A" * 22,
    "*",
    "\n",
)
NUMBERS = (0, 1, -1, 2, 7, 50, 1000, 2**31, 2**53 - 1, -(2**53) + 1)


ANYTHING: tuple[Json, ...] = (None, True, 1, "x", [], {}, [[{}]], {"a": {"b": [1, None]}})

SEEDS = 3


class Shape:
    """Values that a JSON schema allows, drawn with a seed."""

    def __init__(self, root: Mapping[str, Any], choice: random.Random, known: Mapping[str, list[str]]) -> None:
        self._definitions = root.get("$defs", {})
        self._choice = choice
        self._known = known

    def draw(self, schema: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
        choice = self._choice
        if "$ref" in schema:
            return self.draw(self._definitions[schema["$ref"].rpartition("/")[2]], name, depth)
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return self.draw(choice.choice(schema[union]), name, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return choice.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                least, most = schema.get("minItems", 0), min(schema.get("maxItems", 4), 4)
                count = choice.randint(least, max(least, most))
                return [self.draw(schema.get("items", {}), name, depth + 1) for _ in range(count)]
            case "string":
                return self._text(schema, name)
            case "integer" | "number":
                least, most = schema.get("minimum", -(2**53) + 1), schema.get("maximum", 2**53 - 1)
                return choice.choice([number for number in (*NUMBERS, least, most) if least <= number <= most])
            case "boolean":
                return choice.random() < 0.5
            case "null":
                return None
            case _:
                return choice.choice(ANYTHING)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        choice, required = self._choice, schema.get("required", ())
        given = {
            name: self.draw(member, name, depth + 1)
            for name, member in schema.get("properties", {}).items()
            if name in required or choice.random() < 0.5
        }
        free = schema.get("additionalProperties", False)
        if free is not False and not schema.get("properties"):
            for _ in range(choice.randrange(3)):
                given[choice.choice(TEXTS)] = self.draw({} if free is True else free, "", depth + 1)
        return given

    def _text(self, schema: Mapping[str, Any], name: str) -> str:
        choice = self._choice
        known = self._known.get(name, [])
        if known and choice.random() < 0.7:
            return choice.choice(known)
        least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
        fitting = [text for text in TEXTS if least <= len(text) <= most and _fits(schema, text)]
        return choice.choice(fitting) if fitting else "a" * least


def _fits(schema: Mapping[str, Any], text: str) -> bool:
    return "pattern" not in schema or re.search(schema["pattern"], text) is not None


def _strings(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text of an answer, with the member that it is in."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, list):
        for each in cast("list[Json]", value):
            yield from _strings(each, name)
    elif isinstance(value, dict):
        for key, each in cast("dict[str, Json]", value).items():
            yield from _strings(each, key)


@pytest_asyncio.fixture(loop_scope="module")
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """One of its own: the calls end sessions, remove sources and change the policy."""
    gateway = make_gateway(tmp_path)
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    yield Scene(gateway, ada, await ada.agent(), await ada.console())
    await ada.leave()
    assert await gateway.stop() == 0, gateway.output
    assert "Traceback" not in gateway.output, gateway.output


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("site", ["agent", "console"])
async def test_every_method_answers_whatever_fits_its_parameters(scene: Scene, site: str, seed: int) -> None:
    dialect: Dialect = AGENT if site == "agent" else CONSOLE
    choice = random.Random(f"{site} {seed}")
    person = scene.ada
    turn = await scene.begin()
    await turn.invoke("peek", {"what": "tea"})
    await turn.start("note", {"what": "milk"})
    known: dict[str, list[str]] = {"conversationId": [turn.conversation_id], "turnId": [turn.snapshot["turnId"]]}
    own = (await scene.console.call("session/describe"))["session"]["principal"]

    async def open_socket() -> Socket:
        connect = person.agent if site == "agent" else person.console
        try:
            return await connect()
        except InvalidStatus:
            # One of the calls ended the session.
            assert (await person.sign_in()).status == 204
            assert (await person.open_shell()).status in (302, 303)
            return await connect()

    socket = await open_socket()
    found: list[str] = []
    methods = [name for name in dialect.methods if name not in LEFT_OUT]
    for method in choice.sample(methods * 4, len(methods) * 4):
        schema = dialect.methods[method].params.model_json_schema()
        params = Shape(schema, choice, known).draw(schema)
        if own in orjson.dumps(params).decode():
            continue
        try:
            answer = await socket.call(method, params)
        except RpcError as error:
            if error.code == INTERNAL_ERROR:
                found.append(f"{method} {str(params)[:300]}: {error.error}")
            continue
        except ConnectionError:
            closed = await socket.wait_closed()
            if closed[0] not in SESSION_OVER:
                found.append(f"{method} {str(params)[:300]}: closed {closed}")
            socket = await open_socket()
            continue
        except TimeoutError:
            found.append(f"{method} {str(params)[:300]}: no answer")
            continue
        for name, text in _strings(answer):
            if (name.endswith("Id") or name in ("id", "version", "digest")) and text != own:
                for alias in (name, f"{method.split('/')[0][:-1]}Id") if name == "id" else (name,):
                    if text not in known.setdefault(alias, []) and len(known[alias]) < 50:
                        known[alias].append(text)
    assert found == []


@pytest.mark.parametrize("name", ["", "9999-12-31", "read file", "\U0001f600", "../x", "a" * 64])
async def test_a_call_of_a_tool_whose_name_none_can_have_leaves_its_conversation_readable(scene: Scene, name: str) -> None:
    turn = await scene.begin()
    assert (await turn.invoke(name, {}))["outcome"] == "unknownTool"
    opened = await scene.shell.call("conversations/open", {"conversationId": turn.conversation_id})
    assert opened["messages"][-1]["tool"] == name
    exported = await scene.shell.call("conversations/export", {"conversationId": turn.conversation_id})
    assert exported["messages"] == opened["messages"]
    forked = await scene.shell.call("conversations/fork", {"conversationId": turn.conversation_id, "fromTurn": 1})
    assert [message["tool"] for message in forked["messages"] if "tool" in message] == [name]
