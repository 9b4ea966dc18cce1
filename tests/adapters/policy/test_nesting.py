"""What is nested too deeply for Cedar's parser is refused before it: there the process would end."""

from __future__ import annotations

import pytest

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import PROFILES, SCHEMA, from_texts, read_documents
from gateway.adapters.policy.faults import find_faults
from gateway.adapters.policy.nesting import find_too_deep
from gateway.core.errors import PolicyUnusable
from tests.adapters.policy.conftest import SHIPPED

HEAD = '@id("x.y") @why("A rule for a test") forbid (principal, action == Countersign::Action::"invoke", resource)\nwhen { '
DEEP = {
    "brackets": "(" * 5_000 + "true" + ")" * 5_000,
    "brackets that never close": "(" * 5_000,
    "sets": "[" * 5_000 + "1" + "]" * 5_000 + " == [1]",
    "records": '{"a":' * 5_000 + "1" + "}" * 5_000 + " == {}",
    "and": " && ".join(["context.taint == 1"] * 5_000),
    "or": " || ".join(["context.taint == 1"] * 5_000),
    "if": "if context.taint == 1 then true else " * 5_000 + "true",
    "if in if": "if " * 5_000 + "true" + " then true else true" * 5_000,
    "members": "context" + ".a" * 5_000,
    "methods": "context" + ".contains(1)" * 5_000,
    "sums": "+".join(["1"] * 5_000) + " == 2",
    "a chain before brackets": "(" * 240 + " && ".join(["true"] * 300) + ")" * 240,
}


@pytest.mark.parametrize("condition", DEEP.values(), ids=DEEP.keys())
def test_a_rule_that_is_nested_too_deeply_is_refused_with_its_place(condition: str) -> None:
    texts = {**read_documents(SHIPPED).texts(), "x.cedar": HEAD + condition + " };"}
    (fault,) = find_faults(texts, {}, ())
    assert (fault.file, fault.line, "nested too deeply" in fault.message) == ("x.cedar", 2, True)
    with pytest.raises(PolicyUnusable, match=r"^`x\.cedar` line 2, column \d+: expressions are nested too deeply"):
        CedarPolicy(from_texts(texts))


@pytest.mark.parametrize("joined", [" && ", " || "])
def test_a_chain_beyond_what_cedar_takes_is_told_where_it_gets_too_long(joined: str) -> None:
    texts = {**read_documents(SHIPPED).texts(), "x.cedar": HEAD + joined.join(["context.taint == 1"] * 150) + " };"}
    (fault,) = find_faults(texts, {}, ())
    assert (fault.file, fault.line, "nested too deeply" in fault.message) == ("x.cedar", 2, True)
    assert 20 * 100 < fault.column < 25 * 100
    with pytest.raises(PolicyUnusable, match=rf"^`x\.cedar` line 2, column {fault.column}: expressions are nested too deeply"):
        CedarPolicy(from_texts(texts))


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 90 + "true" + ")" * 90,
        " || ".join(["(context.taint == 1 && context.facts has host && context.label > 2)"] * 90),
        "resource in [" + ", ".join(['Countersign::Category::"read"'] * 3_000) + "]",
        'resource.name == "' + "(" * 3_000 + '"',
    ],
    ids=["brackets", "a long or", "a long set", "a text"],
)
def test_what_cedar_can_read_is_not_refused(condition: str) -> None:
    assert find_too_deep(HEAD + condition + " };") is None
    texts = {**read_documents(SHIPPED).texts(), "x.cedar": HEAD + condition + " };"}
    assert not [fault for fault in find_faults(texts, {}, ()) if fault.severity == "error"]


@pytest.mark.parametrize(
    ("name", "text"),
    [(SCHEMA, "type X = " + "Set<" * 90_000 + "Long" + ">" * 90_000 + ";"), (PROFILES, "x = " + "[" * 90_000)],
)
def test_other_documents_are_refused_too(name: str, text: str) -> None:
    texts = {**read_documents(SHIPPED).texts(), name: text}
    (fault, *_) = find_faults(texts, {}, ())
    assert (fault.file, "nested too deeply" in fault.message) == (name, True)
    with pytest.raises(PolicyUnusable, match="nested too deeply"):
        CedarPolicy(from_texts(texts))
