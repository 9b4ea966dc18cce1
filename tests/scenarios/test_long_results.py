"""Results that are longer than what is handed out of them: kept, read on, searched, and nobody else's."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.long_tools import ADDRESS, SECRET, lines_of
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene, make_gateway, text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]
NEXT = re.compile(r"read_result(\{.*\})")
UNKNOWN = "there is no long result of that id in this conversation"
GUESSES = ["", "res_", "res_AAAAAAAAAAAAAAAAAAAAAA", "%", "_", "res_%", "' OR 1=1 --", "../res_1", "res_\u00e9", "r" * 64]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("long")
    shutil.copytree(ROOT / "policy", home / "rules")
    tools = '["tests.harness.effect_tools", "tests.harness.labelled_tools", "tests.harness.long_tools"]'
    process = make_gateway(home, COUNTERSIGN_TOOLS_MODULES=tools, COUNTERSIGN_POLICY="rules")
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output


@dataclass
class LongResult:
    """What was handed out of a long result, without its last line, and what that line says."""

    page: str
    next: Mapping[str, Any]

    @property
    def id(self) -> str:
        return self.next["result_id"]


def parts_of(result: Mapping[str, Any]) -> LongResult:
    assert result["outcome"] == "ok", result
    page, note = result["content"].rsplit("\n", 1)
    found = NEXT.search(note)
    assert found is not None, note
    return LongResult(f"{page}\n", json.loads(found[1]))


async def read_on(turn: Turn, **arguments: Any) -> Any:
    return await turn.invoke("read_result", arguments)


async def assert_not_found(turn: Turn, result_id: str, **further: Any) -> None:
    """Every id that is not one's own gives the same answer, of the same trust and without labels."""
    result = await read_on(turn, result_id=result_id, **further)
    assert (result["outcome"], result["content"], result["labels"]) == ("executionError", UNKNOWN, [])


async def test_a_long_result_is_read_page_by_page_until_its_end(scene: Scene) -> None:
    turn = await scene.begin()
    first = await turn.invoke("recite", {"lines": 300})
    whole = lines_of(300)
    assert first["truncated"]
    assert len(first["content"].encode()) <= 1024
    assert f" of {len(whole)} bytes. Next: read_result" in first["content"]
    part = parts_of(first)
    pages = [part.page]
    for _ in range(100):
        result = await read_on(turn, **part.next)
        assert len(result["content"].encode()) <= 1024
        assert not result["truncated"]
        if result["content"].endswith(", the end]"):
            pages.append(result["content"].rsplit("\n", 1)[0] + "\n")
            break
        part = parts_of(result)
        pages.append(part.page)
    assert "".join(pages) == whole
    beyond = await read_on(turn, result_id=part.id, page=len(pages) + 1)
    assert (beyond["outcome"], beyond["content"]) == ("executionError", f"it has {len(pages)} pages")


async def test_lines_are_found_with_those_next_to_them_whatever_their_case(scene: Scene) -> None:
    turn = await scene.begin()
    part = parts_of(await turn.invoke("recite", {"lines": 300}))
    found = await read_on(turn, result_id=part.id, search="LightHouse")
    page = [f"{place - 1}- {place - 1:06} sea\n{place}: {place:06} lighthouse\n" for place in (100, 200, 300)]
    between = [f"{place + 1}- {place + 1:06} sea\n" for place in (100, 200)]
    assert found["content"] == f"{page[0]}{between[0]}{page[1]}{between[1]}{page[2]}[page 1 of 1, the end]"
    nothing = await read_on(turn, result_id=part.id, search="(a+)+$")
    assert nothing["content"] == "nothing found in it"


async def test_a_search_through_megabytes_ends_and_gives_a_bounded_number_of_places(scene: Scene) -> None:
    turn = await scene.begin()
    async with asyncio.timeout(60):
        part = parts_of(await turn.invoke("sprawl", {"megabytes": 9}))
        found = await read_on(turn, result_id=part.id, search="house light")
        assert len(found["content"].encode()) <= 1024
        last = re.search(r"of (\d+)", found["content"].rsplit("\n", 1)[1])
        assert last is not None
        end = await read_on(turn, result_id=part.id, search="house light", page=int(last[1]))
        assert "only the first 1000 places" in end["content"]
        # What is beyond the most that is kept says so where it would stand.
        whole = re.search(r"of (\d+)\]", (await turn.invoke("sprawl", {"megabytes": 9}))["content"])
        assert whole is not None
        last_page = await read_on(turn, result_id=part.id, page=int(whole[1]))
        assert "…[truncated " in last_page["content"]


async def test_what_was_taken_out_is_on_no_page_wherever_a_page_ends(gateway: GatewayProcess, scene: Scene) -> None:
    for before in range(815, 850, 4):
        turn = await scene.begin()
        first = await turn.invoke("leak", {"before": before})
        part = parts_of(first)
        seen = first["content"] + text_of([await read_on(turn, result_id=part.id, page=page) for page in (1, 2, 3)])
        for size in range(8, len(SECRET)):
            assert SECRET[:size] not in seen
            assert SECRET[-size:] not in seen
        assert (await read_on(turn, result_id=part.id, search=SECRET[:6]))["content"] == "nothing found in it"
    for path in gateway.state.iterdir():
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path.name


async def test_nobody_else_reads_it_and_no_answer_says_that_it_is_there(scene: Scene) -> None:
    turn = await scene.begin()
    part = parts_of(await turn.invoke("recite", {"lines": 300}))
    other_conversation = await scene.begin()
    await assert_not_found(other_conversation, part.id)
    await assert_not_found(other_conversation, part.id, search="sea")
    for guess in GUESSES:
        await assert_not_found(other_conversation, guess)
    for name, profile in (("Grace", "guest"), ("Olga", "operator")):
        somebody = await scene.another(name, profile)
        theirs = await Turn.begin(await somebody.agent())
        await assert_not_found(theirs, part.id)
        # Nor in the conversation itself, which is not theirs.
        stolen = Turn(theirs.socket, turn.conversation_id, theirs.snapshot)
        with pytest.raises(RpcError, match="unknown conversation"):
            await read_on(stolen, result_id=part.id)
        await somebody.leave()
    # A branch has the words of the results, and none of the results themselves.
    await scene.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    branch = await scene.shell.call("conversations/fork", {"conversationId": turn.conversation_id, "fromTurn": 0})
    await assert_not_found(await Turn.begin(scene.shell, branch["conversation"]["id"]), part.id)


async def test_what_is_of_the_persons_workspace_says_so_and_is_as_untrusted_as_any_result(scene: Scene) -> None:
    turn = await scene.begin()
    read = await turn.invoke("list_directory", {"path": "."})
    failed = await turn.invoke("read_file", {"path": "there/is/none.md"})
    foreign = await turn.invoke("recite", {"lines": 2})
    again = [await read_on(turn, result_id=each["callId"]) for each in (read, foreign)]
    assert [each.get("own") for each in (read, failed, foreign, *again)] == [True, True, None, True, None]
    assert {each["trust"] for each in (read, failed, again[0])} == {"untrusted"}
    await scene.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    opened = await scene.shell.call("conversations/open", {"conversationId": turn.conversation_id})
    branch = await scene.shell.call("conversations/fork", {"conversationId": turn.conversation_id, "fromTurn": 1})
    for messages in (opened["messages"], branch["messages"]):
        told = [(each["tool"], each.get("own")) for each in messages if each["role"] == "tool"]
        assert told[:3] == [("list_directory", True), ("read_file", True), ("recite", None)]
    assert branch["conversation"]["tainted"] is True


async def test_who_has_less_room_than_a_page_goes_on_in_it_after_so_many_bytes(scene: Scene) -> None:
    turn = await scene.begin()
    whole = await turn.invoke("recite", {"lines": 20})
    assert not whole["truncated"]
    text, start = whole["content"].encode(), len(whole["content"]) // 3
    rest = await read_on(turn, result_id=whole["callId"], after=start)
    assert rest["content"] == f"{text[start:].decode()}\n[page 1 of 1, the end]".replace("\n\n", "\n")
    assert (rest["trust"], rest["labels"]) == (whole["trust"], whole["labels"])
    long = parts_of(await turn.invoke("recite", {"lines": 300}))
    page = (await read_on(turn, result_id=long.id, after=100))["content"]
    assert page.startswith(long.page.encode()[100:].decode())
    assert NEXT.search(page.rpartition("\n")[2]), page[-200:]
    beyond = await read_on(turn, result_id=whole["callId"], after=len(text))
    assert (beyond["outcome"], beyond["content"]) == ("executionError", f"that page has {len(text)} bytes")


async def test_the_id_of_a_call_gives_its_result_to_nobody_else(scene: Scene) -> None:
    turn = await scene.begin()
    whole = await turn.invoke("recite", {"lines": 2})
    await assert_not_found(await scene.begin(), whole["callId"])
    somebody = await scene.another("Nell", "operator")
    await assert_not_found(await Turn.begin(await somebody.agent()), whole["callId"])
    await somebody.leave()
    failed = await read_on(turn, result_id="nothing")
    await assert_not_found(turn, failed["callId"])


async def test_its_pages_raise_what_the_result_raised_also_for_a_session_that_had_not_seen_it(
    gateway: GatewayProcess, scene: Scene
) -> None:
    plain = await scene.begin()
    trusted = await read_on(plain, result_id=parts_of(await plain.invoke("recite", {"lines": 300})).id, page=2)
    assert (trusted["trust"], trusted["labels"]) == ("trusted", [])
    turn = await scene.begin()
    part = parts_of(await turn.invoke("confess", {"lines": 300}))
    other = Person(gateway, scene.ada.browser, scene.ada.authenticator)
    assert (await other.open_shell()).status in (302, 303)
    shell = await other.agent()
    await scene.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    there = await Turn.begin(shell, turn.conversation_id)
    for arguments in ({"page": 2}, {"search": "lighthouse"}, {"search": "not there"}):
        result = await read_on(there, result_id=part.id, **arguments)
        assert (result["outcome"], result["trust"], result["labels"]) == ("ok", "untrusted", ["label:confidential"])
    opened = await shell.call("conversations/open", {"conversationId": turn.conversation_id})
    assert (opened["conversation"]["label"], opened["conversation"]["tainted"]) == ("confidential", True)
    # The session carries the label from there into every other conversation.
    elsewhere = await Turn.begin(shell)
    await elsewhere.invoke("peek", {"what": "x"})
    opened = await shell.call("conversations/open", {"conversationId": elsewhere.conversation_id})
    assert opened["conversation"]["label"] == "confidential"
    await other.leave()


async def test_it_is_gone_with_its_conversation(gateway: GatewayProcess, scene: Scene) -> None:
    turn = await scene.begin()
    parts_of(await turn.invoke("recite", {"lines": 54321}))
    mark = b"054000 lighthouse"
    assert any(mark in path.read_bytes() for path in gateway.state.iterdir() if path.is_file())
    await scene.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    await scene.shell.call("conversations/delete", {"conversationId": turn.conversation_id})
    code, output = await gateway.run("audit", "verify", "--state", str(gateway.state))
    assert code == 0, output


async def test_it_outlives_the_process(gateway: GatewayProcess, scene: Scene) -> None:
    turn = await scene.begin()
    first = parts_of(await turn.invoke("recite", {"lines": 300}))
    await gateway.kill()
    await gateway.start()
    shell = await scene.ada.agent()
    turn = await Turn.begin(shell, turn.conversation_id)
    assert parts_of(await read_on(turn, result_id=first.id)).page == first.page


async def reload(gateway: GatewayProcess, shell: Socket, old: str, new: str) -> None:
    rules = gateway.home / "rules" / "default.cedar"
    rules.write_text(rules.read_text().replace(old, new))
    gateway.send(signal.SIGHUP)
    await shell.notification("policy/changed")


async def test_a_policy_that_takes_more_out_by_now_is_obeyed_wherever_a_page_ends(gateway: GatewayProcess, scene: Scene) -> None:
    turn = await scene.begin()
    parts = [parts_of(await turn.invoke("leak", {"before": before})) for before in range(200, 300, 12)]
    for part in parts:
        assert ADDRESS in (await read_on(turn, result_id=part.id, search="lovelace"))["content"]
    await reload(gateway, scene.shell, '@id("read.auto")\n', '@id("read.auto")\n@redact("secrets,pii")\n')
    turn = await Turn.begin(scene.shell, turn.conversation_id)
    for part in parts:
        seen = text_of([await read_on(turn, result_id=part.id, page=page) for page in (1, 2, 3)])
        assert "[redacted:email]" in seen
        for size in range(6, len(ADDRESS)):
            assert ADDRESS[:size] not in seen
            assert ADDRESS[-size:] not in seen
        assert (await read_on(turn, result_id=part.id, search="lovelace"))["content"] == "nothing found in it"


async def test_case_163_pages_that_there_are_not_and_words_made_to_be_slow_end_at_once(scene: Scene) -> None:
    turn = await scene.begin()
    part = parts_of(await turn.invoke("sprawl", {"megabytes": 2}))
    for place in ({"page": 0}, {"page": -1}, {"page": 2**53 - 1}, {"page": 1.5}, {"page": "1"}, {"after": -1}, {"page": 999_999}):
        refused = await read_on(turn, result_id=part.id, **place)
        assert refused["outcome"] in ("executionError", "invalidArguments"), (place, refused)
        assert len(text_of(refused)) < 2_000
    async with asyncio.timeout(30):
        for words in ("(a+)+$", "(.*)*x", "l" * 100, ".*.*.*=", "\\", "lighthouse " * 8 + "!"):
            found = await read_on(turn, result_id=part.id, search=words)
            assert found["content"] == "nothing found in it", words
        too_long = await read_on(turn, result_id=part.id, search="x" * 100_000)
        assert too_long["outcome"] == "invalidArguments"


async def test_case_163_it_is_gone_with_its_call(gateway: GatewayProcess, scene: Scene) -> None:
    turn = await scene.begin()
    long = await turn.invoke("recite", {"lines": 300})
    other = parts_of(await turn.invoke("recite", {"lines": 400}))
    part = parts_of(long)
    code, said = await gateway.run("audit", "erase", "--call", long["callId"], "--conversation", turn.conversation_id, "--yes")
    assert code == 0, said
    await assert_not_found(turn, part.id)
    await assert_not_found(turn, part.id, search="sea")
    await assert_not_found(turn, long["callId"])
    assert (await read_on(turn, result_id=other.id, page=2))["outcome"] == "ok"


async def test_a_policy_forbids_the_tool_by_its_name(gateway: GatewayProcess, scene: Scene) -> None:
    turn = await scene.begin()
    part = parts_of(await turn.invoke("recite", {"lines": 300}))
    forbid = '@id("t.no")\n@why("Nobody reads on here")\nforbid (principal, action in Countersign::Action::"anyMode", resource)\n'
    forbid += 'when { resource.name == "read_result" };\n'
    await reload(gateway, scene.shell, "// ── guard rails", f"{forbid}\n// ── guard rails")
    turn = await Turn.begin(scene.shell, turn.conversation_id)
    refused = await read_on(turn, result_id=part.id)
    assert (refused["outcome"], refused["reason"]) == ("refusedByPolicy", "forbidden")


async def test_case_303_a_long_line_of_progress_is_told_by_its_length_alone(scene: Scene) -> None:
    turn = await scene.begin()
    assert (await turn.invoke("chatter", {"megabytes": 8}, "long"))["outcome"] == "ok"
    assert (await scene.shell.notification("tools/progress", callId="long"))["message"] == "(a line of 8388608 characters)"


async def test_case_311_nobody_else_waits_while_a_long_result_is_looked_through(gateway: GatewayProcess, scene: Scene) -> None:
    eve = await scene.another("Eve", "operator")
    theirs = await Turn.begin(await eve.agent())
    mine = await scene.begin()
    long = await theirs.start("drone", {"megabytes": 2})
    waits: list[float] = []
    began = time.monotonic()
    while not long.done():
        sent = time.monotonic()
        if len(waits) < 30:
            assert (await mine.invoke("recite", {"lines": 2}))["outcome"] == "ok"
        else:
            # A turn has only so many calls, a socket so many messages a second, and a fast machine asks thousands in this time.
            assert (await scene.ada.browser.get(f"{gateway.agent_origin}/healthz")).status == 200
        waits.append(time.monotonic() - sent)
    result = await long
    took = time.monotonic() - began
    assert result["outcome"] == "ok", result
    assert result["truncated"]
    # A share, since machines differ. 40 MB within the gateway took 99 s, and others waited for up to 17.
    assert max(waits) < took / 3, (max(waits), took)
    await eve.leave()


@pytest.mark.parametrize(("before", "after"), [(1_990, 40), (1_990, 3_000), (18_376, 3_000), (3_000, 4 << 20)])
async def test_case_316_half_a_credential_is_not_told_where_a_failure_is_cut(scene: Scene, before: int, after: int) -> None:
    result = await (await scene.begin()).invoke("give_up", {"before": before, "after": after})
    assert result["outcome"] == "executionError"
    assert "AKIA" not in text_of(result)
    assert len(result["content"]) <= 2_000
    assert re.search(r"…\[truncated \d+ bytes\]$", result["content"])
