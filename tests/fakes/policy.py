"""A policy that does what a test writes down, mode by tool name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.core.approval import RuleReason
from gateway.core.model import CallFacts, ToolSpec
from gateway.core.moment import MomentFact
from gateway.core.obligations import NOTHING
from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.runtime.ports import PolicySubject, PolicyVerdict, ProfileLimits

BY_CATEGORY = {
    Category.READ: PermissionMode.AUTO,
    Category.WRITE: PermissionMode.CONSENT,
    Category.DESTRUCTIVE: PermissionMode.STEP_UP,
    Category.NETWORK: PermissionMode.CONSENT,
    Category.EXECUTE: PermissionMode.CONSENT,
    Category.ADMIN: PermissionMode.FORBIDDEN,
}


class TablePolicy:
    """The PolicyEngine port over a table. `modes` overrides single tools; change `version` to publish another policy."""

    def __init__(self, modes: Mapping[str, PermissionMode] | None = None) -> None:
        self.modes = dict(modes or {})
        self.version = "policy-1"
        self.next_version: str | None = None
        self.obligations = NOTHING
        self.reads: frozenset[MomentFact] = frozenset()
        self.allowance = ProfileLimits(40, 1_000, 5_000, 20, True, (), 28_800.0, 256_000_000, 2_000_000)

    @property
    def documents(self) -> Mapping[str, str]:
        """One text, which says which version it is."""
        return {"table.cedar": self.version}

    def judge(self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int) -> PolicyVerdict:
        """The table's mode."""
        mode = self.modes.get(spec.name, BY_CATEGORY[spec.category])
        return PolicyVerdict(mode, (RuleReason(f"table.{spec.category}", "the test says so"),), self.obligations)

    def may_infer(self, subject: PolicySubject, *, local: bool, label: int) -> PolicyVerdict:
        """Local models only."""
        return PolicyVerdict(PermissionMode.AUTO if local else PermissionMode.FORBIDDEN, ())

    def limits(self, profile: Profile) -> ProfileLimits:
        """The same for everybody."""
        return self.allowance

    def rules(self) -> Sequence[RuleReason]:
        """One a category."""
        return [RuleReason(f"table.{category}", "the test says so") for category in sorted(BY_CATEGORY)]

    def reload(self) -> None:
        """Take the version that was laid out."""
        self.version = self.next_version or self.version
