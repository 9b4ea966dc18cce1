"""Two policies compared over every kind of call that they can tell apart."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gateway.adapters.policy import domain, loosening
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import PolicyDocuments, from_texts, read_documents
from gateway.adapters.policy.domain import compare, questions, rules_cut_short
from gateway.adapters.policy.loosening import find_loosening
from gateway.cli.policy_reports import describe_domain
from gateway.core.errors import PolicyUnusable
from gateway.core.judgement import Question
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile
from gateway.runtime.rehearsal import ModeChange
from tests.adapters.policy.conftest import SHIPPED

SHIPPED_POLICY = CedarPolicy(SHIPPED)
OFFERED = Path(__file__).parents[3] / "web/src/features/console/policy/editor/code/annotations.json"


def shipped() -> PolicyDocuments:
    return read_documents(SHIPPED)


def edited(old: str, new: str, name: str = "default.cedar") -> CedarPolicy:
    texts = shipped().texts()
    assert old in texts[name]
    return CedarPolicy(from_texts({**texts, name: texts[name].replace(old, new, 1)}))


def with_rule(rule: str, *, alone: bool = False) -> CedarPolicy:
    """The shipped policy and one rule more, or that rule beside one that allows everything."""
    texts = {**shipped().texts(), "own.cedar": rule}
    return CedarPolicy(from_texts({**texts, "default.cedar": EVERYTHING} if alone else texts))


def test_a_policy_decides_like_itself() -> None:
    compared, found = compare(SHIPPED_POLICY, SHIPPED_POLICY)
    assert compared > 500
    assert found == []


def test_a_guard_rail_that_begins_one_label_later_is_found_with_an_example() -> None:
    _, found = compare(SHIPPED_POLICY, edited("context.label >= 2", "context.label >= 3"))
    assert found
    assert all(each.difference.loosens for each in found)
    passkeys = {(each.profile, each.category) for each in found if each.difference is ModeChange.PASSKEY_REMOVED}
    assert (Profile.OPERATOR, Category.NETWORK) in passkeys
    example = found[0].example
    assert (example.taint, example.label) == (1, Label.CONFIDENTIAL)


def test_loosened_and_tightened_are_told_apart_and_loosened_comes_first() -> None:
    before = edited("context.label >= 2", "context.label >= 3")
    _, found = compare(before, SHIPPED_POLICY)
    assert not any(each.difference.loosens for each in found)
    _, both = compare(before, edited('unless { principal in Countersign::Profile::"operator" };', "unless { true };"))
    order = [each.difference.loosens for each in both]
    assert order == sorted(order, reverse=True)


EVERYTHING = """
@id("everything")
@why("Everything is allowed, for a test")
permit (principal, action == Countersign::Action::"invoke", resource);
"""

RULE = """
@id("own.rule")
@why("A rule of one's own, for a test")
forbid (principal, action in Countersign::Action::"anyMode", resource{scope})
when {{ {condition} }};
"""


COMPARED = {
    "path like": ('context.facts has path && context.facts.path like "secret*/keys"', "", "path", {"secretx/keys"}),
    "path": ('context.facts has path && context.facts.path == "notes/a.txt"', "", "path", {"notes/a.txt"}),
    "host": (
        'context.facts has host && ["a.example", "b.example"].contains(context.facts.host)',
        "",
        "host",
        {"a.example", "b.example"},
    ),
    "bytes": ("context.facts has bytes && context.facts.bytes > 1000", "", "bytes", {999, 1000, 1001}),
    "the other way round": ("context.facts has bytes && 1000 < context.facts.bytes", "", "bytes", {999, 1000, 1001}),
    "recursive": ("context.facts has recursive && context.facts.recursive", "", "recursive", {True, False}),
    "name": ('resource.name == "write_file"', "", "name", {"write_file"}),
    "tool": ("true", ' == Countersign::Tool::"write_file"', "name", {"write_file"}),
    "source": ('resource.source == "github"', "", "source", {"github"}),
    "interface": ('resource.interface == "files"', "", "interface", {"files"}),
    "person": ('principal == Countersign::Principal::"prn_ada"', "", "person", {"prn_ada"}),
}


def seen(question: Question, attribute: str) -> object:
    spec = question.spec
    names = {"name": spec.name, "source": spec.source, "interface": spec.interface_id, "person": question.principal.id}
    return names[attribute] if attribute in names else getattr(question.facts, attribute)


@pytest.mark.parametrize(("condition", "scope", "attribute", "values"), COMPARED.values(), ids=COMPARED)
def test_what_a_rule_compares_with_is_among_the_kinds_of_calls(
    condition: str, scope: str, attribute: str, values: set[object]
) -> None:
    policy = with_rule(RULE.format(condition=condition, scope=scope))
    assert values <= {seen(question, attribute) for question in questions((policy,))}


def test_a_rule_that_takes_two_constants_at_once_is_found() -> None:
    both = 'resource.name == "write_file" && context.facts has path && context.facts.path like "*/.*"'
    _, found = compare(SHIPPED_POLICY, with_rule(RULE.format(condition=both, scope="")))
    assert {(each.difference, each.after) for each in found} == {(ModeChange.NEWLY_REFUSED, PermissionMode.FORBIDDEN)}
    assert {each.rules for each in found if each.profile is Profile.OPERATOR} == {("own.rule",)}


def test_a_boundary_that_moves_by_one_is_found() -> None:
    before, after = (
        with_rule(RULE.format(condition=f"context.facts has bytes && context.facts.bytes > {limit}", scope=""), alone=True)
        for limit in (1000, 1001)
    )
    _, found = compare(before, after)
    assert {each.difference for each in found} == {ModeChange.NEWLY_ALLOWED}
    assert {each.example.facts.bytes for each in found} == {1001}


def test_what_only_the_profiles_say_is_found() -> None:
    _, suppressed = compare(
        SHIPPED_POLICY, edited("suppressed_tools = []", 'suppressed_tools = ["delete_file"]', "profiles.toml")
    )
    assert {each.example.spec.name for each in suppressed} == {"delete_file"}
    _, hosts = compare(SHIPPED_POLICY, edited("network_auto_hosts = []", 'network_auto_hosts = ["a.example"]', "profiles.toml"))
    assert "a.example" in {each.example.facts.host for each in hosts}


def test_a_long_list_is_cut_and_stays_quick() -> None:
    hosts = ", ".join(f'"h{number}.example"' for number in range(500))
    policy = with_rule(RULE.format(condition=f"context.facts has host && [{hosts}].contains(context.facts.host)", scope=""))
    assert len({question.facts.host for question in questions((policy,))}) < 100


def test_a_changed_rule_with_a_long_list_is_named_and_counts_as_loosening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain, "MOST_PER_RULE", 4)
    hosts = [f"h{number}.example" for number in range(20)]
    before, after = (
        with_rule(RULE.format(condition=f"context.facts has host && {listed}.contains(context.facts.host)", scope=""))
        for listed in (json.dumps(hosts), json.dumps(hosts[:10] + hosts[11:]))
    )
    # A host in the middle of the list is not tried, so no difference is seen.
    comparison = find_loosening(before, after)
    assert comparison.differences == ()
    assert comparison.loosens
    assert rules_cut_short(before, after) == ("own.rule",)
    # A long list that stays as it is keeps nobody from saying what another change does.
    beside = CedarPolicy(from_texts({**before.documents, "another.cedar": EVERYTHING}))
    assert rules_cut_short(before, beside) == ()
    assert "own.rule" in describe_domain(1, [], rules_cut_short(before, after))


def test_a_comparison_that_ends_early_counts_as_loosening_whatever_the_machine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not find_loosening(SHIPPED_POLICY, SHIPPED_POLICY).loosens
    monkeypatch.setattr(loosening, "MOST_KINDS", 100)
    comparison = find_loosening(SHIPPED_POLICY, SHIPPED_POLICY)
    assert (comparison.compared, comparison.differences) == (100, ())
    assert comparison.loosens


def test_each_annotation_that_the_editor_offers_may_stand_there_and_none_is_forgotten() -> None:
    offered = json.loads(OFFERED.read_text(encoding="utf-8"))
    values = {name: each["value"] for name, each in offered.items()}
    written = "".join(f'@{name}("{value}")\n' for name, value in values.items())
    asks = 'action == Countersign::Action::"invoke_with_consent"'
    assert with_rule(f"{written}permit (principal, {asks}, resource);").version
    with pytest.raises(PolicyUnusable) as refused:
        with_rule('@id("a.b") @why("It has a wrong name") @nonsense("1") permit (principal, action, resource);')
    known = refused.value.message.partition("the annotations are")[2]
    assert set(re.findall(r"`(\w+)`", known)) == set(values)
