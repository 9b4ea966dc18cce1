"""What every ledger must do, over the fake and the real one: all or nothing, in order, and each thing once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.core import ledger as steps
from gateway.core.errors import IllegalStep
from gateway.core.ledger import Entry
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, Label
from gateway.runtime.ports import AuditQuery, CallState
from tests.adapters.storage.conftest import Kept
from tests.fakes.history import FAR, OPERATOR, PASSKEY, READ, WRITE, History

CONSENTED = Decision.CONSENTED


@pytest.fixture
def history() -> History:
    return History()


async def begin(kept: Kept, history: History) -> None:
    await kept.ledger.append(*history.beginning())


async def refused(kept: Kept, *entries: Entry) -> None:
    """The entries are refused, and nothing of them was written."""
    before = await kept.records.audit_size()
    with pytest.raises(IllegalStep):
        await kept.ledger.append(*entries)
    assert await kept.records.audit_size() == before


async def test_entries_get_consecutive_audit_indices_and_a_rename_gets_none(kept: Kept, history: History) -> None:
    indices = await kept.ledger.append(*history.beginning())
    assert indices == tuple(range(7))
    renamed = steps.ConversationRenamed(history.tick(), "cnv_1", OPERATOR.id, "Another title")
    assert await kept.ledger.append(renamed, history.message(0)) == (None, 7)
    conversation = await kept.records.conversation("cnv_1")
    assert conversation is not None
    assert conversation.title == "Another title"


async def test_the_whole_history_is_taken(kept: Kept, history: History) -> None:
    for submission in history.whole():
        await kept.ledger.append(*submission)
    assert await kept.records.unfinished_calls() == ()
    assert await kept.records.open_approvals() == ()


async def test_many_callers_at_once_all_get_their_own_index(kept: Kept, history: History) -> None:
    await begin(kept, history)

    async def call(number: int) -> tuple[int | None, int | None]:
        request = history.request(f"call-{number}")
        (intent,) = await kept.ledger.append(history.intend(request))
        (closing,) = await kept.ledger.append(history.close(request))
        return intent, closing

    async with asyncio.timeout(30):
        places = await asyncio.gather(*(call(number) for number in range(60)))
    assert sorted(place for pair in places for place in pair if place is not None) == list(range(7, 127))
    for number, (_, closing) in enumerate(places):
        record = await kept.records.call("cnv_1", f"call-{number}")
        assert record is not None
        assert (record.state, record.closing_index) == (CallState.CLOSED, closing)


async def test_one_bad_submission_among_many_fails_alone(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request = history.request("call-1")
    await kept.ledger.append(history.intend(request))
    good = [history.intend(history.request(f"good-{number}")) for number in range(20)]
    async with asyncio.timeout(30):
        outcomes = await asyncio.gather(
            *(kept.ledger.append(entry) for entry in good[:10]),
            kept.ledger.append(history.intend(request)),
            *(kept.ledger.append(entry) for entry in good[10:]),
            return_exceptions=True,
        )
    assert [type(outcome) for outcome in outcomes].count(IllegalStep) == 1
    assert isinstance(outcomes[10], IllegalStep)
    places = [place for outcome in outcomes if isinstance(outcome, tuple) for place in outcome]
    assert places == list(range(8, 28))


async def test_a_submission_is_all_or_nothing(kept: Kept, history: History) -> None:
    await begin(kept, history)
    await refused(kept, history.message(0), history.message(0, "the same place again"))
    assert await kept.records.messages("cnv_1") == ()


async def test_an_approval_is_resolved_once(kept: Kept, history: History) -> None:
    await begin(kept, history)
    asked = history.ask(history.request("call-1", WRITE), "apr_1")
    await kept.ledger.append(asked)
    await kept.ledger.append(history.answer(asked, ApprovalStatus.DENIED))
    for status in ApprovalStatus:
        if status is not ApprovalStatus.PENDING:
            await refused(kept, history.answer(asked, status))
    (approval,) = await kept.records.approvals(OPERATOR.id, limit=5)
    assert approval.status is ApprovalStatus.DENIED


async def test_an_approval_cannot_be_given_after_it_expired(kept: Kept, history: History) -> None:
    await begin(kept, history)
    asked = history.ask(history.request("call-1", WRITE), "apr_1", expires_at=history.now + 2)
    await kept.ledger.append(asked)
    history.tick()
    await refused(kept, history.answer(asked))
    await kept.ledger.append(history.answer(asked, ApprovalStatus.EXPIRED))


async def test_an_intent_needs_an_approval_that_was_given(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    await kept.ledger.append(asked)
    await refused(kept, history.intend(request, CONSENTED, approval_id="apr_1"))
    await refused(kept, history.intend(request, CONSENTED, approval_id="apr_unknown"))
    await kept.ledger.append(history.answer(asked, ApprovalStatus.DENIED))
    await refused(kept, history.intend(request, CONSENTED, approval_id="apr_1"))


@pytest.mark.requirement("002-33", "an approval is used once, by its own call")
async def test_an_approval_is_used_once_and_for_its_own_call_only(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request, other = history.request("call-1", WRITE), history.request("call-2", WRITE)
    asked, also = history.ask(request, "apr_1"), history.ask(other, "apr_2")
    await kept.ledger.append(asked, also, history.answer(asked))
    await refused(kept, history.intend(other, CONSENTED, approval_id="apr_1"))
    changed = replace(request, arguments=b'{"path":"elsewhere"}', digest="f" * 64)
    await refused(kept, history.intend(changed, CONSENTED, approval_id="apr_1"))
    await kept.ledger.append(history.intend(request, CONSENTED, approval_id="apr_1"))
    await refused(kept, history.intend(request, CONSENTED, approval_id="apr_1"))


async def test_approval_grant_and_intent_become_durable_together_or_not_at_all(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request = history.request("call-1", WRITE)
    asked = history.ask(request, "apr_1")
    await kept.ledger.append(asked)
    answer, grant = history.answer(asked), steps.GrantIssued(history.tick(), history.grant(asked, "grt_1"))
    await refused(kept, answer, grant, history.intend(request, CONSENTED, approval_id="apr_2"))
    assert await kept.records.grants("ses_1") == ()
    await kept.ledger.append(answer, grant, history.intend(request, CONSENTED, approval_id="apr_1"))
    (held,) = await kept.records.grants("ses_1")
    assert held == grant.grant


async def test_a_grant_is_used_up_and_then_covers_nothing(kept: Kept, history: History) -> None:
    await begin(kept, history)
    asked = history.ask(history.request("call-0", WRITE), "apr_1")
    grant = history.grant(asked, "grt_1", max_uses=2)
    await kept.ledger.append(asked, history.answer(asked), steps.GrantIssued(history.tick(), grant))
    for number in (1, 2):
        await kept.ledger.append(history.intend(history.request(f"call-{number}", WRITE), CONSENTED, grant_id="grt_1"))
    held = await kept.records.grant("grt_1")
    assert held is not None
    assert held.uses == 2
    await refused(kept, history.intend(history.request("call-3", WRITE), CONSENTED, grant_id="grt_1"))
    assert await kept.records.call("cnv_1", "call-3") is None


async def test_two_callers_never_share_the_last_use_of_a_grant(kept: Kept, history: History) -> None:
    await begin(kept, history)
    asked = history.ask(history.request("call-0", WRITE), "apr_1")
    grant = history.grant(asked, "grt_1", max_uses=3)
    await kept.ledger.append(asked, history.answer(asked), steps.GrantIssued(history.tick(), grant))
    intents = [history.intend(history.request(f"call-{number}", WRITE), CONSENTED, grant_id="grt_1") for number in range(1, 9)]
    async with asyncio.timeout(30):
        outcomes = await asyncio.gather(*(kept.ledger.append(intent) for intent in intents), return_exceptions=True)
    assert sum(isinstance(outcome, tuple) for outcome in outcomes) == 3
    assert sum(isinstance(outcome, IllegalStep) for outcome in outcomes) == 5


@pytest.mark.parametrize("flaw", ["revoked", "expired", "tool", "session"])
async def test_a_grant_that_does_not_hold_lets_nothing_run(kept: Kept, history: History, flaw: str) -> None:
    await begin(kept, history)
    asked = history.ask(history.request("call-0", WRITE), "apr_1")
    grant = history.grant(asked, "grt_1")
    request = history.request("call-1", READ if flaw == "tool" else WRITE)
    if flaw == "expired":
        grant = replace(grant, expires_at=grant.issued_at + 1)
    if flaw == "session":
        request = replace(request, session_id="ses_other")
    await kept.ledger.append(asked, history.answer(asked), steps.GrantIssued(history.tick(), grant))
    if flaw == "revoked":
        await kept.ledger.append(steps.GrantRevoked(history.tick(), "grt_1", OPERATOR.id, "person"))
    await refused(kept, history.intend(request, CONSENTED, grant_id="grt_1"))


async def test_revoking_what_is_revoked_and_ending_what_has_ended_changes_nothing(kept: Kept, history: History) -> None:
    await begin(kept, history)
    asked = history.ask(history.request("call-0", WRITE), "apr_1")
    await kept.ledger.append(asked, history.answer(asked), steps.GrantIssued(5, history.grant(asked, "grt_1")))
    await kept.ledger.append(steps.GrantRevoked(6, "grt_1", OPERATOR.id, "person"))
    await kept.ledger.append(steps.GrantRevoked(7, "grt_1", OPERATOR.id, "person"))
    held = await kept.records.grant("grt_1")
    assert held is not None
    assert held.revoked_at == 6
    for at in (8, 9):
        await kept.ledger.append(
            steps.TurnEnded(at, OPERATOR.id, "cnv_1", "trn_1", "ended"),
            steps.AgentSessionEnded(at, "ses_1", OPERATOR.id, "signedOut"),
            steps.ConsoleSessionEnded(at, "cse_1", OPERATOR.id, "signedOut"),
        )


async def test_a_call_is_opened_and_closed_once(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request = history.request("call-1")
    await kept.ledger.append(history.intend(request))
    await refused(kept, history.intend(request))
    await kept.ledger.append(history.close(request))
    await refused(kept, history.close(request))
    await refused(kept, history.close(request, ran=False))
    await refused(kept, history.intend(request))
    await refused(kept, steps.CallFoundUnknown(history.tick(), OPERATOR.id, "cnv_1", "call-1", "rcp_x"))


async def test_order_within_a_call_holds_even_when_its_entries_arrive_together(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request, other = history.request("call-1"), history.request("call-2")
    await kept.ledger.append(history.intend(request), history.intend(other), history.close(request), history.close(other))
    late = history.request("call-3")
    await refused(kept, history.close(late), history.intend(late))
    await refused(kept, history.close(late, ran=False), history.intend(late))


async def test_nothing_is_closed_as_run_without_an_intent(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request = history.request("call-1", WRITE)
    await refused(kept, history.close(request))
    asked = history.ask(request, "apr_1")
    await kept.ledger.append(asked)
    await refused(kept, history.close(request))
    await kept.ledger.append(history.answer(asked, ApprovalStatus.CANCELLED), history.close(request, ran=False))


async def test_a_conflicting_call_leaves_the_original_as_it_was(kept: Kept, history: History) -> None:
    await begin(kept, history)
    request = history.request("call-1")
    await kept.ledger.append(history.intend(request))
    conflicting = history.request("call-1", WRITE)
    await refused(kept, history.close(conflicting, ran=False))
    await kept.ledger.append(steps.CallRefusedUnrecorded(history.tick(), conflicting, history.result("call-1")))
    record = await kept.records.call("cnv_1", "call-1")
    assert record is not None
    assert (record.state, record.request_digest) == (CallState.RUNNING, request.digest)


@pytest.mark.requirement("002-11", "a call whose end is not known is closed as such")
async def test_an_intent_without_an_outcome_is_found_and_closed_as_unknown(kept: Kept, history: History) -> None:
    await begin(kept, history)
    await kept.ledger.append(history.intend(history.request("call-1")))
    (unfinished,) = await kept.records.unfinished_calls()
    assert (unfinished.principal_id, unfinished.conversation_id, unfinished.turn_id, unfinished.call_id) == (
        OPERATOR.id,
        "cnv_1",
        "trn_1",
        "call-1",
    )
    found = steps.CallFoundUnknown(history.tick(), OPERATOR.id, "cnv_1", "call-1", "rcp_x")
    (index,) = await kept.ledger.append(found)
    record = await kept.records.call("cnv_1", "call-1")
    assert record is not None
    assert record.result is not None
    assert (record.state, record.closing_index, record.closed_at) == (CallState.CLOSED, index, found.at)
    assert (record.result.outcome, record.result.reason, record.result.receipt_id) == (
        "executionError",
        "outcomeUnknown",
        "rcp_x",
    )
    assert await kept.records.unfinished_calls() == ()


async def test_an_enrolment_link_is_used_once(kept: Kept, history: History) -> None:
    await begin(kept, history)
    assert await kept.records.enrolment("token-hash") is None
    other = replace(OPERATOR, id="prn_2")
    passkey = replace(PASSKEY, id=b"another", principal_id="prn_2")
    await refused(kept, steps.PrincipalEnrolled(history.tick(), "token-hash", other, passkey))
    assert await kept.records.principal("prn_2") is None


async def test_who_worked_at_the_terminal_is_enrolled_as_the_same_person_and_only_once(kept: Kept, history: History) -> None:
    local = replace(OPERATOR, name="Operator")
    await kept.ledger.append(
        steps.LocalOperatorAdded(history.tick(), local),
        steps.EnrolmentOffered(history.tick(), "one", "Ada", OPERATOR.profile, FAR),
        steps.EnrolmentOffered(history.tick(), "two", "Eve", OPERATOR.profile, FAR),
    )
    assert await kept.records.principals() == (local,)
    await kept.ledger.append(steps.PrincipalEnrolled(history.tick(), "one", OPERATOR, PASSKEY, known=True))
    assert await kept.records.principals() == (OPERATOR,)
    eve = steps.PrincipalEnrolled(history.tick(), "two", replace(OPERATOR, name="Eve"), replace(PASSKEY, id=b"eve"), known=True)
    await refused(kept, eve)
    assert await kept.records.principals() == (OPERATOR,)


async def test_a_passkey_counter_never_goes_back(kept: Kept, history: History) -> None:
    await begin(kept, history)
    use = steps.PasskeyUsed(history.tick(), OPERATOR.id, PASSKEY.id, 9, True)
    await kept.ledger.append(use)
    for count in (9, 8, 0):
        await refused(kept, replace(use, sign_count=count))
    passkey = await kept.records.passkey(PASSKEY.id)
    assert passkey == replace(PASSKEY, sign_count=9, backed_up=True, last_used_at=use.at)


async def test_a_passkey_without_a_counter_keeps_working(kept: Kept, history: History) -> None:
    await begin(kept, history)
    silent = replace(PASSKEY, id=b"silent", sign_count=0)
    await kept.ledger.append(steps.PasskeyAdded(history.tick(), silent))
    use = steps.PasskeyUsed(history.tick(), OPERATOR.id, silent.id, 0, False)
    await kept.ledger.append(use)
    await kept.ledger.append(use)


async def test_a_passkey_answers_to_its_owner_only(kept: Kept, history: History) -> None:
    await begin(kept, history)
    at = history.tick()
    await refused(kept, steps.PasskeyUsed(at, "prn_other", PASSKEY.id, 9, True))
    await refused(kept, steps.PasskeyRenamed(at, "prn_other", PASSKEY.id, "Mine"))
    await refused(kept, steps.PasskeyRemoved(at, "prn_other", PASSKEY.id))
    await kept.ledger.append(steps.PasskeyRenamed(at, OPERATOR.id, PASSKEY.id, "Desk"))
    assert [passkey.name for passkey in await kept.records.passkeys(OPERATOR.id)] == ["Desk"]
    await kept.ledger.append(steps.PasskeyRemoved(at, OPERATOR.id, PASSKEY.id))
    assert await kept.records.passkey(PASSKEY.id) is None


async def test_a_renewed_console_session_answers_to_its_new_secret_only(kept: Kept, history: History) -> None:
    await begin(kept, history)
    renewed = steps.ConsoleSessionRenewed(history.tick(), "cse_1", "fresh-hash", OPERATOR.id, FAR + 1)
    await kept.ledger.append(renewed)
    assert await kept.records.console_session("console-hash") is None
    session = await kept.records.console_session("fresh-hash")
    assert session is not None
    assert (session.id, session.expires_at) == ("cse_1", FAR + 1)
    assert await kept.records.agent_session("agent-hash") is not None
    await kept.ledger.append(steps.ConsoleSessionEnded(history.tick(), "cse_1", OPERATOR.id, "signedOut"))
    await refused(kept, renewed)


async def test_exposure_only_rises(kept: Kept, history: History) -> None:
    await begin(kept, history)
    for taint, label in ((0, 2), (1, 1), (0, 0)):
        await kept.ledger.append(steps.ConversationTainted(history.tick(), "cnv_1", OPERATOR.id, taint, label, "call-1"))
    conversation = await kept.records.conversation("cnv_1")
    assert conversation is not None
    assert (conversation.taint, conversation.label) == (1, 2)


async def test_a_sessions_label_only_rises(kept: Kept, history: History) -> None:
    await begin(kept, history)
    for label in (2, 1, 0):
        await kept.ledger.append(steps.AgentSessionLabelRaised(history.tick(), "ses_1", OPERATOR.id, label, "cnv_1"))
    session = await kept.records.session("ses_1")
    assert session is not None
    assert session.label is Label.CONFIDENTIAL


async def test_a_deleted_conversation_is_gone_and_its_leaves_stay(kept: Kept, history: History) -> None:
    await begin(kept, history)
    await kept.ledger.append(history.message(0, "secret thoughts"))
    size = await kept.records.audit_size()
    await kept.ledger.append(steps.ConversationDeleted(history.tick(), "cnv_1", OPERATOR.id))
    assert await kept.records.conversation("cnv_1") is None
    assert await kept.records.conversations(OPERATOR.id, before=None, limit=5) == ()
    assert await kept.records.messages("cnv_1") == ()
    assert await kept.records.audit_size() == size + 1
    await refused(kept, history.message(1))
    (row,) = await kept.records.audit(AuditQuery(event="message:appended"))
    assert (row.body["role"], row.body["length"], row.payload) == ("user", 15, None)


async def test_a_step_up_is_recorded_with_its_credential(kept: Kept, history: History) -> None:
    await begin(kept, history)
    asked = history.ask(history.request("call-1", WRITE), "apr_1", ApprovalKind.STEP_UP)
    await kept.ledger.append(asked, history.answer(asked))
    (row,) = await kept.records.audit(AuditQuery(event="approval:resolved"))
    assert row.payload is not None
    assert row.body["credentialId"] == row.payload["assertion"]["id"]
