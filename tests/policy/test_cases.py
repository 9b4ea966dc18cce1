"""The decision table, the command that runs it, and the guide's own examples."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.adapters.policy.cases import PolicyCase, read_cases, run_cases
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.cli.policy import policy
from gateway.core.errors import PolicyUnusable

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "policy"

# Take part only where a profile lists hosts, which none does as shipped; tests/adapters/policy/test_cedar.py lists some.
WITHOUT_CASE = {"network.auto", "network.unlisted-host"}


@pytest.fixture(scope="module")
def engine() -> CedarPolicy:
    return CedarPolicy(SHIPPED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(SHIPPED, tmp_path / "policy")


def run(folder: Path) -> Result:
    return CliRunner().invoke(policy, ["test", "--policy", str(folder)])


@pytest.mark.requirement("002-20", "reading runs by itself, writing asks, destroying takes a step-up")
@pytest.mark.requirement("002-65", "operators may use local and remote models, guests local ones, strangers none")
@pytest.mark.requirement("002-68", "each profile and kind of tool has the mode of the shipped table")
@pytest.mark.requirement("002-70", "remote models are refused under a high label")
@pytest.mark.parametrize("case", read_cases(SHIPPED), ids=lambda case: f"{case.question}: {case.about}")
def test_every_row_of_the_decision_table_holds(engine: CedarPolicy, case: PolicyCase) -> None:
    (result,) = run_cases(engine, [case])
    assert result.verdict.mode is case.expect
    assert case.because is None or sorted(case.because) == sorted(result.rule_ids)


def test_every_rule_takes_part_in_some_row(engine: CedarPolicy) -> None:
    involved = {rule_id for result in run_cases(engine, read_cases(SHIPPED)) for rule_id in result.rule_ids}
    assert engine.rule_ids - involved == WITHOUT_CASE


def test_every_reason_is_a_sentence_for_people(engine: CedarPolicy) -> None:
    for result in run_cases(engine, read_cases(SHIPPED)):
        for reason in result.verdict.because:
            assert re.fullmatch(r"[A-Z].* .*[^.]", reason.why)


def test_the_command_prints_a_row_for_every_case_and_succeeds(folder: Path) -> None:
    result = run(folder)
    assert result.exit_code == 0
    cases = read_cases(folder)
    assert sum(line.startswith("ok ") for line in result.output.splitlines()) == len(cases)
    assert f"{len(cases)} of {len(cases)} cases hold" in result.output


def test_without_a_folder_the_command_takes_the_policy_of_the_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_POLICY", str(folder))
    (folder / "cases" / "more.toml").write_text(
        '[[case]]\nabout = "ours"\nprofile = "guest"\ntool = { name = "our_tool", category = "read" }\nexpect = "auto"\n', "utf-8"
    )
    result = CliRunner().invoke(policy, ["test"])
    assert result.exit_code == 0
    assert "our_tool" in result.output


def test_a_case_that_does_not_hold_fails_the_command_and_says_what_was_expected(folder: Path) -> None:
    (folder / "cases" / "wish.toml").write_text(
        '[[case]]\nabout = "guests may delete"\nprofile = "guest"\ntool = { category = "destructive" }\nexpect = "auto"\n',
        "utf-8",
    )
    result = run(folder)
    assert result.exit_code == 1
    assert "FAIL  guest tool (destructive)" in result.output
    assert "expected auto by any rules: guests may delete" in result.output


def test_the_right_mode_for_another_reason_fails_too(folder: Path) -> None:
    (folder / "cases" / "wish.toml").write_text(
        '[[case]]\nabout = "why"\nprofile = "guest"\ntool = { category = "read" }\nexpect = "auto"\nbecause = ["other.rule"]\n',
        "utf-8",
    )
    assert run(folder).exit_code == 1


def test_a_table_without_rows_proves_nothing(folder: Path) -> None:
    shutil.rmtree(folder / "cases")
    result = run(folder)
    assert result.exit_code == 1
    assert "0 of 0 cases hold" in result.output


def test_a_rule_that_no_case_involves_is_mentioned(folder: Path) -> None:
    (folder / "extra.cedar").write_text(
        '@id("x.untried") @why("Nobody tried this") forbid (principal, action, resource)'
        ' when { resource == Countersign::Tool::"nowhere" };',
        "utf-8",
    )
    result = run(folder)
    assert result.exit_code == 0
    assert "x.untried" in result.output


def test_documents_that_do_not_load_are_an_error_of_their_own(folder: Path) -> None:
    (folder / "default.cedar").write_text("permit (", "utf-8")
    assert isinstance(run(folder).exception, PolicyUnusable)


@pytest.mark.parametrize(
    "text",
    [
        "[[case]",
        '[[case]]\nabout = "x"\n',
        '[[case]]\nabout = "x"\nprofile = "guest"\nexpect = "auto"\n',
        '[[case]]\nabout = "x"\nprofile = "guest"\nexpect = "maybe"\ninfer = "local"\n',
        '[[case]]\nabout = "x"\nprofile = "guest"\nexpect = "auto"\ninfer = "local"\ntaint = 1\n',
        '[[case]]\nabout = "x"\nprofile = "guest"\nexpect = "auto"\ninfer = "local"\ntool = { category = "read" }\n',
        '[[case]]\nabout = "x"\nprofile = "guest"\nexpect = "auto"\ninfer = "local"\nlabel = "secret"\n',
        '[[cases]]\nabout = "x"\n',
    ],
)
def test_a_case_that_could_be_misread_is_refused(folder: Path, text: str) -> None:
    (folder / "cases" / "wrong.toml").write_text(text, "utf-8")
    with pytest.raises(PolicyUnusable, match=re.escape("`cases/wrong.toml`")):
        read_cases(folder)


@pytest.mark.requirement("002-68", "the policies of the guide decide as it says")
def test_the_examples_of_the_guide_load_and_do_what_it_says(folder: Path) -> None:
    guide = (ROOT / "docs" / "POLICY.md").read_text("utf-8")
    (rule, _), (case, quotas) = (re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL) for language in ("cedar", "toml"))
    (folder / "hidden.cedar").write_text(rule, "utf-8")
    (folder / "cases" / "hidden.toml").write_text(case, "utf-8")
    profiles = folder / "profiles.toml"
    profiles.write_text(profiles.read_text("utf-8").replace("[guest]\n", f"[guest]\n{quotas}", 1), "utf-8")
    assert quotas in profiles.read_text("utf-8")
    assert run(folder).exit_code == 0


@pytest.mark.requirement("002-68", "the rule of the guide that takes two approvers takes part where it says, and nowhere else")
def test_the_rule_of_two_approvers_joins_every_decision_about_a_deletion(folder: Path) -> None:
    guide = (ROOT / "docs" / "POLICY.md").read_text("utf-8")
    _, rule = re.findall(r"```cedar\n(.*?)```", guide, re.DOTALL)
    (folder / "delete.cedar").write_text(rule, "utf-8")
    changed = [line for line in run(folder).output.splitlines() if line.startswith("FAIL")]
    # The default map's own cases name their rules, so exactly those that the new rule joins say so.
    assert changed
    assert all("operator" in line and "destructive" in line for line in changed)
    assert all("stepUp" in line and "delete.two, destructive.step-up" in line for line in changed)
