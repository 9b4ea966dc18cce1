"""How many rules a policy may have, and that what is said of one too many tells where it stands."""

from __future__ import annotations

import pytest
from cedarpy import pst

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import from_texts, read_documents
from gateway.adapters.policy.faults import find_faults
from gateway.adapters.policy.reading import entities_in
from gateway.adapters.policy.rules import MOST_RULES, NAMESPACE
from gateway.core.errors import PolicyUnusable
from tests.adapters.policy.conftest import SHIPPED

PERSON = f"{NAMESPACE}::Principal"


def texts_with(count: int) -> dict[str, str]:
    """The shipped policy with so many rules in all, the last of them in two files."""
    texts = read_documents(SHIPPED).texts()
    own = count - len(CedarPolicy(from_texts(texts)).rules())
    rules = [
        f'@id("many.{number}")\n@why("Only for a test")\n'
        f'forbid (principal, action, resource) when {{ context.label == 9 && principal == {PERSON}::"{number}" }};\n'
        for number in range(own)
    ]
    return texts | {"many-1.cedar": "".join(rules[: own // 2]), "many-2.cedar": "".join(rules[own // 2 :])}


def test_a_rule_too_many_is_refused_with_its_place_when_loading_and_in_the_editor() -> None:
    texts = texts_with(MOST_RULES + 2)
    rules = texts["many-2.cedar"].count("@id")
    line = 3 * (rules - 2) + 1
    with pytest.raises(PolicyUnusable, match=rf"^`many-2\.cedar` line {line}, column 1: a policy may have at most 2,000 rules"):
        CedarPolicy(from_texts(texts))
    (fault,) = find_faults(texts, {}, ())
    assert (fault.file, fault.line, fault.column) == ("many-2.cedar", line, 1)
    assert f"this one has {MOST_RULES + 2:,}" in fault.message


def test_as_many_rules_as_a_policy_may_have_load() -> None:
    assert len(CedarPolicy(from_texts(texts_with(MOST_RULES))).rules()) == MOST_RULES


def test_the_entities_of_rules_are_those_that_cedar_finds() -> None:
    parsed = CedarPolicy(SHIPPED).rule_set.parsed
    assert set(entities_in(parsed)) == pst.entity_uids(parsed)
