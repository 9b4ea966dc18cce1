"""People and sessions as operators change them on the console, and attacks on that; docs/SECURITY.md cases 119 to 122."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.harness.damage import unwritable
from tests.harness.person import Person, Turn
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOBODY = "usr_nobody"


async def find(console: Socket, name: str) -> dict[str, Any]:
    """A person on the operators' list."""
    (found,) = [each for each in (await console.call("people/list"))["people"] if each["name"] == name]
    return found


async def reason_of(console: Socket, method: str, **params: Any) -> str:
    """The word with which a request is refused."""
    with pytest.raises(RpcError) as refused:
        await console.call(method, params)
    return refused.value.error["data"]["code"]


async def records(scene: Scene, event: str) -> list[dict[str, Any]]:
    """The bodies of that kind, newest first."""
    return [each["body"] for each in (await scene.console.call("audit/list", {"filter": {"event": event}}))["entries"]]


@pytest.mark.requirement("002-32", "a suspended person has no session a second later and signs in with no passkey")
async def test_case_119_a_suspended_person_is_out_until_an_operator_lets_them_in(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        eve = await scene.another("Eve", "guest")
        shell, console = await eve.agent(), await eve.console()
        person = await find(scene.console, "Eve")
        assert (person["suspended"], person["sessions"], person["passkeys"]) == (False, 1, 1)
        await scene.console.call("people/suspend", {"principal": person["id"]})
        for socket in (shell, console):
            assert (await socket.notification("session/ended"))["reason"] == "suspended"
            assert (await socket.wait_closed(patience=5))[0] == 4403
        refused = await eve.sign_in()
        assert (refused.status, refused.json["error"]["reason"]) == (403, "suspended")
        assert await reason_of(scene.console, "people/suspend", principal=person["id"]) == "isSuspended"
        # It is a property of the person, not of this process.
        assert await scene.gateway.stop() == 0
        await scene.gateway.start()
        assert (await eve.sign_in()).status == 403
        assert (await scene.ada.sign_in()).status == 204
        scene.console = await scene.ada.console()
        assert (await find(scene.console, "Eve"))["suspended"] is True
        await scene.console.call("people/resume", {"principal": person["id"]})
        assert (await eve.sign_in()).status == 204
        assert await reason_of(scene.console, "people/resume", principal=person["id"]) == "notSuspended"
        ada = (await find(scene.console, "Operator"))["id"]
        for event in ("principal:suspended", "principal:resumed"):
            (body,) = await records(scene, event)
            assert (body["principalId"], body["by"]) == (person["id"], ada)
        code, said = await scene.gateway.run("people", "suspend", "Eve")
        assert (code, "suspended" in said) == (0, True)
        assert "(suspended)" in (await scene.gateway.run("people", "list"))[1]
        assert (await scene.gateway.run("people", "resume", "Eve"))[0] == 0
        assert "by" not in (await records(scene, "principal:suspended"))[0]
        code, output = await scene.gateway.run("audit", "verify")
        assert code == 0, output
        await eve.leave()


REQUESTS: dict[str, dict[str, Any]] = {
    "people/list": {},
    "people/invite": {"name": "Mallory", "profile": "operator"},
    "people/set-profile": {"principal": NOBODY, "profile": "operator"},
    "people/suspend": {"principal": NOBODY},
    "people/resume": {"principal": NOBODY},
    "people/remove": {"principal": NOBODY},
    "audit/erase": {"principal": NOBODY},
    "sessions/list": {},
    "sessions/end": {"sessionId": "ses_nobody"},
    "sessions/restrict": {"sessionId": "ses_nobody", "label": "high"},
}


@pytest.mark.requirement("002-33", "neither the agent's origin nor a guest reaches what decides about people")
async def test_case_120_the_agent_and_a_guest_reach_none_of_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        guest = await scene.another("Gil", "guest")
        console = await guest.console()
        gils, adas = (await find(scene.console, "Gil"))["id"], (await find(scene.console, "Operator"))["id"]
        (session,) = (await scene.console.call("sessions/list"))["sessions"]
        aimed = {"principal": adas, "sessionId": session["id"]}
        for method, params in REQUESTS.items():
            sent = {name: aimed.get(name, value) for name, value in params.items()}
            assert await reason_of(console, method, **sent) == "operatorOnly"
            with pytest.raises(RpcError) as refused:
                await scene.shell.call(method, sent)
            assert refused.value.code == -32601
        assert await reason_of(console, "people/set-profile", principal=gils, profile="operator") == "operatorOnly"
        people = (await scene.console.call("people/list"))["people"]
        assert [(each["name"], each["profile"], each["suspended"]) for each in people] == [
            ("Operator", "operator", False),
            ("Gil", "guest", False),
        ]
        assert (await scene.shell.call("session/describe"))["session"]["id"] == session["id"]
        await guest.leave()


@pytest.mark.requirement("002-33", "authority is given only with a passkey that answered a moment ago")
async def test_case_121_giving_authority_takes_a_fresh_passkey_and_taking_it_does_not(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        eve = await scene.another("Eve", "guest")
        person = (await find(scene.console, "Eve"))["id"]
        # A restart forgets who answered, and the cookie goes on: as if it had been stolen.
        assert await scene.gateway.stop() == 0
        await scene.gateway.start()
        stolen = await scene.ada.console()
        assert await reason_of(stolen, "people/invite", name="Mallory", profile="operator") == "stepUpRequired"
        assert await reason_of(stolen, "people/set-profile", principal=person, profile="operator") == "stepUpRequired"
        await stolen.call("people/suspend", {"principal": person})
        assert await reason_of(stolen, "people/resume", principal=person) == "stepUpRequired"
        assert await reason_of(stolen, "audit/erase", principal=person) == "stepUpRequired"
        assert (await find(stolen, "Eve"))["profile"] == "guest"

        assert (await scene.ada.sign_in()).status == 204
        scene.console = await scene.ada.console()
        await scene.console.call("people/resume", {"principal": person})
        made = await scene.console.call("people/invite", {"name": "Grace", "profile": "guest"})
        assert made["seconds"] == 900
        assert len(made["qr"]) == len(made["qr"][0]) > 20
        assert set("".join(made["qr"])) == {"0", "1"}
        grace = await Person.at(scene.gateway).arrive(made["link"].rpartition("#t=")[2])
        assert (await find(scene.console, "Grace"))["profile"] == "guest"
        again = Person.at(scene.gateway).browser
        token = {"token": made["link"].rpartition("#t=")[2]}
        assert (await again.post(f"{scene.gateway.console_origin}/enrol/options", token)).status == 410
        (offered, *_) = await records(scene, "enrolment:offered")
        assert offered["by"] == (await find(scene.console, "Operator"))["id"]
        for wrong in ({"name": " ", "profile": "guest"}, {"name": "a\u202eb", "profile": "guest"}):
            assert await reason_of(scene.console, "people/invite", **wrong) == "name"
        for method, params in (
            ("people/invite", {"name": "Nobody", "profile": "anonymous"}),
            ("people/set-profile", {"principal": person, "profile": "anonymous"}),
        ):
            with pytest.raises(RpcError) as refused:
                await scene.console.call(method, params)
            assert refused.value.code == -32602
        await grace.leave()
        await eve.leave()


@pytest.mark.requirement("002-32", "somebody is always left who may decide about people")
async def test_case_122_two_operators_who_demote_each_other_at_once_leave_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        ben = await scene.another("Ben", "operator")
        consoles = {"Operator": await ben.console(), "Ben": scene.console}
        ids = {name: (await find(scene.console, name))["id"] for name in consoles}
        sent = [
            await console.send("people/set-profile", {"principal": ids[name], "profile": "guest"})
            for name, console in consoles.items()
        ]
        outcomes = await asyncio.gather(*(finish(each) for each in sent), return_exceptions=True)
        # Whoever is second is refused, or was already signed out by the first when the answer was to be sent.
        (lost,) = [each for each in outcomes if isinstance(each, BaseException)]
        assert isinstance(lost, RpcError | ConnectionError)
        code, listed = await scene.gateway.run("people", "list")
        assert (code, listed.count("  operator "), listed.count("  guest ")) == (0, 1, 1)
        (left,) = [line.split()[0] for line in listed.splitlines() if "  operator " in line]
        last = scene.ada if left == ids["Operator"] else ben
        assert (await last.sign_in()).status == 204
        console = await last.console()
        for method in ("people/suspend", "people/remove"):
            assert await reason_of(console, method, principal=left) == "lastOperator"
        assert await reason_of(console, "people/set-profile", principal=left, profile="guest") == "lastOperator"
        await ben.leave()


async def test_case_122_an_operator_who_is_suspended_is_not_one_who_is_left(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        ben = await scene.another("Ben", "operator")
        bens, adas = [(await find(scene.console, name))["id"] for name in ("Ben", "Operator")]
        await scene.console.call("people/suspend", {"principal": bens})
        for method in ("people/suspend", "people/remove"):
            assert await reason_of(scene.console, method, principal=adas) == "lastOperator"
        assert await reason_of(scene.console, "people/set-profile", principal=adas, profile="guest") == "lastOperator"
        # Who is suspended can be given less, and taken away: nobody who could decide is missing then.
        await scene.console.call("people/set-profile", {"principal": bens, "profile": "guest"})
        await scene.console.call("people/remove", {"principal": bens})
        await ben.leave()


@pytest.mark.requirement("002-32", "an operator ends a session, or lets it do less, while a call of it waits")
async def test_a_session_is_restricted_and_ended_from_the_console(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "milk"}, "n1")
        await scene.asked("n1")
        (session,) = (await scene.console.call("sessions/list"))["sessions"]
        assert (session["principalName"], session["label"]) == ("Operator", "public")
        await scene.console.call("sessions/restrict", {"sessionId": session["id"], "label": "high"})
        (listed,) = (await scene.console.call("sessions/list"))["sessions"]
        assert listed["label"] == "high"
        await scene.console.call("sessions/end", {"sessionId": session["id"]})
        assert (await scene.shell.notification("session/ended"))["reason"] == "endedByOperator"
        assert (await scene.shell.wait_closed(patience=5))[0] == 4403
        assert (await scene.console.call("sessions/list"))["sessions"] == []
        with pytest.raises(RpcError) as refused:
            await scene.console.call("sessions/end", {"sessionId": session["id"]})
        assert refused.value.code == -32003
        assert scene.effects(turn.conversation_id) == []
        call.cancel()


async def test_case_320_somebody_is_suspended_with_all_their_sessions_or_not_at_all(tmp_path: Path) -> None:
    """The end of the sessions cannot be recorded: a suspension without it let them go on, and could not be tried again."""
    async with stage(tmp_path) as scene:
        steps: tuple[tuple[str, dict[str, str]], ...] = (
            ("people/suspend", {}),
            ("people/set-profile", {"profile": "auditor"}),
            ("people/remove", {}),
        )
        for method, more in steps:
            eve = await scene.another(f"Eve of {method}", "guest")
            shell = await eve.agent()
            asked = {"principal": (await find(scene.console, f"Eve of {method}"))["id"], **more}
            with unwritable(scene.gateway.state, "console-session:ended"):
                assert await reason_of(scene.console, method, **asked) == "ledger_unavailable"
            known = await find(scene.console, f"Eve of {method}")
            assert (known["profile"], known["suspended"]) == ("guest", False)
            assert (await (await Turn.begin(shell)).invoke("peek", {"what": "x"}))["outcome"] == "ok"
            await scene.console.call(method, asked)
            await shell.wait_closed()
