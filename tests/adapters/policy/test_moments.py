"""Rules over the moment of a call: counts, tools that ran, the time, and the trust of a tool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.domain import compare, questions
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import UNTOLD, Moment, MomentFact, restore_moment
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Trust
from gateway.runtime.ports import PolicySubject

ADA = PolicySubject(Principal("prn_ada", "Ada", Profile.OPERATOR), Label.PUBLIC)
READ = ToolSpec("peek", "", "workspace", "peek", {}, Category.READ, "builtin")


def with_rule(folder: Path, condition: str) -> CedarPolicy:
    rule = f'@id("own.rule") @why("A rule of one\'s own") forbid (principal, {ANY}, resource) when {{ {condition} }};'
    (folder / "own.cedar").write_text(rule, "utf-8")
    return CedarPolicy(folder)


ANY = 'action in Countersign::Action::"anyMode"'


def forbids(policy: CedarPolicy, moment: Moment, spec: ToolSpec = READ) -> bool:
    verdict = policy.judge(replace(ADA, moment=moment), spec, CallFacts(), taint=0, label=0)
    return verdict.mode is PermissionMode.FORBIDDEN


@pytest.mark.parametrize(
    ("condition", "allowed", "forbidden"),
    [
        ("context.callsInTurn > 3", Moment(calls_in_turn=3), Moment(calls_in_turn=4)),
        ("context.callsInSession > 3", Moment(calls_in_session=3), Moment(calls_in_session=4)),
        (
            'context.toolsUsed.contains("secrets")',
            Moment(tools_used=frozenset({"peek"})),
            Moment(tools_used=frozenset({"peek", "secrets"})),
        ),
        (
            'context.toolsUsed.containsAny(["secrets", "mail"])',
            Moment(tools_used=frozenset({"peek"})),
            Moment(tools_used=frozenset({"mail"})),
        ),
        (
            "context.toolsUsed.contains(resource.name)",
            Moment(tools_used=frozenset({"other"})),
            Moment(tools_used=frozenset({"peek"})),
        ),
        ("context.minuteOfDay >= 1080", Moment(minute_of_day=1079), Moment(minute_of_day=1080)),
        ("context.weekday > 5", Moment(weekday=5), Moment(weekday=6)),
        (
            "context.argumentsFromUntrusted",
            Moment(arguments_from_untrusted=False),
            Moment(arguments_from_untrusted=True),
        ),
    ],
)
def test_a_rule_follows_the_moment_from_one_call_to_the_next(
    folder: Path, condition: str, allowed: Moment, forbidden: Moment
) -> None:
    policy = with_rule(folder, condition)
    # Each twice: what was remembered for one moment is never the answer for another.
    assert [forbids(policy, each) for each in (allowed, forbidden, allowed, forbidden)] == [False, True, False, True]
    assert policy.reads == {*allowed.told(), *OF_THE_DEFAULT}


def test_a_rule_may_look_at_where_a_tool_comes_from_and_whether_it_is_trusted(folder: Path) -> None:
    policy = with_rule(folder, 'resource.source like "mcp:*" && resource.trust == "untrusted"')
    assert not forbids(policy, UNTOLD, replace(READ, source="mcp:notes", trust=Trust.TRUSTED))
    assert forbids(policy, UNTOLD, replace(READ, source="mcp:notes", trust=Trust.UNTRUSTED))
    assert not forbids(policy, UNTOLD, replace(READ, source="builtin", trust=Trust.UNTRUSTED))


def test_a_policy_that_looks_at_no_moment_is_told_none(folder: Path) -> None:
    assert CedarPolicy(folder).reads == {*OF_THE_DEFAULT}
    forget_rules(folder)
    assert CedarPolicy(folder).reads == frozenset()


def forget_rules(folder: Path) -> None:
    """Without the rules about where arguments came from, which no earlier schema knew."""
    path = folder / "default.cedar"
    rules = path.read_text("utf-8").split("\n\n")
    path.write_text("\n\n".join(each for each in rules if "argumentsFromUntrusted" not in each), "utf-8")


def test_a_rule_that_passes_its_whole_context_on_reads_everything(folder: Path) -> None:
    assert with_rule(folder, "context == context").reads == frozenset(MomentFact)


@pytest.mark.parametrize("unknown", [(*MomentFact, "trust"), (MomentFact.ARGUMENTS_FROM_UNTRUSTED,)])
def test_a_schema_of_an_earlier_version_is_asked_as_it_was(folder: Path, unknown: tuple[str, ...]) -> None:
    forget_rules(folder)
    path = folder / "schema.cedarschema"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if not any(f'"{word}"' in line.split(":")[0] for word in unknown)), "utf-8")
    policy = CedarPolicy(folder)
    told = replace(ADA, moment=Moment(calls_in_turn=1, arguments_from_untrusted=True))
    assert policy.judge(told, READ, CallFacts(), taint=0, label=0).mode is PermissionMode.AUTO


OF_THE_DEFAULT = (MomentFact.ARGUMENTS_FROM_UNTRUSTED,)
"""What the rules that come with the gateway look at."""


def test_a_moment_is_kept_as_it_was_told() -> None:
    moment = Moment(calls_in_turn=2, tools_used=frozenset({"b", "a"}), weekday=7)
    assert moment.told() == {"callsInTurn": 2, "toolsUsed": ["a", "b"], "weekday": 7}
    assert restore_moment(moment.told()) == moment
    assert restore_moment({}) == UNTOLD


@pytest.mark.parametrize(
    ("condition", "fact", "values"),
    [
        ("context.minuteOfDay < 540", 3, {539, 540, 541}),
        ("context.callsInTurn == 7", 0, {6, 7, 8}),
        ('context.toolsUsed.contains("mail")', 2, {frozenset({"mail"}), frozenset[str]()}),
    ],
)
def test_a_comparison_goes_through_the_moments_that_rules_name(
    folder: Path, condition: str, fact: int, values: set[object]
) -> None:
    permit = '@id("all") @why("Everything, for a test") permit (principal, action == Countersign::Action::"invoke", resource);'
    (folder / "default.cedar").write_text(permit, "utf-8")
    before = CedarPolicy(folder)
    after = with_rule(folder, condition)
    assert values <= {question.moment[fact] for question in questions((after,))}
    assert compare(before, after)[1]
