"""Logs that are whole and signed, and in which too few, or the wrong people, approved what takes several."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.core import ledger as steps
from gateway.core.approval import build_statement, digest_of_statement
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.ledger import Entry, Passkey
from gateway.core.model import Principal
from gateway.core.quorum import Needs, compose_break_glass
from gateway.core.verification import Flaw
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, Profile
from tests.fakes.history import DELETE, OPERATOR, PASSKEY, History
from tests.fakes.written import Submissions, fault_of, write

BEN = Principal("prn_2", "Ben", Profile.OPERATOR)
GUS = Principal("prn_3", "Gus", Profile.GUEST)
TWO = Needs(presence=True, approvers=2)
ALONE = replace(TWO, break_glass=True)
WHY = "nobody else is awake"


def passkey_of(person: Principal) -> Passkey:
    return PASSKEY if person is OPERATOR else replace(PASSKEY, id=f"key of {person.id}".encode(), principal_id=person.id)


def assertion(signed: bytes | str, person: Principal) -> dict[str, Json]:
    digest = bytes.fromhex(signed) if isinstance(signed, str) else hashlib.sha256(signed).digest()
    client_data = canonical_bytes({"type": "webauthn.get", "challenge": base64url(digest), "origin": "http://console.localhost"})
    return {"id": base64url(passkey_of(person).id), "response": {"clientDataJSON": base64url(client_data), "signature": "AA"}}


def base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


class Office(History):
    """A history with two operators and a guest, and a question to several."""

    def beginning(self) -> tuple[Entry, ...]:
        joined: list[Entry] = []
        for person in (BEN, GUS):
            token = f"token of {person.id}"
            joined += [
                steps.EnrolmentOffered(self.tick(), token, person.name, person.profile, 4_000_000_000_000),
                steps.PrincipalEnrolled(self.tick(), token, person, passkey_of(person)),
            ]
        return (*super().beginning(), *joined)

    def ask_several(self, needs: Needs = TWO, kind: ApprovalKind = ApprovalKind.STEP_UP) -> steps.ApprovalRequested:
        request = self.request("call-1", DELETE)
        asked = self.ask(request, "apr_1", kind)
        statement = build_statement(
            request,
            approval_id="apr_1",
            nonce="nonce",
            kind=kind,
            turn_index=0,
            descriptor_digest=DELETE.digest,
            policy_version=self.snapshot.policy_version,
            issued_at=asked.at,
            expires_at=asked.approval.expires_at,
            needs=needs,
        )
        approval = replace(asked.approval, needs=needs, statement=statement, statement_digest=digest_of_statement(statement))
        return replace(asked, approval=approval)

    def give(self, asked: steps.ApprovalRequested, person: Principal, over: str | None = None) -> steps.ApprovalGiven:
        approval = asked.approval
        signed = over or approval.statement_digest
        return steps.ApprovalGiven(
            self.tick(),
            approval.id,
            approval.call_id,
            approval.conversation_id,
            person.id,
            f"cse of {person.id}",
            passkey_of(person).id,
            assertion(signed, person),
        )

    def approve(self, asked: steps.ApprovalRequested, person: Principal, over: str | None = None) -> steps.ApprovalResolved:
        signed = assertion(over or asked.approval.statement_digest, person)
        return replace(self.answer(asked), approver_id=person.id, credential_id=passkey_of(person).id, assertion=signed)

    def run(self, asked: steps.ApprovalRequested) -> tuple[Entry, ...]:
        intent = self.intend(asked.request, Decision.STEP_UP_SUCCEEDED, approval_id="apr_1")
        return intent, self.close(asked.request, decision=Decision.STEP_UP_SUCCEEDED)

    def act_alone(
        self, asked: steps.ApprovalRequested, person: Principal = OPERATOR, reason: str = WHY, over: bytes | None = None
    ) -> tuple[steps.BreakGlassUsed, steps.ApprovalResolved]:
        signed = compose_break_glass(asked.approval.statement, person.id, reason)
        answer = assertion(over or signed, person)
        used = steps.BreakGlassUsed(
            self.tick(),
            "apr_1",
            "call-1",
            asked.approval.conversation_id,
            person.id,
            f"cse of {person.id}",
            passkey_of(person).id,
            DELETE.name,
            reason,
            signed,
            answer,
        )
        return used, replace(self.approve(asked, person), assertion=answer, alone=True)


def test_a_log_in_which_two_people_approved_is_sound() -> None:
    office = Office()
    begun, asked = office.beginning(), office.ask_several()
    whole = [begun, (asked,), (office.give(asked, OPERATOR),), (office.approve(asked, BEN), *office.run(asked))]
    assert write(whole).check().sound


def test_a_log_in_which_an_operator_acted_alone_where_they_might_is_sound() -> None:
    office = Office()
    begun, asked = office.beginning(), office.ask_several(ALONE)
    assert write([begun, (asked,), (*office.act_alone(asked), *office.run(asked))]).check().sound


def test_a_yes_that_was_void_does_not_count_and_another_one_does() -> None:
    office = Office()
    begun, asked = office.beginning(), office.ask_several()
    gone = steps.PasskeyRemoved(office.tick(), BEN.id, passkey_of(BEN).id)
    given, again = office.give(asked, BEN), office.give(asked, OPERATOR)
    cleo = Principal("prn_4", "Cleo", Profile.OPERATOR)
    joined = (
        steps.EnrolmentOffered(office.tick(), "cleo", cleo.name, cleo.profile, 4_000_000_000_000),
        steps.PrincipalEnrolled(office.tick(), "cleo", cleo, passkey_of(cleo)),
    )
    last = (office.approve(asked, cleo), *office.run(asked))
    assert write([begun, (asked,), (given,), (gone,), (again,), joined, last]).check().sound


Scenario = Callable[[Office], Submissions]
SCENARIOS: dict[str, Scenario] = {}


def scenario(make: Scenario) -> Scenario:
    """A history whose last entry cannot have happened."""
    SCENARIOS[make.__name__] = make
    return make


def asked_of(office: Office, needs: Needs = TWO) -> tuple[tuple[Entry, ...], steps.ApprovalRequested]:
    return office.beginning(), office.ask_several(needs)


@scenario
def approved_by_one(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    return [begun, (asked,), (office.approve(asked, BEN),)]


@scenario
def approved_twice_by_one(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    return [begun, (asked,), (office.give(asked, BEN),), (office.approve(asked, BEN),)]


@scenario
def one_passkey_of_two_people(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    borrowed = replace(office.approve(asked, BEN), credential_id=PASSKEY.id)
    return [begun, (asked,), (office.give(asked, OPERATOR),), (borrowed,)]


@scenario
def first_yes_over_something_else(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    return [begun, (asked,), (office.give(asked, BEN, "c" * 64),)]


@scenario
def last_yes_over_something_else(office: Office) -> Submissions:
    begun, asked = asked_of(office, replace(TWO, pool=(OPERATOR.id, BEN.id)))
    return [begun, (asked,), (office.give(asked, BEN),), (office.approve(asked, OPERATOR, "c" * 64),)]


@scenario
def approved_by_a_guest(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    return [begun, (asked,), (office.give(asked, GUS),)]


@scenario
def approved_by_the_requester_who_is_excluded(office: Office) -> Submissions:
    begun, asked = asked_of(office, replace(TWO, requester_excluded=True))
    return [begun, (asked,), (office.give(asked, OPERATOR),)]


@scenario
def approved_by_somebody_else_than_is_named(office: Office) -> Submissions:
    begun, asked = asked_of(office, replace(TWO, pool=(OPERATOR.id, GUS.id)))
    return [begun, (asked,), (office.give(asked, BEN),)]


@scenario
def approved_by_somebody_unknown(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    return [begun, (asked,), (office.give(asked, Principal("prn_9", "Nobody", Profile.OPERATOR)),)]


@scenario
def first_yes_of_somebody_removed(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    gone = steps.PrincipalRemoved(office.tick(), BEN.id)
    return [begun, (asked,), (office.give(asked, BEN),), (gone,), (office.approve(asked, OPERATOR),)]


@scenario
def first_yes_of_somebody_suspended(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    out = steps.PrincipalSuspended(office.tick(), BEN.id, OPERATOR.id)
    return [begun, (asked,), (office.give(asked, BEN),), (out,), (office.approve(asked, OPERATOR),)]


@scenario
def yes_of_somebody_who_is_suspended(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    out = steps.PrincipalSuspended(office.tick(), BEN.id, OPERATOR.id)
    return [begun, (out,), (asked,), (office.give(asked, BEN),)]


@scenario
def first_yes_of_somebody_with_another_profile(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    changed = steps.PrincipalProfileChanged(office.tick(), BEN.id, Profile.GUEST)
    return [begun, (asked,), (office.give(asked, BEN),), (changed,), (office.approve(asked, OPERATOR),)]


@scenario
def first_yes_by_a_passkey_that_was_removed(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    gone = steps.PasskeyRemoved(office.tick(), BEN.id, passkey_of(BEN).id)
    return [begun, (asked,), (office.give(asked, BEN),), (gone,), (office.approve(asked, OPERATOR),)]


@scenario
def a_yes_after_the_no(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    return [begun, (asked,), (office.answer(asked, ApprovalStatus.DENIED),), (office.give(asked, BEN),)]


@scenario
def a_yes_to_what_one_person_answers(office: Office) -> Submissions:
    begun, asked = asked_of(office, Needs(presence=True))
    return [begun, (asked,), (office.give(asked, BEN),)]


@scenario
def a_statement_that_is_silent_about_the_others(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    silent = office.ask_several(Needs(presence=True)).approval
    lying = replace(asked.approval, statement=silent.statement, statement_digest=silent.statement_digest)
    return [begun, (replace(asked, approval=lying),)]


@scenario
def alone_where_the_policy_lets_nobody(office: Office) -> Submissions:
    begun, asked = asked_of(office)
    used, _ = office.act_alone(asked)
    return [begun, (asked,), (used,)]


@scenario
def alone_without_a_reason_on_record(office: Office) -> Submissions:
    begun, asked = asked_of(office, ALONE)
    _, resolved = office.act_alone(asked)
    return [begun, (asked,), (resolved,)]


@scenario
def alone_by_a_guest(office: Office) -> Submissions:
    begun, asked = asked_of(office, replace(ALONE, pool=(BEN.id, GUS.id)))
    used, _ = office.act_alone(asked, GUS)
    return [begun, (asked,), (used,)]


@scenario
def alone_by_another_than_who_said_why(office: Office) -> Submissions:
    begun, asked = asked_of(office, ALONE)
    used, _ = office.act_alone(asked)
    _, resolved = office.act_alone(asked, BEN)
    return [begun, (asked,), (used,), (resolved,)]


@scenario
def alone_with_a_signature_over_the_plain_statement(office: Office) -> Submissions:
    begun, asked = asked_of(office, ALONE)
    used, _ = office.act_alone(asked, over=asked.approval.statement)
    return [begun, (asked,), (used,)]


@scenario
def alone_for_a_reason_that_says_nothing(office: Office) -> Submissions:
    begun, asked = asked_of(office, ALONE)
    used, _ = office.act_alone(asked, reason="because")
    return [begun, (asked,), (used,)]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_log_in_which_the_wrong_people_approved_is_not_sound(name: str) -> None:
    written = write(SCENARIOS[name](Office()))
    report = written.check()
    assert fault_of(report) == (Flaw.INVARIANT, len(written.leaves) - 1), report.fault


def test_erased_content_is_no_fault() -> None:
    office = Office()
    begun, asked = asked_of(office)
    written = write([begun, (asked,), (office.give(asked, OPERATOR),), (office.approve(asked, BEN), *office.run(asked))])
    erased = replace(written, leaves=tuple(replace(leaf, salt=None, payload=None) for leaf in written.leaves))
    # No record says that it was erased, and that is all that is wrong.
    assert fault_of(erased.check())[0] is Flaw.TAKEN
