"""Verdicts over tools, and what each profile may use up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.core.approval import RuleReason
from gateway.core.budget import Allowance, Quota, QuotaMeter
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import UNTOLD, Moment, MomentFact
from gateway.core.obligations import NOTHING, Obligations, Presence
from gateway.core.quorum import Needs
from gateway.core.redaction import RedactionClass
from gateway.core.value_types import quick
from gateway.core.vocabulary import PermissionMode, Profile


@quick
@dataclass(frozen=True, slots=True)
class PolicySubject:
    """Who the policy judges: a principal in a session with a confidentiality label (0 to 3), and when."""

    principal: Principal
    label: int
    moment: Moment = UNTOLD


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """A mode with its reasons, and what it obliges to. `forbidden` may have no reason: no rule permitted it.

    `needs` is what it takes to approve, `redact` the classes that are taken out of results: credentials always are, whatever a
    rule says. Both follow from the obligations, and are worked out once, since a verdict is remembered for many calls.
    """

    mode: PermissionMode
    because: tuple[RuleReason, ...]
    obligations: Obligations = NOTHING
    needs: Needs = field(init=False, compare=False, repr=False)
    redact: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        asked = self.obligations
        needs = Needs(
            # Several people approve with their passkeys over one digest: a click says nothing of who clicked.
            presence=asked.presence is not Presence.CLICK or asked.asks_others,
            verification=asked.presence is Presence.PASSKEY_UV,
            approvers=asked.approvers,
            requester_excluded=asked.requester_excluded,
            pool=None if asked.pool is None else tuple(sorted(asked.pool)),
            lease=asked.lease,
            break_glass=asked.asks_others and not asked.alone_forbidden,
        )
        classes = tuple(part.value for part in RedactionClass if part is RedactionClass.SECRETS or part in asked.redact)
        object.__setattr__(self, "needs", needs)
        object.__setattr__(self, "redact", classes)


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
    quotas: tuple[Allowance, ...] = ()
    """Further quotas, beside those above."""

    network_auto_hosts: tuple[str, ...] = ()
    """Hosts that network tools may reach without asking, for whoever shows them."""

    counted: tuple[Allowance, ...] = field(init=False, compare=False, repr=False)
    """`quotas` and the tokens of a session: all that `usage` counts."""

    def __post_init__(self) -> None:
        tokens = Allowance(QuotaMeter.TOKENS, Quota.SESSION, self.tokens_per_session)
        object.__setattr__(self, "counted", (*self.quotas, tokens))


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

    @property
    def reads(self) -> frozenset[MomentFact]:
        """What of a moment the rules in force look at. A subject tells of it exactly this."""
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
