"""Parameters and results of the console's methods about the policy: drafts, versions, signatures, freezes. For operators."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict

from gateway.core.policy_switches import PolicySwitch, SwitchState, SwitchTakes
from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.protocol.wire import Count, Digest, Flag, FreeText, Identifier, JsonObject, Timestamp, Wire

DocumentName = Annotated[str, Field(min_length=1, max_length=128)]
"""Of a file of the policy: `NAME.cedar`, `schema.cedarschema`, `profiles.toml` or `cases/NAME.toml`."""

PolicyVersion = Annotated[str, Field(max_length=128)]
"""As a client claims it."""


class PolicyDocument(Wire):
    """A text of the policy."""

    name: DocumentName
    text: FreeText


PolicyTexts = Annotated[tuple[PolicyDocument, ...], Field(min_length=1, max_length=256)]
"""Every document of a policy; its decision table too, unless that stays as it is."""


class PolicyVersionRef(Wire):
    """Which version; the one in force when absent."""

    version: PolicyVersion | None = None


class FreezeView(Wire):
    """Everything is forbidden since `at`, whatever the policy says."""

    freeze_id: str
    at: Timestamp
    why: str


class PolicyText(Wire):
    """A version with all its texts. `source` is where the policy is kept and so where it is changed."""

    version: str
    source: Literal["files", "database"]
    documents: tuple[PolicyDocument, ...]
    freeze: FreezeView | None = None


class PolicyHistoryPage(Wire):
    """Which part of the history."""

    before: Count | None = None
    limit: Annotated[int, Strict(), Field(ge=1, le=100)] | None = None


class VersionView(Wire):
    """A version that came into force with the record `index`. What is absent is not known: it was read from files, or its record
    was erased. `signers` are principals, the publisher first."""

    index: Count
    version: str
    at: Timestamp
    signers: tuple[str, ...]
    base: str | None = None
    reason: FreeText | None = None


class PolicyHistory(Wire):
    """Versions in the order in which they came into force, newest first; `next` is the `before` of the next page."""

    versions: tuple[VersionView, ...]
    next: Count | None = None


class PolicyDraftText(Wire):
    """Texts that somebody writes."""

    documents: PolicyTexts


class WirePolicyFault(Wire):
    """What is to be said about a draft, and where: line and column from 1. An `error` keeps it from coming into force."""

    severity: Literal["error", "warning"]
    file: str
    line: Count
    column: Count
    message: FreeText


class WireCaseFailure(Wire):
    """A row of the decision table that the draft does not give."""

    about: FreeText
    question: FreeText
    expected: PermissionMode
    given: PermissionMode
    rules: tuple[str, ...]


class CaseTally(Wire):
    """The decision table put to a draft. `failed` of `total` rows are not given; the first of them are told."""

    total: Count
    failed: Count
    failures: tuple[WireCaseFailure, ...]


class PolicyCheck(Wire):
    """A draft that was examined. `version` and `cases` are absent where it does not load."""

    faults: tuple[WirePolicyFault, ...]
    version: str | None = None
    rules: Count
    cases: CaseTally | None = None


class PolicyComparing(Wire):
    """A draft, and the version that it is compared with; the one in force when absent."""

    documents: PolicyTexts
    base: PolicyVersion | None = None


class WirePolicyDifference(Wire):
    """A kind of call that is decided differently; `change` is `newlyAllowed`, `questionRemoved`, `passkeyRemoved`,
    `approversRemoved`, which loosen, `questionAdded`, `passkeyAdded`, `approversAdded` or `newlyRefused`."""

    change: str
    loosens: Flag
    profile: Profile
    category: Category
    count: Count
    before: PermissionMode
    after: PermissionMode
    rules: tuple[str, ...]
    example: FreeText


class PolicyComparisonView(Wire):
    """How a draft differs over `compared` kinds of calls. `loosened` is what else it asks less for, in words; where `complete` is
    false, not everything could be compared, and it counts as loosening."""

    compared: Count
    complete: Flag
    loosens: Flag
    differences: tuple[WirePolicyDifference, ...]
    loosened: tuple[str, ...]


class PolicyRehearsing(Wire):
    """A draft, and how many days of recorded calls it is put to."""

    documents: PolicyTexts
    days: Annotated[int, Strict(), Field(ge=1, le=36_500)]


class ChangeCount(Wire):
    """How many calls a draft decides in that other way, and the first of them by conversation and call."""

    change: str
    count: Count
    examples: tuple[JsonObject, ...]


class PolicyRehearsal(Wire):
    """A draft put to what is on record. `unlike` calls do not give what is on record under their own version: a fault."""

    version: str
    judged: Count
    unjudged: Count
    unlike: Count
    questions_before: Count
    questions_after: Count
    changes: tuple[ChangeCount, ...]


class RehearsalStopped(Wire):
    """Whether there was a rehearsal to stop."""

    stopped: Flag


class ShadowStarting(Wire):
    """A draft to run beside the policy in force, or a version that was in force, and why."""

    why: Annotated[str, Field(max_length=4000)]
    documents: PolicyTexts | None = None
    version: PolicyVersion | None = None


class ShadowView(Wire):
    """A candidate that runs beside the policy in force since `at`, and decides nothing. Of `judged` calls it decides those under
    `changes` otherwise; `unjudged` calls could not be judged again, `unlike` not even as on record. `behind`: more calls are on
    record already."""

    shadow_id: Identifier
    version: str
    at: Timestamp
    judged: Count
    unjudged: Count
    unlike: Count
    behind: Flag
    changes: tuple[ChangeCount, ...]


class PolicyShadowState(Wire):
    """The candidate in shadow; absent where none runs."""

    shadow: ShadowView | None = None


class PolicyProposing(Wire):
    """A draft to put in force: the version it was made from, why, and its texts, or the version to go back to."""

    base: PolicyVersion
    reason: Annotated[str, Field(max_length=4000)]
    documents: PolicyTexts | None = None
    version: PolicyVersion | None = None


class ProposalView(Wire):
    """A version that waits for `needed` signatures, of which `signers` gave theirs. `statementDigest` is what passkeys sign: the
    SHA-256 of the canonical `statement`."""

    proposal_id: Identifier
    version: str
    base: str
    author: str
    reason: FreeText
    made_at: Timestamp
    expires_at: Timestamp
    needed: Count
    signers: tuple[str, ...]
    loosens: Flag


class ProposalOpened(Wire):
    """A proposal before the operator who looks at it. `passkeyOptions` is absent where they have signed."""

    proposal: ProposalView
    statement: JsonObject
    statement_digest: Digest
    comparison: PolicyComparisonView
    documents: tuple[PolicyDocument, ...]
    forbids_you: Flag
    passkey_options: JsonObject | None = None


class WirePolicyProposed(Wire):
    """What became of a draft. `outcome`: `proposed` with `opened`; `invalid` and `casesFail` with `check`; `conflict` with the
    texts in force (`active`), beside which the sender still has their own; `unchanged`; `files` with a `patch` of the folder."""

    outcome: Literal["proposed", "invalid", "casesFail", "conflict", "unchanged", "files"]
    check: PolicyCheck
    opened: ProposalOpened | None = None
    active: PolicyText | None = None
    patch: FreeText | None = None


class ProposalList(Wire):
    """Those that wait, oldest first."""

    proposals: tuple[ProposalView, ...]


class ProposalRef(Wire):
    """Which proposal."""

    proposal_id: Identifier


class ProposalSigning(Wire):
    """A passkey's answer over the statement; `confirmed`: although it leaves the signer nothing to call."""

    proposal_id: Identifier
    assertion: JsonObject
    confirmed: Flag | None = None


class PolicySigned(Wire):
    """`published` is in force; `signed` waits for `missing` more; `conflict`: another version came into force meanwhile."""

    outcome: Literal["published", "signed", "conflict"]
    version: str
    missing: Count
    active: PolicyText | None = None


class ThawQuestion(Wire):
    """What a passkey has to sign to end the freeze; good for two minutes, once, in this console session."""

    freeze: FreezeView
    statement: JsonObject
    statement_digest: Digest
    passkey_options: JsonObject


class ThawAnswer(Wire):
    """The passkey's answer."""

    assertion: JsonObject


class FreezeOrder(Wire):
    """Why everything is to be forbidden."""

    why: Annotated[str, Field(max_length=4000)]


class PolicyStateParams(Wire):
    """The freeze, or the proposals that wait, are not as they were."""

    freeze: FreezeView | None = None
    proposals: Count


class RehearsalProgressParams(Wire):
    """So many calls were judged again."""

    judged: Count


class SwitchDescription(Wire):
    """A switch as the policy in force has it: what it has to be told, what it was told, and the text of its file."""

    switch: PolicySwitch
    state: SwitchState
    takes: SwitchTakes
    file: str
    arguments: tuple[FreeText, ...]
    text: FreeText


class PolicySwitches(Wire):
    """Every switch, under the version in force. `source` is where the policy is kept and so where it is changed."""

    version: str
    source: Literal["files", "database"]
    switches: tuple[SwitchDescription, ...]


class SwitchTurning(Wire):
    """A switch to turn, with the folders or hosts of one that takes any."""

    switch: PolicySwitch
    on: Flag
    arguments: Annotated[tuple[Annotated[str, Field(max_length=1024)], ...], Field(max_length=64)] = ()


class WireAmendedCase(Wire):
    """A row of the decision table that expects something else with the switch turned."""

    file: str
    about: FreeText
    question: FreeText
    before: PermissionMode
    after: PermissionMode


class SwitchDraft(Wire):
    """A draft made by a switch from the version `base`: nothing is changed by it. It is compared, rehearsed and
    proposed as any other."""

    base: str
    documents: tuple[PolicyDocument, ...]
    amended: tuple[WireAmendedCase, ...]
    check: PolicyCheck
