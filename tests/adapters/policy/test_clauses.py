"""A rule with more clauses than Cedar's stack carries is refused when it loads, and not call by call."""

from __future__ import annotations

import threading

import pytest

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.clauses import MOST_CLAUSES, find_long_rule
from gateway.adapters.policy.documents import from_texts, read_documents
from gateway.adapters.policy.faults import find_faults
from gateway.core.approval import RULE_FAILED
from gateway.core.errors import PolicyUnusable
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.vocabulary import Category, Profile
from gateway.runtime.ports import PolicySubject
from tests.adapters.policy.conftest import SHIPPED

HEAD = '@id("x.y") @why("A rule for a test; when {")\nforbid (principal, action == Countersign::Action::"invoke", resource)\n'
SMALL_STACK = 1024 * 1024


def texts_with(rule: str) -> dict[str, str]:
    return {**read_documents(SHIPPED).texts(), "x.cedar": rule}


@pytest.mark.parametrize("clause", ["when { context.taint >= 0 }\n", "unless { context.taint < 0 } // when {\n"])
def test_a_clause_too_many_is_refused_with_its_place_when_loading_and_in_the_editor(clause: str) -> None:
    texts = texts_with(HEAD + clause * 3_000 + ";")
    line = 2 + MOST_CLAUSES + 1
    said = rf"^`x\.cedar` line {line}, column 1: a rule may have at most 500 `when` and `unless` clauses, and this one has 3,000"
    with pytest.raises(PolicyUnusable, match=said):
        CedarPolicy(from_texts(texts))
    (fault,) = find_faults(texts, {}, ())
    assert (fault.file, fault.line, fault.column, fault.severity) == ("x.cedar", line, 1, "error")


def test_one_that_was_in_force_before_there_was_a_limit_loads_and_forbids() -> None:
    policy = CedarPolicy.of_record(texts_with(HEAD + "when { context.taint >= 0 }" * 3_000 + ";"))
    tool = ToolSpec("read_file", "", "", "", {}, Category.READ, "")
    verdict = policy.judge(PolicySubject(Principal("", "", Profile.OPERATOR), 0), tool, CallFacts(), taint=0, label=0)
    assert RULE_FAILED in [rule.id for rule in verdict.because]


def test_as_many_clauses_as_a_rule_may_have_are_evaluated_with_the_deepest_of_conditions() -> None:
    deepest = "when { " + "if context.taint < 0 then false else " * 95 + "true }"
    policy = CedarPolicy(from_texts(texts_with(HEAD + "when { context.taint >= 0 }" * (MOST_CLAUSES - 1) + deepest + ";")))
    tool = ToolSpec("read_file", "", "", "", {}, Category.READ, "")
    verdict = policy.judge(PolicySubject(Principal("", "", Profile.OPERATOR), 0), tool, CallFacts(), taint=0, label=0)
    assert [rule.id for rule in verdict.because] == ["x.y"]


def test_words_in_texts_comments_and_records_are_no_clauses_and_each_rule_counts_by_itself() -> None:
    words = '// when {\nwhen { context has when || context.facts has unless || "when" == "unless" }\n' * 150
    assert find_long_rule({"x.cedar": f"{HEAD}{words};\n" * 4}) is None


def test_a_small_stack_carries_fewer_clauses_and_says_so() -> None:
    texts, said = texts_with(HEAD + "when { context.taint >= 0 }\n" * 400 + ";"), list[str]()

    def load() -> None:
        try:
            CedarPolicy(from_texts(texts))
        except PolicyUnusable as error:
            said.append(error.message)

    before = threading.stack_size(SMALL_STACK)
    try:
        thread = threading.Thread(target=load)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(60)
    assert said
    assert said[0].startswith("`x.cedar` line 53, column 1: a rule may have at most 50 ")
    assert said[0].endswith("this process has a small stack")
    CedarPolicy(from_texts(texts))
