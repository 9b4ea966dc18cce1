"""Drafts, versions and freezes of the policy as wire types."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final, cast

import orjson

from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.times import rfc3339
from gateway.protocol import policy_methods as wire
from gateway.runtime.policies import PolicyProposal, ShadowState, Signable
from gateway.runtime.ports import AuditRow, CaseReport, PolicyComparison, PolicyDraft, PolicyFault, PolicyFreeze
from gateway.runtime.rehearsal import ModeChange, Rehearsal

FAILURES_TOLD = 50
DIFFERENCES_TOLD = 200
EXAMPLES_TOLD = 20
"""Calls of each kind of change; the command line names more."""


MOST_TEXT: Final = 160_000
"""Characters of all documents that one message can bring: with its escapes it has to stay under 256 KiB."""


def require_page_size(texts: Mapping[str, str]) -> None:
    """That these documents fit into one message. Raises Refused `tooLarge`."""
    if sum(map(len, texts.values())) > MOST_TEXT:
        raise Refused("tooLarge", "this policy is too large for a page; use `countersign policy show`", 413)


def view_freeze(freeze: PolicyFreeze) -> wire.FreezeView:
    """A freeze."""
    return wire.FreezeView(freeze_id=freeze.id, at=rfc3339(freeze.at), why=freeze.why)


def view_documents(*texts: Mapping[str, str]) -> tuple[wire.PolicyDocument, ...]:
    """Texts by file name, in order of the names."""
    return tuple(wire.PolicyDocument(name=name, text=text) for each in texts for name, text in sorted(each.items()))


def view_check(draft: PolicyDraft | None, faults: Sequence[PolicyFault], report: CaseReport | None) -> wire.PolicyCheck:
    """What an examination found."""
    return wire.PolicyCheck(
        faults=tuple(
            wire.WirePolicyFault(
                severity=each.severity.value, file=each.file, line=each.line, column=each.column, message=each.message
            )
            for each in faults
        ),
        version=None if draft is None else draft.version,
        rules=0 if draft is None else len(draft.rules()),
        cases=None if report is None else _view_cases(report),
    )


def view_comparison(comparison: PolicyComparison) -> wire.PolicyComparisonView:
    """How two policies differ."""
    return wire.PolicyComparisonView(
        compared=comparison.compared,
        complete=comparison.complete,
        loosens=comparison.loosens,
        differences=tuple(
            wire.WirePolicyDifference(
                change=each.change,
                loosens=each.loosens,
                profile=each.profile,
                category=each.category,
                count=each.count,
                before=each.before,
                after=each.after,
                rules=each.rules,
                example=each.example,
            )
            for each in comparison.differences[:DIFFERENCES_TOLD]
        ),
        loosened=comparison.loosened[:DIFFERENCES_TOLD],
    )


def view_proposal(proposal: PolicyProposal) -> wire.ProposalView:
    """A proposal in a list."""
    return wire.ProposalView(
        proposal_id=proposal.id,
        version=proposal.draft.version,
        base=proposal.base.version,
        author=proposal.author,
        reason=proposal.reason,
        made_at=rfc3339(proposal.made_at),
        expires_at=rfc3339(proposal.expires_at),
        needed=proposal.needed,
        signers=tuple(proposal.signers),
        loosens=proposal.comparison.loosens,
    )


def view_signable(signable: Signable) -> wire.ProposalOpened:
    """A proposal with what would be signed."""
    proposal = signable.proposal
    return wire.ProposalOpened(
        proposal=view_proposal(proposal),
        statement=orjson.loads(proposal.statement),
        statement_digest=hashlib.sha256(proposal.statement).hexdigest(),
        comparison=view_comparison(proposal.comparison),
        documents=view_documents(proposal.draft.documents, proposal.cases),
        forbids_you=signable.forbids_signer,
        passkey_options=None if signable.options is None else dict(signable.options),
    )


def view_version(loaded: AuditRow, published: AuditRow | None) -> wire.VersionView:
    """A version that came into force, with what its publication says of it."""
    payload: Mapping[str, Json] = {} if published is None or published.payload is None else published.payload
    statement: Mapping[str, Json] = orjson.loads(str(payload.get("statement", "{}")))
    signatures = cast("Sequence[Mapping[str, Json]]", payload.get("signatures", []))
    return wire.VersionView(
        index=loaded.index,
        version=str(loaded.body["policyVersion"]),
        at=rfc3339(loaded.body["at"]),
        signers=tuple(str(each["principalId"]) for each in signatures),
        base=None if published is None else str(published.body["basePolicyVersion"]),
        reason=None if "reason" not in statement else str(statement["reason"]),
    )


def view_rehearsal(version: str, result: Rehearsal) -> wire.PolicyRehearsal:
    """What a draft would have decided otherwise."""
    return wire.PolicyRehearsal(
        version=version,
        judged=result.judged,
        unjudged=sum(result.unjudged.values()),
        unlike=result.unlike_count,
        questions_before=result.questions_before,
        questions_after=result.questions_after,
        changes=_view_changes(result),
    )


def view_shadow(state: ShadowState | None) -> wire.PolicyShadowState:
    """The candidate in shadow."""
    if state is None:
        return wire.PolicyShadowState()
    shadow, result = state.shadow, state.result
    view = wire.ShadowView(
        shadow_id=shadow.id,
        version=shadow.version,
        at=rfc3339(shadow.at),
        judged=result.judged,
        unjudged=sum(result.unjudged.values()),
        unlike=result.unlike_count,
        behind=state.behind,
        changes=_view_changes(result),
    )
    return wire.PolicyShadowState(shadow=view)


def _view_changes(result: Rehearsal) -> tuple[wire.ChangeCount, ...]:
    return tuple(
        wire.ChangeCount(
            change=change.value,
            count=result.differences[change],
            examples=tuple(
                {
                    "conversationId": each.decision.conversation_id,
                    "callId": each.decision.call_id,
                    "tool": each.decision.tool,
                    "principalId": each.decision.principal_id,
                    "before": each.before.value,
                    "after": each.after.value,
                    "rules": list(each.rules),
                }
                for each in result.examples.get(change, [])[:EXAMPLES_TOLD]
            ),
        )
        for change in ModeChange
        if result.differences[change]
    )


def _view_cases(report: CaseReport) -> wire.CaseTally:
    return wire.CaseTally(
        total=report.total,
        failed=len(report.failures),
        failures=tuple(
            wire.WireCaseFailure(
                about=each.about, question=each.question, expected=each.expected, given=each.given, rules=each.rules
            )
            for each in report.failures[:FAILURES_TOLD]
        ),
    )
