"""Authority that does not outlive its reason: what rises, what is taken back, and what must not come back with it."""

from __future__ import annotations

import asyncio
import signal
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.core.test_images import png
from tests.harness.http import Browser
from tests.harness.person import Person, Turn
from tests.harness.remote_model import RemoteModel
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import PATIENCE, edit, finish, stage

LABELLED = {"COUNTERSIGN_TOOLS_MODULES": '["tests.harness.effect_tools", "tests.harness.labelled_tools"]'}


def offered(turn: Turn, tool: str) -> str:
    """The mode that a turn's snapshot gives to a tool."""
    (descriptor,) = [each for each in turn.snapshot["tools"] if each["name"] == tool]
    return str(descriptor["permission"])


async def label_of(scene: Scene) -> list[str]:
    return (await scene.shell.call("session/describe"))["session"]["labels"]


WRITE_BY_CLICK = """
  action in [Countersign::Action::"invoke_with_consent", Countersign::Action::"invoke_with_step_up"],
  resource in Countersign::Category::"write"
"""
WRITE_BY_PASSKEY = WRITE_BY_CLICK.replace('[Countersign::Action::"invoke_with_consent", ', "[")
REMOTE = """
network_auto_hosts = []
remote_models = true
"""


async def reload(scene: Scene, old: str, new: str, document: str = "default.cedar") -> None:
    """Change the policy, and wait until it is in force."""
    edit(scene.gateway, document, old, new)
    scene.gateway.send(signal.SIGHUP)
    await scene.console.notification("policy/changed")


async def mint(turn: Turn, model: RemoteModel) -> str:
    """A token for the remote model in this turn."""
    params = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"], "modelId": model.id}
    return str((await turn.socket.call("inference/token", params))["token"])


async def events(scene: Scene, event: str) -> list[dict[str, Any]]:
    """The log's entries of one kind, newest first."""
    listed = await scene.console.call("audit/list", {"filter": {"event": event}, "limit": 100})
    return [entry["body"] for entry in listed["entries"]]


# ── labels ──


async def test_case_219_a_picture_out_of_a_labelled_conversation_is_given_to_no_session_below_its_label(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        turn = await scene.begin()
        assert (await turn.invoke("confide", {}))["outcome"] == "ok"
        # The page chooses these bytes, so they may hold what was confided.
        data = b64encode(png()).decode()
        (attached,) = (await turn.invoke("read_attachment", {"name": "x.png", "data": data}, "picture"))["attachments"]
        picture = f"{scene.gateway.agent_origin}/attachments/{attached['id']}"
        assert (await scene.ada.browser.get(picture)).status == 200

        elsewhere = Person(scene.gateway, Browser(scene.gateway.port), scene.ada.authenticator)
        assert (await elsewhere.sign_in()).status == 204
        await elsewhere.open_shell()
        shell = await elsewhere.agent()
        refused = await elsewhere.browser.get(picture)
        assert (refused.status, refused.json["error"]["reason"]) == (403, "label")
        assert (await shell.call("session/describe"))["session"]["labels"] == ["label:public"]
        await shell.call("conversations/open", {"conversationId": turn.conversation_id})
        assert (await elsewhere.browser.get(picture)).status == 200
        assert (await shell.call("session/describe"))["session"]["labels"] == ["label:high"]
        await elsewhere.leave()


@pytest.mark.requirement("002-70", "a label holds for every conversation of the session, also after a restart")
async def test_case_75_a_label_is_not_left_behind_by_opening_another_conversation(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        elsewhere = await scene.begin()
        turn = await scene.begin()
        assert offered(turn, "send") == "consent"
        assert (await turn.invoke("confide", {}))["outcome"] == "ok"
        # A conversation that is new, and one whose turn was open all the time.
        fresh = await scene.begin()
        assert offered(fresh, "send") == "forbidden"
        for place in (fresh, elsewhere):
            refused = await place.invoke("send", {"what": "it"})
            assert (refused["outcome"], refused["reason"]) == ("refusedByPolicy", "forbidden")
        # What this session wrote into the other conversation, any session may read there.
        opened = await scene.shell.call("conversations/open", {"conversationId": elsewhere.conversation_id})
        assert opened["conversation"]["label"] == "high"
        await scene.gateway.kill()
        await scene.gateway.start()
        scene.shell, scene.console = await scene.ada.agent(), await scene.ada.console()
        assert await label_of(scene) == ["label:high"]
        fresh = await scene.begin()
        assert offered(fresh, "send") == "forbidden"
        assert (await fresh.invoke("send", {"what": "it"}))["reason"] == "forbidden"
        assert [raised["label"] for raised in await events(scene, "agent-session:label-raised")] == [3]
        assert not [line for line in scene.effects(fresh.conversation_id) if "send" in line]


async def test_case_75_a_session_that_reads_a_labelled_conversation_takes_its_label(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        turn = await scene.begin()
        assert (await turn.invoke("confide", {}))["outcome"] == "ok"
        browser = Person(scene.gateway, Browser(scene.gateway.port), scene.ada.authenticator)
        assert (await browser.sign_in()).status == 204
        assert (await browser.open_shell()).status == 303
        shell = await browser.agent()
        assert offered(await Turn.begin(shell), "send") == "consent"
        # A search is no way around it: it neither finds what is above the label, nor raises the label.
        place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
        await scene.shell.call("messages/append", {**place, "message": {"role": "user", "content": "the code is 4711"}})
        assert len((await scene.shell.call("conversations/search", {"text": "4711"}))["found"]) == 1
        assert (await shell.call("conversations/search", {"text": "4711"})) == {"found": []}
        assert offered(await Turn.begin(shell), "send") == "consent"
        await shell.call("tools/list-calls", {"conversationId": turn.conversation_id})
        assert offered(await Turn.begin(shell), "send") == "forbidden"
        await browser.leave()


async def test_case_75_a_grant_ends_with_the_label_that_it_was_given_under(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        elsewhere = await scene.begin()
        call = await elsewhere.start("note", {"what": "milk"}, "n1")
        await scene.ada.answer(scene.console, await scene.asked("n1"), scope="session")
        assert (await finish(call))["outcome"] == "ok"
        assert (await elsewhere.invoke("note", {"what": "milk"}))["outcome"] == "ok"
        turn = await scene.begin()
        assert (await turn.invoke("confide", {}))["outcome"] == "ok"
        assert (await scene.shell.call("grants/list"))["grants"] == []
        call = await elsewhere.start("note", {"what": "milk"}, "n3")
        await scene.ada.answer(scene.console, await scene.asked("n3"), "deny")
        assert (await finish(call))["outcome"] == "deniedByUser"


async def test_a_person_can_open_a_shell_at_a_higher_label(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        assert (await scene.ada.open_shell(label="high")).status == 303
        scene.shell = await scene.ada.agent()
        assert await label_of(scene) == ["label:high"]
        assert offered(await scene.begin(), "send") == "forbidden"


# ── questions that wait ──


@pytest.mark.requirement("002-70", "a question that waits is withdrawn when the label rises above what the policy allows")
async def test_case_76_a_question_is_withdrawn_when_the_label_rises_and_says_why(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        elsewhere, turn = await scene.begin(), await scene.begin()
        waiting = [await elsewhere.start("send", {"what": "a"}, "s1"), await turn.start("send", {"what": "b"}, "s2")]
        ids = [await scene.asked("s1"), await scene.asked("s2")]
        opened = [await scene.console.call("approvals/get", {"approvalId": approval}) for approval in ids]
        assert (await turn.invoke("confide", {}))["outcome"] == "ok"
        for call, approval_id, question in zip(waiting, ids, opened, strict=True):
            result = await finish(call)
            assert (result["outcome"], result["reason"]) == ("refusedByPolicy", "forbidden")
            resolved = await scene.console.notification("approvals/resolved", approvalId=approval_id)
            assert resolved["status"] == "cancelled"
            shown = (await scene.console.call("approvals/get", {"approvalId": approval_id}))["approval"]
            assert (shown["status"], shown["withdrawn"]) == ("cancelled", result["error"])
            with pytest.raises(RpcError):
                await scene.console.call("approvals/decide", scene.ada.decision(question))
            assert not [line for line in scene.effects(question["approval"]["conversationId"]) if "send" in line]


async def test_case_76_a_policy_that_comes_and_goes_leaves_no_question_behind(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "milk"}, "n1")
        approval_id = await scene.asked("n1")
        question = await scene.console.call("approvals/get", {"approvalId": approval_id})
        await reload(scene, "This changes files", "Writing changes files")
        assert (await finish(call))["reason"] == "policyChanged"
        assert (await scene.console.notification("approvals/resolved", approvalId=approval_id))["status"] == "cancelled"
        await reload(scene, "Writing changes files", "This changes files")
        with pytest.raises(RpcError):
            await scene.console.call("approvals/decide", scene.ada.decision(question))
        assert scene.effects(turn.conversation_id) == []


async def test_case_76_a_question_that_can_let_nothing_run_is_gone_before_anybody_can_ask_after_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        await turn.start("note", {"what": "milk"}, "n1")
        await scene.asked("n1")
        await scene.gateway.kill()
        edit(scene.gateway, "default.cedar", "This changes files", "Writing changes files")
        await scene.gateway.start()
        console = await scene.ada.console()
        listed = await console.call("approvals/list", {"status": "all"})
        assert [approval["status"] for approval in listed["approvals"]] == ["cancelled"]
        assert "policy" in listed["approvals"][0]["withdrawn"]


MODULE = '''
from typing import Annotated

from gateway.adapters.tools import tool
from shelves import LABELS


@tool(category="write", summary="Jot down {what}", labels=LABELS, recovery="pure")
def jot(what: Annotated[str, "anything"]) -> str:
    """Jot."""
    return "jotted"
'''

SHELVES = 'LABELS = ("shelf",)\n'


async def test_case_56_a_question_does_not_outlive_the_tool_of_a_module_that_it_was_about(tmp_path: Path) -> None:
    module, shelves = tmp_path / "jotter.py", tmp_path / "shelves.py"
    module.write_text(MODULE)
    shelves.write_text(SHELVES)
    async with stage(tmp_path, COUNTERSIGN_TOOLS_MODULES='["jotter"]') as scene:
        for file, changed in (
            (module, MODULE.replace("Jot down {what}", "Look at {what}")),
            # What a module imports is not followed, but what it makes of the tool is.
            (shelves, SHELVES.replace("shelf", "label:high")),
            (module, MODULE.replace('"pure"', '"unsafe"')),
            (module, MODULE.replace('return "jotted"', "return open(what).read()")),
        ):
            module.write_text(MODULE)
            shelves.write_text(SHELVES)
            await scene.gateway.stop()
            await scene.gateway.start()
            scene.shell = await scene.ada.agent()
            turn = await scene.begin()
            (tool,) = [each for each in turn.snapshot["tools"] if each["name"] == "jot"]
            await turn.start("jot", {"what": "milk"}, "j1")
            approval_id = await scene.asked("j1")
            await scene.gateway.kill()
            file.write_text(changed)
            await scene.gateway.start()
            console = await scene.ada.console()
            shown = (await console.call("approvals/get", {"approvalId": approval_id}))["approval"]
            assert (shown["status"], "changed" in shown["withdrawn"]) == ("cancelled", True)
            scene.shell = await scene.ada.agent()
            (redefined,) = [each for each in (await scene.begin()).snapshot["tools"] if each["name"] == "jot"]
            assert redefined["digest"] != tool["digest"]


# ── what a policy takes away ──


async def test_case_77_a_grant_and_a_snapshot_that_a_policy_ended_do_not_come_back_with_the_old_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "milk"}, "n1")
        await scene.ada.answer(scene.console, await scene.asked("n1"), scope="session")
        assert (await finish(call))["outcome"] == "ok"
        for old, new in ((WRITE_BY_CLICK, WRITE_BY_PASSKEY), (WRITE_BY_PASSKEY, WRITE_BY_CLICK)):
            await reload(scene, old, new)
        assert scene.shell.notifications
        # The same bytes again: the snapshot was announced as void, and the grant is gone for good.
        stale = await turn.invoke("peek", {"what": "a"}, "p1")
        assert (stale["outcome"], stale["reason"]) == ("refusedByPolicy", "policyChanged")
        assert (await scene.shell.call("grants/list"))["grants"] == []
        assert (await scene.console.call("grants/list"))["grants"] == []
        turn_ref = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
        turn.snapshot = (await scene.shell.call("turns/refresh", turn_ref))["snapshot"]
        call = await turn.start("note", {"what": "milk"}, "n2")
        await scene.ada.answer(scene.console, await scene.asked("n2"), "deny")
        assert (await finish(call))["outcome"] == "deniedByUser"
        assert scene.effects(turn.conversation_id) == ["n1 note milk 1"]


async def test_case_77_a_grant_that_a_policy_ended_while_the_gateway_was_down_stays_ended(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "milk"}, "n1")
        await scene.ada.answer(scene.console, await scene.asked("n1"), scope="session")
        assert (await finish(call))["outcome"] == "ok"
        for old, new in ((WRITE_BY_CLICK, WRITE_BY_PASSKEY), (WRITE_BY_PASSKEY, WRITE_BY_CLICK)):
            edit(scene.gateway, "default.cedar", old, new)
            assert await scene.gateway.stop() == 0
            await scene.gateway.start()
        console = await scene.ada.console()
        assert (await console.call("grants/list"))["grants"] == []


async def test_a_grant_that_the_new_policy_would_give_as_well_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "milk"}, "n1")
        await scene.ada.answer(scene.console, await scene.asked("n1"), scope="session")
        assert (await finish(call))["outcome"] == "ok"
        await reload(scene, "This changes files", "Writing changes files")
        turn = await Turn.begin(scene.shell, turn.conversation_id)
        assert (await turn.invoke("note", {"what": "milk"}))["outcome"] == "ok"


# ── progress ──


async def test_case_78_progress_is_redacted_cut_and_labelled_before_it_is_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        turn = await scene.begin()
        call = await turn.start("hint", {}, "h1")
        progress = await scene.shell.notification("tools/progress")
        assert "AKIA" not in progress["message"]
        assert "[redacted:" in progress["message"]
        assert len(progress["message"]) == 500
        # The line is out, so its label is in force and on record; the call is cancelled and will never have a result.
        assert [entry["label"] for entry in await events(scene, "agent-session:label-raised")] == [3]
        await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "h1"})
        assert (await finish(call))["outcome"] == "cancelled"
        fresh = await scene.begin()
        assert offered(fresh, "send") == "forbidden"


# ── inference ──


@pytest.mark.requirement("002-70", "a label that rises aborts what a remote model streams and voids the token")
@pytest.mark.requirement("002-71", "a refused inference is on record")
async def test_case_79_a_token_of_before_the_label_rose_reaches_no_remote_model(tmp_path: Path) -> None:
    async with (
        RemoteModel.serving() as model,
        stage(tmp_path, **LABELLED, COUNTERSIGN_MODEL_URL=model.url, COUNTERSIGN_MODEL_TIER="native") as scene,
    ):
        turn = await scene.begin()
        token = await mint(turn, model)
        async with model.streaming(scene, token) as response:
            asked = len(model.asked)
            assert (await turn.invoke("confide", {}))["outcome"] == "ok"
            rest = await response.content.read()
            assert b"token_revoked" in rest
            async with asyncio.timeout(PATIENCE):
                await model.closed.wait()
        assert (await model.ask(scene, token)).status == 401
        with pytest.raises(RpcError):
            await mint(turn, model)
        # Another conversation of the same tab is no way around it.
        with pytest.raises(RpcError):
            await mint(await scene.begin(), model)
        assert len(model.asked) == asked
        assert [refused["reason"] for refused in await events(scene, "inference:refused")] == ["model", "model", "token"]


@pytest.mark.requirement("002-32", "a policy that takes remote models away voids the tokens for them")
async def test_case_79_a_policy_without_remote_models_ends_the_tokens_for_them_for_good(tmp_path: Path) -> None:
    async with (
        RemoteModel.serving() as model,
        stage(tmp_path, COUNTERSIGN_MODEL_URL=model.url, COUNTERSIGN_MODEL_TIER="native") as scene,
    ):
        turn = await scene.begin()
        token = await mint(turn, model)
        async with model.streaming(scene, token) as response:
            await reload(scene, REMOTE, REMOTE.replace("true", "false"), document="profiles.toml")
            assert b"token_revoked" in await response.content.read()
        await reload(scene, REMOTE.replace("true", "false"), REMOTE, document="profiles.toml")
        assert (await model.ask(scene, token)).status == 401
        assert len(model.asked) == 1
