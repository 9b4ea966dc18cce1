"""What rules oblige to, at the running gateway: a result is withheld, a time and a size hold, a click is not a passkey."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.staging import edit, finish, stage

TOOLS = '["tests.harness.effect_tools", "tests.harness.labelled_tools"]'
READ = '@why("Reading changes nothing, so it runs without asking")\n'
WRITE = '@why("This changes files, so it needs your yes")\n'


async def test_what_rules_oblige_to_holds_against_a_client_that_wants_more(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_TOOLS_MODULES=TOOLS) as scene:
        obliged = '@release("browser=internal")\n@timeout_s("1")\n@max_result_bytes("256")\n'
        edit(scene.gateway, "default.cedar", READ, READ + obliged)
        edit(scene.gateway, "default.cedar", WRITE, WRITE + '@presence("passkey-uv")\n')
        assert (await scene.gateway.run("policy", "reload"))[0] == 0
        turn = await scene.begin()
        confided = await turn.invoke("confide", {}, "c1")
        assert (confided["outcome"], confided["labels"]) == ("ok", [])
        assert "labelled high go to the browser" in confided["content"]
        # It runs until its time is up, and nothing that it says on the way arrives; what arrives next comes after it.
        hinted = await turn.invoke("hint", {}, "h1")
        assert (hinted["outcome"], hinted["reason"]) == ("timedOut", "toolTimeout")
        assert not [each for each in scene.shell.notifications if each["method"] == "tools/progress"]
        assert len((await turn.invoke("babble", {"size": 4000}, "b1"))["content"].encode()) <= 256
        # Neither the record nor the conversation has what was withheld.
        listed = await scene.shell.call("tools/list-calls", {"conversationId": turn.conversation_id})
        assert "did confide" not in str(listed)
        call = await turn.start("note", {"what": "milk"}, "n1")
        approval_id = await scene.asked("n1")
        click = scene.ada.decision(await scene.console.call("approvals/get", {"approvalId": approval_id}))
        del click["assertion"]
        with pytest.raises(Exception, match="needs your passkey"):
            await scene.console.call("approvals/decide", click)
        await scene.ada.answer(scene.console, approval_id, "approve")
        assert (await finish(call))["outcome"] == "ok"
        # What does not load is refused with its place, and what is in force stays.
        edit(scene.gateway, "default.cedar", '@timeout_s("1")', '@timeout_s("1s")')
        code, said = await scene.gateway.run("policy", "reload")
        assert code != 0
        assert "`default.cedar` line 10, column 1: rule `read.auto`: annotation `timeout_s`: must be a whole number" in said
        assert "withheld" in (await turn.invoke("confide", {}, "c2"))["content"]
