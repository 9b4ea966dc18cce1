"""Attacks on approvals, sent to the running gateway (docs/SECURITY.md cases 28 to 40)."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest
import rfc8785
from websockets.exceptions import InvalidStatus

from tests.authenticator import Forgery
from tests.harness.person import Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def ask(scene: Scene, tool: str, what: str = "old") -> tuple[Turn, asyncio.Future[Any], str]:
    """A call that waits for a person: its turn, its future result and its approval's id."""
    turn = await scene.begin()
    call = await turn.start(tool, {"what": what}, "c1")
    return turn, call, await scene.asked("c1")


async def finish(call: asyncio.Future[Any]) -> Any:
    async with asyncio.timeout(20):
        return await call


@pytest.mark.requirement("002-33", "the challenge covers tool, arguments, conversation, turn, snapshot and expiry")
async def test_the_statement_is_the_canonical_bytes_that_the_digest_is_of(scene: Scene) -> None:
    _, call, approval_id = await ask(scene, "erase", "caf\u00e9 \u202etxt.exe")
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    statement = opened["statement"]
    digest = hashlib.sha256(rfc8785.dumps(statement)).hexdigest()
    assert digest == opened["approval"]["statementDigest"]
    assert set(statement) == {
        "v", "approvalId", "nonce", "kind", "sessionId", "principal", "conversationId", "turnId", "turnIndex", "callId",
        "snapshotDigest", "descriptorDigest", "policyVersion", "tool", "arguments", "issuedAt", "expiresAt",
    }  # fmt: skip
    # The sentence a person reads shows what cannot be seen.
    assert "\u202e" not in opened["approval"]["summary"]
    await scene.ada.answer(scene.console, approval_id, "deny")
    await finish(call)


@pytest.mark.requirement("002-33", "of two approvals at once one counts, and the call runs once")
async def test_case_29_two_consoles_that_approve_at_once_run_the_call_once(scene: Scene) -> None:
    turn, call, approval_id = await ask(scene, "note")
    second = await scene.ada.console()
    opened = [await each.call("approvals/get", {"approvalId": approval_id}) for each in (scene.console, second)]
    answers = await asyncio.gather(
        *(
            each.call("approvals/decide", scene.ada.decision(question))
            for each, question in zip((scene.console, second), opened, strict=True)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, RpcError) for answer in answers) == 1
    assert (await finish(call))["outcome"] == "ok"
    assert len(scene.effects(turn.conversation_id)) == 1
    await second.close()


@pytest.mark.requirement("002-33", "an approval that was used answers no equal call")
async def test_case_32_an_answered_approval_answers_no_equal_call_later(scene: Scene) -> None:
    turn, call, approval_id = await ask(scene, "erase")
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    decision = scene.ada.decision(opened)
    await scene.console.call("approvals/decide", decision)
    await finish(call)
    again = await turn.start("erase", {"what": "old"}, "c2")
    next_id = await scene.asked("c2")
    assert next_id != approval_id
    for replayed in (decision, {**decision, "approvalId": next_id}):
        with pytest.raises(RpcError):
            await scene.console.call("approvals/decide", replayed)
    assert len(scene.effects(turn.conversation_id)) == 1
    await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "c2"})
    assert (await finish(again))["outcome"] == "cancelled"


@pytest.mark.requirement("002-30", "thirteen forged assertions run nothing")
@pytest.mark.requirement("002-16", "a step-up without a valid proof is refused")
@pytest.mark.requirement("002-43", "the outcome stepUpFailed")
@pytest.mark.parametrize(
    "forgery",
    [
        pytest.param(Forgery(challenge=b"another challenge of 32 bytes ..."), id="another challenge"),
        pytest.param(Forgery(origin="http://agent.localhost:8765"), id="the agent's origin"),
        pytest.param(Forgery(origin="http://console.localhost:4002"), id="another port"),
        pytest.param(Forgery(cross_origin=True), id="crossOrigin"),
        pytest.param(Forgery(top_origin="http://evil.test"), id="topOrigin"),
        pytest.param(Forgery(rp_id="localhost"), id="another RP ID"),
        pytest.param(Forgery(user_verified=False), id="no user verification"),
        pytest.param(Forgery(user_present=False), id="no user presence"),
        pytest.param(Forgery(corrupt_signature=True), id="a bad signature"),
        pytest.param(Forgery(backup_eligible=True), id="backup eligibility that changed"),
        pytest.param(Forgery(sign_count=0), id="a counter that went back"),
        pytest.param(Forgery(type="webauthn.create"), id="a registration"),
        pytest.param(Forgery(user_handle=b"somebody else"), id="another user handle"),
    ],
)
async def test_case_37_an_assertion_that_does_not_hold_runs_nothing(scene: Scene, forgery: Forgery) -> None:
    # A counter can go back only once the passkey has been used: until then it may be one that does not count.
    _, honest, first_id = await ask(scene, "erase")
    await scene.ada.answer(scene.console, first_id)
    assert (await finish(honest))["outcome"] == "ok"
    turn, call, approval_id = await ask(scene, "erase")
    with pytest.raises(RpcError):
        await scene.ada.answer(scene.console, approval_id, forgery=forgery)
    result = await finish(call)
    assert (result["outcome"], result["reason"]) == ("stepUpFailed", "assertionInvalid")
    assert scene.effects(turn.conversation_id) == []


@pytest.mark.requirement("002-30", "another operator's passkey proves nothing for this call")
async def test_case_37_somebody_elses_passkey_answers_nothing(scene: Scene) -> None:
    turn, call, approval_id = await ask(scene, "erase")
    frank = await scene.another("Frank", "operator")
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    with pytest.raises(RpcError):
        await scene.console.call("approvals/decide", frank.decision(opened))
    assert (await finish(call))["reason"] == "assertionInvalid"
    assert scene.effects(turn.conversation_id) == []
    await frank.leave()


@pytest.mark.requirement("002-29", "another person's approvals can be neither read nor answered")
async def test_somebody_else_can_neither_see_nor_answer_my_approvals(scene: Scene) -> None:
    turn, call, approval_id = await ask(scene, "note")
    heidi = await scene.another("Heidi", "guest")
    theirs = await heidi.console()
    assert approval_id not in str(await theirs.call("approvals/list"))
    with pytest.raises(RpcError) as refused:
        await theirs.call("approvals/get", {"approvalId": approval_id})
    assert refused.value.code == -32003
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    with pytest.raises(RpcError) as refused:
        await theirs.call("approvals/decide", heidi.decision(opened))
    assert refused.value.code == -32003
    assert scene.effects(turn.conversation_id) == []
    await scene.ada.answer(scene.console, approval_id, "deny")
    await finish(call)
    await heidi.leave()


@pytest.mark.requirement("002-33", "a challenge is the server's, and answers once")
async def test_a_challenge_answers_once_and_only_the_console_it_was_issued_to(scene: Scene) -> None:
    _, call, approval_id = await ask(scene, "note")
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    decision = scene.ada.decision(opened)
    for forged in ({**decision, "challenge": "guessed"}, {**decision, "challenge": ""}):
        with pytest.raises(RpcError):
            await scene.console.call("approvals/decide", forged)
    await scene.console.call("approvals/decide", decision)
    with pytest.raises(RpcError):
        await scene.console.call("approvals/decide", decision)
    assert (await finish(call))["outcome"] == "ok"


async def test_an_answer_to_what_waits_no_longer_is_told_how_it_ended(scene: Scene) -> None:
    """docs/PROTOCOL.md section 5: -32003 is for what is unknown or somebody else's, and this is neither."""
    for ending, told in (("approve", "alreadyDecided"), ("deny", "alreadyDecided"), ("cancel", "noLongerOpen")):
        turn, call, approval_id = await ask(scene, "note")
        opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
        decision = scene.ada.decision(opened)
        if ending == "cancel":
            await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "c1"})
        else:
            await scene.console.call("approvals/decide", {**decision, "decision": ending})
        await finish(call)
        with pytest.raises(RpcError) as refused:
            await scene.console.call("approvals/decide", decision)
        assert (refused.value.code, refused.value.error["data"]["code"]) == (-32004, told)
        assert len(scene.effects(turn.conversation_id)) == (ending == "approve")


@pytest.mark.requirement("002-30", "a step-up is for one call and cannot become a grant")
async def test_a_step_up_takes_no_lasting_scope(scene: Scene) -> None:
    turn, call, approval_id = await ask(scene, "erase")
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    assert opened["approval"]["offers"] == ["once"]
    with pytest.raises(RpcError):
        await scene.console.call("approvals/decide", scene.ada.decision(opened, scope="session"))
    assert scene.effects(turn.conversation_id) == []
    await scene.ada.answer(scene.console, approval_id, "deny")
    await finish(call)


@pytest.mark.requirement("002-33", "a grant covers its exact arguments in its turn")
async def test_cases_39_and_40_a_turn_grant_covers_these_arguments_in_this_turn_and_nothing_else(scene: Scene) -> None:
    turn = await scene.begin()
    call = await turn.start("note", {"what": "milk"}, "c1")
    await scene.ada.answer(scene.console, await scene.asked("c1"), scope="turn")
    await finish(call)
    assert (await turn.invoke("note", {"what": "milk"}, "c2"))["outcome"] == "ok"
    other = await turn.start("note", {"what": "milk", "times": 2}, "c3")
    await scene.ada.answer(scene.console, await scene.asked("c3"), "deny")
    assert (await finish(other))["outcome"] == "deniedByUser"
    later = await Turn.begin(scene.shell, turn.conversation_id)
    assert turn.conversation_id not in str(await scene.shell.call("grants/list")), "it covers nothing any more"
    again = await later.start("note", {"what": "milk"}, "c4")
    await scene.ada.answer(scene.console, await scene.asked("c4"), "deny")
    assert (await finish(again))["outcome"] == "deniedByUser"
    assert scene.effects(turn.conversation_id) == ["c1 note milk 1", "c2 note milk 1"]


async def test_a_session_grant_with_one_freed_argument_covers_that_one_and_can_be_revoked(scene: Scene) -> None:
    turn = await scene.begin()
    call = await turn.start("note", {"what": "milk"}, "c1")
    await scene.ada.answer(scene.console, await scene.asked("c1"), scope="session", pins=["times"])
    await finish(call)
    assert (await turn.invoke("note", {"what": "bread"}, "c2"))["outcome"] == "ok"
    other = await turn.start("note", {"what": "bread", "times": 9}, "c3")
    await scene.ada.answer(scene.console, await scene.asked("c3"), "deny")
    await finish(other)
    listed = await scene.console.call("grants/list")
    (grant,) = [each for each in listed["grants"] if each["conversationId"] == turn.conversation_id]
    await scene.console.call("grants/revoke", {"grantId": grant["id"]})
    gone = await turn.start("note", {"what": "bread"}, "c4")
    await scene.ada.answer(scene.console, await scene.asked("c4"), "deny")
    assert (await finish(gone))["outcome"] == "deniedByUser"


ELSEWHERE = ("letters/a.txt", "notes/../letters/a.txt", "notes/./b.txt", "./notes/b.txt", "notes//b.txt", "notes2/a.txt", "notes")


@pytest.mark.requirement("002-20", "a lasting approval for a folder covers that folder and nothing beside it")
async def test_case_39_a_grant_within_a_folder_covers_no_path_that_is_not_plainly_in_it(scene: Scene) -> None:
    turn = await scene.begin()
    call = await turn.start("make_directory", {"path": "notes/deep"}, "c1")
    approval_id = await scene.asked("c1")
    opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
    assert opened["approval"]["patterns"] == [{"argument": "path", "kind": "folder", "bound": "notes"}]
    for pins, within in (([], "host"), (["path"], "folder"), (None, "folder")):
        with pytest.raises(RpcError, match="within a pattern that was shown"):
            await scene.ada.answer(scene.console, approval_id, scope="turn", pins=pins, within=within)
    decided = await scene.ada.answer(scene.console, approval_id, scope="turn", pins=[], within="folder")
    assert decided["grant"]["within"] == {"argument": "path", "kind": "folder", "bound": "notes"}
    assert (await finish(call))["outcome"] == "ok"
    assert (await turn.invoke("make_directory", {"path": "notes/other/still"}, "c2"))["outcome"] == "ok"
    for number, path in enumerate(ELSEWHERE):
        asked = await turn.start("make_directory", {"path": path}, f"e{number}")
        waiting = asyncio.ensure_future(scene.asked(f"e{number}"))
        # A path that is no path is refused before anybody is asked; every other one asks.
        await asyncio.wait({asked, waiting}, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": f"e{number}"})
        assert (await finish(asked))["outcome"] != "ok", path
    made = {each.name for each in (scene.gateway.home / "workspace").iterdir()}
    assert not made & {"letters", "notes2"}


@pytest.mark.requirement("002-67", "questions that wait at once are capped")
async def test_case_33_a_flood_of_questions_is_capped(scene: Scene) -> None:
    turn = await scene.begin()
    calls = [await turn.start("note", {"what": f"n{n}"}, f"c{n}") for n in range(30)]
    async with asyncio.timeout(20):
        done, waiting = await asyncio.wait(calls, timeout=5, return_when=asyncio.FIRST_COMPLETED)
        while not any(each.result()["reason"] == "quotaExceeded" for each in done):
            done, waiting = await asyncio.wait(calls, timeout=5, return_when=asyncio.FIRST_COMPLETED)
    assert waiting
    await scene.shell.call("turns/cancel", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    async with asyncio.timeout(20):
        results = await asyncio.gather(*calls)
    assert {result["outcome"] for result in results} == {"cancelled", "refusedByPolicy"}
    assert scene.effects(turn.conversation_id) == []


@pytest.mark.requirement("002-34a", "the agent origin reaches no console endpoint or socket")
async def test_case_36_the_agent_origin_cannot_reach_the_console_by_http_or_socket(gateway: GatewayProcess, scene: Scene) -> None:
    thief = scene.ada.browser
    for path in ("/signin/options", "/passkeys/options", "/authorize", "/signout"):
        reply = await thief.post(f"{gateway.console_origin}{path}", {}, origin=gateway.agent_origin)
        assert reply.status == 403, (path, reply.body)
        on_agent = await thief.post(f"{gateway.agent_origin}{path}", {})
        assert on_agent.status in (403, 404, 405), (path, on_agent.body)
    with pytest.raises(InvalidStatus) as refused:
        await scene.ada.console(origin=gateway.agent_origin)
    assert refused.value.response.status_code == 403


@pytest.mark.requirement("002-34", "the shell is told of a question without challenge or nonce")
async def test_what_the_shell_gets_holds_nothing_that_could_answer(scene: Scene) -> None:
    turn = await scene.begin()
    call = await turn.start("note", {"what": "milk"}, "c1")
    told = (await scene.shell.notification("approvals/requested"))["approval"]
    opened = await scene.console.call("approvals/get", {"approvalId": told["id"]})
    assert opened["challenge"] not in str(told)
    assert opened["statement"]["nonce"] not in str(told)
    await scene.ada.answer(scene.console, str(told["id"]), "deny")
    await finish(call)
