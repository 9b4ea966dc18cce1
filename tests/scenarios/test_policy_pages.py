"""The console's pages for people who write no rule, at the running gateway: its switches go the way of every edit, and what comes
with one stays a text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.person import Person
from tests.harness.socket import Socket, refused
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with stage(tmp_path_factory.mktemp("pages"), COUNTERSIGN_POLICY_SOURCE="database") as scene:
        yield scene


async def states(console: Socket) -> dict[str, tuple[str, Sequence[str]]]:
    """Each switch with its state and arguments."""
    described = (await console.call("policy/switches"))["switches"]
    return {each["switch"]: (each["state"], each["arguments"]) for each in described}


async def publish(person: Person, console: Socket, base: str, documents: object) -> None:
    asked = {"base": base, "reason": "for the test", "documents": documents}
    answer = await console.call("policy/propose", asked)
    assert answer["outcome"] == "proposed", answer
    opened = answer["opened"]
    assertion = person.authenticator.get(opened["passkeyOptions"])
    signing = {"proposalId": opened["proposal"]["proposalId"], "assertion": assertion}
    assert (await console.call("policy/sign", signing))["outcome"] == "published"


async def turn(scene: Scene, switch: str, *arguments: str, on: bool = True) -> None:
    """Turn it, and put it in force."""
    asked = {"switch": switch, "on": on, "arguments": list(arguments)}
    draft = await scene.console.call("policy/turn-switch", asked)
    await publish(scene.ada, scene.console, draft["base"], draft["documents"])


async def test_a_switch_is_a_draft_like_any_other_and_in_force_with_a_passkey_alone(scene: Scene) -> None:
    before = (await scene.console.call("policy/get"))["version"]
    assert (await (await scene.begin()).invoke("peek", {"what": "milk"}))["outcome"] == "ok"
    assert {state for state, _ in (await states(scene.console)).values()} == {"off"}
    draft = await scene.console.call("policy/turn-switch", {"switch": "askOutsideFolders", "on": True, "arguments": ["notes/"]})
    assert draft["base"] == before
    assert draft["check"]["cases"]["failed"] == 0
    assert (await scene.console.call("policy/get"))["version"] == before, "turning a switch changes nothing by itself"
    rehearsed = await scene.console.call("policy/rehearse", {"documents": draft["documents"], "days": 7})
    assert rehearsed["unlike"] == 0
    assert rehearsed["judged"] > 0
    await publish(scene.ada, scene.console, draft["base"], draft["documents"])
    assert (await states(scene.console))["askOutsideFolders"] == ("on", ["notes"])
    turn_ = await scene.begin()
    waiting = await turn_.start("peek", {"what": "milk"}, "outside-1")
    assert (await scene.asked("outside-1")).startswith("apr_")
    await turn(scene, "askOutsideFolders", on=False)
    assert (await finish(waiting))["reason"] == "policyChanged"
    assert (await scene.console.call("policy/get"))["version"] == before
    assert (await (await scene.begin()).invoke("peek", {"what": "milk"}))["outcome"] == "ok"


async def test_case_125_what_comes_with_a_switch_cannot_become_a_rule(scene: Scene) -> None:
    rules = (await scene.console.call("policy/describe"))["rules"]
    hostile = ['x"); permit (principal, action, resource);', '" || true || "', "no*tes", "{when} %s"]
    draft = await scene.console.call("policy/turn-switch", {"switch": "askOutsideFolders", "on": True, "arguments": hostile})
    assert draft["check"]["rules"] == len(rules) + 2
    compared = await scene.console.call("policy/compare", {"documents": draft["documents"]})
    assert {each["change"] for each in compared["differences"]} <= {"questionAdded", "newlyRefused"}
    for switch, argument in [
        ("askOutsideFolders", "notes\npermit (principal, action, resource);"),
        ("askOutsideFolders", "../etc"),
        ("letHostsThrough", '"].contains("x") || ["'),
        ("letHostsThrough", "*.example.com"),
        ("letHostsThrough", "\u0430pple.com"),
        ("neverDelete", "anything"),
    ]:
        asked = {"switch": switch, "on": True, "arguments": [argument]}
        assert await refused(scene.console, "policy/turn-switch", asked) == "switchArgument"
    assert await refused(scene.console, "policy/turn-switch", {"switch": "allowAll", "on": True}) == "invalid_params"


async def test_case_125_the_agent_origin_and_guests_have_no_part_in_these_pages(scene: Scene) -> None:
    guest = await scene.another("Eve", "guest")
    eve = await guest.console()
    asks: list[tuple[str, dict[str, Any]]] = [
        ("policy/switches", {}),
        ("policy/turn-switch", {"switch": "neverDelete", "on": False}),
        ("policy/explain", {"imagined": {"tool": "peek", "arguments": {"what": "x"}, "profile": "operator"}}),
        ("policy/explain", {"call": {"conversationId": "cnv_x", "callId": "c1"}}),
    ]
    for method, params in asks:
        assert await refused(scene.shell, method, params) == "unknown_method"
        assert await refused(eve, method, params) == "operatorOnly"
    await guest.leave()


async def test_a_switch_whose_rule_was_edited_is_left_alone(scene: Scene) -> None:
    draft = await scene.console.call("policy/turn-switch", {"switch": "neverDelete", "on": True})
    edited = [
        {**each, "text": each["text"].replace("// Written", "// Mine. Written")} if "never-delete" in each["name"] else each
        for each in draft["documents"]
    ]
    await publish(scene.ada, scene.console, draft["base"], edited)
    assert (await states(scene.console))["neverDelete"] == ("changedByHand", [])
    assert await refused(scene.console, "policy/turn-switch", {"switch": "neverDelete", "on": False}) == "changedByHand"


async def test_a_call_is_explained_as_it_was_judged_and_as_it_would_be_now(scene: Scene) -> None:
    turn_ = await scene.begin()
    await turn_.invoke("peek", {"what": "milk"}, "explained-1")
    asked = {"call": {"conversationId": turn_.conversation_id, "callId": "explained-1"}}
    told = await scene.console.call("policy/explain", asked)
    (rule,) = told["rules"]
    assert (told["mode"], rule["id"], rule["file"]) == ("auto", "read.auto", "default.cedar")
    assert '@id("read.auto")' in rule["text"]
    assert "now" not in told
    await turn(scene, "askOutsideFolders", "notes")
    later = await scene.console.call("policy/explain", asked)
    assert (later["version"], later["mode"], later["now"]) == (told["version"], "auto", "consent")
    # One that waits for a person is explained by the version in force.
    fresh = await scene.begin()
    waits = await fresh.start("note", {"what": "milk"}, "explained-3")
    await scene.asked("explained-3")
    pending = await scene.console.call(
        "policy/explain", {"call": {"conversationId": fresh.conversation_id, "callId": "explained-3"}}
    )
    assert (pending["mode"], [each["id"] for each in pending["rules"]]) == ("consent", ["write.consent"])
    await turn(scene, "askOutsideFolders", on=False)
    await finish(waits)
    nothing = {"call": {"conversationId": turn_.conversation_id, "callId": "never"}}
    assert await refused(scene.console, "policy/explain", nothing) == "not_found"


async def test_an_imagined_call_is_explained_by_the_facts_of_its_tool_and_runs_nothing(scene: Scene) -> None:
    imagined = {"tool": "read_file", "arguments": {"path": "work/a.txt"}, "profile": "guest"}
    await turn(scene, "askOutsideFolders", "notes")
    told = await scene.console.call("policy/explain", {"imagined": imagined})
    assert (told["mode"], told["facts"]) == ("consent", {"path": "work/a.txt"})
    assert told["rules"][0]["id"] == "switch.ask-outside-folders"
    changes = {(each["what"], each["value"]): each["mode"] for each in told["changes"]}
    assert changes["path", "notes/x"] == "auto"
    assert changes["profile", "anonymous"] == "forbidden"
    await turn(scene, "askOutsideFolders", on=False)
    for arguments in ({"path": "../etc/passwd"}, {"path": 3}, {}):
        wrong = {"imagined": {**imagined, "arguments": arguments}}
        assert await refused(scene.console, "policy/explain", wrong) == "arguments"
    assert await refused(scene.console, "policy/explain", {"imagined": {**imagined, "tool": "nosuch"}}) == "not_found"
    assert await refused(scene.console, "policy/explain", {}) == "invalid_params"
