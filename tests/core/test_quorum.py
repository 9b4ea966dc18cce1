"""Approvals by several people: whoever answers in whatever order, no call runs with fewer than it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.errors import Refused
from gateway.core.quorum import (
    GivenApproval,
    Needs,
    Quorum,
    compose_break_glass,
    may_break_glass,
    read_break_glass_reason,
    read_needs,
)
from gateway.core.vocabulary import ApproverStanding

PEOPLE = ("ada", "ben", "cleo", "dan")
OPERATORS = frozenset({"ada", "ben", "cleo"})
DIGEST, OTHER = "a" * 64, "b" * 64
REQUESTER = "ada"

needs_of_others = st.builds(
    Needs,
    presence=st.just(True),
    approvers=st.integers(1, 3),
    requester_excluded=st.booleans(),
    pool=st.none() | st.lists(st.sampled_from(PEOPLE), unique=True).map(tuple),
).filter(lambda needs: needs.shared)


@dataclass(frozen=True)
class Yes:
    person: str
    digest: str


@dataclass(frozen=True)
class No:
    person: str


@dataclass(frozen=True)
class Gone:
    person: str


steps = st.lists(
    st.builds(Yes, st.sampled_from(PEOPLE), st.sampled_from((DIGEST, DIGEST, DIGEST, OTHER)))
    | st.builds(No, st.sampled_from(PEOPLE))
    | st.builds(Gone, st.sampled_from(PEOPLE)),
    max_size=12,
)


@settings(max_examples=500)
@given(needs_of_others, steps)
def test_no_order_of_answers_is_enough_with_fewer_than_the_people_it_takes(needs: Needs, answers: list[Yes | No | Gone]) -> None:
    quorum = Quorum(needs, REQUESTER, DIGEST)
    # What may count, found out in the simplest way there is.
    said, denied, gone = set[str](), False, set[str]()
    for at, answer in enumerate(answers):
        met_before = quorum.is_met
        match answer:
            case Yes(person, digest):
                # Whoever is gone has no session to answer in.
                if person in gone:
                    continue
                yes = GivenApproval(person, f"key of {person}".encode(), at)
                try:
                    quorum = quorum.approve(yes, digest, operator=person in OPERATORS)
                except Refused:
                    continue
                assert digest == DIGEST
                said.add(person)
            case No():
                quorum, denied = quorum.deny(), True
            case Gone(person):
                quorum = quorum.without(person_id=person)
                said.discard(person)
                gone.add(person)
        if quorum.is_met and not met_before:
            eligible = {each for each in said if may(needs, each)}
            assert not denied
            assert len(eligible) >= needs.approvers
            assert len({each.principal_id for each in quorum.given}) == len(quorum.given)


def may(needs: Needs, person: str) -> bool:
    if needs.requester_excluded and person == REQUESTER:
        return False
    return person in needs.pool if needs.pool is not None else person in OPERATORS


@given(needs_of_others, st.permutations(PEOPLE))
def test_everybody_who_may_and_answers_is_enough_where_they_are_enough(needs: Needs, order: list[str]) -> None:
    quorum = Quorum(needs, REQUESTER, DIGEST)
    for at, person in enumerate(order):
        if quorum.standing(person, operator=person in OPERATORS) is ApproverStanding.MAY_APPROVE and quorum.missing:
            quorum = quorum.approve(GivenApproval(person, person.encode(), at), DIGEST, operator=person in OPERATORS)
    assert quorum.is_met is (sum(may(needs, each) for each in PEOPLE) >= needs.approvers)


TWO = Needs(presence=True, approvers=2)


def answered(quorum: Quorum, person: str, digest: str = DIGEST, *, operator: bool = True) -> Quorum:
    return quorum.approve(GivenApproval(person, person.encode(), 1), digest, operator=operator)


def test_the_same_person_counts_once() -> None:
    first = answered(Quorum(TWO, "ada", DIGEST), "ben")
    with pytest.raises(Refused, match="another person") as refused:
        answered(first, "ben")
    assert refused.value.reason == "hasApproved"
    assert answered(first, "cleo").is_met


@pytest.mark.parametrize(
    ("needs", "person", "operator", "reason"),
    [
        (replace(TWO, requester_excluded=True), "ada", True, "requesterExcluded"),
        (replace(TWO, requester_excluded=True, pool=("ada", "ben")), "ada", True, "requesterExcluded"),
        (replace(TWO, pool=("ben", "cleo")), "ada", True, "notAnApprover"),
        (replace(TWO, pool=("ben", "cleo")), "dan", True, "notAnApprover"),
        (TWO, "dan", False, "notAnApprover"),
        (Needs(presence=True), "ben", True, "notAnApprover"),
    ],
)
def test_who_may_not_approve_is_told_why(needs: Needs, person: str, operator: bool, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        answered(Quorum(needs, "ada", DIGEST), person, operator=operator)
    assert refused.value.reason == reason


def test_whoever_is_named_in_the_pool_need_not_be_an_operator_and_the_requester_may_be_one_of_two() -> None:
    named = Quorum(replace(TWO, pool=("ada", "dan")), "ada", DIGEST)
    assert answered(answered(named, "dan", operator=False), "ada", operator=False).is_met


def test_an_answer_over_another_statement_or_after_the_end_is_refused() -> None:
    quorum = Quorum(TWO, "ada", DIGEST)
    with pytest.raises(Refused, match="something else"):
        answered(quorum, "ben", OTHER)
    with pytest.raises(Refused, match="no longer open"):
        answered(quorum.deny(), "ben")
    with pytest.raises(Refused, match="no longer open"):
        answered(answered(answered(quorum, "ada"), "ben"), "cleo")


def test_a_passkey_that_is_gone_takes_its_yes_along() -> None:
    quorum = answered(Quorum(TWO, "ada", DIGEST), "ben")
    assert quorum.without(credential_id=b"ben").missing == 2
    assert quorum.without(person_id="ada").missing == 1


@given(needs_of_others, st.booleans())
def test_what_a_record_says_of_who_has_to_approve_reads_as_it_was(needs: Needs, alone: bool) -> None:
    whole = replace(needs, break_glass=alone)
    assert read_needs(whole.described()) == whole


@given(needs_of_others, needs_of_others)
def test_an_approval_by_others_falls_short_of_one_that_wants_more_people(now: Needs, given_then: Needs) -> None:
    """Whoever was enough then must be enough now, or the approval does not count now."""
    if now.exceed(given_then):
        return
    assert now.approvers <= given_then.approvers
    for person in PEOPLE:
        if may(given_then, person):
            assert may(now, person)


def test_only_an_operator_breaks_the_glass_and_only_where_the_policy_lets_them() -> None:
    allowed = replace(TWO, break_glass=True)
    assert may_break_glass(allowed, operator=True)
    assert not may_break_glass(allowed, operator=False)
    assert not may_break_glass(TWO, operator=True)
    assert not may_break_glass(Needs(break_glass=True), operator=True)
    assert TWO.exceed(allowed)
    assert not allowed.exceed(TWO)


@pytest.mark.parametrize("reason", ["", "too short", " " * 40, "x" * 501, "in\u202evisible characters", "a\tb" * 10])
def test_a_reason_to_act_alone_is_ten_to_five_hundred_characters_that_can_be_seen(reason: str) -> None:
    with pytest.raises(Refused, match="say why"):
        read_break_glass_reason(reason)


def test_a_reason_is_kept_without_the_blanks_around_it() -> None:
    assert (
        read_break_glass_reason("  the site is down\n and nobody else is awake ") == "the site is down\n and nobody else is awake"
    )
    assert len(read_break_glass_reason("x" * 500)) == 500


def test_what_somebody_who_acts_alone_signs_is_not_the_statement_and_names_them_and_why() -> None:
    signed = compose_break_glass(b'{"tool":"erase"}', "ada", "nobody else is awake")
    assert signed == b'{"breakGlass":{"principal":"ada","reason":"nobody else is awake"},"tool":"erase"}'
