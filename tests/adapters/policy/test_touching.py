"""What a change of policy cannot touch is judged alike by both, so comparing the rest gives what comparing everything gives."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from gateway.adapters.policy import touching
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import PROFILES, SCHEMA, from_texts, read_documents
from gateway.adapters.policy.domain import compare, questions, rules_cut_short
from gateway.adapters.policy.loosening import find_loosening
from gateway.adapters.policy.touching import MOST_LOOKED_AT, RuleChange
from gateway.core.approval import RULE_FAILED
from gateway.core.judgement import Question
from gateway.core.vocabulary import Category
from gateway.runtime.ports import PolicySubject, PolicyVerdict
from tests.adapters.policy.conftest import SHIPPED

DRAFTS = 40
LOOKED_AT = 60
"""Kinds of calls of each draft, chosen at random."""

INVOKE, WRITING = 'Countersign::Action::"invoke"', 'Countersign::Category::"write"'
EVERYBODY = "Countersign::Profile"
PRINCIPALS = (
    "principal",
    f'principal in {EVERYBODY}::"operator"',
    f'principal in {EVERYBODY}::"enrolled"',
    f'principal in {EVERYBODY}::"anonymous"',
    'principal == Countersign::Principal::"prn_ada"',
    f'principal is Countersign::Principal in {EVERYBODY}::"guest"',
)
RESOURCES = (
    "resource",
    'resource == Countersign::Tool::"write_file"',
    'resource in Countersign::Category::"network"',
    'resource in Countersign::Category::"read"',
    "resource is Countersign::Tool",
    'resource is Countersign::Tool in Countersign::Category::"write"',
)
ACTIONS = (
    'action in Countersign::Action::"anyMode"',
    'action == Countersign::Action::"invoke"',
    'action == Countersign::Action::"invoke_with_consent"',
    'action in [Countersign::Action::"invoke", Countersign::Action::"invoke_with_step_up"]',
)
CONDITIONS = (
    "context.label >= 2",
    "context.label < 1 || context.taint != 0",
    "context.taint == 1 && context.label <= 2",
    "resource.network",
    "!resource.network && context.taint > 0",
    '(resource.network || resource in Countersign::Category::"execute") && context.taint >= 1',
    'principal in Countersign::Profile::"operator"',
    'principal == Countersign::Principal::"prn_ada" && context.label == 3',
    'context.facts has path && context.facts.path like "secret/*"',
    'resource.name == "babble"',
    "true",
    "!(context.label > 1 && resource.network)",
    # Fails wherever it is looked at.
    'Countersign::Principal::"ghost".remoteModels && context.label == 0',
    'context.label == 0 && Countersign::Principal::"ghost".remoteModels',
)


def write_rule(chance: random.Random, rule_id: str) -> str:
    effect = chance.choice(("permit", "forbid"))
    clauses = (f"{chance.choice(('when', 'unless'))} {{ {chance.choice(CONDITIONS)} }}" for _ in range(chance.randrange(3)))
    lasts = '@approval_ttl_s("60")\n' if effect == "permit" and chance.random() < 0.3 else ""
    scope = ", ".join(chance.choice(each) for each in (PRINCIPALS, ACTIONS, RESOURCES))
    return f'@id("{rule_id}")\n@why("Only for a test")\n{lasts}{effect} ({scope}) {" ".join(clauses)};\n'


def draft(chance: random.Random, rules: Mapping[str, str]) -> CedarPolicy:
    texts = read_documents(SHIPPED).texts()
    if chance.random() < 0.1:
        texts[PROFILES] = texts[PROFILES].replace("network_auto_hosts = []", 'network_auto_hosts = ["a.example"]', 1)
    own = "\n".join(chance.sample(list(rules.values()), len(rules)))
    return CedarPolicy(from_texts({"own.cedar": own, SCHEMA: texts[SCHEMA], PROFILES: texts[PROFILES]}))


def drafts(chance: random.Random) -> tuple[CedarPolicy, CedarPolicy]:
    """A policy of random rules, and that with some of them changed, taken out and added."""
    rules = {f"rule.{at}": write_rule(chance, f"rule.{at}") for at in range(6)}
    changed = dict(rules)
    for _ in range(chance.randrange(3)):
        rule_id = f"rule.{chance.randrange(8)}"
        if chance.random() < 0.3:
            changed.pop(rule_id, None)
        else:
            changed[rule_id] = write_rule(chance, rule_id)
    return draft(chance, rules), draft(chance, changed)


def answers(policy: CedarPolicy, question: Question) -> list[object]:
    """All that a comparison can see of a policy's verdicts: of the call, and of what is published."""
    subject = PolicySubject(question.principal, question.label, question.moment)
    spec = question.spec
    verdicts = [
        policy.judge(subject, spec, facts, taint=question.taint, label=question.label) for facts in (question.facts, None)
    ]
    return [(each.mode, _named(each), each.obligations, each.needs) for each in verdicts]


def _named(verdict: PolicyVerdict) -> list[str]:
    """Of rules that fail, the first are named in the order in which they stand."""
    rules = [rule.id for rule in verdict.because]
    return rules[:1] if RULE_FAILED in rules else rules


@pytest.mark.parametrize("seed", range(DRAFTS))
def test_what_a_random_draft_cannot_touch_is_judged_alike(seed: int) -> None:
    chance = random.Random(seed)
    before, after = drafts(chance)
    change = RuleChange(before, after)
    untouched = [each for each in questions((before, after)) if not change.may_touch(each)]
    for question in chance.sample(untouched, min(LOOKED_AT, len(untouched))):
        assert answers(before, question) == answers(after, question), question


@pytest.mark.parametrize("seed", [4, 5, 7, 11])
def test_a_comparison_is_the_same_as_one_of_everything(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = drafts(random.Random(seed))
    loosening, differences = find_loosening(before, after), compare(before, after)

    def touches_all(_change: RuleChange, _question: Question) -> bool:
        return True

    monkeypatch.setattr(RuleChange, "may_touch", touches_all)
    assert find_loosening(before, after) == loosening
    assert compare(before, after) == differences


def count_touched(before: CedarPolicy, after: CedarPolicy) -> tuple[int, int]:
    change, asked = RuleChange(before, after), list(questions((before, after)))
    return sum(map(change.may_touch, asked)), len(asked)


def test_most_kinds_of_calls_are_beyond_most_changes() -> None:
    texts = read_documents(SHIPPED).texts()
    rule = '@id("x.y")@why("For a test")permit(principal in Countersign::Profile::"operator",'
    rule += 'action == Countersign::Action::"invoke",resource in Countersign::Category::"write")when{context.taint == 0};'
    shipped, changed = CedarPolicy(SHIPPED), CedarPolicy(from_texts({"a.cedar": rule, **texts}))
    touched, asked = count_touched(shipped, changed)
    assert 0 < touched < asked / 20
    assert count_touched(shipped, CedarPolicy(SHIPPED))[0] == 0
    # Where a rule stands in the files does not matter.
    assert rules_cut_short(shipped, changed) == ()


def test_another_schema_and_very_many_changed_rules_touch_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = read_documents(SHIPPED).texts()
    shipped = CedarPolicy(SHIPPED)
    touched, asked = count_touched(shipped, CedarPolicy(from_texts({**texts, SCHEMA: texts[SCHEMA] + "\n// the same\n"})))
    assert touched == asked
    rule = '@id("x.{}")@why("For a test")forbid(principal,action,resource==Countersign::Tool::"none");\n'
    several = CedarPolicy(from_texts({**texts, "x.cedar": "".join(map(rule.format, range(3)))}))
    assert MOST_LOOKED_AT > 3
    assert count_touched(shipped, several)[0] < asked
    monkeypatch.setattr(touching, "MOST_LOOKED_AT", 2)
    touched, asked = count_touched(shipped, several)
    assert touched == asked


@pytest.mark.parametrize(
    ("clauses", "labels"),
    [
        ("when { context.label == 3 }", {3}),
        ("unless { context.label < 2 }", {2, 3}),
        ("when { context.label >= 1 } unless { context.label == 2 }", {1, 3}),
        ("when { context.label >= 1 && (context.label == 2 || context.facts has host) }", {1, 2, 3}),
        # What fails stands before what is false.
        ('when { Countersign::Principal::"ghost".remoteModels } when { context.label == 3 }', {0, 1, 2, 3}),
        ("when { context.facts has host } unless { context.label < 2 }", {0, 1, 2, 3}),
        ('when { Countersign::Principal::"ghost".remoteModels && context.label == 3 }', {0, 1, 2, 3}),
        ('when { context.label == 3 } when { Countersign::Principal::"ghost".remoteModels }', {3}),
    ],
)
def test_conditions_are_read_in_their_order_and_as_far_as_none_may_fail(clauses: str, labels: set[int]) -> None:
    texts = read_documents(SHIPPED).texts()
    rule = f'@id("x.y")@why("For a test")forbid(principal,action=={INVOKE},resource in {WRITING}){clauses};'
    shipped, changed = CedarPolicy(SHIPPED), CedarPolicy(from_texts({**texts, "x.cedar": rule}))
    change = RuleChange(shipped, changed)
    touched = [each for each in questions((shipped, changed)) if change.may_touch(each)]
    assert {each.label for each in touched} == labels
    assert {each.spec.category for each in touched} == {Category.WRITE}
