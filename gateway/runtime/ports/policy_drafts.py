"""Policies that are not in force: drafts that somebody writes, what is wrong with them, and how they differ from another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from gateway.core.approval import RuleReason
from gateway.core.canonical import Json
from gateway.core.model import CallFacts, ToolSpec
from gateway.core.moment import MomentFact
from gateway.core.policy_switches import PolicySwitch, SwitchState
from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.runtime.ports.policy import PolicySubject, PolicyVerdict


class FaultSeverity(StrEnum):
    """Whether a policy with the fault can come into force."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class PolicyFault:
    """Something about a document of a policy, and where it stands: line and column begin at 1, columns count characters."""

    severity: FaultSeverity
    file: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class CaseFailure:
    """A row of the decision table that a policy does not give. `rules` are the ids that took part."""

    about: str
    question: str
    expected: PermissionMode
    given: PermissionMode
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseReport:
    """A whole decision table put to a policy."""

    total: int
    failures: tuple[CaseFailure, ...]

    @property
    def holds(self) -> bool:
        """Whether there is a table, and every row of it is given."""
        return self.total > 0 and not self.failures


@dataclass(frozen=True, slots=True)
class PolicyDifference:
    """A kind of call that two policies decide differently: how (`newlyAllowed` and the other words of a rehearsal), for whom, how
    many kinds, and one of them in words."""

    change: str
    loosens: bool
    profile: Profile
    category: Category
    count: int
    before: PermissionMode
    after: PermissionMode
    rules: tuple[str, ...]
    example: str


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """How a draft differs from another policy. `loosened` names in words what it asks less for, beside the differences."""

    compared: int
    complete: bool
    differences: tuple[PolicyDifference, ...]
    loosened: tuple[str, ...]

    @property
    def loosens(self) -> bool:
        """Whether it asks for less anywhere. A comparison that had to stop cannot say no."""
        return not self.complete or bool(self.loosened) or any(each.loosens for each in self.differences)


@dataclass(frozen=True, slots=True)
class SwitchView:
    """A switch as a policy has it. `arguments` are the folders or hosts of one that is on, `text` what stands in `file` now."""

    switch: PolicySwitch
    state: SwitchState
    file: str
    arguments: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class AmendedCase:
    """A row of a decision table that expected what a switch changes on purpose."""

    file: str
    about: str
    question: str
    before: PermissionMode
    after: PermissionMode


@dataclass(frozen=True, slots=True)
class TurnedSwitch:
    """The texts of a policy with a switch turned, its decision table with the rows that expect something else for it."""

    documents: Mapping[str, str]
    cases: Mapping[str, str]
    amended: tuple[AmendedCase, ...]


@dataclass(frozen=True, slots=True)
class RuleSource:
    """Where a rule stands, from line 1, its text with its annotations, and what it obliges to, by annotation."""

    file: str
    line: int
    text: str
    obliges: Mapping[str, str]


class RuleReading(Protocol):
    """The texts of one policy, read rule by rule."""

    def find_rule(self, rule_id: str) -> RuleSource | None:
        """The rule of that id."""
        ...

    def compared_values(self) -> Mapping[str, Sequence[Json]]:
        """What rules compare facts and moments with, by the name that the attribute has in rules."""
        ...


class PolicyDraft(Protocol):
    """A policy that loads. Immutable; judging it has no effect."""

    @property
    def version(self) -> str:
        """Hex digest of its documents."""
        ...

    @property
    def documents(self) -> Mapping[str, str]:
        """Its texts by file name, of which the version is the digest."""
        ...

    @property
    def reads(self) -> frozenset[MomentFact]:
        """What it asks about the moment of a call."""
        ...

    def rules(self) -> Sequence[RuleReason]:
        """Every rule with its author's sentence."""
        ...

    def judge(
        self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int
    ) -> PolicyVerdict: ...


class PolicyWorkshop(Protocol):
    """Where drafts are made, tried and put in force. Everything but `enact` may take seconds and belongs into a thread."""

    @property
    def active(self) -> PolicyDraft:
        """What is in force."""
        ...

    def cases(self) -> Mapping[str, str]:
        """The decision table's texts by file name, `cases/NAME.toml`. Raises PolicyUnusable when they cannot be read."""
        ...

    def examine(
        self, documents: Mapping[str, str], cases: Mapping[str, str], tools: Iterable[str]
    ) -> tuple[PolicyDraft | None, Sequence[PolicyFault]]:
        """The draft that the texts are, with what is to be said about them; None where one fault is an error. `tools` are the
        names that exist."""
        ...

    def load(self, documents: Mapping[str, str], *, was_in_force: bool = False) -> PolicyDraft:
        """The draft alone. Texts that were in force may have more rules than others: they may be older than the limit.

        Raises PolicyUnusable.
        """
        ...

    def switches(self) -> Sequence[SwitchView]:
        """Every switch as the policy in force has it."""
        ...

    def turn_switch(self, switch: PolicySwitch, arguments: Sequence[str], *, on: bool) -> TurnedSwitch:
        """What the texts in force become by a switch. Raises Refused `switchArgument`, `changedByHand`."""
        ...

    def read(self, draft: PolicyDraft) -> RuleReading:
        """Its rules one by one."""
        ...

    def run_cases(self, draft: PolicyDraft, cases: Mapping[str, str]) -> CaseReport: ...
    def compare(self, before: PolicyDraft, after: PolicyDraft) -> PolicyComparison: ...
    def enact(self, draft: PolicyDraft, cases: Mapping[str, str]) -> None:
        """Put it in force with its decision table: from the return on every verdict is its own."""
        ...
