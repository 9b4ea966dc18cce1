"""Policies compared by who has to approve: fewer people, other people, or one alone is less; more people is more."""

from __future__ import annotations

import pytest

from gateway.adapters.policy.domain import compare
from gateway.adapters.policy.loosening import find_loosening
from gateway.cli.policy_reports import describe_domain
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.runtime.ports import PolicySubject
from gateway.runtime.rehearsal import ModeChange
from tests.adapters.policy.test_domain import SHIPPED_POLICY, edited

WRITE = '@why("This changes files, so it needs your yes")\n'
TWO = edited(WRITE, WRITE + '@approvers("2")\n')
ONE = SHIPPED_POLICY


@pytest.mark.parametrize(
    "less",
    [
        pytest.param(ONE, id="one person"),
        pytest.param(edited(WRITE, WRITE + '@requester_excluded("true")\n'), id="one other person"),
        pytest.param(edited(WRITE, WRITE + '@approvers("2 of usr_a, usr_b")\n'), id="people who may be no operators"),
        pytest.param(edited(WRITE, WRITE + '@approvers("2")\n@break_glass("allowed")\n'), id="one alone"),
    ],
)
def test_what_asks_fewer_or_other_people_is_loosened(less: object) -> None:
    assert isinstance(less, type(ONE))
    _, found = compare(TWO, less)
    assert {each.difference for each in found} == {ModeChange.APPROVERS_REMOVED}
    assert find_loosening(TWO, less).loosens


def test_what_asks_more_people_is_tightened_and_no_loosening() -> None:
    compared, found = compare(ONE, TWO)
    assert {(each.difference, each.category) for each in found} == {(ModeChange.APPROVERS_ADDED, Category.WRITE)}
    assert not find_loosening(ONE, TWO).loosens
    told = describe_domain(compared, found, ())
    assert "0 are loosened and" in told
    assert "more people to approve: operator, category write" in told


def test_a_passkey_of_one_person_instead_of_two_peoples_is_loosened() -> None:
    both = 'action in [Countersign::Action::"invoke_with_consent", Countersign::Action::"invoke_with_step_up"]'
    write = ',\n  resource in Countersign::Category::"write"'
    stepped = edited(both + write, 'action == Countersign::Action::"invoke_with_step_up"' + write)
    _, found = compare(TWO, stepped)
    fewer = {(each.before, each.after) for each in found if each.difference is ModeChange.APPROVERS_REMOVED}
    assert fewer == {(PermissionMode.CONSENT, PermissionMode.STEP_UP)}
    assert ModeChange.PASSKEY_ADDED not in {each.difference for each in found}


def test_what_rules_say_of_approvers_is_what_an_approval_needs() -> None:
    named = edited(WRITE, WRITE + '@approvers("2 of usr_b, usr_a")\n@requester_excluded("true")\n@break_glass("allowed")\n')
    subject = PolicySubject(Principal("usr_a", "Ada", Profile.OPERATOR), 0)
    spec = ToolSpec("write_file", "", "workspace", "write_file", {}, Category.WRITE, "builtin")
    needs = named.judge(subject, spec, CallFacts(path="a.txt"), taint=0, label=0).needs
    assert (needs.approvers, needs.pool, needs.requester_excluded, needs.break_glass) == (2, ("usr_a", "usr_b"), True, True)
    assert needs.presence
    alone = TWO.judge(subject, spec, CallFacts(path="a.txt"), taint=0, label=0).needs
    assert not alone.break_glass
