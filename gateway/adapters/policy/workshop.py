"""The PolicyWorkshop over Cedar: drafts are loaded, tried and compared beside the policy in force, and put in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from gateway.adapters.policy.case_amending import amend_cases
from gateway.adapters.policy.cases import parse_cases, read_case_texts, run_cases
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import SCHEMA, from_texts
from gateway.adapters.policy.explaining import CedarReading
from gateway.adapters.policy.faults import find_faults
from gateway.adapters.policy.switches import read_switches, turn_switch
from gateway.core.errors import PolicyUnusable
from gateway.core.policy_switches import PolicySwitch
from gateway.runtime.ports import (
    CaseFailure,
    CaseReport,
    FaultSeverity,
    PolicyComparison,
    PolicyDraft,
    PolicyFault,
    RuleReading,
    SwitchView,
    TurnedSwitch,
)


class CedarWorkshop:
    """Drafts beside one policy in force, with the decision table that it came with."""

    def __init__(self, policy: CedarPolicy, cases: Mapping[str, str] | Path) -> None:
        """`cases` are the table's texts, or the policy's folder, where they may change."""
        self._policy = policy
        self._cases = cases

    @property
    def active(self) -> PolicyDraft:
        """What is in force, which stays what it is when another comes into force."""
        return self._policy.snapshot()

    def cases(self) -> Mapping[str, str]:
        """The decision table's texts by file name."""
        return read_case_texts(self._cases) if isinstance(self._cases, Path) else self._cases

    def examine(
        self, documents: Mapping[str, str], cases: Mapping[str, str], tools: Iterable[str]
    ) -> tuple[PolicyDraft | None, Sequence[PolicyFault]]:
        """The draft, with its faults."""
        documents = {name: text.replace("\r\n", "\n") for name, text in sorted(documents.items())}
        faults = find_faults(documents, cases, tools)
        if any(fault.severity is FaultSeverity.ERROR for fault in faults):
            return None, faults
        try:
            return CedarPolicy(from_texts(documents)), faults
        except PolicyUnusable as error:
            return None, [PolicyFault(FaultSeverity.ERROR, SCHEMA, 1, 1, error.message)]

    def load(self, documents: Mapping[str, str], *, was_in_force: bool = False) -> PolicyDraft:
        """A draft of texts. Raises PolicyUnusable."""
        return CedarPolicy.of_record(documents) if was_in_force else CedarPolicy(from_texts(documents))

    def switches(self) -> Sequence[SwitchView]:
        """Every switch as it stands."""
        return read_switches(self._policy.documents)

    def turn_switch(self, switch: PolicySwitch, arguments: Sequence[str], *, on: bool) -> TurnedSwitch:
        """The texts in force with the switch turned, and the rows that expect something else for it."""
        before = self._policy.snapshot()
        documents = turn_switch(before.documents, switch, arguments, on=on)
        cases, amended = amend_cases(self.cases(), before, CedarPolicy.of_record(documents))
        return TurnedSwitch(documents, cases, amended)

    def read(self, draft: PolicyDraft) -> RuleReading:
        """Its rules one by one."""
        return CedarReading(cast("CedarPolicy", draft))

    def run_cases(self, draft: PolicyDraft, cases: Mapping[str, str]) -> CaseReport:
        """Put the whole table to it. Raises PolicyUnusable for a table that is none."""
        results = run_cases(cast("CedarPolicy", draft), parse_cases(cases))
        failures = [
            CaseFailure(each.case.about, each.case.question, each.case.expect, each.verdict.mode, each.rule_ids)
            for each in results
            if not each.passed
        ]
        return CaseReport(len(results), tuple(failures))

    def compare(self, before: PolicyDraft, after: PolicyDraft) -> PolicyComparison:
        """Over every kind of call that the two tell apart."""
        # Imported by the first comparison, with the kinds of call that it goes through.
        from gateway.adapters.policy.loosening import find_loosening

        return find_loosening(cast("CedarPolicy", before), cast("CedarPolicy", after))

    def enact(self, draft: PolicyDraft, cases: Mapping[str, str]) -> None:
        """Put it in force, whole."""
        self._policy.enact(cast("CedarPolicy", draft))
        self._cases = dict(cases)
