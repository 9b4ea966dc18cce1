"""Verdicts: cheapest mode first, every reason named, and no error ever counts as a permission."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.policy import rules
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.obligations import NOTHING, Obligations, Presence, Recipient, Release
from gateway.core.quorum import Needs
from gateway.core.redaction import RedactionClass
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile
from gateway.runtime.ports import PolicySubject, PolicyVerdict

SHIPPED = Path(__file__).parents[3] / "policy"
INVOKE = 'action == Countersign::Action::"invoke"'
ANY_MODE = 'action in Countersign::Action::"anyMode"'


def add(folder: Path, rule: str) -> CedarPolicy:
    (folder / "extra.cedar").write_text(rule, "utf-8")
    return CedarPolicy(folder)


def rule_ids(verdict: PolicyVerdict) -> list[str]:
    return [reason.id for reason in verdict.because]


# ── modes and reasons ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_cheapest_mode_that_is_allowed_counts(folder: Path, ask: Any) -> None:
    policy = add(folder, f'@id("x.y") @why("Writing is free here") permit (principal, {INVOKE}, resource);')
    verdict = ask(policy, Category.WRITE)
    assert (verdict.mode, rule_ids(verdict)) == (PermissionMode.AUTO, ["x.y"])


def test_the_reasons_are_the_permits_and_what_blocked_a_cheaper_mode(folder: Path, ask: Any) -> None:
    verdict = ask(CedarPolicy(folder), Category.NETWORK, CallFacts(host="a.example"), taint=1, label=Label.CONFIDENTIAL)
    assert verdict.mode is PermissionMode.STEP_UP
    assert rule_ids(verdict) == ["network.consent", "taint.confidential-out"]
    assert verdict.because[1].why.startswith("This conversation has read untrusted content")


def test_what_no_rule_permits_is_forbidden_without_a_reason(folder: Path, ask: Any) -> None:
    (folder / "default.cedar").write_text(
        f'@id("x.y") @why("Reading and nothing else") permit (principal, {INVOKE}, resource in Countersign::Category::"read");',
        "utf-8",
    )
    verdict = ask(CedarPolicy(folder), Category.WRITE)
    assert (verdict.mode, verdict.because) == (PermissionMode.FORBIDDEN, ())


def test_the_session_and_the_conversation_both_carry_a_label_and_the_higher_counts(folder: Path, ask: Any) -> None:
    policy = CedarPolicy(folder)
    for labels in ({"label": Label.HIGH}, {"session_label": Label.HIGH}):
        assert ask(policy, Category.NETWORK, **labels).mode is PermissionMode.FORBIDDEN
    subject = PolicySubject(Principal("prn_ada", "Ada", Profile.OPERATOR), Label.HIGH)
    assert policy.may_infer(subject, local=False, label=Label.PUBLIC).mode is PermissionMode.FORBIDDEN
    assert policy.may_infer(subject, local=True, label=Label.PUBLIC).mode is PermissionMode.AUTO


# ── obligations ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_strictest_of_all_obligations_counts(folder: Path, ask: Any) -> None:
    consent = 'action == Countersign::Action::"invoke_with_consent", resource'
    policy = add(
        folder,
        f'@id("x.a") @why("One of two rules") @approval_ttl_s("300") @max_result_bytes("2048") @timeout_s("5") @lease_s("60")'
        f' @presence("passkey-uv") @release("browser=high,local-model=internal") permit (principal, {consent});\n'
        f'@id("x.b") @why("The other of two") @approval_ttl_s("60") @max_result_bytes("4096") @redact("pii") @timeout_s("9")'
        f' @presence("passkey") @release("browser=internal") @retain_days("7") permit (principal, {consent});',
    )
    verdict = ask(policy, Category.WRITE)
    assert verdict.obligations == Obligations(
        presence=Presence.PASSKEY_UV,
        redact=frozenset({RedactionClass.PII}),
        max_result_bytes=2048,
        timeout=5,
        approval_ttl=60,
        lease=60,
        release=Release(((Recipient.BROWSER, Label.INTERNAL), (Recipient.LOCAL_MODEL, Label.INTERNAL))),
        retain_days=7,
    )
    assert verdict.redact == ("secrets", "pii")
    assert verdict.needs == Needs(presence=True, verification=True, lease=60)


def test_a_call_with_two_paths_gets_the_stricter_of_both_obligations(folder: Path, ask: Any) -> None:
    policy = add(
        folder,
        '@id("x.y") @why("Hidden files are answered briefly") @max_result_bytes("256")'
        ' permit (principal, action == Countersign::Action::"invoke", resource in Countersign::Category::"read")'
        ' when { context.facts has path && context.facts.path like ".*" };',
    )
    assert ask(policy, Category.READ, CallFacts(path="a", second_path=".b")).obligations.max_result_bytes == 256


def test_names_that_annotations_had_before_oblige_to_the_same(folder: Path, ask: Any) -> None:
    policy = add(
        folder,
        '@id("x.y") @why("Written for an earlier version") @result_cap("2048") @presence("required") @approvers("1")'
        ' @requester_may_approve("true") permit (principal, action == Countersign::Action::"invoke_with_consent", resource);',
    )
    obligations = ask(policy, Category.WRITE).obligations
    assert obligations == Obligations(presence=Presence.PASSKEY, max_result_bytes=2048)


def test_a_permit_of_a_mode_that_was_not_chosen_obliges_to_nothing(folder: Path, ask: Any) -> None:
    policy = add(
        folder,
        '@id("x.y") @why("A dearer way to read") @max_result_bytes("256") @presence("passkey")'
        ' permit (principal, action == Countersign::Action::"invoke_with_consent", resource);',
    )
    verdict = ask(policy, Category.READ)
    assert (verdict.mode, verdict.obligations) == (PermissionMode.AUTO, NOTHING)


def test_credentials_are_redacted_whatever_the_rules_say(folder: Path, ask: Any) -> None:
    policy = CedarPolicy(folder)
    assert ask(policy, Category.READ).redact == ("secrets",)
    assert ask(policy, Category.READ, profile=Profile.ANONYMOUS).redact == ("secrets", "pii")
    assert ask(policy, Category.ADMIN, profile=Profile.GUEST).redact == ("secrets",)


# ── network hosts of a profile ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("facts", "mode", "because"),
    [
        (None, PermissionMode.AUTO, ["network.auto"]),
        (CallFacts(host="docs.example.com"), PermissionMode.AUTO, ["network.auto"]),
        (CallFacts(host="evil.example.com"), PermissionMode.CONSENT, ["network.consent", "network.unlisted-host"]),
        (CallFacts(host="docs.example.com.evil.example"), PermissionMode.CONSENT, ["network.consent", "network.unlisted-host"]),
        (CallFacts(), PermissionMode.CONSENT, ["network.consent", "network.unlisted-host"]),
    ],
    ids=["publishing", "listed", "unlisted", "looks listed", "does not say"],
)
def test_listed_hosts_are_reached_without_asking(
    folder: Path, ask: Any, facts: CallFacts | None, mode: PermissionMode, because: list[str]
) -> None:
    path = folder / "profiles.toml"
    listed = path.read_text("utf-8").replace("network_auto_hosts = []", 'network_auto_hosts = ["docs.example.com"]', 1)
    path.write_text(listed, "utf-8")
    policy = CedarPolicy(folder)
    verdict = ask(policy, Category.NETWORK, facts)
    assert (verdict.mode, rule_ids(verdict)) == (mode, because)
    assert ask(policy, Category.NETWORK, facts, profile=Profile.GUEST).mode is PermissionMode.CONSENT
    tainted = ask(policy, Category.NETWORK, facts, taint=1, label=Label.CONFIDENTIAL)
    assert tainted.mode is PermissionMode.STEP_UP


# ── errors never permit ─────────────────────────────────────────────────────────────────────────────────────────────────

# Passes every check at load, and fails when it is evaluated: this person is nobody that the gateway describes to Cedar.
GHOST = f"""
@id("x.ghost")
@why("Fails when it is evaluated")
EFFECT (principal, {INVOKE}, resource)
when {{ Countersign::Principal::"ghost".remoteModels }};
"""


def test_a_forbid_that_fails_forbids(folder: Path, ask: Any) -> None:
    """backend.md B.3 pitfall 1: Cedar alone skips it and allows."""
    verdict = ask(add(folder, GHOST.replace("EFFECT", "forbid")), Category.READ)
    assert (verdict.mode, rule_ids(verdict)) == (PermissionMode.FORBIDDEN, ["policy.failed", "x.ghost"])
    assert verdict.because[1].why == "The rule x.ghost in extra.cedar, line 2 could not be evaluated, so nothing is allowed"


@pytest.mark.requirement("002-08", "a rule that fails to evaluate forbids")
def test_a_permit_that_fails_forbids_what_others_permit(folder: Path, ask: Any) -> None:
    assert ask(add(folder, GHOST.replace("EFFECT", "permit")), Category.READ).mode is PermissionMode.FORBIDDEN


def test_a_failing_rule_of_a_cheaper_mode_forbids_the_dearer_ones_too(folder: Path, ask: Any) -> None:
    assert ask(add(folder, GHOST.replace("EFFECT", "forbid")), Category.WRITE).mode is PermissionMode.FORBIDDEN


def test_an_overflow_forbids_even_if_the_check_at_load_had_missed_it(
    folder: Path, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "_MAY_FAIL", frozenset[str]())
    overflowing = f"forbid (principal, {ANY_MODE}, resource) when {{ (context.taint + 2) * 9223372036854775807 > 1 }};"
    policy = add(folder, f'@id("x.y") @why("It overflows") {overflowing}')
    assert ask(policy, Category.READ).mode is PermissionMode.FORBIDDEN


@pytest.mark.parametrize(
    "facts",
    [CallFacts(bytes=2**63), CallFacts(bytes=-(2**63) - 1), CallFacts(path="\ud800"), CallFacts(host="\udfff")],
    ids=["too large", "too small", "path without UTF-8", "host without UTF-8"],
)
def test_facts_that_cedar_cannot_take_forbid(folder: Path, ask: Any, facts: CallFacts) -> None:
    """B.3 pitfall 2: a bad request is `NoDecision`, which is not `Deny`."""
    verdict = ask(CedarPolicy(folder), Category.READ, facts)
    assert (verdict.mode, rule_ids(verdict)) == (PermissionMode.FORBIDDEN, ["policy.unanswered"])


@pytest.mark.parametrize(
    "text", ['a" || true', 'x"}, "y": {"', 'Countersign::Profile::"operator"', "\\", "\n", "\x00", "*", "💥"]
)
def test_text_is_never_language(folder: Path, ask: Any, text: str) -> None:
    """B.3 pitfall 3: ids and facts travel as values."""
    policy = CedarPolicy(folder)
    assert ask(policy, Category.ADMIN, CallFacts(path=text, host=text), profile=Profile.GUEST, person=text).mode is (
        PermissionMode.FORBIDDEN
    )
    assert ask(policy, Category.READ, CallFacts(path=text, host=text), person=text).mode is PermissionMode.AUTO


# ── properties ──────────────────────────────────────────────────────────────────────────────────────────────────────────

SHIPPED_RULES = [part for part in re.split(r"(?<=;)\n\n", (SHIPPED / "default.cedar").read_text("utf-8")) if "@id" in part]

conditions = st.sampled_from(
    [
        "",
        "when { context.taint >= 1 }",
        "when { context.label >= 2 }",
        "unless { context.publishing }",
        'when { context.facts has path && context.facts.path like "*.env" }',
        'unless { context.facts has host && context.facts.host == "a.example" }',
        "when { context.facts has bytes && context.facts.bytes > 1000 }",
        'when { principal in Countersign::Profile::"guest" }',
        'when { resource.name == "delete_file" }',
    ]
)
people = st.sampled_from(
    ["principal", 'principal in Countersign::Profile::"enrolled"', 'principal == Countersign::Principal::"prn_ada"']
)
actions = st.sampled_from(
    [
        INVOKE,
        ANY_MODE,
        'action == Countersign::Action::"invoke_with_consent"',
        'action == Countersign::Action::"invoke_with_step_up"',
    ]
)
resources = st.sampled_from(["resource", *(f'resource in Countersign::Category::"{category}"' for category in Category)])
bodies = st.tuples(people, actions, resources, conditions)
facts_of_calls = st.none() | st.builds(
    CallFacts,
    path=st.sampled_from([None, "a.txt", "deep/.env"]),
    host=st.sampled_from([None, "a.example", "b.example"]),
    bytes=st.sampled_from([None, 0, 5000]),
    recursive=st.sampled_from([None, True, False]),
)
questions = st.tuples(
    st.sampled_from(["prn_ada", "prn_bob"]),
    st.sampled_from(Profile),
    st.integers(0, 3),
    st.sampled_from(["read_file", "delete_file", "system_status"]),
    st.sampled_from(Category),
    facts_of_calls,
    st.integers(0, 1),
    st.integers(0, 3),
)


def enact(parts: list[str]) -> CedarPolicy:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for document in ("schema.cedarschema", "profiles.toml"):
            (folder / document).write_bytes((SHIPPED / document).read_bytes())
        (folder / "all.cedar").write_text("\n".join(parts), "utf-8")
        return CedarPolicy(folder)


def put(policy: CedarPolicy, question: Any) -> PolicyVerdict:
    person, profile, session_label, tool, category, facts, taint, label = question
    spec = ToolSpec(tool, "", "workspace", tool, {}, category, "builtin")
    return policy.judge(PolicySubject(Principal(person, person, profile), session_label), spec, facts, taint=taint, label=label)


def write(effect: str, number: int, body: tuple[str, str, str, str]) -> str:
    person, action, resource, condition = body
    return f'@id("x.n{number}") @why("Made up for a test") {effect} ({person}, {action}, {resource}) {condition};'


some_permits = st.lists(bodies, max_size=3).map(lambda found: [write("permit", n, body) for n, body in enumerate(found)])
SHIPPED_POLICY = CedarPolicy(SHIPPED)


@settings(max_examples=40)
@given(st.permutations(SHIPPED_RULES), st.lists(questions, min_size=1, max_size=20))
def test_the_order_of_rules_changes_no_verdict(shuffled: list[str], asked: list[Any]) -> None:
    policy = enact(shuffled)
    assert [put(policy, question) for question in asked] == [put(SHIPPED_POLICY, question) for question in asked]


@settings(max_examples=60)
@given(some_permits, bodies, st.lists(questions, min_size=1, max_size=20))
def test_adding_a_forbid_never_loosens(permits: list[str], forbid: tuple[str, str, str, str], asked: list[Any]) -> None:
    before = enact([*SHIPPED_RULES, *permits])
    after = enact([*SHIPPED_RULES, *permits, write("forbid", 99, forbid)])
    for question in asked:
        assert put(after, question).mode.strictness >= put(before, question).mode.strictness


@settings(max_examples=40)
@given(some_permits, st.lists(questions, min_size=1, max_size=20))
def test_no_added_permit_gets_past_a_guard_rail(permits: list[str], asked: list[Any]) -> None:
    policy = enact([*SHIPPED_RULES, *permits])
    for question in asked:
        _, profile, session_label, _, category, _, taint, label = question
        label = max(label, session_label)
        mode = put(policy, question).mode
        if category is Category.ADMIN and profile is not Profile.OPERATOR:
            assert mode is PermissionMode.FORBIDDEN
        if category is not Category.READ and profile is Profile.ANONYMOUS:
            assert mode is PermissionMode.FORBIDDEN
        if category is Category.NETWORK and label >= Label.HIGH:
            assert mode is PermissionMode.FORBIDDEN
        if category in {Category.NETWORK, Category.EXECUTE} and taint and label >= Label.CONFIDENTIAL:
            assert mode.strictness >= PermissionMode.STEP_UP.strictness


@settings(max_examples=40)
@given(some_permits, st.lists(questions, min_size=2, max_size=30))
def test_a_remembered_verdict_is_the_one_that_a_fresh_engine_gives(permits: list[str], asked: list[Any]) -> None:
    parts = [*SHIPPED_RULES, *permits]
    used = enact(parts)
    first = [put(used, question) for question in asked]
    again = [put(used, question) for question in asked]
    fresh = [put(enact(parts), question) for question in asked[-2:]]
    assert first == again
    assert first[-2:] == fresh


# ── what is remembered ──────────────────────────────────────────────────────────────────────────────────────────────────


def remembered(policy: CedarPolicy) -> int:
    return policy._in_force._remember_tool.cache_info().currsize  # pyright: ignore[reportPrivateUsage] (nothing else shows it)


def test_every_fact_and_circumstance_is_part_of_the_question(folder: Path, ask: Any) -> None:
    policy = CedarPolicy(folder)
    already = remembered(policy)
    variants: list[dict[str, Any]] = [
        {},
        {"category": Category.WRITE},
        {"facts": CallFacts()},
        {"facts": CallFacts(path="a")},
        {"facts": CallFacts(host="a")},
        {"facts": CallFacts(bytes=1)},
        {"facts": CallFacts(recursive=True)},
        {"profile": Profile.GUEST},
        {"tool": "read_audit"},
        {"taint": 1},
        {"label": 1},
    ]
    for variant in variants * 2:
        ask(policy, **variant)
    assert remembered(policy) - already == len(variants)


def test_people_that_no_rule_names_share_verdicts_and_named_ones_do_not(folder: Path, ask: Any) -> None:
    policy = add(
        folder,
        f'@id("ada.reads-nothing") @why("Ada asked for this") forbid (principal == Countersign::Principal::"prn_ada", '
        f"{ANY_MODE}, resource);",
    )
    assert ask(policy, person="prn_bob").mode is PermissionMode.AUTO
    before = remembered(policy)
    assert ask(policy, person="prn_cleo").mode is PermissionMode.AUTO
    assert remembered(policy) == before
    assert ask(policy, person="prn_ada").mode is PermissionMode.FORBIDDEN


def test_long_facts_are_judged_and_not_kept(folder: Path, ask: Any) -> None:
    policy = CedarPolicy(folder)
    before = remembered(policy)
    assert ask(policy, Category.WRITE, CallFacts(path="a/" * 50_000)).mode is PermissionMode.CONSENT
    assert remembered(policy) == before


def test_a_reload_forgets(folder: Path, ask: Any) -> None:
    policy = CedarPolicy(folder)
    assert ask(policy, Category.READ).mode is PermissionMode.AUTO
    (folder / "extra.cedar").write_text(f'@id("x.y") @why("Not any more") forbid (principal, {INVOKE}, resource);', "utf-8")
    assert ask(policy, Category.READ).mode is PermissionMode.AUTO
    policy.reload()
    assert ask(policy, Category.READ).mode is PermissionMode.FORBIDDEN
