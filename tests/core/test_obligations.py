"""The strictest of several rules, whatever their order."""

from __future__ import annotations

from itertools import permutations

import pytest

from gateway.core.obligations import NOTHING, Obligations, Presence, Recipient, Release, merge
from gateway.core.redaction import RedactionClass
from gateway.core.vocabulary import Label

ONE = Obligations(presence=Presence.PASSKEY, approvers=2, pool=frozenset({"a", "b", "c"}), timeout=9, lease=30)
OTHER = Obligations(pool=frozenset({"b", "c", "d"}), requester_excluded=True, timeout=5, redact=frozenset({RedactionClass.PII}))
THIRD = Obligations(release=Release(((Recipient.BROWSER, Label.PUBLIC),)), max_result_bytes=300, retain_days=3)


def test_the_strictest_counts_in_every_order() -> None:
    merged = {merge(order) for order in permutations((ONE, OTHER, THIRD, NOTHING))}
    assert merged == {
        Obligations(
            presence=Presence.PASSKEY,
            approvers=2,
            pool=frozenset({"b", "c"}),
            requester_excluded=True,
            redact=frozenset({RedactionClass.PII}),
            max_result_bytes=300,
            timeout=5,
            lease=30,
            release=Release(((Recipient.BROWSER, Label.PUBLIC),)),
            retain_days=3,
        )
    }


def test_rules_that_name_different_approvers_cannot_both_be_met() -> None:
    pools = (Obligations(pool=frozenset({"a"})), Obligations(pool=frozenset({"b"})))
    assert not merge(pools).can_be_met
    assert merge(pools[:1]).can_be_met


@pytest.mark.parametrize(("label", "allowed"), [(Label.PUBLIC, True), (Label.INTERNAL, True), (Label.CONFIDENTIAL, False)])
def test_a_result_goes_where_its_label_may_go(label: Label, allowed: bool) -> None:
    release = Release(((Recipient.BROWSER, Label.INTERNAL),))
    assert release.allows(Recipient.BROWSER, label) is allowed
    assert release.allows(Recipient.REMOTE_MODEL, label)


def test_nobody_acts_alone_where_one_of_several_rules_forbids_it() -> None:
    allowed, forbidden = Obligations(approvers=2), Obligations(requester_excluded=True, alone_forbidden=True)
    for rules in ((allowed, forbidden), (forbidden, allowed), (NOTHING, forbidden)):
        assert merge(rules).alone_forbidden
    assert not merge((allowed, NOTHING)).alone_forbidden
    assert merge((allowed, forbidden)).asks_others
