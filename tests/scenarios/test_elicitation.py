"""What an MCP server asks a person, on the running gateway: shown on the console from that server by name, and nothing more."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.runtime.elicitations import MOST_OF_A_SESSION
from tests.harness.person import Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import PATIENCE, RpcError
from tests.scenarios.conftest import Scene, make_gateway, text_of
from tests.scenarios.staging import POLICY, edit

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROGUE = Path(__file__).parents[1] / "adapters/tools/mcp/rogue.py"
FORM = {"type": "object", "properties": {"branch": {"type": "string", "title": "Branch"}}, "required": ["branch"]}
ASKS: dict[str, Any] = {"message": "Which branch shall be pushed?", "requestedSchema": FORM}
TOOLS = ("asks_form", "asks_a_thousand_times", "asks_and_answers_at_once", "chatter")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("elicitation")
    tools = ", ".join(f'{name} = "read"' for name in TOOLS)
    settings = f'kind = "mcp"\ncommand = {json.dumps([sys.executable, "-S", str(ROGUE)])}\ntools = {{ {tools} }}\n'
    far = settings.replace('"read"', '"network"')
    (home / "countersign.toml").write_text(
        f'[sources.git]\n{settings}elicitation = "ask"\n\n[sources.mute]\n{settings}\n[sources.far]\n{far}elicitation = "ask"\n'
        f'[sources.other]\n{settings}elicitation = "ask"\n'
    )
    shutil.copytree(POLICY, home / "policy")
    process = make_gateway(home, COUNTERSIGN_POLICY=str(home / "policy"))
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output


async def ready(scene: Scene, name: str = "git") -> None:
    described = await scene.console.call("sources/test", {"name": name})
    assert described["state"] == "ready", described


async def asked(scene: Scene) -> dict[str, Any]:
    """What the console was just told of."""
    return dict((await scene.console.notification("elicitations/requested"))["elicitation"])


async def endings(scene: Scene, turn: Turn) -> list[str]:
    """How the record says that a conversation's forms ended, newest first."""
    listed = await scene.console.call("audit/list", {"filter": {"conversationId": turn.conversation_id}, "limit": 50})
    return [each["body"]["status"] for each in listed["entries"] if each["body"]["event"] == "elicitation:resolved"]


async def answer(scene: Scene, question: dict[str, Any], action: str, **more: Any) -> Any:
    return await scene.console.call("elicitations/answer", {"elicitationId": question["id"], "action": action, **more})


async def test_a_question_comes_from_the_server_by_its_name_and_the_answer_goes_to_it_alone(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    waiting = await turn.start("git__asks_form", ASKS, "c1")
    question = await asked(scene)
    assert (question["source"], question["tool"], question["message"]) == ("git", "git__asks_form", ASKS["message"])
    assert question["fields"] == [{"name": "branch", "kind": "text", "title": "Branch", "required": True, "options": []}]
    told = await scene.shell.notification("tools/progress", callId="c1")
    assert told["message"] == "`git` asks you something: answer on the console"
    assert [each["id"] for each in (await scene.console.call("elicitations/list"))["elicitations"]] == [question["id"]]
    with pytest.raises(RpcError, match="`branch` has to be filled in"):
        await answer(scene, question, "accept")
    await answer(scene, question, "accept", values={"branch": "only-the-server-knows"})
    result = await waiting
    assert json.loads(result["content"]) == {"action": "accept", "content": {"branch": "only-the-server-knows"}}
    assert result["trust"] == "untrusted"
    assert (await scene.console.call("elicitations/list"))["elicitations"] == []


async def test_the_log_says_that_a_person_was_asked_and_how_it_ended_and_holds_none_of_the_words(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    waiting = await turn.start("git__asks_form", ASKS, "c1")
    await answer(scene, await asked(scene), "decline", values={"branch": "never-sent"})
    assert json.loads((await waiting)["content"]) == {"action": "decline"}
    listed = await scene.console.call("audit/list", {"filter": {"conversationId": turn.conversation_id}, "limit": 50})
    leaves = [each for each in listed["entries"] if each["body"]["event"].startswith("elicitation:")]
    assert [(each["body"]["event"], each["body"].get("status")) for each in leaves] == [
        ("elicitation:resolved", "declined"),
        ("elicitation:asked", None),
    ]
    assert leaves[1]["body"]["source"] == "git"
    assert "never-sent" not in text_of(listed)
    assert ASKS["message"] not in text_of(leaves)


async def test_a_question_that_imitates_an_approval_approves_nothing(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    imitation: dict[str, Any] = {
        "message": "Approve payment\x1b[2K of 9000\u202e?",
        "requestedSchema": {"type": "object", "properties": {}},
    }
    waiting = await turn.start("git__asks_form", imitation, "c1")
    question = await asked(scene)
    assert question["message"] == "Approve payment of 9000?"
    assert (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"] == []
    for method, params in (
        ("approvals/get", {"approvalId": question["id"]}),
        ("approvals/decide", {"approvalId": question["id"], "challenge": "x", "decision": "approve"}),
    ):
        with pytest.raises(RpcError, match="approval"):
            await scene.console.call(method, params)
    await answer(scene, question, "accept")
    await waiting
    calls = (await scene.shell.call("tools/list-calls", {"conversationId": turn.conversation_id}))["calls"]
    assert len(calls) == 1


@pytest.mark.parametrize("title", ["Password", "P\u0430ssword", "\u03a1\u0399\u039d", "P I N", "p@ssw0rd"])
async def test_case_182_a_field_for_a_secret_reaches_nobody_in_whatever_letters(scene: Scene, title: str) -> None:
    await ready(scene)
    turn = await scene.begin()
    form = {"type": "object", "properties": {"answer": {"type": "string", "title": title}}}
    result = await turn.invoke("git__asks_form", {"message": "One more step", "requestedSchema": form})
    assert "asks for a password, a key or another secret" in text_of(result)
    assert (await scene.console.call("elicitations/list"))["elicitations"] == []


async def test_case_182_words_about_a_secret_are_marked_in_whatever_letters(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    waiting = await turn.start("git__asks_form", {**ASKS, "message": "Type your p\u0430ssword into the field"}, "c1")
    question = await asked(scene)
    assert question["speaksOfSecrets"] is True
    await answer(scene, question, "decline")
    await waiting


async def test_neither_the_shell_nor_another_person_can_answer(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    waiting = await turn.start("git__asks_form", ASKS, "c1")
    question = await asked(scene)
    values = {"elicitationId": question["id"], "action": "accept", "values": {"branch": "x"}}
    with pytest.raises(RpcError, match="-32601"):
        await scene.shell.call("elicitations/answer", values)
    eve = await scene.another("Eve", "operator")
    console = await eve.console()
    assert (await console.call("elicitations/list"))["elicitations"] == []
    with pytest.raises(RpcError, match="that question is not open"):
        await console.call("elicitations/answer", values)
    await eve.leave()
    await answer(scene, question, "cancel")
    assert json.loads((await waiting)["content"]) == {"action": "cancel"}


async def test_a_thousand_questions_show_one_and_cost_the_person_one_no(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    waiting = await turn.start("git__asks_a_thousand_times", {**ASKS, "message": "Approve payment"}, "c1")
    await answer(scene, await asked(scene), "decline")
    assert json.loads((await waiting)["content"]) == {"decline": 1, "error": 999}
    assert (await scene.console.call("elicitations/list"))["elicitations"] == []


async def test_a_cancelled_call_takes_its_question_off_the_console(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    waiting = await turn.start("git__asks_form", ASKS, "c1")
    question = await asked(scene)
    await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "c1"})
    resolved = await scene.console.notification("elicitations/resolved", elicitationId=question["id"])
    assert resolved["status"] == "withdrawn"
    assert (await waiting)["outcome"] == "cancelled"
    with pytest.raises(RpcError, match="not open"):
        await answer(scene, question, "accept", values={"branch": "x"})


async def test_a_new_policy_takes_the_question_off_the_console(scene: Scene) -> None:
    await ready(scene)
    turn = await scene.begin()
    waiting = await turn.start("git__asks_form", ASKS, "c1")
    question = await asked(scene)
    edit(scene.gateway, "default.cedar", "This changes files", "Writing changes files")
    scene.gateway.send(signal.SIGHUP)
    resolved = await scene.console.notification("elicitations/resolved", elicitationId=question["id"])
    assert resolved["status"] == "withdrawn"
    assert json.loads((await waiting)["content"]) == {"action": "cancel"}


async def test_a_server_of_which_the_operator_did_not_say_so_reaches_nobody(scene: Scene) -> None:
    await ready(scene, "mute")
    turn = await scene.begin()
    result = await turn.invoke("mute__asks_form", ASKS)
    assert json.loads(result["content"]) == "Elicitation not supported"
    assert (await scene.console.call("elicitations/list"))["elicitations"] == []


async def test_case_292_no_answer_goes_to_a_server_whose_call_the_label_forbids_now(scene: Scene) -> None:
    """The operator restricts the session while the form of a network tool waits; high may not leave this machine."""
    await ready(scene, "far")
    turn = await scene.begin()
    waiting = await turn.start("far__asks_form", ASKS, "c1")
    await scene.ada.answer(scene.console, (await scene.console.notification("approvals/requested"))["approval"]["id"])
    question = await asked(scene)
    session = (await scene.shell.call("session/describe"))["session"]["id"]
    await scene.console.call("sessions/restrict", {"sessionId": session, "label": "high"})
    with pytest.raises(RpcError):
        await answer(scene, question, "accept", values={"branch": "never-sent"})
    assert "never-sent" not in text_of(await waiting)
    assert (await scene.console.call("elicitations/list"))["elicitations"] == []


async def test_case_314_no_answer_leaves_that_the_label_overtook_on_its_way_to_the_record(scene: Scene) -> None:
    """The person has answered, the disk is slow, and the label rises before the server gets it: on record it did not."""
    await ready(scene, "far")
    # A session of its own, whose label nothing has raised yet.
    await scene.ada.open_shell()
    shell, other, watching = await scene.ada.agent(), await scene.ada.console(), await scene.ada.console()
    turn = await Turn.begin(shell)
    waiting = await turn.start("far__asks_form", ASKS, "c1")
    await scene.ada.answer(scene.console, (await scene.console.notification("approvals/requested"))["approval"]["id"])
    question = await asked(scene)
    session = (await shell.call("session/describe"))["session"]["id"]

    async def label() -> str:
        alive = (await watching.call("sessions/list"))["sessions"]
        return str(next(each["label"] for each in alive if each["id"] == session))

    with sqlite3.connect(scene.gateway.state / "ledger.db", isolation_level=None) as slow:
        slow.execute("BEGIN IMMEDIATE")
        values = {"branch": "never-sent"}
        answered = await scene.console.send(
            "elicitations/answer", {"elicitationId": question["id"], "action": "accept", "values": values}
        )
        async with asyncio.timeout(PATIENCE):
            while (await watching.call("elicitations/list"))["elicitations"]:
                pass
        restricted = await other.send("sessions/restrict", {"sessionId": session, "label": "high"})
        async with asyncio.timeout(PATIENCE):
            while await label() != "high":
                pass
        slow.execute("ROLLBACK")
    told, _ = await asyncio.gather(answered, restricted, return_exceptions=True)
    assert isinstance(told, RpcError), told
    assert "never-sent" not in text_of(await waiting)
    async with asyncio.timeout(PATIENCE):
        while "withdrawn" not in await endings(scene, turn):
            pass
    for socket in (shell, other, watching):
        await socket.close()


async def test_case_314_a_form_that_two_consoles_answer_at_once_is_answered_once(scene: Scene) -> None:
    await ready(scene)
    consoles = [scene.console, *[await scene.ada.console() for _ in range(3)]]
    turn = await scene.begin()
    waiting = await turn.start("git__asks_form", ASKS, "c1")
    question = await asked(scene)
    answers = [
        {"elicitationId": question["id"], "action": "accept", "values": {"branch": f"of-console-{number}"}}
        for number in range(len(consoles))
    ]
    sent = [await console.send("elicitations/answer", each) for console, each in zip(consoles, answers, strict=True)]
    told = await asyncio.gather(*sent, return_exceptions=True)
    (taken,) = [number for number, each in enumerate(told) if each == {}]
    assert {type(each) for each in told} == {dict, RpcError}
    assert json.loads((await waiting)["content"]) == {"action": "accept", "content": {"branch": f"of-console-{taken}"}}
    assert await endings(scene, turn) == ["accepted"]
    for console in consoles[1:]:
        await console.close()


async def test_case_314_one_server_leaves_forms_to_the_others_of_a_session(scene: Scene) -> None:
    await ready(scene, "git")
    await ready(scene, "other")
    await scene.ada.open_shell()
    shell = await scene.ada.agent()
    turn, asks = await Turn.begin(shell), 0
    waiting = await turn.start("git__asks_form", ASKS, "c0")
    while asks < MOST_OF_A_SESSION:
        request = asyncio.ensure_future(asked(scene))
        await asyncio.wait({waiting, request}, return_when=asyncio.FIRST_COMPLETED)
        if not request.done():
            request.cancel()
            break
        await answer(scene, request.result(), "accept", values={"branch": "main"})
        await waiting
        asks += 1
        waiting = await turn.start("git__asks_form", ASKS, f"c{asks}")
    assert 0 < asks < MOST_OF_A_SESSION
    assert "too much already" in text_of(await waiting)
    waiting = await turn.start("other__asks_form", ASKS, "other")
    question = await asked(scene)
    assert question["source"] == "other"
    await answer(scene, question, "decline")
    await waiting
    await shell.close()
