"""What is published is judged once as long as nothing changes, and anew as soon as anything does that a verdict depends on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.core.labels import Exposure
from gateway.core.model import Principal, PublishedTools, ToolSpec
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Reason
from gateway.runtime.ports import PolicySubject
from gateway.runtime.publications import MOST_KEPT, MOST_REMEMBERED, Publications
from tests.fakes.toolbox import CountingToolbox

SHIPPED = Path(__file__).parents[2] / "policy"
ADA = Principal("prn_ada", "Ada", Profile.OPERATOR)


def spec(name: str, category: Category, network: bool = False) -> ToolSpec:
    return ToolSpec(name, "Does something.", "mcp", name, {"type": "object"}, category, "mcp:files", network=network)


TOOLS = (
    spec("look", Category.READ),
    spec("keep", Category.WRITE),
    spec("send", Category.NETWORK, network=True),
    spec("run", Category.EXECUTE),
)


class Offering(CountingToolbox):
    """A Toolbox whose list is the same object until it is replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.offered: tuple[ToolSpec, ...] = TOOLS

    def specs(self) -> Sequence[ToolSpec]:
        return self.offered

    def change(self, name: str, change: Callable[[ToolSpec], ToolSpec]) -> None:
        self.offered = tuple(change(each) if each.name == name else each for each in self.offered)


@dataclass
class Site:
    folder: Path
    policy: CedarPolicy
    toolbox: Offering
    publications: Publications

    def publish(
        self, *, who: Principal = ADA, session_label: int = 0, taint: int = 0, label: int = Label.PUBLIC
    ) -> PublishedTools:
        return self.publications.publish(PolicySubject(who, session_label), Exposure(taint, label))

    def modes(self, session_label: int = 0, taint: int = 0, label: int = Label.PUBLIC) -> dict[str, PermissionMode]:
        return modes_of(self.publish(session_label=session_label, taint=taint, label=label))

    def add_rule(self, rule: str) -> None:
        (self.folder / "more.cedar").write_text(f'@id("x.more") @why("Made up for a test") {rule}')
        self.policy.reload()


def modes_of(published: PublishedTools) -> dict[str, PermissionMode]:
    return {tool.spec.name: tool.permission for tool in published}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    folder = tmp_path / "policy"
    shutil.copytree(SHIPPED, folder)
    policy, toolbox = CedarPolicy(folder), Offering()
    return Site(folder, policy, toolbox, Publications(policy=policy, toolbox=toolbox))


def test_what_has_not_changed_is_the_same_publication(site: Site) -> None:
    assert site.publish() is site.publish()


def test_people_for_whom_everything_is_the_same_share_a_publication(site: Site) -> None:
    grace = Principal("prn_grace", "Grace", Profile.OPERATOR)
    assert site.publish(who=grace) is site.publish()
    guest = Principal("prn_gus", "Gus", Profile.GUEST)
    assert site.publish(who=guest) is site.publish()


@pytest.mark.parametrize("where", ["session_label", "label"])
def test_a_label_that_rises_in_session_or_conversation_is_judged_at_once(site: Site, where: str) -> None:
    assert site.modes()["send"] is PermissionMode.CONSENT
    assert site.modes(**{where: Label.HIGH})["send"] is PermissionMode.FORBIDDEN
    assert site.modes(**{where: Label.HIGH})["run"] is PermissionMode.STEP_UP
    assert site.modes()["send"] is PermissionMode.CONSENT


def test_taint_is_judged_at_once(site: Site) -> None:
    assert site.modes(label=Label.CONFIDENTIAL)["send"] is PermissionMode.CONSENT
    assert site.modes(label=Label.CONFIDENTIAL, taint=1)["send"] is PermissionMode.STEP_UP


def test_a_policy_that_is_put_in_force_is_judged_at_once(site: Site) -> None:
    assert site.modes()["look"] is PermissionMode.AUTO
    site.add_rule('forbid (principal, action in Countersign::Action::"anyMode", resource) when { resource.name == "look" };')
    assert site.modes()["look"] is PermissionMode.FORBIDDEN
    (site.folder / "more.cedar").unlink()
    site.policy.reload()
    assert site.modes()["look"] is PermissionMode.AUTO


def test_a_rule_about_one_person_holds_for_that_person_only(site: Site) -> None:
    site.add_rule('forbid (principal == Countersign::Principal::"prn_ada", action in Countersign::Action::"anyMode", resource);')
    grace = Principal("prn_grace", "Grace", Profile.OPERATOR)
    assert modes_of(site.publish(who=grace))["look"] is PermissionMode.AUTO
    assert site.modes()["look"] is PermissionMode.FORBIDDEN


def test_a_profile_that_changes_is_judged_at_once(site: Site) -> None:
    assert site.modes()["keep"] is PermissionMode.CONSENT
    visitor = replace(ADA, profile=Profile.ANONYMOUS)
    assert "keep" not in modes_of(site.publish(who=visitor))


def test_what_a_profile_does_not_have_any_more_is_gone_with_the_reload(site: Site) -> None:
    assert "look" in site.modes()
    profiles = site.folder / "profiles.toml"
    profiles.write_text(profiles.read_text().replace("suppressed_tools = []", 'suppressed_tools = ["look", "respond"]', 1))
    site.policy.reload()
    assert site.modes().keys() == {"keep", "send", "run"}


def test_a_category_that_a_person_changes_is_judged_at_once(site: Site) -> None:
    assert site.modes()["look"] is PermissionMode.AUTO
    site.toolbox.change("look", lambda each: replace(each, category=Category.DESTRUCTIVE))
    assert site.modes()["look"] is PermissionMode.STEP_UP


@pytest.mark.parametrize("because", [Reason.FORBIDDEN, Reason.SOURCE_UNAVAILABLE], ids=["quarantined", "away"])
def test_a_tool_in_quarantine_or_of_a_source_that_is_away_is_forbidden_at_once_and_comes_back(
    site: Site, because: Reason
) -> None:
    before = site.publish()
    site.toolbox.change("look", lambda each: replace(each, unavailable="it is not to be had", unavailable_because=because))
    assert site.modes()["look"] is PermissionMode.FORBIDDEN
    site.toolbox.change("look", lambda each: replace(each, unavailable=None))
    assert site.publish().written == before.written


def test_another_definition_is_published_at_once(site: Site) -> None:
    before = site.publish()
    site.toolbox.change("look", lambda each: replace(each, description="Does something else."))
    after = site.publish()
    assert after.by_name["look"].spec.digest != before.by_name["look"].spec.digest
    assert b"something else" in after.written


def test_a_tool_that_comes_or_goes_is_published_at_once(site: Site) -> None:
    site.publish()
    site.toolbox.offered = (*TOOLS, spec("added", Category.READ))
    assert "added" in site.modes()
    site.toolbox.offered = TOOLS[1:]
    assert site.modes().keys() == {"keep", "send", "run", "respond"}


def test_what_is_kept_is_bounded_however_many_people_and_labels_there_are(site: Site) -> None:
    people = [Principal(f"prn_{number}", "Somebody", Profile.OPERATOR) for number in range(MOST_REMEMBERED + 10)]
    named = ", ".join(f'Countersign::Principal::"prn_{number}"' for number in range(4))
    site.add_rule(
        'forbid (principal, action == Countersign::Action::"invoke", resource == Countersign::Tool::"look") '
        f"when {{ principal in [{named}] }};"
    )
    kinds = {site.publish(who=who, label=label, taint=taint).written for who in people for label in Label for taint in (0, 1)}
    assert len(kinds) > 1
    held = vars(site.publications)
    assert len(held["_known"]) <= MOST_REMEMBERED
    assert len(held["_kept"]) <= MOST_KEPT
    assert modes_of(site.publish(who=people[0]))["look"] is PermissionMode.FORBIDDEN
    assert modes_of(site.publish(who=people[-1]))["look"] is PermissionMode.AUTO
