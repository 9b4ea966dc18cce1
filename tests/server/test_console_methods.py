"""Every method of the console origin over a real socket; each result is validated against its wire type."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.canonical import digest
from gateway.core.merkle import leaf_hash
from gateway.core.verification import LeafRecord
from tests.server.checked_socket import open_checked, refusal
from tests.server.sockets import Stage, Turn, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


async def test_an_approval_is_notified_to_both_origins_and_decided_on_the_console(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("write")
    asked = (await console.notification("approvals/requested"))["approval"]
    assert (await agent.notification("approvals/requested"))["approval"] == asked
    assert (await console.call("approvals/list", {"status": "pending"}))["approvals"] == [asked]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert digest(question["statement"]) == asked["statementDigest"]
    assert "passkeyOptions" not in question
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve"}
    decided = await console.call("approvals/decide", answer)
    assert (decided["approval"]["status"], "grant" in decided) == ("approved", False)
    assert (await waiting)["outcome"] == "ok"
    for side in (agent, console):
        assert (await side.notification("approvals/resolved"))["status"] == "approved"
    assert (await console.call("approvals/list", {"status": "pending"}))["approvals"] == []
    assert len((await console.call("approvals/list"))["approvals"]) == 1
    assert await refusal(console, "approvals/decide", answer) == (-32004, "alreadyDecided")
    closed = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert "challenge" not in closed


async def test_a_grant_leaves_open_only_what_was_not_pinned_and_can_be_revoked(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("write")
    approval_id = (await console.notification("approvals/requested"))["approval"]["id"]

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


async def test_the_arguments_of_a_grant_stand_in_the_order_in_which_they_stood_on_the_question(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("write")
    approval_id = (await console.notification("approvals/requested"))["approval"]["id"]
    question = await console.call("approvals/get", {"approvalId": approval_id})
    answer = {"approvalId": approval_id, "challenge": question["challenge"], "decision": "approve", "scope": "turn"}
    decided = await console.call("approvals/decide", answer)
    await waiting
    (agents,) = (await agent.call("grants/list"))["grants"]
    (consoles,) = (await console.call("grants/list"))["grants"]
    assert question["order"] != sorted(question["order"])
    assert [list(grant["pins"]) for grant in (decided["grant"], agents, consoles)] == [question["order"]] * 3


async def test_the_agent_can_revoke_a_grant(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("write")
    asked = (await console.notification("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve", "scope": "session"}
    grant = (await console.call("approvals/decide", answer))["grant"]
    await waiting
    assert await agent.call("grants/revoke", {"grantId": grant["id"]}) == {}
    assert await refusal(agent, "grants/revoke", {"grantId": grant["id"]}) == (-32003, "not_found")


async def test_a_step_up_is_approved_with_the_passkey_over_the_statement(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("destroy")
    asked = (await console.notification("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert question["passkeyOptions"]["challenge"] == question["challenge"]
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve"}
    assert await refusal(console, "approvals/decide", answer) == (-32004, "assertionMissing")
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assertion = stage.authenticator.get(question["passkeyOptions"])
    decided = await console.call("approvals/decide", {**answer, "challenge": question["challenge"], "assertion": assertion})
    assert decided["approval"]["status"] == "approved"
    assert (await waiting)["outcome"] == "ok"


async def test_a_denied_call_does_not_run(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    waiting = await turn.start("destroy")
    asked = (await console.notification("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "deny"}
    assert (await console.call("approvals/decide", answer))["approval"]["status"] == "denied"
    assert (await waiting)["outcome"] == "deniedByUser"
    assert stage.toolbox.effects == []


async def test_another_persons_approval_is_not_found(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    eve = await open_checked(stage, "console", "ses_eve_console")
    turn = await Turn.begin(agent)
    await turn.start("write")
    asked = (await console.notification("approvals/requested"))["approval"]
    question = await console.call("approvals/get", {"approvalId": asked["id"]})
    assert (await eve.call("approvals/list"))["approvals"] == []
    assert await refusal(eve, "approvals/get", {"approvalId": asked["id"]}) == (-32003, "not_found")
    answer = {"approvalId": asked["id"], "challenge": question["challenge"], "decision": "approve"}
    assert await refusal(eve, "approvals/decide", answer) == (-32003, "not_found")
    assert stage.toolbox.effects == []


async def test_passkeys_are_listed_and_renamed_and_removed_only_after_a_recent_assertion(stage: Stage) -> None:
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


async def test_guests_see_their_own_entries_and_no_data_for_operators(stage: Stage) -> None:
    await Turn.begin(await stage.connect("agent"))
    eve = await open_checked(stage, "console", "ses_eve_console")
    for wanted in ({}, {"principalId": "usr_ada"}):
        entries = (await eve.call("audit/list", {"filter": wanted, "limit": 200}))["entries"]
        assert entries
        assert {each["body"]["principalId"] for each in entries} == {"usr_eve"}
    for method in ("audit/verify", "policy/describe"):
        assert await refusal(eve, method) == (-32004, "operatorOnly")


async def test_the_log_verifies_until_a_leaf_a_payload_or_its_signature_is_changed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/SECURITY.md case 66."""
    turn = await Turn.begin(await stage.connect("agent"))
    await turn.invoke("look")
    console = await open_checked(stage, "console")
    report = await console.call("audit/verify")
    assert (report["verified"], report["size"]) == (True, await stage.ledger.audit_size())
    assert report["checkpoint"].startswith("countersign.test\n")
    leaves, note = stage.ledger.log(), report["checkpoint"]
    last = next(leaf for leaf in reversed(leaves) if leaf.payload is not None)
    forged = replace(leaves[2], body=leaves[2].body.replace(b'"v":1', b'"v":2'))
    for log, signed, told in (
        (_with(leaves, forged), note, "record 2 was changed"),
        (
            (*leaves[:2], replace(forged, hash=leaf_hash(forged.body)), *leaves[3:]),
            note,
            "not those that their checkpoint signed",
        ),
        (leaves[:-1], note, f"the log ends after {len(leaves) - 1}"),
        ((*leaves[:3], *leaves[4:]), note, "record 3 is missing"),
        (_with(leaves, replace(last, payload=b"{}")), note, f"the payload of record {last.index} was changed"),
        (leaves, note.replace("countersign.test", "another.test"), "proves nothing"),
    ):
        _replace_log(stage, monkeypatch, log, signed)
        report = await console.call("audit/verify")
        assert not report["verified"]
        assert told in report["detail"]


async def test_an_empty_log_is_verified(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_log(stage, monkeypatch, (), None)
    report = await (await open_checked(stage, "console")).call("audit/verify")
    assert (report["verified"], report["size"]) == (True, 0)


async def test_the_policy_is_described_to_operators(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    policy = await console.call("policy/describe")
    assert policy["version"] == stage.policy.version
    assert {rule["id"] for rule in policy["rules"]} >= {"table.read", "table.write"}
    assert [each["profile"] for each in policy["profiles"]] == ["operator", "guest", "anonymous"]
    destroy = next(each for each in policy["tools"] if each["descriptor"]["name"] == "destroy")
    assert destroy["modes"] == {"operator": "stepUp", "guest": "stepUp", "anonymous": "stepUp"}


async def test_operators_see_what_each_kind_of_action_takes_and_others_only_their_own_row(stage: Stage) -> None:
    overview = await (await open_checked(stage, "console")).call("policy/overview")
    assert (overview["scope"], overview["version"]) == ("everybody", stage.policy.version)
    assert [row["profile"] for row in overview["rows"]] == ["operator", "guest", "anonymous"]
    write = next(cell for cell in overview["rows"][0]["cells"] if cell["category"] == "write")
    assert (write["mode"], write["because"]) == ("consent", [{"id": "table.write", "why": "the test says so"}])
    eve = await open_checked(stage, "console", "ses_eve_console")
    own = await eve.call("policy/overview")
    assert (own["scope"], [row["profile"] for row in own["rows"]]) == ("own", ["guest"])
    assert await refusal(eve, "policy/overview", {"profile": "operator"}) == (-32602, "invalid_params")
    agent = await open_checked(stage, "agent")
    assert await refusal(agent, "policy/overview", {}) == (-32601, "unknown_method")


async def test_a_changed_policy_is_notified_to_both_origins(stage: Stage) -> None:
    agent, console = await open_checked(stage, "agent"), await open_checked(stage, "console")
    turn = await Turn.begin(agent)
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    for side in (agent, console):
        assert (await side.notification("policy/changed"))["policyVersion"] == "policy-2"
    assert (await agent.notification("snapshot/revoked"))["snapshotId"] == turn.snapshot["id"]
    assert (await turn.invoke("look"))["reason"] == "policyChanged"


def _replace_log(stage: Stage, monkeypatch: pytest.MonkeyPatch, log: Sequence[LeafRecord], note: str | None) -> None:
    """A database edited behind the gateway's back."""
    monkeypatch.setattr(stage.ledger, "log", lambda: log)
    monkeypatch.setattr(stage.ledger, "note", lambda: note)


def _with(leaves: Sequence[LeafRecord], changed: LeafRecord) -> tuple[LeafRecord, ...]:
    return (*leaves[: changed.index], changed, *leaves[changed.index + 1 :])
