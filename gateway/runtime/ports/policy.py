"""Verdicts over tools, and what each profile may use up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.core.approval import Needs, RuleReason
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.vocabulary import PermissionMode, Profile


@dataclass(frozen=True, slots=True)
class PolicySubject:
    """Who the policy judges: a principal in a session with a confidentiality label (0 to 3)."""

    principal: Principal
    label: int


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """A mode with its reasons. `forbidden` may have none: no rule permitted it.

    `approval_ttl` is in seconds; `result_cap` in bytes, None where the tool's own holds; `redact` names redaction classes.
    """

    mode: PermissionMode
    because: tuple[RuleReason, ...]
    needs: Needs = field(default_factory=Needs)
    approval_ttl: float | None = None
    result_cap: int | None = None
    redact: tuple[str, ...] = ("secrets",)


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """What a profile may use up, and what it sees. Durations in seconds."""

    calls_per_turn: int
    calls_per_session: int
    calls_per_principal_per_day: int
    pending_approvals: int
    shows_forbidden: bool
    suppressed_tools: tuple[str, ...]
    session_seconds: float
    stored_bytes_per_session: int
    tokens_per_session: int


class PolicyEngine(Protocol):
    """Verdicts over tools. Deterministic for a version; any error in evaluation is `forbidden`."""

    @property
    def version(self) -> str:
        """Hex digest of the documents in force."""
        ...

    @property
    def documents(self) -> Mapping[str, str]:
        """The texts in force by file name, of which the version is the digest."""
        ...

    def judge(self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int) -> PolicyVerdict:
        """The verdict for one call. With None: the mode to publish in a snapshot, before there are arguments.

        Empty facts are not None: they are a call about which its tool says nothing, and are judged as warily.
        """
        ...

    def may_infer(self, subject: PolicySubject, *, local: bool, label: int) -> PolicyVerdict:
        """Whether prompts of this subject may go to that kind of model; auto or forbidden."""
        ...

    def limits(self, profile: Profile) -> ProfileLimits: ...
    def rules(self) -> Sequence[RuleReason]:
        """Every rule in force with its author's sentence, by id."""
        ...

    def reload(self) -> None:
        """Read the documents again. Raises PolicyUnusable and keeps the policy in force when they do not load."""
        ...
