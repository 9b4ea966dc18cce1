"""An auditor reads and can do nothing else: everything that the gateway answers is tried as one, from its own tables, with
parameters that fit and name what there is, so that a method or an endpoint which is added cannot be forgotten here."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio
from websockets.exceptions import InvalidStatus

from gateway.core.errors import InvalidParams
from gateway.protocol.codec import admit
from gateway.protocol.frames import AGENT, CONSOLE
from gateway.protocol.wire import Wire
from gateway.server.access import Permission, Site
from gateway.server.routes import ROWS, Row
from tests.harness.person import Person
from tests.harness.socket import RpcError, Socket
from tests.hostile.test_any_parameters import Shape
from tests.scenarios.conftest import Scene, make_gateway
from tests.scenarios.staging import finish

pytestmark = pytest.mark.asyncio(loop_scope="module")

READS = frozenset(
    {
        "session/describe",
        "audit/list",
        "audit/verify",
        "audit/calls",
        "audit/count",
        "audit/choices",
        "audit/call",
        "audit/conversations",
        "audit/compare",
        "audit/load",
        "audit/models",
        "audit/sinks",
    }
)
"""Methods of the console that an auditor has. None of them puts anything on record."""

OPEN = frozenset({"/signout", "/receipt", "/export", "/ws"})
"""Endpoints of the console that take a session and are an auditor's too."""

TELLS = frozenset({"session/ended", "policy/changed"})
"""What an auditor's console is told by itself."""

FITTING = {
    **{name: ["0" * 64] for name in ("digest", "settingsDigest", "pin", "base", "version")},
    "servers": ["notes"],
    "publicKey": ["A" * 87],
    "auth": ["A" * 22],
}
"""Texts of a form that is not met by chance."""

TRIES = 500


@pytest_asyncio.fixture(loop_scope="module")
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """One of its own: nothing but these tests puts anything on record."""
    gateway = make_gateway(tmp_path)
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    yield Scene(gateway, ada, await ada.agent(), await ada.console())
    await ada.leave()
    assert await gateway.stop() == 0, gateway.output
    assert "Traceback" not in gateway.output, gateway.output


async def arrive_as_auditor(scene: Scene) -> Person:
    ida = Person.at(scene.gateway)
    assert (await ida.enrol(await scene.offer("Ida", "auditor"), "Ida")).status == 204
    return ida


def fitting(shape: type[Wire], choice: random.Random, known: Mapping[str, list[str]]) -> dict[str, Any]:
    """Parameters that the contract allows."""
    schema = shape.model_json_schema()
    for _ in range(TRIES):
        drawn = Shape(schema, choice, known).draw(schema)
        try:
            admit(shape, drawn)
        except InvalidParams:
            continue
        # No frame may hold one.
        if "\0" not in _text(drawn):
            return drawn
    raise AssertionError(f"no parameters fit {shape.__name__}: say here what does")


def _text(value: Any) -> str:
    return orjson.dumps(value).decode().replace("\\u0000", "\0")


async def size_of(scene: Scene) -> int:
    return (await scene.console.call("audit/list"))["size"]


async def refusal_of(console: Socket, method: str, params: Mapping[str, Any]) -> str:
    try:
        await console.call(method, params)
    except RpcError as error:
        return error.error["data"]["code"]
    return "answered"


@pytest.mark.requirement("002-33", "an auditor has no method and no endpoint but those that read")
async def test_case_296_everything_in_the_tables_is_refused_to_an_auditor(scene: Scene) -> None:
    turn = await scene.begin()
    asking = await turn.start("erase", {"what": "rest"}, "asked")
    approval_id = await scene.asked("asked")
    person = (await scene.console.call("session/describe"))["session"]
    ida = await arrive_as_auditor(scene)
    console = await ida.console()
    known = {
        **FITTING,
        "approvalId": [approval_id],
        "conversationId": [turn.conversation_id],
        "turnId": [turn.snapshot["turnId"]],
        "callId": ["asked"],
        "principalId": [person["principal"]],
        "sessionId": [each["id"] for each in (await scene.console.call("sessions/list"))["sessions"]],
        "passkeyId": [each["id"] for each in (await scene.console.call("passkeys/list"))["passkeys"]],
    }
    choice, before = random.Random(296), await size_of(scene)

    # ── the console's socket ──
    said: dict[str, set[str]] = {}
    for method, shape in CONSOLE.methods.items():
        if method not in READS:
            said[method] = {await refusal_of(console, method, fitting(shape.params, choice, known)) for _ in range(3)}
    assert {method: codes for method, codes in said.items() if codes != {"auditorReadsOnly"}} == {}

    # ── what an agent's socket speaks is no method of the console's ──
    foreign = AGENT.methods.keys() - CONSOLE.methods.keys()
    for method in foreign:
        with pytest.raises(RpcError) as unknown:
            await console.call(method, fitting(AGENT.methods[method].params, choice, known))
        assert unknown.value.code == -32601, method

    # ── every endpoint that asks for somebody ──
    answered: dict[tuple[str, str, str], tuple[int, str]] = {}
    for row in ROWS:
        if row.permission not in (Permission.PUBLIC, Permission.PROBE) and row.path not in OPEN:
            answered[row.site.value, row.method, row.path] = await ask(scene, ida, row, choice, known)
    assert set(answered.values()) == {(403, "auditorReadsOnly"), (401, "")}, answered
    on_console = {path: answer for (site, _, path), answer in answered.items() if site == Site.CONSOLE}
    assert set(on_console.values()) == {(403, "auditorReadsOnly")}, on_console
    assert {row.path for row in ROWS if row.permission is Permission.CONSOLE_READER} == OPEN

    # ── no shell, by whichever way ──
    with pytest.raises(AssertionError, match="auditorReadsOnly"):
        await ida.open_shell()
    with pytest.raises(InvalidStatus) as closed:
        await ida.agent()
    assert closed.value.response.status_code == 401

    # Nothing of all that left a trace, neither on record nor on the question that waits.
    assert await size_of(scene) == before
    assert (await scene.console.call("approvals/get", {"approvalId": approval_id}))["approval"]["status"] == "pending"
    for method in sorted(READS):
        await refusal_of(console, method, fitting(CONSOLE.methods[method].params, choice, known))
    assert await size_of(scene) == before
    # Nor is an auditor's console told of what it could not answer.
    await scene.ada.answer(scene.console, approval_id)
    assert (await finish(asking))["outcome"] == "ok"
    await console.call("audit/sinks")
    assert {each["method"] for each in console.notifications} <= TELLS
    await ida.leave()


async def ask(scene: Scene, person: Person, row: Row, choice: random.Random, known: Mapping[str, list[str]]) -> tuple[int, str]:
    """The status, and the reason where one is given."""
    gateway = scene.gateway
    origin = gateway.console_origin if row.site is Site.CONSOLE else gateway.agent_origin
    path = row.path.replace("{id}", "x")
    shape = None if row.body is None else row.body.shape
    body = {} if shape is None else fitting(shape, choice, known)
    asked = person.browser.post(f"{origin}{path}", body) if row.method == "POST" else person.browser.get(f"{origin}{path}")
    reply = await asked
    return reply.status, reply.json["error"].get("reason", "") if reply.status == 403 else ""
