"""Settings that an operator changes while the gateway runs: in force at once, on record, signed; docs/SECURITY.md case 156.

One gateway for the story, to which every attack goes over its sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from tests.authenticator import Forgery
from tests.harness.person import Person
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with stage(tmp_path_factory.mktemp("settings"), COUNTERSIGN_GRACE_SECONDS="45") as scene:
        yield scene


async def listed(console: Socket) -> tuple[str, dict[str, Any]]:
    """The version of the choices, and each setting by its name."""
    got = await console.call("settings/list")
    return got["version"], {each["name"]: each for each in got["settings"]}


async def asked(console: Socket, name: str, **wish: Any) -> Any:
    return await console.call("settings/ask", {"name": name, "base": (await listed(console))[0], **wish})


def sign(person: Person, question: Mapping[str, Any]) -> dict[str, Any]:
    return {"assertion": person.authenticator.get(question["passkeyOptions"])}


async def change(person: Person, console: Socket, name: str, **wish: Any) -> dict[str, Any]:
    """The setting after the change."""
    changed = await console.call("settings/change", sign(person, await asked(console, name, **wish)))
    return next(each for each in changed["settings"] if each["name"] == name)


async def refused(socket: Socket, method: str, params: Mapping[str, Any]) -> tuple[str, str]:
    """The code and the words of what must be refused."""
    with pytest.raises(RpcError) as caught:
        await socket.call(method, params)
    return str(caught.value.error["data"]["code"]), str(caught.value.error["message"])


async def seconds_to_answer(scene: Scene, call_id: str) -> float:
    """How long the question of a new call waits. It is denied afterwards."""
    turn = await scene.begin()
    call = await turn.start("note", {"what": "milk"}, call_id)
    approval_id = await scene.asked(call_id)
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    await scene.console.call("approvals/decide", scene.ada.decision(opened, "deny"))
    async with asyncio.timeout(20):
        await call
    entries = (await scene.console.call("audit/list", {"filter": {"event": "approval:requested"}}))["entries"]
    body = next(each["body"] for each in entries if each["body"]["approvalId"] == approval_id)
    return float(body["expiresAt"] - body["at"]) / 1000


async def test_a_change_holds_at_once_is_on_record_outlives_a_restart_and_can_be_put_back(scene: Scene) -> None:
    assert await seconds_to_answer(scene, "before") == 120
    other = await scene.ada.console()
    changed = await change(scene.ada, scene.console, "approval_seconds", value=77)
    assert (changed["value"], changed["configured"], changed["place"], changed["fixed"]) == (77, 120, "console", False)
    await other.notification("settings/changed")
    assert await seconds_to_answer(scene, "after") == 77
    await scene.ada.leave()
    await scene.gateway.kill()
    await scene.gateway.start()
    scene.console, scene.shell = await scene.ada.console(), await scene.ada.agent()
    assert await seconds_to_answer(scene, "restarted") == 77
    put_back = await change(scene.ada, scene.console, "approval_seconds", reset=True)
    assert (put_back["value"], put_back["place"]) == (120, "default")
    assert await seconds_to_answer(scene, "put-back") == 120
    entries = (await scene.console.call("audit/list", {"filter": {"event": "setting:changed"}}))["entries"]
    assert [(each["body"]["setting"], each["body"]["value"], each["body"]["chosen"]) for each in entries] == [
        ("approval_seconds", None, {}),
        ("approval_seconds", 77, {"approval_seconds": 77}),
    ]
    report = await scene.console.call("audit/verify")
    assert report["verified"], report


async def test_each_setting_reaches_what_it_is_about(scene: Scene) -> None:
    # An invitation takes a passkey that answered a short time ago.
    assert (await scene.ada.sign_in()).status == 204
    scene.console, scene.shell = await scene.ada.console(), await scene.ada.agent()
    link = await scene.console.call("people/invite", {"name": "Nia", "profile": "guest"})
    assert link["seconds"] == 900
    await change(scene.ada, scene.console, "enrolment_minutes", value=3)
    assert (await scene.console.call("people/invite", {"name": "Nia", "profile": "guest"}))["seconds"] == 180
    code, output = await scene.gateway.run("enrol", "Ned")
    assert (code, "for 3 minutes" in output) == (0, True), output
    await change(scene.ada, scene.console, "sockets_per_session", value=4)
    crowd = await asyncio.gather(*(scene.ada.console() for _ in range(6)), return_exceptions=True)
    turned_away = [str(each) for each in crowd if isinstance(each, BaseException)]
    assert (len(turned_away), "429" in turned_away[0]) == (3, True), turned_away
    await asyncio.gather(*(each.close() for each in crowd if isinstance(each, Socket)))
    await change(scene.ada, scene.console, "sockets_per_session", reset=True)
    await change(scene.ada, scene.console, "retain_days", value=0)
    turn = await scene.begin()
    assert (await turn.invoke("peek", {"what": "erased"}, "erased"))["outcome"] == "ok"
    async with asyncio.timeout(20):
        while not (await scene.console.call("audit/list", {"filter": {"event": "records:erased"}}))["entries"]:
            await asyncio.sleep(0.1)
    assert (await change(scene.ada, scene.console, "retain_days", value="never"))["value"] == "never"
    await change(scene.ada, scene.console, "snapshot_seconds", value=100)
    snapshot = (await scene.begin()).snapshot
    assert snapshot["expiresAt"] < (await scene.console.call("session/describe"))["session"]["expiresAt"]
    await change(scene.ada, scene.console, "log_level", value="debug")
    assert (await change(scene.ada, scene.console, "log_level", reset=True))["value"] == "info"
    await change(scene.ada, scene.console, "drain_seconds", value=5)
    for name in ("enrolment_minutes", "retain_days", "snapshot_seconds", "drain_seconds"):
        await change(scene.ada, scene.console, name, reset=True)
    assert all(each["place"] in ("default", "environment") for each in (await listed(scene.console))[1].values())


async def test_what_is_set_elsewhere_says_so_and_is_not_changed_here(scene: Scene) -> None:
    version, settings = await listed(scene.console)
    grace = settings["grace_seconds"]
    assert (grace["value"], grace["place"], grace["fixed"]) == (45, "environment", True)
    code, words = await refused(scene.console, "settings/ask", {"name": "grace_seconds", "value": 60, "base": version})
    assert (code, words) == ("settingFixed", "`grace_seconds` is set in the environment; change it there")
    status, output = await scene.gateway.run("settings", "set", "grace_seconds", "60")
    assert (status, "is set in the environment; change it there" in output) == (2, True), output


async def test_of_two_editors_the_second_gets_a_conflict(scene: Scene) -> None:
    bob = await scene.another("Bob", "operator")
    theirs = await bob.console()
    first = await asked(scene.console, "approval_seconds", value=60)
    second = await asked(theirs, "drain_seconds", value=20)
    await scene.console.call("settings/change", sign(scene.ada, first))
    assert (await refused(theirs, "settings/change", sign(bob, second)))[0] == "conflict"
    old = (await listed(theirs))[0]
    await change(scene.ada, scene.console, "approval_seconds", reset=True)
    assert (await refused(theirs, "settings/ask", {"name": "drain_seconds", "value": 20, "base": old}))[0] == "conflict"
    assert (await listed(theirs))[1]["drain_seconds"]["place"] == "default"
    await bob.leave()


@pytest.mark.parametrize(
    ("name", "wish", "words"),
    [
        ("approval_seconds", {"value": 9}, "`approval_seconds` should be a whole number from 10 to 86400"),
        ("approval_seconds", {"value": 86_401}, "`approval_seconds` should be a whole number from 10 to 86400"),
        ("approval_seconds", {"value": "never"}, "`approval_seconds` should be a whole number from 10 to 86400"),
        ("retain_days", {"value": 36_501}, "`retain_days` should be a whole number from 0 to 36500 or `never`"),
        ("log_level", {"value": 3}, "`log_level` should be `debug`, `info`, `warning` or `error`"),
        ("port", {"value": 80}, "no setting of that name can be changed here; there are approval_seconds"),
        ("policy", {"value": "x"}, "no setting of that name can be changed here"),
        ("approval_seconds", {}, "give either `value` or `reset`"),
        ("approval_seconds", {"value": 60, "reset": True}, "give either `value` or `reset`"),
        ("approval_seconds", {"value": 1.5}, ""),
        ("enrolment_minutes", {"value": True}, ""),
        ("approval_seconds", {"value": "60"}, "`approval_seconds` should be a whole number from 10 to 86400"),
    ],
)
async def test_case_156_a_wrong_value_or_name_changes_nothing(
    scene: Scene, name: str, wish: Mapping[str, Any], words: str
) -> None:
    version, before = await listed(scene.console)
    code, said = await refused(scene.console, "settings/ask", {"name": name, "base": version, **wish})
    assert (code, said.startswith(words), "\n" in said) == ("invalid_params", True, False), said
    assert await listed(scene.console) == (version, before)


async def test_case_156_guests_auditors_and_the_agent_origin_have_no_part_in_it(scene: Scene) -> None:
    version, before = await listed(scene.console)
    question = await asked(scene.console, "approval_seconds", value=60)
    asks: list[tuple[str, dict[str, Any]]] = [
        ("settings/list", {}),
        ("settings/ask", {"name": "approval_seconds", "value": 60, "base": version}),
        ("settings/change", sign(scene.ada, question)),
    ]
    for name, profile in (("Eve", "guest"), ("Aud", "auditor")):
        person = Person.at(scene.gateway)
        assert (await person.enrol(await scene.offer(name, profile))).status == 204
        console = await person.console()
        for method, params in asks:
            assert (await refused(console, method, params))[0] in ("operatorOnly", "auditorReadsOnly")
        await person.leave()
    for method, params in asks:
        assert (await refused(scene.shell, method, params))[0] == "unknown_method"
    assert await listed(scene.console) == (version, before)


async def test_case_156_a_signature_for_something_else_or_twice_changes_nothing(scene: Scene) -> None:
    version, before = await listed(scene.console)
    question = await asked(scene.console, "approval_seconds", value=60)
    answer = sign(scene.ada, question)
    # An answer to one question signs no other one.
    await asked(scene.console, "approval_seconds", value=70)
    assert (await refused(scene.console, "settings/change", answer))[0] == "assertionInvalid"
    # Nor is it taken on another console, or a second time.
    another = await scene.ada.console()
    theirs = await scene.another("Cleo", "operator")
    bobs = await theirs.console()
    assert (await refused(bobs, "settings/change", answer))[0] == "challengeExpired"
    mine = await asked(bobs, "approval_seconds", value=60)
    rp_id = mine["passkeyOptions"]["rpId"]
    stolen = {"assertion": scene.ada.authenticator.get({"challenge": mine["passkeyOptions"]["challenge"], "rpId": rp_id})}
    assert (await refused(bobs, "settings/change", stolen))[0] == "assertionInvalid"
    unverified = await asked(scene.console, "approval_seconds", value=60)
    touched = scene.ada.authenticator.get(unverified["passkeyOptions"], Forgery(user_verified=False))
    assert (await refused(another, "settings/change", {"assertion": touched}))[0] == "assertionInvalid"
    done = await change(scene.ada, scene.console, "approval_seconds", value=61)
    assert done["value"] == 61
    assert (await refused(scene.console, "settings/change", answer))[0] == "challengeExpired"
    await change(scene.ada, scene.console, "approval_seconds", reset=True)
    assert await listed(scene.console) == (version, before)
    entries = (await scene.console.call("audit/list", {"filter": {"event": "setting-change:refused"}}))["entries"]
    assert [each["body"]["setting"] for each in entries] == ["approval_seconds"] * 3
    await theirs.leave()


async def test_the_command_line_lists_sets_and_puts_back_the_same_settings(scene: Scene) -> None:
    code, output = await scene.gateway.run("settings", "set", "approval_seconds", "88")
    assert (code, "approval_seconds is 88 now" in output) == (0, True), output
    assert (await listed(scene.console))[1]["approval_seconds"]["value"] == 88
    code, output = await scene.gateway.run("settings", "list")
    lines = {line.split()[0]: line for line in output.splitlines()}
    assert (code, lines["approval_seconds"].split()[1], "changed while" in lines["approval_seconds"]) == (0, "88", True)
    assert "in the environment; changed there" in lines["grace_seconds"]
    for wrong, words in (("9", "should be a whole number from 10 to 86400"), ("abc", "should be a whole number")):
        code, output = await scene.gateway.run("settings", "set", "approval_seconds", wrong)
        assert (code, words in output, len(output.strip().splitlines())) == (2, True, 1), output
    code, output = await scene.gateway.run("settings", "set", "prot", "1")
    assert (code, "no setting of that name can be changed here" in output) == (2, True), output
    code, output = await scene.gateway.run("settings", "reset", "approval_seconds")
    assert (code, output.strip()) == (0, "approval_seconds is 120 again."), output
    newest = (await scene.console.call("audit/list", {"filter": {"event": "setting:changed"}}))["entries"][0]["body"]
    assert (newest["principalId"], newest["credentialId"]) == (None, None)
