"""What the overview says of the shipped policy, and of one that was changed: verdicts of the engine, never readings of text."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.core.model import Principal, ToolSpec
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile
from gateway.runtime.policy_overview import Circumstance, Kind, OverviewCell, survey

EVERYBODY = [Principal("", "", profile) for profile in Profile]
TRUSTED_HOST = 'network_auto_hosts = ["docs.example.com"]'


def tool(name: str, category: Category, *, network: bool = False) -> ToolSpec:
    return ToolSpec(name, "", "workspace", name, {}, category, "", network=network)


def cells(policy: CedarPolicy, *tools: ToolSpec) -> dict[tuple[Profile, Kind], OverviewCell]:
    rows = survey(policy, EVERYBODY, tools)
    return {(row.profile, cell.kind): cell for row in rows for cell in row.cells}


def test_each_kind_of_action_has_its_mode_and_its_sentence_for_every_profile() -> None:
    found = cells(CedarPolicy(Path("policy")))
    modes = {
        profile: {kind.category: cell.verdict.mode for (of, kind), cell in found.items() if of is profile} for profile in Profile
    }
    auto, consent, step_up, forbidden = PermissionMode
    assert list(modes[Profile.OPERATOR].values()) == [auto, consent, step_up, consent, consent, step_up]
    assert list(modes[Profile.GUEST].values()) == [auto, consent, step_up, consent, consent, forbidden]
    assert list(modes[Profile.ANONYMOUS].values()) == [auto, *[forbidden] * 5]
    write = found[Profile.GUEST, Kind(Category.WRITE)]
    assert [(rule.id, rule.why) for rule in write.verdict.because] == [
        ("write.consent", "This changes files, so it needs your yes")
    ]


def test_what_would_change_a_verdict_is_judged_too() -> None:
    network = cells(CedarPolicy(Path("policy")))[Profile.OPERATOR, Kind(Category.NETWORK)]
    high, copied = network.changes
    assert (copied.circumstance, copied.value, copied.verdict.mode) == (Circumstance.ARGUMENTS, 1, PermissionMode.STEP_UP)
    assert (high.circumstance, high.value, high.verdict.mode) == (Circumstance.LABEL, Label.HIGH, PermissionMode.FORBIDDEN)
    assert "high.no-network" in {rule.id for rule in high.verdict.because}


def test_a_host_that_a_profile_names_is_a_kind_of_its_own_in_every_row(folder: Path) -> None:
    profiles = folder / "profiles.toml"
    profiles.write_text(profiles.read_text().replace("network_auto_hosts = []", TRUSTED_HOST, 1))
    found = cells(CedarPolicy(folder))
    host = Kind(Category.NETWORK, "docs.example.com")
    assert found[Profile.OPERATOR, host].verdict.mode is PermissionMode.AUTO
    assert found[Profile.OPERATOR, Kind(Category.NETWORK)].verdict.mode is PermissionMode.CONSENT
    assert found[Profile.GUEST, host].verdict.mode is PermissionMode.CONSENT


@pytest.mark.parametrize(("profile", "expected"), [(Profile.OPERATOR, ["crawl", "secrets"]), (Profile.GUEST, [])])
def test_a_tool_that_is_treated_otherwise_is_named_where_its_person_may_know_of_it(
    folder: Path, profile: Profile, expected: list[str]
) -> None:
    rules = folder / "default.cedar"
    rules.write_text(
        rules.read_text()
        + '@id("no.secrets") @why("Nobody reads these") forbid (principal, action in Countersign::Action::"anyMode", resource)'
        + ' when { resource.name == "secrets" };'
    )
    tools = [tool(name, Category.READ, network=name == "crawl") for name in ("look", "secrets", "system_status", "crawl")]
    cell = cells(CedarPolicy(folder), *tools)[profile, Kind(Category.READ)]
    # Operators see what is forbidden; a guest is not told what there is to forbid.
    assert [each.tool for each in cell.exceptions] == expected
    assert cell.exception_count == len(expected)
