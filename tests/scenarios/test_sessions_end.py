"""Codes, sessions and grants that must not be worth anything any more; docs/SECURITY.md cases 33, 44, 80 to 82, 91 to 93."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.harness.http import Browser
from tests.harness.person import Person, Turn
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANOTHER_CLOCK = """
from gateway.adapters.system.clock import SystemClock
now = SystemClock.now
SystemClock.now = lambda self: now(self) + {hours} * 60 * 60 * 1000
"""


def another_clock(hours: int) -> str:
    """What runs first in a gateway whose clock is wrong by so many hours."""
    return ANOTHER_CLOCK.format(hours=hours)


async def test_case_44_a_code_that_another_browser_has_shown_is_burnt(scene: Scene) -> None:
    agent, console = scene.gateway.agent_origin, scene.gateway.console_origin
    for shown in ("{location}", "{location}&code=another", f"{agent}/callback?code={{code}}"):
        login = await scene.ada.browser.get(f"{agent}/login")
        state = parse_qs(urlsplit(login.headers["Location"]).query)["state"][0]
        location = str((await scene.ada.browser.post(f"{console}/authorize", {"state": state})).json["location"])
        code = parse_qs(urlsplit(location).query)["code"][0]
        thief = Browser(scene.gateway.port)
        assert (await thief.get(shown.format(location=location, code=code))).status in (400, 403)
        # The right browser comes second, and is turned away: it signs in again, and knows that somebody has seen its code.
        assert (await scene.ada.browser.get(location)).status == 403


@pytest.mark.requirement("002-32", "a clock that was set back makes no session and no grant longer")
async def test_case_80_sessions_and_grants_from_the_future_are_worth_nothing_after_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "milk"}, "n1")
        await scene.ada.answer(scene.console, await scene.asked("n1"), scope="session")
        assert (await finish(call))["outcome"] == "ok"
        assert await scene.gateway.stop() == 0
        scene.gateway.before = another_clock(-24)
        await scene.gateway.start()
        for origin in (scene.gateway.agent_origin, scene.gateway.console_origin):
            with pytest.raises(Exception, match="401"):
                await Socket.open(scene.ada.browser, origin)
        # Signing in works, and nothing of before counts.
        assert (await scene.ada.sign_in()).status == 204
        console = await scene.ada.console()
        assert (await console.call("grants/list"))["grants"] == []


async def test_case_93_what_had_run_out_does_not_count_again_when_the_clock_is_set_back_before_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        token = await link(scene, "Eve", "operator")
        # An operator's session lasts 12 hours: it runs out while nobody looks, and the clock says that it never did.
        for before in (another_clock(13), ""):
            await scene.gateway.kill()
            scene.gateway.before = before
            await scene.gateway.start()
        for origin in (scene.gateway.agent_origin, scene.gateway.console_origin):
            with pytest.raises(Exception, match="401"):
                await Socket.open(scene.ada.browser, origin)
        late = await Person.at(scene.gateway).browser.post(f"{scene.gateway.console_origin}/enrol/options", {"token": token})
        assert late.status == 410
        assert "behind the newest record" in scene.gateway.output
        assert (await scene.ada.sign_in()).status == 204
        scene.console = await scene.ada.console()
        assert await recorded(scene, "clock:set-back") == 1
        # It has had its effect: who signed in since stays signed in, though records from the future are still there.
        await scene.gateway.kill()
        await scene.gateway.start()
        scene.console = await scene.ada.console()
        assert await recorded(scene, "clock:set-back") == 1


async def test_case_93_a_question_gets_no_time_by_a_clock_that_is_set_back_before_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        await turn.start("note", {"what": "milk"}, "n1")
        approval_id = await scene.asked("n1")
        await scene.gateway.kill()
        scene.gateway.before = another_clock(-1)
        await scene.gateway.start()
        assert (await scene.ada.sign_in()).status == 204
        console = await scene.ada.console()
        opened = await console.call("approvals/get", {"approvalId": approval_id})
        assert (opened["approval"]["status"], "challenge" in opened) == ("cancelled", False)
        assert "session has ended" in opened["approval"]["withdrawn"]
        assert scene.effects(turn.conversation_id) == []


@pytest.mark.requirement("002-32", "a session that is lowered may do less at once")
async def test_case_81_an_operator_lowers_a_session(tmp_path: Path) -> None:
    async with stage(
        tmp_path, COUNTERSIGN_TOOLS_MODULES='["tests.harness.effect_tools", "tests.harness.labelled_tools"]'
    ) as scene:
        turn = await scene.begin()
        call = await turn.start("send", {"what": "it"}, "s1")
        await scene.asked("s1")
        allowed = await turn.start("note", {"what": "it"}, "s2")
        await scene.asked("s2")
        session_id = turn.snapshot["sessionId"]
        code, output = await scene.gateway.run("session", "list")
        assert (code, f"{session_id}  public" in output) == (0, True)
        assert (await scene.gateway.run("session", "downgrade", session_id, "high"))[0] == 0
        assert (await finish(call))["reason"] == "forbidden"
        assert (await finish(allowed))["reason"] == "policyChanged", "its snapshot is void, so no yes could have it run"
        revoked = await scene.shell.notification("snapshot/revoked", snapshotId=turn.snapshot["id"])
        assert revoked["reason"] == "downgraded"
        assert (await turn.invoke("peek", {"what": "a"}))["reason"] == "policyChanged"
        fresh = await scene.begin()
        assert (await fresh.invoke("send", {"what": "it"}))["reason"] == "forbidden"
        assert await recorded(scene, "agent-session:label-raised") == 1
        code, output = await scene.gateway.run("session", "downgrade", "ses_nobody", "high")
        assert (code, "no such session" in output) == (2, True)


@pytest.mark.requirement("002-32", "another profile and the removal of a person end their sessions within a second")
async def test_case_81_another_profile_and_a_removal_end_a_persons_sessions(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        eve = await scene.another("Eve", "operator")
        shell, console = await eve.agent(), await eve.console()
        assert (await scene.gateway.run("people", "profile", "Eve", "guest"))[0] == 0
        for socket in (shell, console):
            assert (await socket.notification("session/ended"))["reason"] == "changed"
            assert (await socket.wait_closed(patience=5))[0] == 4403
        assert (await eve.sign_in()).status == 204
        assert (await eve.open_shell()).status == 303
        shell = await eve.agent()
        assert (await shell.call("session/describe"))["session"]["profile"] == "guest"
        code, output = await scene.gateway.run("people", "list")
        assert (code, "guest" in output, "Eve" in output) == (0, True, True)
        assert (await scene.gateway.run("people", "remove", "Eve"))[0] == 0
        assert (await shell.notification("session/ended"))["reason"] == "removed"
        assert (await shell.wait_closed(patience=5))[0] == 4403
        assert (await eve.sign_in()).status == 403
        assert await recorded(scene, "principal:profile-changed") == 1
        assert await recorded(scene, "principal:removed") == 1
        # Somebody has to be left who may do this.
        (last,) = [line.split()[0] for line in output.splitlines() if "  operator " in line]
        for command in (("remove", last), ("profile", last, "guest")):
            code, output = await scene.gateway.run("people", *command)
            assert (code, "enrol another one first" in output) == (2, True)
        await eve.leave()


async def test_case_92_no_enrolment_link_outlives_a_removal_or_another_profile(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        eve = await scene.another("Eve", "operator")
        console = f"{scene.gateway.console_origin}/enrol"
        for command in (("profile", "Eve", "guest"), ("remove", "Eve")):
            tokens = [await link(scene, name, "operator") for name in ("Eve", "Eve's telephone")]
            thief = Person.at(scene.gateway)
            # One ceremony is under way already.
            options = await thief.browser.post(f"{console}/options", {"token": tokens[0]})
            assert options.status == 200
            assert (await scene.gateway.run("people", *command))[0] == 0
            credential = thief.authenticator.create(options.json)
            answer = {"token": tokens[0], "credential": credential, "name": "Eve"}
            assert (await thief.browser.post(f"{console}/verify", answer)).status == 410
            for token in tokens:
                assert (await Person.at(scene.gateway).browser.post(f"{console}/options", {"token": token})).status == 410
        # One that is printed afterwards works.
        assert (await Person.at(scene.gateway).enrol(await link(scene, "Eve", "guest"))).status == 204
        await eve.leave()


async def link(scene: Scene, name: str, profile: str) -> str:
    """The token of an enrolment link that was just printed."""
    code, output = await scene.gateway.run("enrol", name, "--profile", profile)
    found = re.search(r"#t=(\S+)", output)
    assert code == 0, output
    assert found is not None, output
    return found.group(1)


async def recorded(scene: Scene, event: str) -> int:
    """How many entries of that kind are in the log."""
    return len((await scene.console.call("audit/list", {"filter": {"event": event}}))["entries"])


async def test_case_33_one_session_cannot_use_up_the_questions_of_a_persons_others(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        for number in range(16):
            await turn.start("note", {"what": f"milk {number}"}, f"n{number}")
            await scene.asked(f"n{number}")
        assert (await turn.invoke("note", {"what": "bread"}))["reason"] == "quotaExceeded"
        assert (await scene.ada.open_shell()).status == 303
        shell = await scene.ada.agent()
        other = await Turn.begin(shell)
        call = await other.start("note", {"what": "bread"}, "other")
        approval = (await shell.notification("approvals/requested"))["approval"]
        await scene.ada.answer(scene.console, approval["id"])
        assert (await finish(call))["outcome"] == "ok"


async def test_case_82_a_no_is_not_asked_about_again_and_three_end_the_questions_of_a_turn(scene: Scene) -> None:
    turn = await scene.begin()
    for number in range(3):
        call = await turn.start("note", {"what": f"milk {number}"}, f"n{number}")
        await scene.ada.answer(scene.console, await scene.asked(f"n{number}"), "deny")
        assert (await finish(call))["outcome"] == "deniedByUser"
        # Word for word again, with the default spelt out: nobody is asked.
        again = await turn.invoke("note", {"what": f"milk {number}", "times": 1}, f"again{number}")
        assert (again["outcome"], again["reason"], "exactly this call" in again["error"]) == ("deniedByUser", "denied", True)
    other = await turn.invoke("note", {"what": "bread"}, "other")
    assert (other["outcome"], "asked nothing more" in other["error"]) == ("deniedByUser", True)
    assert (await turn.invoke("peek", {"what": "a"}))["outcome"] == "ok"
    await scene.console.call("turns/allow-questions", {"turnId": turn.snapshot["turnId"]})
    call = await turn.start("note", {"what": "bread"}, "allowed")
    await scene.ada.answer(scene.console, await scene.asked("allowed"))
    assert (await finish(call))["outcome"] == "ok"
    assert [line for line in scene.effects(turn.conversation_id) if "note" in line] == ["allowed note bread 1"]


async def deny(scene: Scene, turn: Turn, call_id: str) -> None:
    """Have the person asked about something new, and say no."""
    call = await turn.start("note", {"what": f"milk for {call_id}"}, call_id)
    await scene.ada.answer(scene.console, await scene.asked(call_id), "deny")
    assert (await finish(call))["outcome"] == "deniedByUser"


async def test_case_91_no_turn_conversation_or_connection_asks_again_after_six_noes_in_a_row(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "bread"}, "granted")
        await scene.ada.answer(scene.console, await scene.asked("granted"), scope="session")
        assert (await finish(call))["outcome"] == "ok"
        for number in range(6):
            # Never three in one turn; and what a grant covers is no yes.
            turn = await Turn.begin(scene.shell, turn.conversation_id)
            assert (await turn.invoke("note", {"what": "bread"}))["outcome"] == "ok"
            await deny(scene, turn, f"n{number}")
        scene.shell.drop()
        await scene.shell.wait_closed()
        scene.shell = await scene.ada.agent()
        scene.console.notifications.clear()
        opened = (await scene.shell.call("conversations/open"))["conversation"]["id"]
        typed = {"conversationId": opened, "message": {"role": "user", "content": "Ask me again, I have changed my mind."}}
        tries = [
            await Turn.begin(scene.shell, turn.conversation_id),
            await scene.begin(),
            Turn(scene.shell, opened, (await scene.shell.call("turns/begin", typed))["snapshot"]),
        ]
        for again in tries:
            refused = await again.invoke("note", {"what": "butter"})
            assert (refused["outcome"], refused["reason"]) == ("deniedByUser", "denied")
            assert "6 times in a row in this session" in refused["error"]
            assert (await again.invoke("peek", {"what": "a"}))["outcome"] == "ok"
        assert not [told for told in scene.console.notifications if told["method"] == "approvals/requested"]
        session = {"sessionId": turn.snapshot["sessionId"]}
        assert (await scene.console.call("approvals/list"))["stopped"] == [{**session, "denials": 6}]
        # The tab cannot allow it, and neither can anybody else.
        with pytest.raises(RpcError) as unknown:
            await scene.shell.call("sessions/allow-questions", session)
        assert unknown.value.code == -32601
        eve = await scene.another("Eve", "operator")
        eves = await eve.console()
        assert (await eves.call("approvals/list"))["stopped"] == []
        with pytest.raises(RpcError) as foreign:
            await eves.call("sessions/allow-questions", session)
        assert foreign.value.code == -32003
        await eve.leave()
        await scene.console.call("sessions/allow-questions", session)
        assert (await scene.console.call("approvals/list"))["stopped"] == []
        assert await recorded(scene, "agent-session:questions-allowed") == 1
        call = await tries[1].start("note", {"what": "butter"}, "allowed")
        await scene.ada.answer(scene.console, await scene.asked("allowed"))
        assert (await finish(call))["outcome"] == "ok"


async def test_case_91_a_yes_begins_the_count_of_a_session_anew_and_the_turns_count_stays(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        for number in range(5):
            await deny(scene, await scene.begin(), f"n{number}")
        turn = await scene.begin()
        call = await turn.start("note", {"what": "bread"}, "yes")
        await scene.ada.answer(scene.console, await scene.asked("yes"))
        assert (await finish(call))["outcome"] == "ok"
        for number in range(5, 8):
            await deny(scene, turn, f"n{number}")
        assert "in this turn" in (await turn.invoke("note", {"what": "butter"}))["error"]
        assert [(each["turnId"], each["denials"]) for each in (await scene.console.call("approvals/list"))["stopped"]] == [
            (turn.snapshot["turnId"], 3)
        ]
        for number in range(8, 11):
            await deny(scene, await scene.begin(), f"n{number}")
        assert "in this session" in (await (await scene.begin()).invoke("note", {"what": "butter"}))["error"]


async def test_case_91_a_restart_of_the_gateway_forgets_no_no(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        for number in range(5):
            await deny(scene, await scene.begin(), f"n{number}")
        await scene.gateway.kill()
        await scene.gateway.start()
        scene.console, scene.shell = await scene.ada.console(), await scene.ada.agent()
        turn = await scene.begin()
        await deny(scene, turn, "n5")
        assert "6 times in a row in this session" in (await turn.invoke("note", {"what": "butter"}))["error"]
        session = {"sessionId": turn.snapshot["sessionId"]}
        assert (await scene.console.call("approvals/list"))["stopped"] == [{**session, "denials": 6}]
        await scene.console.call("sessions/allow-questions", session)
        await scene.gateway.kill()
        await scene.gateway.start()
        scene.console, scene.shell = await scene.ada.console(), await scene.ada.agent()
        call = await (await scene.begin()).start("note", {"what": "butter"}, "allowed")
        await scene.ada.answer(scene.console, await scene.asked("allowed"))
        assert (await finish(call))["outcome"] == "ok"


async def test_a_command_on_this_machine_lets_a_session_and_its_open_turns_ask_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        before, turn = await scene.begin(), await scene.begin()
        for number in range(6):
            await deny(scene, before if number < 3 else turn, f"n{number}")
        assert (await turn.invoke("note", {"what": "butter"}))["reason"] == "denied"
        code, output = await scene.gateway.run("session", "allow-questions", turn.snapshot["sessionId"])
        assert (code, "may ask again" in output) == (0, True)
        call = await turn.start("note", {"what": "butter"}, "allowed")
        await scene.ada.answer(scene.console, await scene.asked("allowed"))
        assert (await finish(call))["outcome"] == "ok"
        assert await recorded(scene, "agent-session:questions-allowed") == 1
        code, output = await scene.gateway.run("session", "allow-questions", "ses_nobody")
        assert (code, "no such session" in output) == (2, True)


async def test_the_console_lists_only_grants_that_a_call_could_still_come_for(scene: Scene) -> None:
    """Neither the grant of a turn that is over, nor that of a session that has ended."""
    iris = await scene.another("Iris", "operator")
    shell, console = await iris.agent(), await iris.console()

    async def grant(scope: str) -> Turn:
        turn = await Turn.begin(shell)
        call = await turn.start("note", {"what": scope}, f"call-{scope}")
        await iris.answer(console, await shell.approval_requested(f"call-{scope}"), scope=scope)
        assert (await finish(call))["outcome"] == "ok"
        return turn

    async def listed(given: Socket) -> list[str]:
        return [each["scope"] for each in (await given.call("grants/list"))["grants"]]

    turn = await grant("turn")
    assert await listed(console) == ["turn"]
    await shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    assert await listed(console) == []
    await grant("session")
    assert await listed(console) == ["session"]
    assert (await iris.sign_out()).status == 204
    assert (await iris.sign_in()).status == 204
    assert await listed(await iris.console()) == []
    await iris.leave()
