"""Calls that no rule tells apart share a verdict, and it is exactly the one that each of them would get by itself."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.runtime.ports import PolicySubject, PolicyVerdict
from tests.adapters.policy.conftest import SHIPPED

ACTIONS = (
    'action == Countersign::Action::"invoke"',
    'action == Countersign::Action::"invoke_with_consent"',
    'action in Countersign::Action::"anyMode"',
)
TEXTS = ("a", "ab", "b", "a*b", "aab", "é")
ATTRIBUTES = ("name", "source", "interface")


def quote(text: str) -> str:
    return f'"{text}"'


def escape_stars(pattern: str) -> str:
    """A pattern in which `#` is a star that is meant as one."""
    return '"' + pattern.replace("#", "\\*") + '"'


attributes = st.sampled_from(ATTRIBUTES).map(lambda name: f"resource.{name}")
texts = st.sampled_from(TEXTS)
literals = texts.map(quote)
lists = st.lists(literals, min_size=1, max_size=3).map(lambda each: f"[{', '.join(each)}]")
tool_uids = texts.map(lambda text: f'Countersign::Tool::"{text}"')
patterns = st.text("ab*#é", max_size=6).map(escape_stars)
conditions = st.one_of(
    # What is understood.
    st.builds("{} == {}".format, attributes, literals),
    st.builds("{} != {}".format, literals, attributes),
    st.builds("{} like {}".format, attributes, patterns),
    st.builds("{}.contains({})".format, lists, attributes),
    st.builds("principal.suppressedTools.contains({})".format, attributes),
    st.builds("principal.autoHosts.contains({})".format, attributes),
    st.builds("resource == {}".format, tool_uids),
    st.builds("[{}, {}].contains(resource)".format, tool_uids, tool_uids),
    st.builds("resource in [{}, {}]".format, tool_uids, tool_uids),
    st.just("resource has name"),
    st.just("resource is Countersign::Tool"),
    st.just('resource in Countersign::Category::"read"'),
    # What is not, so that tools are told apart.
    st.builds("{} == {}".format, attributes, attributes),
    st.builds("context.facts has path && context.facts.path == {}".format, attributes),
    st.builds("[{}].containsAny({})".format, attributes, lists),
    st.builds("[{}, {}].contains({})".format, attributes, literals, attributes),
    st.builds("principal.suppressedTools.containsAll([{}])".format, attributes),
    st.builds("(if resource.network then resource else resource) == {}".format, tool_uids),
    st.builds("(if resource.network then resource else resource).name == {}".format, literals),
    st.builds('{{"n": {}}}.n == {}'.format, attributes, literals),
    st.builds('{{"n": resource}}.n.source == {}'.format, literals),
    st.builds("(if resource.network then {} else {}) like {}".format, attributes, literals, patterns),
)
fact_texts = st.sampled_from(["path", "host"])


def with_fact(name: str, condition: str) -> str:
    """A condition over a fact, where it is reported; `@` stands for it."""
    return f"context.facts has {name} && {condition.replace('@', f'context.facts.{name}')}"


of_facts = st.one_of(
    # What is understood.
    st.builds(with_fact, fact_texts, literals.map("@ == {}".format)),
    st.builds(with_fact, fact_texts, literals.map("{} != @".format)),
    st.builds(with_fact, fact_texts, patterns.map("@ like {}".format)),
    st.builds(with_fact, fact_texts, lists.map("{}.contains(@)".format)),
    st.builds(with_fact, fact_texts, st.just("principal.autoHosts.contains(@)")),
    st.builds("context.facts has {}".format, st.sampled_from(["path", "host", "bytes", "recursive"])),
    st.just("context.facts has bytes && context.facts.bytes > 1"),
    st.just("context.facts has recursive && context.facts.recursive"),
    # What is not, so that calls are told apart.
    st.builds(with_fact, fact_texts, st.just("@ == resource.name")),
    st.builds(with_fact, fact_texts, lists.map("[@].containsAny({})".format)),
    st.builds(with_fact, fact_texts, patterns.map('(if resource.network then @ else "a") like {}'.format)),
    st.builds(with_fact, fact_texts, literals.map('{{"n": @}}.n == {}'.format)),
    st.just("context.facts has path && context.facts has host && context.facts.path == context.facts.host"),
    st.builds(
        "{0}.facts has {1} && {0}.facts.{1} like {2}".format,
        st.just("(if resource.network then context else context)"),
        fact_texts,
        patterns,
    ),
    st.builds(
        "{0} has {1} && {0}.{1} == {2}".format,
        st.just("(if resource.network then context.facts else context.facts)"),
        fact_texts,
        literals,
    ),
)
joined_facts = st.builds("({}) {} ({})".format, of_facts, st.sampled_from(["&&", "||"]), st.one_of(of_facts, conditions))
joined = st.builds("({}) {} ({})".format, conditions, st.sampled_from(["&&", "||"]), conditions)
bodies = st.tuples(
    st.sampled_from(["permit", "permit", "forbid"]),
    st.sampled_from(ACTIONS),
    st.one_of(
        st.just("resource"),
        st.sampled_from(Category).map(lambda category: f'resource in Countersign::Category::"{category}"'),
        tool_uids.map(lambda uid: f"resource == {uid}"),
    ),
    st.sampled_from(["when", "unless"]),
    st.one_of(conditions, joined),
)
names = st.one_of(texts, st.text("ab*é", max_size=5))


def make_tool(name: str, source: str, interface: str, category: Category, network: bool) -> ToolSpec:
    return ToolSpec(name, "", interface, name, {}, category, source, network=network)


tools = st.builds(
    make_tool, names, names, names, st.sampled_from([Category.READ, Category.WRITE, Category.NETWORK]), st.booleans()
)
facts = st.sampled_from([None, CallFacts(), CallFacts(path="a"), CallFacts(path="ab")])
many_facts = st.builds(
    CallFacts,
    path=st.one_of(st.none(), names),
    host=st.one_of(st.none(), names),
    bytes=st.one_of(st.none(), st.integers(0, 3)),
    recursive=st.one_of(st.none(), st.booleans()),
    second_path=st.one_of(st.none(), st.none(), names),
)
fact_bodies = st.tuples(
    st.sampled_from(["permit", "permit", "forbid"]),
    st.sampled_from(ACTIONS),
    st.just("resource"),
    st.sampled_from(["when", "unless"]),
    st.one_of(of_facts, joined_facts),
)


def write(number: int, body: tuple[str, str, str, str, str]) -> str:
    effect, action, resource, when, condition = body
    return f'@id("x.n{number}") @why("Made up for a test") {effect} (principal, {action}, {resource}) {when} {{ {condition} }};'


def enact(rules: list[str]) -> CedarPolicy:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        profiles = (SHIPPED / "profiles.toml").read_text("utf-8")
        profiles = profiles.replace("suppressed_tools = []", 'suppressed_tools = ["ab"]')
        (folder / "profiles.toml").write_text(profiles.replace("auto_hosts = []", 'auto_hosts = ["b"]'))
        (folder / "schema.cedarschema").write_bytes((SHIPPED / "schema.cedarschema").read_bytes())
        (folder / "all.cedar").write_text("\n".join(rules), "utf-8")
        return CedarPolicy(folder)


def judge(policy: CedarPolicy, profile: Profile, spec: ToolSpec, call: CallFacts | None) -> PolicyVerdict:
    return policy.judge(PolicySubject(Principal("prn_ada", "Ada", profile), 0), spec, call, taint=0, label=0)


def tell_all_apart(policy: CedarPolicy) -> None:
    """Have every tool, and all facts, stand for themselves."""
    likeness: Any = policy._in_force._likeness  # pyright: ignore[reportPrivateUsage] (nothing else can tell them apart)
    likeness.representative = likeness.representative_facts = lambda each: each  # pyright: ignore[reportUnknownLambdaType]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(bodies, min_size=1, max_size=4),
    st.lists(tools, min_size=2, max_size=25),
    st.sampled_from(Profile),
    facts,
)
def test_a_shared_verdict_is_the_one_that_the_tool_gets_by_itself(
    made: list[Any], offered: list[ToolSpec], profile: Profile, call: CallFacts | None
) -> None:
    rules = [write(number, body) for number, body in enumerate(made)]
    shared, apart = enact(rules), enact(rules)
    tell_all_apart(apart)
    verdicts = [judge(shared, profile, spec, call) for spec in offered]
    assert verdicts == [judge(apart, profile, spec, call) for spec in offered]
    assert [judge(shared, profile, spec, call) for spec in reversed(offered)] == verdicts[::-1]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(fact_bodies, min_size=1, max_size=4),
    st.lists(many_facts, min_size=2, max_size=25),
    st.sampled_from(Profile),
    tools,
)
def test_a_shared_verdict_is_the_one_that_other_facts_get_by_themselves(
    made: list[Any], reported: list[CallFacts], profile: Profile, spec: ToolSpec
) -> None:
    rules = [write(number, body) for number, body in enumerate(made)]
    shared, apart = enact(rules), enact(rules)
    tell_all_apart(apart)
    verdicts = [judge(shared, profile, spec, call) for call in reported]
    assert verdicts == [judge(apart, profile, spec, call) for call in reported]
    assert [judge(shared, profile, spec, call) for call in reversed(reported)] == verdicts[::-1]


@settings(max_examples=60, deadline=None)
@given(st.text("ab*#é", max_size=8), st.lists(st.text("ab*é", max_size=8), min_size=1, max_size=20))
def test_patterns_mean_what_cedar_takes_them_for(pattern: str, names: list[str]) -> None:
    rule = (
        '@id("x.like") @why("Made up for a test") permit (principal, action == Countersign::Action::"invoke", resource) '
        f"when {{ resource.name like {escape_stars(pattern)} }};"
    )
    shared, apart = enact([rule]), enact([rule])
    tell_all_apart(apart)
    specs = [ToolSpec(name, "", "i", "m", {}, Category.READ, "s") for name in names]
    modes = [judge(shared, Profile.OPERATOR, spec, None).mode for spec in specs]
    assert modes == [judge(apart, Profile.OPERATOR, spec, None).mode for spec in specs]


def count_judged(policy: CedarPolicy, specs: list[ToolSpec]) -> int:
    """How many of these tools Cedar is asked about."""
    remembered: Any = policy._in_force._remember_tool  # pyright: ignore[reportPrivateUsage] (nothing else shows it)
    before = remembered.cache_info().misses
    for spec in specs:
        judge(policy, Profile.OPERATOR, spec, None)
    return remembered.cache_info().misses - before


def many(count: int = 300) -> list[ToolSpec]:
    return [
        ToolSpec(f"source_{n % 20}__t{n}", "", "mcp", "m", {}, [Category.READ, Category.WRITE][n % 2], f"mcp:source-{n % 20}")
        for n in range(count)
    ]


def add_rule(folder: Path, condition: str) -> CedarPolicy:
    (folder / "more.cedar").write_text(
        f'@id("x.more") @why("Made up for a test") forbid (principal, {ACTIONS[2]}, resource) when {{ {condition} }};'
    )
    return CedarPolicy(folder)


def test_hundreds_of_tools_that_no_rule_names_are_judged_once_for_each_kind(folder: Path) -> None:
    assert count_judged(CedarPolicy(folder), many()) == 2


def test_a_tool_that_a_rule_names_is_judged_by_itself(folder: Path) -> None:
    policy = add_rule(folder, 'resource.name == "source_0__t0"')
    assert count_judged(policy, many()) == 3
    named, other = many()[0], many()[2]
    assert judge(policy, Profile.OPERATOR, named, None).mode is PermissionMode.FORBIDDEN
    assert judge(policy, Profile.OPERATOR, other, None).mode is PermissionMode.AUTO


def test_tools_of_a_source_that_a_pattern_names_are_judged_once_for_all_of_them(folder: Path) -> None:
    policy = add_rule(folder, 'resource.source like "mcp:source-1*"')
    assert count_judged(policy, many()) == 4
    modes = {spec.source: judge(policy, Profile.OPERATOR, spec, None).mode for spec in many()}
    assert {source for source, mode in modes.items() if mode is PermissionMode.FORBIDDEN} == {
        source for source in modes if source.startswith("mcp:source-1")
    }


@pytest.mark.parametrize(
    "condition",
    [
        "resource.name == resource.source",
        "context.facts has path && context.facts.path == resource.name",
        '["source_0__t0"].containsAll([resource.name])',
        '(if resource.network then resource else resource).name == "source_0__t0"',
        '{"tool": resource}.tool.source == "mcp:source-0"',
        '[(if resource.network then "x" else resource.name)].contains("source_0__t0")',
    ],
)
def test_where_a_rule_does_more_with_names_each_tool_is_judged_by_itself(folder: Path, condition: str) -> None:
    assert count_judged(add_rule(folder, condition), many()) == 300


def test_a_tool_that_a_profile_starts_to_suppress_is_forbidden_after_the_reload(folder: Path) -> None:
    policy = CedarPolicy(folder)
    first, second = many()[0], many()[2]
    assert judge(policy, Profile.OPERATOR, second, None).mode is PermissionMode.AUTO
    profiles = folder / "profiles.toml"
    profiles.write_text(profiles.read_text().replace("suppressed_tools = []", f'suppressed_tools = ["{first.name}"]', 1))
    policy.reload()
    assert judge(policy, Profile.OPERATOR, second, None).mode is PermissionMode.AUTO
    assert judge(policy, Profile.OPERATOR, first, None).mode is PermissionMode.FORBIDDEN


@pytest.mark.parametrize("stars", [1, 12])
def test_a_long_name_and_a_pattern_of_many_stars_take_no_time(folder: Path, stars: int) -> None:
    """Tried one after another, the places for twelve stars in 64 letters would take longer than any test."""
    policy = add_rule(folder, f'resource.name like "{"a*" * stars}b"')
    spec = ToolSpec("a" * 64, "", "mcp", "m", {}, Category.READ, "mcp:x")
    assert judge(policy, Profile.OPERATOR, spec, None).mode is PermissionMode.AUTO


def count_calls_judged(policy: CedarPolicy, reported: list[CallFacts]) -> int:
    """How many of these calls Cedar is asked about."""
    remembered: Any = policy._in_force._remember_tool  # pyright: ignore[reportPrivateUsage] (nothing else shows it)
    before = remembered.cache_info().misses
    spec = many(2)[1]
    for facts_of_call in reported:
        judge(policy, Profile.OPERATOR, spec, facts_of_call)
    return remembered.cache_info().misses - before


FILES = [CallFacts(path=f"{folder}/{number}.txt", bytes=number) for folder in ("notes", "reports") for number in range(100)]


def test_hundreds_of_files_that_no_rule_names_are_judged_once(folder: Path) -> None:
    assert count_calls_judged(CedarPolicy(folder), FILES) == 1


def test_files_of_a_folder_that_a_rule_names_are_judged_once_for_all_of_them(folder: Path) -> None:
    policy = add_rule(folder, 'context.facts has path && context.facts.path like "notes/*"')
    assert count_calls_judged(policy, FILES) == 2
    modes = {facts_of_call.path: judge(policy, Profile.OPERATOR, many(2)[1], facts_of_call).mode for facts_of_call in FILES}
    assert {path for path, mode in modes.items() if mode is PermissionMode.FORBIDDEN} == {
        path for path in modes if str(path).startswith("notes/")
    }


@pytest.mark.parametrize(
    ("condition", "judged"),
    [
        ('context.facts has path && context.facts.path == "notes/7.txt"', 2),
        ("context.facts has bytes && context.facts.bytes > 50", 100),
        ("[context.facts].contains(context.facts)", 200),
    ],
)
def test_what_a_rule_looks_at_tells_files_apart(folder: Path, condition: str, judged: int) -> None:
    assert count_calls_judged(add_rule(folder, condition), FILES) == judged


def test_a_fact_that_is_too_long_to_keep_is_judged_each_time_and_alike(folder: Path) -> None:
    policy = add_rule(folder, 'context.facts has path && context.facts.path like "notes/*"')
    long = CallFacts(path="notes/" + "x" * 600)
    assert judge(policy, Profile.OPERATOR, many(2)[1], long).mode is PermissionMode.FORBIDDEN
    assert count_calls_judged(policy, [long] * 3) == 0
