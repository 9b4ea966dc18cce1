"""Every method of both origins over a real socket, each answer held to its own wire type.

Requirement ids: 002-22, 002-38, 002-39, 002-40, 002-41, 002-42, 002-56.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.canonical import digest, own_bytes
from gateway.core.errors import LedgerUnavailable
from gateway.core.merkle import leaf_hash
from gateway.protocol.frames import AGENT, CONSOLE
from gateway.runtime.ports import AuditRow
from tests.harness.socket import RpcError, Socket
from tests.server.sockets import Stage, Turn, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


class Checked(Socket):
    """A socket that reads every result and notification as its wire type."""

    def __init__(self, opened: Socket, site: str) -> None:
        self._opened = opened
        self._dialect = AGENT if site == "agent" else CONSOLE

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, patience: float = 20.0) -> Any:
        """The result, which must be what the contract says and nothing more."""
        result = await self._opened.call(method, params, patience=patience)
        assert self._dialect.methods[method].result.admit(result).to_members() == result
        return result

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """As it is."""
        return await self._opened.send(method, params)

    async def told(self, method: str, *, patience: float = 20.0, **matching: Any) -> Mapping[str, Any]:
        """The params, which must be what the contract says and nothing more."""
        params = await self._opened.told(method, patience=patience, **matching)
        assert self._dialect.notifications[method].admit(params).to_members() == params
        return params


async def open_checked(stage: Stage, site: str, session: str | None = None) -> Checked:
    return Checked(await stage.connect(site, session), site)


async def refusal(opened: Socket, method: str, params: Mapping[str, Any] | None = None) -> tuple[int, str]:
    with pytest.raises(RpcError) as caught:
        await opened.call(method, params)
    return caught.value.code, caught.value.error["data"]["code"]


# ── the agent ──


async def test_session_is_described_with_limits_and_models(stage: Stage) -> None:
    described = await (await open_checked(stage, "agent")).call("session/describe")
    assert described["session"]["principal"] == "usr_ada"
    assert described["session"]["profile"] == "operator"
    assert described["limits"]["requestsInFlight"] == 32
    assert described["consoleOrigin"] == stage.origin("console")
    assert [model["id"] for model in described["models"]] == ["w:tiny"], "what the policy lets this session use"


async def test_conversations_are_opened_listed_renamed_forked_exported_and_deleted(stage: Stage) -> None:
    """002-22."""
    agent = await open_checked(stage, "agent")
    first = (await agent.call("conversations/open", {"title": "First"}))["conversation"]
    await agent.call("conversations/open")
    renamed = await agent.call("conversations/rename", {"conversationId": first["id"], "title": "Renamed"})
    assert renamed["conversation"]["title"] == "Renamed"
    listed = await agent.call("conversations/list")
    assert {each["title"] for each in listed["conversations"]} == {"Renamed", "New conversation"}
    forked = await agent.call("conversations/fork", {"conversationId": first["id"], "fromTurn": 0})
    assert forked["conversation"]["parentId"] == first["id"]
    exported = await agent.call("conversations/export", {"conversationId": first["id"]})
    assert exported["format"] == "countersign.conversation.v1"
    assert await agent.call("conversations/delete", {"conversationId": first["id"]}) == {}
    assert await refusal(agent, "conversations/export", {"conversationId": first["id"]}) == (-32003, "not_found")


async def test_a_long_list_of_conversations_comes_in_pages(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    for number in range(60):
        stage.clock.advance(1)
        await agent.call("conversations/open", {"title": f"{number}"})
    page = await agent.call("conversations/list")
    rest = await agent.call("conversations/list", {"cursor": page["nextCursor"]})
    assert [int(each["title"]) for each in [*page["conversations"], *rest["conversations"]]] == list(range(59, -1, -1))
    assert "nextCursor" not in rest
    for cursor in ("x", "1", "1.", "-1.a", "1" * 17 + ".a"):
        assert await refusal(agent, "conversations/list", {"cursor": cursor}) == (-32602, "invalid_params")


async def test_somebody_elses_conversation_does_not_exist(stage: Stage) -> None:
    """security.md section 7, case 7."""
    turn = await Turn.begin(await stage.connect("agent"))
    eve = await open_checked(stage, "agent", "ses_eve_agent")
    ref = {"conversationId": turn.conversation_id}
    claimed = {**turn.ref, "message": {"role": "user", "content": "x"}}
    for method, params in {
        "conversations/open": ref,
        "conversations/rename": {**ref, "title": "x"},
        "conversations/delete": ref,
        "conversations/export": ref,
        "conversations/fork": {**ref, "fromTurn": 0},
        "messages/append": claimed,
        "tools/describe": ref,
        "turns/begin": ref,
        "turns/refresh": turn.ref,
        "turns/end": turn.ref,
        "turns/cancel": turn.ref,
        "tools/invoke": turn.request("look"),
        "tools/cancel": {**ref, "callId": "call-1"},
        "tools/list-calls": ref,
        "inference/token": {**turn.ref, "modelId": "m"},
    }.items():
        theirs = await refusal(eve, method, params)
        nobodys = await refusal(eve, method, {**params, "conversationId": "cnv_nobody"})
        assert theirs == nobodys == (-32003, "not_found"), method


async def test_snapshot_arrives_as_its_digest_says(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    members = dict(turn.snapshot)
    assert members.pop("digest") == digest(members)
    for tool in members["tools"]:
        described = {name: value for name, value in tool.items() if name not in ("digest", "permission")}
        assert tool["digest"] == digest(described)
    refreshed = (await agent.call("turns/refresh", turn.ref))["snapshot"]
    assert (refreshed["turnId"], refreshed["id"] != turn.snapshot["id"]) == (turn.snapshot["turnId"], True)
    preview = await agent.call("tools/describe", {"conversationId": turn.conversation_id})
    assert preview["tools"] == members["tools"]


async def test_a_call_runs_and_is_found_in_list_messages_and_export(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    await agent.call("messages/append", {**turn.ref, "message": {"role": "user", "content": "look!"}})
    stage.clock.advance(1)
    result = await turn.invoke("look")
    assert (result["outcome"], result["content"], result["replayed"]) == ("ok", "look did notes/a.txt", False)
    assert (await agent.told("tools/progress"))["fraction"] == 0.5
    (listed,) = (await agent.call("tools/list-calls", {"conversationId": turn.conversation_id}))["calls"]
    assert (listed["state"], listed["result"]) == ("closed", {**result, "replayed": True})
    opened = await agent.call("conversations/open", {"conversationId": turn.conversation_id})
    assert [(each["role"], each["provenance"]) for each in opened["messages"]] == [("user", "claimed"), ("tool", "gateway")]
    assert opened["messages"][1]["tool"] == "look"
    exported = await agent.call("conversations/export", {"conversationId": turn.conversation_id})
    assert [each["call"]["name"] for each in exported["calls"]] == ["look"]


async def test_a_turn_begins_with_what_was_said_and_ends_with_what_was_used(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    conversation_id = (await agent.call("conversations/open"))["conversation"]["id"]
    message = {"role": "user", "content": "hello"}
    begun = await agent.call("turns/begin", {"conversationId": conversation_id, "message": message, "modelId": "m"})
    opened = await agent.call("conversations/open", {"conversationId": conversation_id})
    assert opened["openTurn"]["modelId"] == "m"
    assert opened["openTurn"]["snapshot"]["id"] == begun["snapshot"]["id"]
    assert [each["content"] for each in opened["messages"]] == ["hello"]
    ref = {"conversationId": conversation_id, "turnId": begun["snapshot"]["turnId"]}
    assert await agent.call("turns/end", {**ref, "usage": {"promptTokens": 12, "seconds": 1.5}}) == {}
    assert "openTurn" not in await agent.call("conversations/open", {"conversationId": conversation_id})


async def test_another_tab_sees_the_open_turn_without_its_snapshot_until_it_takes_over(stage: Stage) -> None:
    one, two = await open_checked(stage, "agent"), await open_checked(stage, "agent")
    turn = await Turn.begin(one)
    seen = await two.call("conversations/open", {"conversationId": turn.conversation_id})
    assert "snapshot" not in seen["openTurn"]
    taken = await two.call("conversations/open", {"conversationId": turn.conversation_id, "takeOver": True})
    assert taken["openTurn"]["turnId"] == turn.snapshot["turnId"]
    revoked = await one.told("snapshot/revoked")
    assert revoked == {"snapshotId": turn.snapshot["id"], "reason": "rebound"}


async def test_an_unavailable_model_gets_no_token(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    assert await refusal(agent, "inference/token", {**turn.ref, "modelId": "unknown"}) == (-32003, "not_found")
    (model, *_) = await stage.gateway.ports.inference.models()
    token = await agent.call("inference/token", {**turn.ref, "modelId": model.id})
    assert token["endpoint"] == f"{stage.origin('agent')}/v1"
    assert stage.gateway.inference.check(token["token"]) is not None
    await agent.call("turns/cancel", turn.ref)
    assert stage.gateway.inference.check(token["token"]) is None


async def test_ledger_that_cannot_be_written_is_told_as_such(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    stage.ledger.failure = LedgerUnavailable("the record cannot be written now")
    assert await refusal(agent, "conversations/open") == (-32005, "ledger_unavailable")
    stage.ledger.failure = None
    assert await agent.call("conversations/open")


# ── the console ──


async def test_a_consent_is_asked_on_both_sides_and_answered_on_the_console(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("write")
    asked = (await console.told("approvals/requested"))["approval"]
    assert (await agent.told("approvals/requested"))["approval"] == asked
    assert (await console.call("approvals/list", {"status": "pending"}))["approvals"] == [asked]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert digest(question["statement"]) == asked["statementDigest"]
    assert "passkeyOptions" not in question
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve"}
    decided = await console.call("approvals/decide", answer)
    assert (decided["approval"]["status"], "grant" in decided) == ("approved", False)
    assert (await waiting)["outcome"] == "ok"
    for side in (agent, console):
        assert (await side.told("approvals/resolved"))["status"] == "approved"
    assert (await console.call("approvals/list", {"status": "pending"}))["approvals"] == []
    assert len((await console.call("approvals/list"))["approvals"]) == 1
    assert await refusal(console, "approvals/decide", answer) == (-32003, "not_found")
    closed = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert "challenge" not in closed


async def test_a_grant_leaves_open_only_what_was_not_pinned_and_can_be_taken_back(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("write")
    approval_id = (await console.told("approvals/requested"))["approval"]["id"]

    async def decide(**changes: Any) -> dict[str, Any]:
        question = await console.call("approvals/get", {"approvalId": approval_id})
        return {"approvalId": approval_id, "challenge": question["challenge"], "decision": "approve", **changes}

    unseen = await decide(scope="turn", pins=["path", "never_shown"])
    assert await refusal(console, "approvals/decide", unseen) == (-32004, "pins")
    decided = await console.call("approvals/decide", await decide(scope="turn", pins=["depth"]))
    assert (decided["grant"]["pins"], decided["grant"]["freed"]) == ({"depth": 1}, ["path"])
    assert (await waiting)["outcome"] == "ok"
    assert (await turn.invoke("write", path="notes/b.txt"))["outcome"] == "ok"
    (held,) = (await agent.call("grants/list"))["grants"]
    assert (held["id"], held["uses"]) == (decided["grant"]["id"], 1)
    assert await refusal(await stage.connect("console", "ses_eve_console"), "grants/revoke", {"grantId": held["id"]}) == (
        -32003,
        "not_found",
    )
    assert await console.call("grants/revoke", {"grantId": held["id"]}) == {}
    assert (await agent.call("grants/list"))["grants"] == []
    assert (await console.call("grants/list"))["grants"] == []


async def test_the_agent_can_give_up_a_grant(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("write")
    asked = (await console.told("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve", "scope": "session"}
    grant = (await console.call("approvals/decide", answer))["grant"]
    await waiting
    assert await agent.call("grants/revoke", {"grantId": grant["id"]}) == {}
    assert await refusal(agent, "grants/revoke", {"grantId": grant["id"]}) == (-32003, "not_found")


async def test_a_step_up_is_answered_with_the_passkey_over_the_statement(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("destroy")
    asked = (await console.told("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert question["passkeyOptions"]["challenge"] == question["challenge"]
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve"}
    assert await refusal(console, "approvals/decide", answer) == (-32004, "assertionMissing")
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assertion = stage.authenticator.get(question["passkeyOptions"])
    decided = await console.call("approvals/decide", {**answer, "challenge": question["challenge"], "assertion": assertion})
    assert decided["approval"]["status"] == "approved"
    assert (await waiting)["outcome"] == "ok"


async def test_a_no_is_a_no(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("destroy")
    asked = (await console.told("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "deny"}
    assert (await console.call("approvals/decide", answer))["approval"]["status"] == "denied"
    assert (await waiting)["outcome"] == "deniedByUser"
    assert stage.toolbox.effects == []


async def test_nobody_sees_or_answers_somebody_elses_approval(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    eve = await open_checked(stage, "console", "ses_eve_console")
    turn = await Turn.begin(agent)
    await turn.start("write")
    asked = (await console.told("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert (await eve.call("approvals/list"))["approvals"] == []
    assert await refusal(eve, "approvals/get", {"approvalId": asked["id"]}) == (-32003, "not_found")
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve"}
    assert await refusal(eve, "approvals/decide", answer) == (-32003, "not_found")
    assert stage.toolbox.effects == []


async def test_passkeys_are_listed_and_renamed_and_removed_only_after_a_fresh_answer(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    (passkey,) = (await console.call("passkeys/list"))["passkeys"]
    assert await console.call("passkeys/rename", {"passkeyId": passkey["id"], "name": "Blue key"}) == {}
    assert [each["name"] for each in (await console.call("passkeys/list"))["passkeys"]] == ["Blue key"]
    assert await refusal(console, "passkeys/remove", {"passkeyId": passkey["id"]}) == (-32004, "stepUpRequired")
    for unknown in ("AAAA", "A", "-" * 1400):
        assert await refusal(console, "passkeys/rename", {"passkeyId": unknown, "name": "x"}) == (-32003, "not_found")
    assert await refusal(console, "passkeys/rename", {"passkeyId": passkey["id"], "name": "a\u202eb"}) == (-32004, "name")


async def test_the_log_is_listed_in_pages_and_filtered(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    for _ in range(5):
        await turn.invoke("look")
    everything = await console.call("audit/list", {"limit": 200})
    assert [each["index"] for each in everything["entries"]] == list(range(everything["size"] - 1, -1, -1))
    page = await console.call("audit/list", {"limit": 3})
    following = await console.call("audit/list", {"limit": 3, "cursor": page["nextCursor"]})
    assert [*page["entries"], *following["entries"]] == everything["entries"][:6]
    closed = await console.call("audit/list", {"filter": {"event": "call:closed", "tool": "look"}})
    assert len(closed["entries"]) == 5
    assert await refusal(console, "audit/list", {"cursor": "x"}) == (-32602, "invalid_params")


async def test_guests_see_their_own_entries_and_nothing_of_the_house(stage: Stage) -> None:
    await Turn.begin(await stage.connect("agent"))
    eve = await open_checked(stage, "console", "ses_eve_console")
    for wanted in ({}, {"principalId": "usr_ada"}):
        entries = (await eve.call("audit/list", {"filter": wanted, "limit": 200}))["entries"]
        assert entries
        assert {each["body"]["principalId"] for each in entries} == {"usr_eve"}
    for method in ("audit/verify", "principals/list", "policy/describe"):
        assert await refusal(eve, method) == (-32004, "operatorOnly")


async def test_the_log_verifies_until_a_leaf_is_changed_or_missing(stage: Stage) -> None:
    """security.md section 7, case 66."""
    await Turn.begin(await stage.connect("agent"))
    console = await open_checked(stage, "console")
    report = await console.call("audit/verify")
    assert (report["verified"], report["size"]) == (True, await stage.ledger.audit_size())
    assert report["checkpoint"].startswith("countersign.test\n")
    leaves = _read_leaves(stage)
    signed = report["checkpoint"]

    async def signed_before() -> str:
        return signed

    stage.ledger.checkpoint = signed_before  # type: ignore[method-assign]
    for forged, told in {
        "changed": ((*leaves[:2], _forge(leaves[2]), *leaves[3:]), "leaf 2 was changed"),
        "swapped": ((*leaves[:2], replace(_forge(leaves[2]), hash=_hash_of(_forge(leaves[2]))), *leaves[3:]), "signed root"),
        "cut": (leaves[:-1], "missing"),
    }.values():
        _rewrite(stage, forged)
        report = await console.call("audit/verify")
        assert not report["verified"]
        assert told in report["detail"]
    signed = signed.replace("countersign.test", "another.test")
    assert "checkpoint does not verify" in (await console.call("audit/verify"))["detail"]


async def test_an_empty_log_says_so(stage: Stage) -> None:
    _rewrite(stage, ())
    report = await (await open_checked(stage, "console")).call("audit/verify")
    assert (report["verified"], report["size"]) == (True, 0)


async def test_people_and_policy_are_described_to_operators(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    people = (await console.call("principals/list"))["principals"]
    assert {(each["id"], each["profile"]) for each in people} == {("usr_ada", "operator"), ("usr_eve", "guest")}
    policy = await console.call("policy/describe")
    assert policy["version"] == stage.policy.version
    assert {rule["id"] for rule in policy["rules"]} >= {"table.read", "table.write"}
    assert [each["profile"] for each in policy["profiles"]] == ["operator", "guest", "anonymous"]
    destroy = next(each for each in policy["tools"] if each["descriptor"]["name"] == "destroy")
    assert destroy["modes"] == {"operator": "stepUp", "guest": "stepUp", "anonymous": "stepUp"}


async def test_a_changed_policy_is_told_to_both_sides(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    for side in (agent, console):
        assert (await side.told("policy/changed"))["policyVersion"] == "policy-2"
    assert (await agent.told("snapshot/revoked"))["snapshotId"] == turn.snapshot["id"]
    assert (await turn.invoke("look"))["reason"] == "policyChanged"


def _read_leaves(stage: Stage) -> tuple[AuditRow, ...]:
    return stage.ledger._state.leaves  # pyright: ignore[reportPrivateUsage] - a database edited behind the gateway's back


def _rewrite(stage: Stage, leaves: tuple[AuditRow, ...]) -> None:
    stage.ledger._state.leaves = leaves  # pyright: ignore[reportPrivateUsage] - likewise


def _forge(row: AuditRow) -> AuditRow:
    return replace(row, body={**row.body, "at": 1})


def _hash_of(row: AuditRow) -> str:
    return leaf_hash(own_bytes(row.body)).hex()
