"""Two conversations side by side, on the console and on the command line, from the record of a running gateway."""

from __future__ import annotations

import pytest

from tests.harness.person import Person, Turn
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def refusal_of(console: Socket, first: str, second: str) -> tuple[str, str]:
    with pytest.raises(RpcError) as refused:
        await console.call("audit/compare", {"first": first, "second": second})
    return refused.value.error["data"]["code"], refused.value.error["message"]


async def end(turn: Turn) -> None:
    where = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    await turn.socket.call("turns/end", where)


async def allow(scene: Scene, turn: Turn, call_id: str, what: str, decision: str = "approve") -> None:
    call = await turn.start("note", {"what": what}, call_id)
    await scene.ada.answer(scene.console, await scene.asked(call_id), decision, scope="once")
    await finish(call)


@pytest.mark.requirement("002-22", "two conversations, such as a fork and its parent, are compared on the console")
async def test_a_fork_and_its_parent_stand_side_by_side_with_what_differs(scene: Scene) -> None:
    parent = await scene.begin()
    assert (await parent.invoke("peek", {"what": "same"}, "peek-1"))["outcome"] == "ok"
    await allow(scene, parent, "note-1", "milk")
    await allow(scene, parent, "note-2", "bread")
    await allow(scene, parent, "note-3", "eggs")
    assert (await parent.invoke("peek", {"what": "last"}, "peek-2"))["outcome"] == "ok"
    await end(parent)
    forked = await scene.shell.call("conversations/fork", {"conversationId": parent.conversation_id, "fromTurn": 0})
    branch = await Turn.begin(scene.shell, forked["conversation"]["id"])
    assert (await branch.invoke("peek", {"what": "same"}, "peek-1"))["outcome"] == "ok"
    await allow(scene, branch, "note-1", "beer")
    await allow(scene, branch, "note-2", "bread", "deny")
    await allow(scene, branch, "note-3", "eggs")
    await end(branch)

    ids = {"first": parent.conversation_id, "second": branch.conversation_id}
    compared = await scene.console.call("audit/compare", ids)
    assert [(pair["finding"], pair["differs"]) for pair in compared["pairs"]] == [
        ("same", []),
        ("different", ["arguments"]),
        ("different", ["decision", "outcome"]),
        ("same", []),
        ("firstOnly", []),
    ]
    assert compared["second"]["parentId"] == parent.conversation_id
    assert (compared["first"]["calls"], compared["second"]["calls"], compared["first"]["cut"]) == (5, 4, False)
    changed = compared["pairs"][1]
    assert (changed["first"]["arguments"], changed["second"]["arguments"]) == (
        '{"times": 1, "what": "milk"}',
        '{"times": 1, "what": "beer"}',
    )
    shown = await scene.console.call("audit/call", {"position": changed["second"]["position"]})
    assert (shown["call"]["conversationId"], shown["call"]["callId"]) == (branch.conversation_id, "note-1")
    code, output = await scene.gateway.run("audit", "compare", *ids.values())
    assert code == 1
    signs = [line[59] for line in output.splitlines()[1:]]
    assert signs == ["=", "|", "|", "=", "<"], output

    recent = (await scene.console.call("audit/conversations", {}))["conversations"]
    assert [each["conversationId"] for each in recent[:2]] == [branch.conversation_id, parent.conversation_id]


async def test_arguments_that_were_erased_cannot_be_compared(scene: Scene) -> None:
    first, second = await scene.begin(), await scene.begin()
    for turn in (first, second):
        assert (await turn.invoke("peek", {"what": "plum"}, "peek-1"))["outcome"] == "ok"
        assert (await turn.invoke("peek", {"what": "pear"}, "peek-2"))["outcome"] == "ok"
        await end(turn)
    ids = (first.conversation_id, second.conversation_id)
    for conversation, call in ((ids[0], "peek-1"), (ids[1], "peek-1"), (ids[1], "peek-2")):
        code, told = await scene.gateway.run("audit", "erase", "--call", call, "--conversation", conversation, "--yes")
        assert code == 0, told
    compared = await scene.console.call("audit/compare", {"first": ids[0], "second": ids[1]})
    assert [(pair["finding"], pair["first"]["erased"], pair["second"]["erased"]) for pair in compared["pairs"]] == [
        ("cannotBeTold", True, True),
        ("cannotBeTold", False, True),
    ]
    assert "arguments" not in compared["pairs"][0]["first"]
    code, output = await scene.gateway.run("audit", "compare", *ids)
    assert (code, output.count("  ?  ")) == (1, 2)
    # A call is the same as itself, whatever is left of it.
    code, output = await scene.gateway.run("audit", "compare", ids[0], ids[0])
    assert code == 0, output


async def test_two_conversations_that_have_nothing_in_common_or_no_call_can_be_compared(scene: Scene) -> None:
    first, second, third = await scene.begin(), await scene.begin(), await scene.begin()
    await first.invoke("peek", {"what": "a"}, "only")
    compared = await scene.console.call("audit/compare", {"first": first.conversation_id, "second": second.conversation_id})
    assert [pair["finding"] for pair in compared["pairs"]] == ["firstOnly"]
    compared = await scene.console.call("audit/compare", {"first": second.conversation_id, "second": third.conversation_id})
    assert compared["pairs"] == []
    for turn in (first, second, third):
        await end(turn)


async def test_case_197_nobody_compares_a_conversation_with_one_that_they_may_not_read(scene: Scene) -> None:
    adas = await scene.begin()
    await adas.invoke("peek", {"what": "secret-of-ada"}, "hers")
    await end(adas)
    eve = await scene.another("Eve", "guest")
    eves = await Turn.begin(await eve.agent())
    await eves.invoke("peek", {"what": "a"}, "eves")
    console = await eve.console()
    unknown = await refusal_of(console, eves.conversation_id, "cnv_nowhere")
    assert unknown[0] == "not_found"
    assert await refusal_of(console, eves.conversation_id, adas.conversation_id) == unknown
    assert await refusal_of(console, adas.conversation_id, eves.conversation_id) == unknown
    listed = (await console.call("audit/conversations", {}))["conversations"]
    assert [each["conversationId"] for each in listed] == [eves.conversation_id]
    own = await Turn.begin(eves.socket)
    compared = await console.call("audit/compare", {"first": eves.conversation_id, "second": own.conversation_id})
    assert [pair["finding"] for pair in compared["pairs"]] == ["firstOnly"]

    ida = Person.at(scene.gateway)
    assert (await ida.enrol(await scene.offer("Ida", "auditor"))).status == 204
    reading = await ida.console()
    both = {"first": adas.conversation_id, "second": eves.conversation_id}
    assert len((await reading.call("audit/compare", both))["pairs"]) > 0
    assert (await refusal_of(reading, adas.conversation_id, adas.conversation_id))[0] == "invalid_params"
    await eve.leave()
    await ida.leave()
