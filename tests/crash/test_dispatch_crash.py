"""SIGKILL at every step of dispatch. Afterwards an external ledger of effects shows none doubled and none silent.

docs/PROTOCOL.md section 7 row 16; docs/SECURITY.md case 57.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.runtime.ports import Step
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import make_gateway

PATIENCE = 20.0
DYING = Path(__file__).with_name("dying_gateway.py").read_text()

BEFORE_INTENT = {Step.RECEIVED, Step.BOUND, Step.DECIDED, Step.APPROVED}
MAYBE_RAN = {Step.INTENT, Step.STARTED, Step.DONE}


def effects(gateway: GatewayProcess) -> list[str]:
    path = gateway.home / "effects"
    return path.read_text().splitlines() if path.exists() else []


async def approve_next(person: Person, console: Socket, approval_id: str) -> None:
    try:
        await person.answer(console, approval_id)
    except (RpcError, ConnectionError):
        # The gateway died on the way; that is the point.
        return


async def live_until_death(gateway: GatewayProcess, tool: str, step: Step) -> tuple[Person, Turn]:
    """Start the dying gateway, make the fatal call, and see the process killed."""
    gateway.before = DYING
    gateway.settings = {**gateway.settings, "DIE_CALL": "fatal", "DIE_AT": step.value}
    await gateway.start()
    person = await Person.at(gateway).arrive()
    shell, console = await person.agent(), await person.console()
    turn = await Turn.begin(shell)
    await turn.start(tool, {"what": "it"}, "fatal")
    if tool == "note" and step not in (Step.RECEIVED, Step.BOUND, Step.DECIDED):
        approval_id = (await shell.notification("approvals/requested"))["approval"]["id"]
        await approve_next(person, console, approval_id)
    await shell.wait_closed(patience=PATIENCE)
    assert await gateway.wait() == -9
    return person, turn


async def come_back(gateway: GatewayProcess, person: Person, turn: Turn) -> tuple[Socket, dict[str, Any]]:
    """Restart on the same state; the same cookies, the same conversation, the same turn."""
    gateway.before = ""
    await gateway.start()
    shell = await person.agent()
    opened = await shell.call("conversations/open", {"conversationId": turn.conversation_id})
    assert opened["openTurn"]["turnId"] == turn.snapshot["turnId"]
    request = turn.request("", {}, "fatal")
    snapshot = opened["openTurn"]["snapshot"]
    return shell, {**request, "snapshotId": snapshot["id"], "snapshotDigest": snapshot["digest"]}


@pytest.mark.requirement("002-11", "killed at any step, a call that may have run is on record")
@pytest.mark.parametrize("step", [step for step in Step if step is not Step.APPROVED])
async def test_an_automatic_call_never_runs_twice_and_never_silently(tmp_path: Path, step: Step) -> None:
    gateway = make_gateway(tmp_path)
    person, turn = await live_until_death(gateway, "peek", step)
    ran_before = len(effects(gateway))
    assert ran_before == (0 if step in BEFORE_INTENT or step in (Step.INTENT, Step.STARTED) else 1)
    shell, request = await come_back(gateway, person, turn)
    listed = await shell.call("tools/list-calls", {"conversationId": turn.conversation_id})
    request["call"] |= {"name": "peek", "arguments": {"what": "it"}}
    result = await shell.call("tools/invoke", request)
    if step in BEFORE_INTENT:
        assert listed["calls"] == []
        assert (result["outcome"], result["replayed"], len(effects(gateway))) == ("ok", False, 1)
    elif step in MAYBE_RAN:
        assert (result["outcome"], result["reason"], result["replayed"]) == ("executionError", "outcomeUnknown", True)
        assert len(effects(gateway)) == ran_before
    else:
        assert (result["outcome"], result["replayed"], len(effects(gateway))) == ("ok", True, 1)
    await person.leave()
    assert await gateway.stop() == 0
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output


@pytest.mark.requirement("002-11", "killed at any step, an approved call runs once at most and its end is on record")
@pytest.mark.parametrize("step", list(Step))
async def test_an_approved_call_never_runs_twice_and_its_question_survives(tmp_path: Path, step: Step) -> None:
    gateway = make_gateway(tmp_path)
    person, turn = await live_until_death(gateway, "note", step)
    ran_before = len(effects(gateway))
    shell, request = await come_back(gateway, person, turn)
    request["call"] |= {"name": "note", "arguments": {"what": "it"}}
    answer = await shell.send("tools/invoke", request)
    console = await person.console()
    if step in BEFORE_INTENT:
        pending = (await console.call("approvals/list", {"status": "pending"}))["approvals"]
        if not pending:
            pending = [(await shell.notification("approvals/requested"))["approval"]]
        assert [approval["callId"] for approval in pending] == ["fatal"]
        await person.answer(console, pending[0]["id"])
    async with asyncio.timeout(PATIENCE):
        result = await answer
    if step in MAYBE_RAN:
        assert (result["outcome"], result["reason"]) == ("executionError", "outcomeUnknown")
        assert len(effects(gateway)) == ran_before
    else:
        assert (result["outcome"], len(effects(gateway))) == ("ok", 1)
    await person.leave()
    assert await gateway.stop() == 0
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output
