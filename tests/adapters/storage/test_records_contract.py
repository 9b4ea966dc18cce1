"""What goes in comes out, exactly, over the fake and the real records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core import ledger as steps
from gateway.core.attachments import KeptAttachment
from gateway.core.canonical import canonical_bytes
from gateway.core.errors import IllegalStep, LedgerDamaged
from gateway.core.merkle import leaf_hash
from gateway.core.results import KeptText
from gateway.core.vocabulary import ApprovalStatus, ClientEnding, Decision, Trust
from gateway.runtime.ports import AuditQuery, CallState, ConsoleSession, KeptResult, StoredAttachment, StoredClientGrant
from tests.adapters.storage.conftest import Kept
from tests.fakes.history import DELETE, FAR, OPERATOR, PASSKEY, READ, WRITE, History


async def test_people_and_their_passkeys(kept: Kept, history: History) -> None:
    records = kept.records
    assert await records.principals() == (OPERATOR,)
    assert await records.principal(OPERATOR.id) == OPERATOR
    assert await records.principal("prn_unknown") is None
    second = replace(PASSKEY, id=b"second", created_at=2_000, transports=())
    await kept.ledger.append(steps.PasskeyAdded(history.tick(), second))
    assert await records.passkeys(OPERATOR.id) == (PASSKEY, second)
    assert await records.passkey(b"second") == second
    assert await records.passkey(b"unknown") is None


async def test_an_enrolment_offer_until_it_is_used(kept: Kept, history: History) -> None:
    offered = steps.EnrolmentOffered(history.tick(), "another", "Grace", OPERATOR.profile, FAR)
    await kept.ledger.append(offered)
    offer = await kept.records.enrolment("another")
    assert offer is not None
    assert (offer.name, offer.profile, offer.expires_at) == ("Grace", OPERATOR.profile, FAR)


async def test_sessions_until_they_end(kept: Kept, history: History) -> None:
    records, session = kept.records, history.session
    console = await records.console_session("console-hash")
    assert console is not None
    assert console == ConsoleSession("cse_1", OPERATOR, console.created_at, FAR)
    assert await records.console_session("wrong") is None
    assert await records.agent_session("agent-hash") == session
    assert await records.session("ses_1") == session
    assert await records.live_sessions("cse_1") == (session,)
    await kept.ledger.append(steps.AgentSessionEnded(history.tick(), "ses_1", OPERATOR.id, "signedOut"))
    assert await records.agent_session("agent-hash") is None
    assert await records.session("ses_1") is None
    assert await records.live_sessions("cse_1") == ()


async def test_the_newest_time_is_the_latest_since_the_clock_was_last_found_set_back(kept: Kept, history: History) -> None:
    at = history.tick()
    for entry in (steps.GatewayStarted(at + 5_000, "1", "p", 0), steps.GatewayStarted(at, "1", "p", 0)):
        await kept.ledger.append(entry)
    assert await kept.records.newest_time() == at + 5_000
    await kept.ledger.append(steps.ClockSetBack(at + 1, at + 5_000), steps.GatewayStarted(at + 2, "1", "p", 0))
    assert await kept.records.newest_time() == at + 2


async def test_the_policy_on_record_is_the_last_one_that_came_with_its_texts(kept: Kept, history: History) -> None:
    assert await kept.records.policy_on_record() is None
    for version, documents in (("a", {"a.cedar": "one"}), ("b", {"a.cedar": "two"}), ("a", {"a.cedar": "one"})):
        await kept.ledger.append(steps.PolicyLoaded(history.tick(), version, documents))
        assert await kept.records.policy_on_record() == version
    await kept.ledger.append(steps.PolicyLoaded(history.tick(), "c"))
    assert await kept.records.policy_on_record() == "a"


async def test_the_end_of_a_session_is_on_record_whether_it_ran_out_or_not(kept: Kept, history: History) -> None:
    assert [session.id for session in await kept.records.open_console_sessions()] == ["cse_1"]
    await kept.ledger.append(steps.ConsoleSessionEnded(history.tick(), "cse_1", OPERATOR.id, "expired"))
    assert await kept.records.open_console_sessions() == ()


async def test_an_agent_session_does_not_outlive_its_console_session(kept: Kept, history: History) -> None:
    await kept.ledger.append(steps.ConsoleSessionEnded(history.tick(), "cse_1", OPERATOR.id, "signedOut"))
    assert await kept.records.agent_session("agent-hash") is None
    assert await kept.records.session("ses_1") is None
    assert await kept.records.live_sessions("cse_1") == (history.session,)


async def test_clients_act_until_they_are_revoked_or_their_session_ends(kept: Kept, history: History) -> None:
    at = history.tick()
    for grant_id in ("cgr_1", "cgr_2"):
        granted = steps.ClientGranted(at, OPERATOR.id, "ses_1", grant_id, "client-1", "editor", "http://localhost/mcp", "code")
        minted = steps.ClientTokenMinted(at, OPERATOR.id, "ses_1", grant_id, "editor", FAR, "access", "refresh")
        await kept.ledger.append(granted, minted)
    renewed = steps.ClientTokenMinted(at, OPERATOR.id, "ses_1", "cgr_1", "editor", FAR + 1, "access-2", "refresh-2", "refresh")
    await kept.ledger.append(renewed)
    first, second = await kept.records.client_grants()
    assert first == StoredClientGrant(
        "cgr_1", "ses_1", "client-1", "editor", "http://localhost/mcp", at, "access-2", FAR + 1, "refresh-2"
    )
    assert second.refresh_hash == "refresh"
    assert await kept.records.spent_client_secrets() == (("cgr_1", "code"), ("cgr_1", "refresh"), ("cgr_2", "code"))
    await kept.ledger.append(steps.ClientTokenRevoked(at, OPERATOR.id, "ses_1", "cgr_2", ClientEnding.CLIENT))
    assert [grant.id for grant in await kept.records.client_grants()] == ["cgr_1"]
    await kept.ledger.append(steps.AgentSessionEnded(history.tick(), "ses_1", OPERATOR.id, "signedOut"))
    assert await kept.records.client_grants() == ()
    assert await kept.records.spent_client_secrets() == ()


async def test_a_refresh_token_of_a_client_is_replaced_once(kept: Kept, history: History) -> None:
    at = history.tick()
    granted = steps.ClientGranted(at, OPERATOR.id, "ses_1", "cgr_1", "client-1", "editor", "http://localhost/mcp", "code")
    first = steps.ClientTokenMinted(at, OPERATOR.id, "ses_1", "cgr_1", "editor", FAR, "access", "refresh")
    await kept.ledger.append(granted, first)
    await kept.ledger.append(replace(first, refresh_hash="refresh-2", spent_hash="refresh"))
    with pytest.raises(IllegalStep, match="used already"):
        await kept.ledger.append(replace(first, refresh_hash="refresh-3", spent_hash="refresh"))
    assert (await kept.records.client_grants())[0].refresh_hash == "refresh-2"


async def test_a_call_with_arguments_and_result(kept: Kept, history: History) -> None:
    request = history.request("call-1", READ, {"path": "ä", "n": 1e-7, "list": [0.5, -1, {"z": 1, "a": "\u2028"}]})
    await kept.ledger.append(history.intend(request))
    running = await kept.records.call("cnv_1", "call-1")
    assert running is not None
    assert (running.state, running.result, running.closing_index, running.closed_at) == (CallState.RUNNING, None, None, None)
    result = history.result("call-1", "text 🦊", {"rows": [1.5, 2, None], "é": {"n": 9007199254740991}})
    closed = history.close(request, result)
    (index,) = await kept.ledger.append(closed)
    record = await kept.records.call("cnv_1", "call-1")
    assert record is not None
    assert record.result == result
    assert (record.turn_id, record.tool, record.request_digest) == ("trn_1", "read_file", request.digest)
    assert (record.arguments, record.received_at) == (request.parsed_arguments, request.received_at)
    assert (record.state, record.closing_index, record.closed_at) == (CallState.CLOSED, index, closed.at)
    assert await kept.records.call("cnv_1", "unknown") is None
    assert await kept.records.call("cnv_other", "call-1") is None


async def test_a_refused_call_keeps_what_was_asked(kept: Kept, history: History) -> None:
    refusal = history.refuse(history.request("call-1", DELETE))
    await kept.ledger.append(refusal)
    record = await kept.records.call("cnv_1", "call-1")
    assert record is not None
    assert (record.state, record.result, record.arguments) == (CallState.CLOSED, refusal.result, refusal.request.parsed_arguments)


async def test_bytes_that_came_with_a_result_are_kept_with_its_call_for_its_person(kept: Kept, history: History) -> None:
    records, request = kept.records, history.request("call-1")
    image = KeptAttachment("res_1", b"\x89PNG\r\n\x1a\nrest")
    result = replace(history.result("call-1"), attachments=(image.reference,), labels=("label:high",), trust=Trust.TRUSTED)
    closed = replace(history.close(request, result), attachments=(image,))
    await kept.ledger.append(history.intend(request), closed)
    stored = StoredAttachment(history.conversation_id, image, Trust.TRUSTED, ("label:high",), 0)
    assert await records.attachment(OPERATOR.id, "res_1") == stored
    assert await records.attachment("prn_other", "res_1") is None
    other = replace(history.close(history.request("call-2"), result), attachments=(KeptAttachment("res_3", b"changed"),))
    await kept.ledger.append(history.intend(history.request("call-2")), other)
    with pytest.raises(LedgerDamaged):
        await records.attachment(OPERATOR.id, "res_3")
    assert await records.attachment(OPERATOR.id, "res_2") is None
    await kept.ledger.append(steps.ConversationDeleted(history.tick(), history.conversation_id, OPERATOR.id))
    assert await records.attachment(OPERATOR.id, "res_1") is None


async def test_a_text_that_was_too_long_is_kept_with_its_call_for_its_person_and_conversation(
    kept: Kept, history: History
) -> None:
    records, request = kept.records, history.request("call-1")
    text = KeptText("res_1", b"a long text", 5, ("secrets",))
    result = replace(history.result("call-1"), kept=text.reference, truncated=True, labels=("label:high",), trust=Trust.TRUSTED)
    closed = replace(history.close(request, result), kept=text)
    await kept.ledger.append(history.intend(request), closed)
    place = (OPERATOR.id, history.conversation_id)
    assert await records.kept_result(*place, "res_1") == KeptResult(text, Trust.TRUSTED, ("label:high",), own=False)
    assert await records.kept_result(*place, "res_2") is None
    assert await records.kept_result("prn_other", history.conversation_id, "res_1") is None
    assert await records.kept_result(OPERATOR.id, "cnv_other", "res_1") is None
    recorded = await records.call(history.conversation_id, "call-1")
    assert recorded is not None
    assert recorded.result == result
    await kept.ledger.append(steps.ConversationDeleted(history.tick(), history.conversation_id, OPERATOR.id))
    assert await records.kept_result(*place, "res_1") is None


async def test_a_result_that_was_handed_out_whole_is_read_on_in_by_the_id_of_its_call(kept: Kept, history: History) -> None:
    records, request, refused = kept.records, history.request("call-1"), history.request("call-2", DELETE)
    result = replace(history.result("call-1"), labels=("label:high",), trust=Trust.TRUSTED)
    await kept.ledger.append(history.intend(request), history.close(request, result), history.refuse(refused))
    place = (OPERATOR.id, history.conversation_id)
    text = KeptText("call-1", result.content.encode(), len(result.content.encode()), ())
    assert await records.kept_result(*place, "call-1") == KeptResult(text, Trust.TRUSTED, ("label:high",), own=False)
    # What the gateway says of a call that gave nothing is no result of a tool.
    assert await records.kept_result(*place, "call-2") is None
    assert await records.kept_result("prn_other", history.conversation_id, "call-1") is None
    assert await records.kept_result(OPERATOR.id, "cnv_other", "call-1") is None
    await kept.ledger.append(steps.ConversationDeleted(history.tick(), history.conversation_id, OPERATOR.id))
    assert await records.kept_result(*place, "call-1") is None


async def test_calls_are_listed_in_the_order_of_the_record_and_counted(kept: Kept, history: History) -> None:
    second, first = history.request("call-b"), history.request("call-c")
    # Asked for and refused: that tool did not run.
    third = history.request("call-a", DELETE)
    await kept.ledger.append(history.intend(second))
    await kept.ledger.append(history.intend(first), history.refuse(third))
    assert [call.call_id for call in await kept.records.calls("cnv_1")] == ["call-b", "call-c", "call-a"]
    assert await kept.records.calls_in_session("ses_1") == 3
    assert await kept.records.calls_in_session("ses_other") == 0
    assert await kept.records.tools_in_session("ses_1") == {first.tool}
    assert await kept.records.tools_in_session("ses_other") == frozenset()
    assert await kept.records.calls_since(OPERATOR.id, first.received_at) == 2
    assert await kept.records.calls_since("prn_other", 0) == 0


async def test_a_pending_approval_comes_back_with_its_request(kept: Kept, history: History) -> None:
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    await kept.ledger.append(asked)
    (waiting,) = await kept.records.open_approvals()
    assert waiting.approval == asked.approval
    assert waiting.request == request
    call = await kept.records.call("cnv_1", "call-1")
    assert call is not None
    assert (call.state, call.approval_id, call.arguments) == (CallState.AWAITING_APPROVAL, "apr_1", request.parsed_arguments)


async def test_a_request_without_a_model_round_trips_too(kept: Kept, history: History) -> None:
    request = replace(history.request("call-1", WRITE), model=None)
    await kept.ledger.append(history.ask(request, "apr_1"))
    (waiting,) = await kept.records.open_approvals()
    assert waiting.request == request


async def test_approvals_are_listed_newest_first(kept: Kept, history: History) -> None:
    for number in range(3):
        await kept.ledger.append(history.ask(history.request(f"call-{number}", WRITE), f"apr_{number}"))
    listed = await kept.records.approvals(OPERATOR.id, limit=2)
    assert [approval.id for approval in listed] == ["apr_2", "apr_1"]


async def test_approvals_are_listed_in_the_order_of_asking_when_the_clock_was_set_back_between(
    kept: Kept, history: History
) -> None:
    for number in range(3):
        await kept.ledger.append(history.ask(history.request(f"call-{number}", WRITE), f"apr_{number}"))
        history.now -= 100
    listed = await kept.records.approvals(OPERATOR.id, limit=2)
    assert [approval.id for approval in listed] == ["apr_2", "apr_1"]
    assert [each.approval.id for each in await kept.records.open_approvals()] == ["apr_0", "apr_1", "apr_2"]


async def test_a_session_keeps_the_noes_said_since_the_last_yes(kept: Kept, history: History) -> None:
    async def denials() -> int:
        session = await kept.records.session("ses_1")
        assert session is not None
        return session.denials

    async def answer(call_id: str, status: ApprovalStatus) -> None:
        asked = history.ask(history.request(call_id, WRITE), f"apr_{call_id}")
        await kept.ledger.append(asked)
        await kept.ledger.append(history.answer(asked, status))

    assert await denials() == 0
    await answer("a", ApprovalStatus.DENIED)
    await answer("b", ApprovalStatus.DENIED)
    # Nobody said anything.
    await answer("c", ApprovalStatus.CANCELLED)
    await answer("d", ApprovalStatus.EXPIRED)
    assert await denials() == 2
    await answer("e", ApprovalStatus.APPROVED)
    assert await denials() == 0
    await answer("f", ApprovalStatus.DENIED)
    await kept.ledger.append(steps.QuestionsAllowed(history.tick(), OPERATOR.id, "cnv_1", "trn_1"))
    assert await denials() == 0
    await answer("g", ApprovalStatus.DENIED)
    await kept.ledger.append(steps.SessionQuestionsAllowed(history.tick(), "ses_1", OPERATOR.id))
    assert await denials() == 0


async def test_grants_until_they_are_revoked(kept: Kept, history: History) -> None:
    request = history.request("call-1", WRITE, {"path": "ä", "note": "n"})
    asked = history.ask(request, "apr_1")
    grant = history.grant(asked, "grt_1", freed=("note",))
    assert grant.pins == {"path": canonical_bytes("ä")}
    await kept.ledger.append(asked, history.answer(asked), steps.GrantIssued(grant.issued_at, grant))
    assert await kept.records.grants("ses_1") == (grant,)
    assert await kept.records.grants_of(OPERATOR.id) == (grant,)
    assert await kept.records.grant("grt_1") == grant
    revoked = steps.GrantRevoked(history.tick(), "grt_1", OPERATOR.id, "person")
    await kept.ledger.append(revoked)
    assert await kept.records.grants("ses_1") == ()
    assert await kept.records.grants_of(OPERATOR.id) == ()
    assert await kept.records.grant("grt_1") == replace(grant, revoked_at=revoked.at)


@pytest.mark.requirement("002-74", "the log is searched by person, conversation, tool, event and outcome")
async def test_the_audit_log_is_filtered_and_paged_newest_first(kept: Kept) -> None:
    told = History()
    told.conversation_id, told.turn_id = "cnv_9", "trn_9"
    for number in range(4):
        request = told.request(f"call-{number}", WRITE if number == 3 else READ)
        if number == 0:
            opened = steps.ConversationOpened(told.tick(), "cnv_9", OPERATOR.id, "Nine")
            await kept.ledger.append(*History().beginning(), opened, steps.TurnBegun(1, OPERATOR.id, told.snapshot, None))
        await kept.ledger.append(told.intend(request, Decision.AUTO))
        await kept.ledger.append(told.close(request))
    records = kept.records
    size = await records.audit_size()
    everything = await records.audit(AuditQuery())
    assert [row.index for row in everything] == list(reversed(range(size)))
    closed = await records.audit(AuditQuery(event="call:closed", tool="read_file", outcome="ok", principal_id=OPERATOR.id))
    assert [row.body["callId"] for row in closed] == ["call-2", "call-1", "call-0"]
    (older,) = await records.audit(AuditQuery(event="call:closed", before=closed[1].index, limit=1))
    assert older.body["callId"] == "call-0"
    assert {row.body["conversationId"] for row in await records.audit(AuditQuery(conversation_id="cnv_9"))} == {"cnv_9"}
    assert await records.audit(AuditQuery(tool="nothing' OR 1=1 --")) == ()
    for row in everything:
        assert row.hash == leaf_hash(canonical_bytes(row.body)).hex()


async def test_the_database_answers(kept: Kept) -> None:
    assert await kept.records.ready()
