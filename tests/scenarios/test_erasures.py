"""Erasing a call, a conversation and a person at a running gateway: no file keeps anything of them, and every proof holds."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.storage.sqlite import DATABASE, choose_driver
from gateway.core.call_history import DAY_MS
from tests.harness.person import Turn
from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import edit, finish, stage

WRITE = '@why("This changes files, so it needs your yes")\n'

LONG = 12_000
"""Characters: a payload of several pages of the database."""


def files_with(folder: Path, marker: str) -> list[str]:
    """Files of a folder that hold a text, in UTF-8 or as it stands in JSON."""
    held = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.name for path in held if marker.encode() in path.read_bytes())


async def say(scene: Scene, turn: Turn, content: str, **call: Any) -> None:
    place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    proposed = {"toolCalls": [call]} if call else {}
    message = {"role": "assistant" if call else "user", "content": content, **proposed}
    await scene.shell.call("messages/append", {**place, "message": message})


async def end(scene: Scene, turn: Turn) -> None:
    place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    await scene.shell.call("turns/end", place)


async def consent(scene: Scene, turn: Turn, what: str, call_id: str, scope: str) -> None:
    call = await turn.start("note", {"what": what}, call_id)
    await scene.ada.answer(scene.console, await scene.asked(call_id), scope=scope)
    assert (await finish(call))["outcome"] == "ok"


async def erase(gateway: GatewayProcess, *arguments: str) -> str:
    code, said = await gateway.run("audit", "erase", *arguments, "--yes")
    assert code == 0, said
    return said


async def read_on(turn: Turn, what: str, call_id: str) -> None:
    """A call with a long result that holds this, and one that reads a page of it."""
    result = await turn.invoke("peek", {"what": f"{what} {'x' * LONG}"}, call_id)
    (result_id,) = set(re.findall(r"res_[\w-]+", result["content"]))
    assert what in (await turn.invoke("read_result", {"result_id": result_id}, f"{call_id}-page"))["content"]


async def verdict(gateway: GatewayProcess, *arguments: str) -> dict[str, Any]:
    _, said = await gateway.run("audit", "verify", "--json", *arguments)
    return json.loads(said.splitlines()[-1])


async def require_not_brought_back(scene: Scene, backup: str, word: str) -> None:
    """Puts an older backup in the place of the state, and finds neither the word nor a conversation in it."""
    gateway = scene.gateway
    await scene.ada.leave()
    assert await gateway.stop() == 0
    code, said = await gateway.run("restore", backup, "--yes")
    assert code == 0, said
    assert files_with(gateway.state, word) == []
    await gateway.start()
    assert (await scene.ada.sign_in()).status == 204
    await scene.ada.open_shell()
    shell = await scene.ada.agent()
    assert (await shell.call("conversations/list"))["conversations"] == []
    assert (await verdict(gateway))["sound"]


@pytest.mark.requirement("002-74", "what is erased is in no file of the gateway any more, and the log is sound and says so")
async def test_nothing_of_what_was_erased_is_left_in_any_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with stage(home) as scene:
        gateway, state = scene.gateway, scene.gateway.state
        turn = await scene.begin()
        # A call by a consent that covers others, which its model proposed in a message, and one under its grant.
        what = "plum-jam " + "x" * LONG
        await say(scene, turn, "I shall note it.", id="gone", name="note", arguments={"what": what})
        await consent(scene, turn, what, "gone", "turn")
        assert (await turn.invoke("peek", {"what": "quince"}, "kept"))["outcome"] == "ok"
        await read_on(turn, "greengage", "long")
        await end(scene, turn)
        assert files_with(state, "plum-jam"), "it was kept in the first place"

        said = await erase(gateway, "--call", "gone")
        assert "Erased the content of" in said
        assert files_with(state, "plum-jam") == []
        assert files_with(state, "quince")

        # The log is sound and names what was erased; the call's receipt proves the rest, and so does the other call's.
        report = await verdict(gateway)
        assert (report["sound"], report["fault"]) == (True, None)
        assert report["erased"] > 3
        (record,) = (await scene.console.call("audit/list", {"filter": {"event": "records:erased"}, "limit": 5}))["entries"]
        assert (record["body"]["reason"], record["body"]["callId"]) == ("requested", "gone")
        assert len(record["body"]["records"]) == report["erased"]
        # With a call go the calls that read on in its long result.
        assert files_with(state, "greengage"), "it was kept in the first place"
        await erase(gateway, "--call", "long")
        assert files_with(state, "greengage") == []
        for call_id in ("gone", "kept"):
            receipt = tmp_path / f"{call_id}.json"
            code, told = await gateway.run("audit", "receipt", call_id, "-o", str(receipt))
            assert code == 0, told
            code, told = await gateway.run("audit", "verify", str(receipt))
            assert code == 0, told
        code, told = await gateway.run("audit", "explain", "gone")
        assert code == 0, told
        assert "What it was to do was erased." in told
        assert f"held was erased (requested); record {record['index']} says so." in told
        code, told = await gateway.run("audit", "replay", turn.conversation_id)
        assert code == 0, told
        assert "what the policy was asked was erased" in told
        code, told = await gateway.run("audit", "compare", turn.conversation_id, turn.conversation_id)
        assert code == 0, told
        assert "ok  note (erased)" in told

        # A replay of an erased call runs nothing and gives nothing back; the conversation can be read.
        again = await Turn.begin(scene.shell, turn.conversation_id)
        replayed = await again.invoke("note", {"what": what}, "gone")
        assert replayed["outcome"] != "ok"
        assert [line[:17] for line in scene.effects(turn.conversation_id)] == [
            f"gone note {what} 1"[:17],
            "kept peek quince",
            "long peek greenga",
        ]
        read = await scene.shell.call("conversations/export", {"conversationId": turn.conversation_id})
        assert "plum-jam" not in json.dumps(read)
        await end(scene, again)

        # The whole conversation, and a person.
        done = await scene.console.call("audit/erase", {"conversationId": turn.conversation_id})
        assert (done["records"] > 0, done["copies"]) == (True, [])
        assert files_with(state, "quince") == []
        ben = await scene.another("Benedikta-Marker", "guest")
        shell = await ben.agent()
        bens = await Turn.begin(shell)
        assert (await bens.invoke("peek", {"what": "medlar"}, "his"))["outcome"] == "ok"
        (person,) = [
            each["id"] for each in (await scene.console.call("people/list"))["people"] if each["name"] == "Benedikta-Marker"
        ]
        code, told = await gateway.run("audit", "erase", "--person", person, "--yes")
        assert code != 0
        assert "remove them first" in told
        await scene.console.call("people/remove", {"principal": person})
        await erase(gateway, "--person", person)
        assert files_with(state, "medlar") == []
        assert files_with(state, "Benedikta-Marker") == []
        assert (await verdict(gateway))["sound"]
        await ben.leave()

        # Somebody takes a payload out of the database by hand: nothing says that it was erased, and the log is not sound.
        with closing(choose_driver().connect(state / DATABASE)) as connection:
            taken = connection.execute("SELECT max(position) FROM leaves WHERE payload IS NOT NULL").fetchone()[0]
            connection.execute("UPDATE leaves SET salt = NULL, payload = NULL WHERE position = ?", (taken,))
            connection.commit()
        found = await verdict(gateway)
        assert (found["sound"], found["fault"]["place"]) == (False, f"records[{taken}].payload")
        assert "was taken out: no record says that it was erased" in found["fault"]["detail"]


@pytest.mark.requirement("002-74", "what may be kept for a time only is erased when it is over, also while no gateway ran")
async def test_what_may_be_kept_for_a_time_only_goes_when_it_is_over(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    of_tools = json.dumps({"peek": 0, "dawdle": 0, "note": 400})
    async with stage(home, COUNTERSIGN_RETAIN_DAYS="30", COUNTERSIGN_RETAIN_DAYS_OF=of_tools) as scene:
        gateway, state = scene.gateway, scene.gateway.state
        # The policy obliges to less than the setting says of this tool; of a tool that nobody names, the setting counts.
        edit(gateway, "default.cedar", WRITE, f'{WRITE}@retain_days("7")\n')
        assert (await gateway.run("policy", "reload"))[0] == 0
        turn = await scene.begin()
        await consent(scene, turn, "medlar", "written", "turn")
        call = await turn.start("erase", {"what": "quince"}, "destroyed")
        await scene.ada.answer(scene.console, await scene.asked("destroyed"))
        assert (await finish(call))["outcome"] == "ok"
        # Kept for no time at all: the tool's own setting is all there is to say of it.
        assert (await turn.invoke("peek", {"what": "plum-jam " + "x" * LONG}, "at-once"))["outcome"] == "ok"
        async with asyncio.timeout(30):
            while files_with(state, "plum-jam"):
                await asyncio.wait_for(scene.gateway.run("audit", "checkpoint"), 20)
        (record,) = (await scene.console.call("audit/list", {"filter": {"event": "records:erased"}, "limit": 5}))["entries"]
        assert (record["body"]["reason"], record["body"]["callId"]) == ("retention", "at-once")
        kept = {row["call_id"]: row["erase_at"] - row["closed_at"] for row in rows(state) if row["erase_at"] is not None}
        assert kept == {"written": 7 * DAY_MS, "destroyed": 30 * DAY_MS}

        await end(scene, turn)
        # Two whose outcome nobody learns: the time of such a call is known from its intent on.
        other = await scene.begin()
        await other.start("dawdle", {"file": "damson"}, "unknown-read")
        writing = {"what": "x", "before": "never", "after": "never"}
        await other.start("inscribe", writing, "unknown-write")
        await scene.ada.answer(scene.console, await scene.asked("unknown-write"))
        async with asyncio.timeout(30):
            while sum(row["intended"] and row["closed_at"] is None for row in rows(state)) < 2:
                await asyncio.sleep(0.02)
        await gateway.kill()
        age(state, "written")
        await gateway.start()
        console = await scene.ada.console()
        async with asyncio.timeout(30):
            while files_with(state, "medlar") or files_with(state, "damson"):
                await asyncio.wait_for(scene.gateway.run("audit", "checkpoint"), 20)
        (unknown,) = (row for row in rows(state) if row["call_id"] == "unknown-write")
        assert 6 * DAY_MS < unknown["erase_at"] - unknown["closed_at"] <= 7 * DAY_MS
        records = (await console.call("audit/list", {"filter": {"event": "records:erased"}, "limit": 5}))["entries"]
        assert {each["body"]["callId"] for each in records} == {"written", "at-once", "unknown-read"}
        assert files_with(state, "quince")
        assert (await verdict(gateway))["sound"]


def rows(state: Path) -> list[dict[str, Any]]:
    with closing(choose_driver().connect(state / DATABASE)) as connection:
        found = connection.execute("SELECT call_id, intended, closed_at, erase_at FROM calls").fetchall()
    return [dict(zip(("call_id", "intended", "closed_at", "erase_at"), row, strict=True)) for row in found]


def age(state: Path, call_id: str) -> None:
    """Let the time of a call be over, in a database that nobody uses."""
    with closing(choose_driver().connect(state / DATABASE)) as connection:
        connection.execute("UPDATE calls SET erase_at = 1 WHERE call_id = ?", (call_id,))
        connection.commit()


@pytest.mark.requirement("002-74", "a result that comes after its call was erased leaves nothing behind, not even its digest")
async def test_a_result_that_comes_after_its_call_was_erased_is_erased_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with stage(home) as scene:
        turn = await scene.begin()
        flag = home / "now"
        for call_id in ("gone", "kept"):
            call = await turn.start("dawdle", {"file": str(flag)}, call_id)
            async with asyncio.timeout(20):
                while not any(line.startswith(call_id) for line in scene.effects(turn.conversation_id)):
                    await asyncio.sleep(0.01)
            await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": call_id})
            assert (await finish(call))["outcome"] == "cancelled"
        await erase(scene.gateway, "--call", "gone")
        flag.touch()

        async def late(event: str) -> list[dict[str, Any]]:
            return (await scene.console.call("audit/list", {"filter": {"event": event}, "limit": 5}))["entries"]

        async with asyncio.timeout(20):
            while len(await late("call:result-discarded")) < 2 or len(await late("records:erased")) < 2:
                await asyncio.sleep(0.02)
        results = {each["body"]["callId"]: each for each in await late("call:result-discarded")}
        assert (results["gone"].get("payload"), bool(results["kept"].get("payload"))) == (None, True)
        assert results["gone"]["index"] in (await late("records:erased"))[0]["body"]["records"]
        report = await verdict(scene.gateway)
        assert (report["sound"], report["fault"]) == (True, None)


async def test_case_217_a_conversation_without_calls_is_in_no_file_any_more_and_no_older_backup_brings_it_back(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    backup = str(tmp_path / "older.backup")
    async with stage(home) as scene:
        gateway, state = scene.gateway, scene.gateway.state
        turn = await scene.begin()
        named = {"conversationId": turn.conversation_id, "title": "about plum-jam"}
        await scene.shell.call("conversations/rename", named)
        await say(scene, turn, "how do I make plum-jam?")
        await end(scene, turn)
        # A copy of one has no records at all.
        forked = await scene.shell.call("conversations/fork", {"conversationId": turn.conversation_id, "fromTurn": 0})
        assert "plum-jam" in json.dumps(forked)
        assert (await gateway.run("backup", backup))[0] == 0
        await erase(gateway, "--conversation", turn.conversation_id)
        assert files_with(state, "plum-jam"), "the copy of it is still there"
        await scene.console.call("audit/erase", {"conversationId": forked["conversation"]["id"]})
        assert files_with(state, "plum-jam") == []

        await require_not_brought_back(scene, backup, "plum-jam")


async def test_case_240_a_conversation_that_its_person_deleted_is_erased_on_request_and_no_older_backup_brings_it_back(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    backup = str(tmp_path / "older.backup")
    async with stage(home) as scene:
        gateway, state = scene.gateway, scene.gateway.state
        turn = await scene.begin()
        await say(scene, turn, "how do I make plum-jam?")
        await end(scene, turn)
        assert (await gateway.run("backup", backup))[0] == 0
        await scene.shell.call("conversations/delete", {"conversationId": turn.conversation_id})
        await erase(gateway, "--conversation", turn.conversation_id)
        assert files_with(state, "plum-jam") == []
        code, said = await gateway.run("audit", "erase", "--conversation", turn.conversation_id, "--yes")
        assert (code, "nothing is kept" in said) == (2, True), said

        await require_not_brought_back(scene, backup, "plum-jam")
