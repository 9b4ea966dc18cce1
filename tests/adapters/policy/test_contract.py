"""The PolicyEngine port, over the fake of the runtime's tests and the real engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile
from gateway.runtime.ports import PolicyEngine, PolicySubject
from tests.fakes.policy import TablePolicy


@pytest.fixture(params=["fake", "cedar"])
def engine(request: pytest.FixtureRequest, folder: Path) -> PolicyEngine:
    return TablePolicy() if request.param == "fake" else CedarPolicy(folder)


def spec(category: Category) -> ToolSpec:
    return ToolSpec(f"{category}_tool", "", "workspace", "m", {}, category, "builtin")


def subject(profile: Profile = Profile.OPERATOR) -> PolicySubject:
    return PolicySubject(Principal("prn_ada", "Ada", profile), Label.PUBLIC)


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("facts", [None, CallFacts(), CallFacts(path="notes/a.txt")], ids=["publishing", "silent", "path"])
def test_a_question_gets_one_answer_however_often_it_is_put(
    engine: PolicyEngine, category: Category, facts: CallFacts | None
) -> None:
    verdicts = [engine.judge(subject(), spec(category), facts, taint=0, label=0) for _ in range(3)]
    assert verdicts[0] == verdicts[1] == verdicts[2]


@pytest.mark.parametrize("category", Category)
def test_what_is_not_forbidden_says_why(engine: PolicyEngine, category: Category) -> None:
    verdict = engine.judge(subject(), spec(category), None, taint=0, label=0)
    if verdict.mode is not PermissionMode.FORBIDDEN:
        assert verdict.because
    assert all(reason.id and reason.why for reason in verdict.because)
    assert "secrets" in verdict.redact


@pytest.mark.requirement(
    "002-52", "the category of a tool gives its mode: read auto, write and network consent, destructive stepUp"
)
@pytest.mark.requirement("002-40", "the default policy uses auto, consent and stepUp")
def test_the_default_map_is_the_contracts(engine: PolicyEngine) -> None:
    modes = {category: engine.judge(subject(), spec(category), None, taint=0, label=0).mode for category in Category}
    del modes[Category.ADMIN]
    assert modes == {
        Category.READ: PermissionMode.AUTO,
        Category.WRITE: PermissionMode.CONSENT,
        Category.DESTRUCTIVE: PermissionMode.STEP_UP,
        Category.NETWORK: PermissionMode.CONSENT,
        Category.EXECUTE: PermissionMode.CONSENT,
    }


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("local", [True, False])
def test_inference_is_allowed_or_not_and_never_asked_about(engine: PolicyEngine, profile: Profile, local: bool) -> None:
    assert engine.may_infer(subject(profile), local=local, label=0).mode in {PermissionMode.AUTO, PermissionMode.FORBIDDEN}


@pytest.mark.requirement("002-55", "every profile limits calls, questions and the seconds of a session")
@pytest.mark.parametrize("profile", Profile)
def test_every_profile_has_limits(engine: PolicyEngine, profile: Profile) -> None:
    limits = engine.limits(profile)
    assert min(limits.calls_per_turn, limits.calls_per_session, limits.calls_per_principal_per_day) > 0
    assert min(limits.pending_approvals, limits.session_seconds) > 0


def test_reloading_what_has_not_changed_keeps_the_version(engine: PolicyEngine) -> None:
    before = engine.version
    engine.reload()
    assert engine.version == before
