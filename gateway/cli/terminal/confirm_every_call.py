"""`--confirm-tools`: the policy in force, with a person asked before every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.core.approval import RuleReason
from gateway.core.model import CallFacts, ToolSpec
from gateway.core.moment import MomentFact
from gateway.core.vocabulary import PermissionMode, Profile
from gateway.runtime.ports import PolicyEngine, PolicySubject, PolicyVerdict, ProfileLimits

ASKED: Final = RuleReason("terminal.confirm-tools", "You asked to be asked before every call")


class ConfirmEveryCall:
    """The PolicyEngine port over another: what would run by itself needs an approval. Never makes a verdict less strict."""

    def __init__(self, policy: PolicyEngine) -> None:
        self._policy = policy

    @property
    def version(self) -> str:
        """Of the documents in force."""
        return self._policy.version

    @property
    def documents(self) -> Mapping[str, str]:
        """As they are."""
        return self._policy.documents

    @property
    def reads(self) -> frozenset[MomentFact]:
        """What the rules in force look at."""
        return self._policy.reads

    def judge(self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int) -> PolicyVerdict:
        """The verdict, with `auto` raised to `consent`."""
        verdict = self._policy.judge(subject, spec, facts, taint=taint, label=label)
        if verdict.mode is not PermissionMode.AUTO:
            return verdict
        return replace(verdict, mode=PermissionMode.CONSENT, because=(*verdict.because, ASKED))

    def may_infer(self, subject: PolicySubject, *, local: bool, label: int) -> PolicyVerdict:
        """As it is."""
        return self._policy.may_infer(subject, local=local, label=label)

    def limits(self, profile: Profile) -> ProfileLimits:
        """As they are."""
        return self._policy.limits(profile)

    def rules(self) -> Sequence[RuleReason]:
        """Every rule in force, and this one."""
        return (*self._policy.rules(), ASKED)

    def reload(self) -> None:
        """Read the documents again."""
        self._policy.reload()
