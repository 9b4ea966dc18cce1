"""What the record keeps of a policy's decisions, and a candidate policy put to them, at the running gateway.

A real gateway decides; `countersign policy` looks at its record from outside, while it runs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.person import Turn
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import edit, finish, stage

ASK_FOR_PASSKEYS = (
    (
        'action in [Countersign::Action::"invoke_with_consent", Countersign::Action::"invoke_with_step_up"],\n'
        '  resource in Countersign::Category::"write"'
    ),
    'action == Countersign::Action::"invoke_with_step_up",\n  resource in Countersign::Category::"write"',
)
READ_NOTHING = (
    'action == Countersign::Action::"invoke",\n  resource in Countersign::Category::"read"\n);\n\n@id("read.anon',
    'action == Countersign::Action::"invoke",\n  resource in Countersign::Category::"admin"\n);\n\n@id("read.anon',
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """A gateway that has decided: two reads, three writes (approved once, by a grant, denied), an erasure that was denied, a tool
    that is forbidden, one that does not exist and one with bad arguments."""
    async with stage(tmp_path_factory.mktemp("rehearsal")) as scene:
        turn = await scene.begin()
        for call_id in ("read-1", "read-2"):
            assert (await turn.invoke("peek", {"what": "a"}, call_id))["outcome"] == "ok"
        for call_id, decision, scope in (("write-1", "approve", "turn"), ("erase-1", "deny", "once")):
            call = await turn.start("note" if "write" in call_id else "erase", {"what": "milk"}, call_id)
            await scene.ada.answer(scene.console, await scene.asked(call_id), decision, scope=scope)
            await finish(call)
        assert (await turn.invoke("note", {"what": "milk"}, "write-2"))["outcome"] == "ok"
        assert (await turn.invoke("no_such_tool", {}, "unknown"))["outcome"] == "unknownTool"
        assert (await turn.invoke("peek", {"what": 7}, "wrong"))["outcome"] == "invalidArguments"
        yield scene


async def policy(scene: Scene, *arguments: str | Path) -> tuple[int, str]:
    return await scene.gateway.run("policy", *map(str, arguments))


async def replay(scene: Scene, *arguments: str | Path) -> tuple[int, Any]:
    code, output = await policy(scene, "replay", "--json", *arguments)
    return code, json.loads(output)


def candidate(scene: Scene, name: str, *edits: tuple[str, str]) -> Path:
    folder = scene.gateway.home / name
    shutil.copytree(scene.gateway.home / "policy", folder)
    text = (folder / "default.cedar").read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (folder / "default.cedar").write_text(text)
    return folder


@pytest.mark.asyncio(loop_scope="module")
async def test_every_decision_on_record_is_reproduced_under_its_own_version(scene: Scene) -> None:
    code, told = await replay(scene)
    assert code == 0
    assert (told["judged"], told["reproduced"]) == (5, 5)
    assert told["unjudged"] == {"noInputs": 0, "noDocuments": 0, "unusable": 0, "noMoment": 0}
    assert set(told["differences"].values()) == {0}
    assert told["questions"] == {"before": 2, "after": 2}


@pytest.mark.asyncio(loop_scope="module")
async def test_a_candidate_that_wants_passkeys_for_writes_names_the_calls(scene: Scene) -> None:
    folder = candidate(scene, "passkeys", ASK_FOR_PASSKEYS)
    code, told = await replay(scene, folder)
    assert code == 0
    assert told["differences"] == {**dict.fromkeys(told["differences"], 0), "passkeyAdded": 2}
    assert told["questions"] == {"before": 2, "after": 3}
    assert {each["callId"] for each in told["examples"]["passkeyAdded"]} == {"write-1", "write-2"}
    assert told["byTool"] == {"passkeyAdded": {"note": 2}}
    code, text = await policy(scene, "replay", folder)
    assert "people are asked 3 times instead of 2" in text
    assert text.count(": consent -> stepUp by write.consent") == 2
    assert "by tool: note 2" in text


@pytest.mark.asyncio(loop_scope="module")
async def test_a_candidate_that_forbids_reading_would_have_refused_the_reads(scene: Scene) -> None:
    code, told = await replay(scene, candidate(scene, "blind", READ_NOTHING))
    assert (code, told["differences"]["newlyRefused"]) == (0, 2)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_version_that_came_into_force_is_kept_and_can_be_written_out_compared_and_rehearsed(scene: Scene) -> None:
    edit(scene.gateway, "default.cedar", *ASK_FOR_PASSKEYS)
    code, output = await policy(scene, "reload")
    assert (code, "do not hold, so the last policy stays in force" in output) == (1, True), output
    code, output = await policy(scene, "reload", "--without-cases")
    assert (code, "is in force" in output) == (0, True), output
    code, output = await policy(scene, "history")
    newest, first = (line.split()[0] for line in output.splitlines())
    assert newest != first
    kept = scene.gateway.home / "kept"
    code, output = await policy(scene, "show", first, "--to", kept)
    assert code == 0, output
    code, output = await policy(scene, "diff", first, kept)
    assert (code, "decide alike" in output) == (0, True), output
    code, output = await policy(scene, "diff", first)
    assert code == 1
    assert '+  action == Countersign::Action::"invoke_with_step_up",' in output
    assert "newly needing a passkey" in output
    # The calls of the first version are judged under the first version still.
    code, told = await replay(scene, newest)
    assert (code, told["reproduced"], told["differences"]["passkeyAdded"]) == (0, 5, 2)


@pytest.mark.asyncio(loop_scope="module")
async def test_what_does_not_exist_is_one_clear_line(scene: Scene) -> None:
    for arguments, told in (
        (("show", "ffffffff"), "no policy on record begins with `ffffffff`"),
        (("show", "abc"), "neither a folder nor 6 or more digits"),
        (("replay", "nowhere"), "no policy on record begins with `nowhere`"),
        (("show", "f" * 64, "--to", "x"), "no policy on record"),
    ):
        code, output = await policy(scene, *arguments)
        assert (code, told in output, "Traceback" in output) == (2, True, False), output


@pytest.mark.asyncio(loop_scope="module")
async def test_a_candidate_in_shadow_is_counted_through_a_restart_and_ends_when_it_comes_into_force(scene: Scene) -> None:
    folder = candidate(scene, "shadowed", READ_NOTHING)
    code, output = await policy(scene, "shadow", "start", folder, "--why", "to see")
    assert (code, "runs in shadow; it decides nothing" in output) == (0, True), output
    code, output = await policy(scene, "shadow", "start", folder, "--why", "again")
    assert (code, "stop it first" in output) == (2, True), output
    # What it would refuse runs.
    turn = await scene.begin()
    assert (await turn.invoke("peek", {"what": "b"}, "shadowed-1"))["outcome"] == "ok"
    told = (await scene.console.call("policy/shadow"))["shadow"]
    assert (told["judged"], told["unlike"], told["behind"]) == (1, 0, False)
    ((change, example),) = [(each["change"], each["examples"]) for each in told["changes"]]
    assert (change, example[0]["callId"]) == ("newlyRefused", "shadowed-1")
    assert (example[0]["conversationId"], example[0]["after"]) == (turn.conversation_id, "forbidden")
    await scene.ada.leave()
    assert await scene.gateway.stop() == 0
    # No gateway runs: the record says what it came to.
    code, output = await policy(scene, "shadow", "status", "--json")
    assert (code, json.loads(output)["differences"]["newlyRefused"]) == (0, 1), output
    await scene.gateway.start()
    console, shell = await scene.ada.console(), await scene.ada.agent()
    again = await Turn.begin(shell)
    assert (await again.invoke("peek", {"what": "c"}, "shadowed-2"))["outcome"] == "ok"
    (counted,) = (await console.call("policy/shadow"))["shadow"]["changes"]
    assert counted["count"] == 2
    shutil.copytree(folder, scene.gateway.home / "policy", dirs_exist_ok=True)
    code, output = await policy(scene, "reload", "--without-cases")
    assert code == 0, output
    ended = (await console.notification("policy/state", patience=20)) and await console.call("policy/shadow")
    assert ended == {}
    (entry,) = (await console.call("audit/list", {"filter": {"event": "policy-shadow:ended"}}))["entries"]
    assert (entry["body"]["ending"], entry["body"]["differing"]) == ("published", 2)
    code, output = await policy(scene, "shadow", "stop")
    assert (code, "no policy runs in shadow" in output, "Traceback" in output) == (2, True, False), output
    assert (await console.call("audit/verify"))["verified"]
    scene.console, scene.shell = console, shell
