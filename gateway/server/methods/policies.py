"""The console's methods about the policy (docs/PROTOCOL.md section 6), for operators: drafts, versions, signatures, freezes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from gateway.core.canonical import digest
from gateway.core.errors import InvalidParams, NotFound, Refused
from gateway.protocol import policy_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.notices import RehearsalProgressNotice
from gateway.runtime.policies import PolicyFreezing, PolicyPublishing, PolicyShadow, PolicySource, ProposalAnswer
from gateway.runtime.policies.rehearsals import Rehearsals
from gateway.runtime.ports import AuditQuery, AuditRecords, PolicyDraft, PolicyWorkshop
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.policy_switches import PolicySwitchMethods
from gateway.server.methods.policy_views import (
    require_page_size,
    view_check,
    view_comparison,
    view_documents,
    view_freeze,
    view_proposal,
    view_rehearsal,
    view_shadow,
    view_signable,
    view_version,
)
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow

HISTORY_PAGE: Final = 20

CASES: Final = "cases/"


class PolicyMethods:
    """The handlers."""

    def __init__(
        self,
        publishing: PolicyPublishing,
        freezing: PolicyFreezing,
        shadow: PolicyShadow,
        rehearsals: Rehearsals,
        records: AuditRecords,
    ) -> None:
        self._publishing = publishing
        self._freezing = freezing
        self._shadow = shadow
        self._rehearsals = rehearsals
        self._records = records

    @property
    def workshop(self) -> PolicyWorkshop:
        """Where drafts and earlier versions are made."""
        return self._publishing.workshop

    async def find_documents(self, version: str) -> Mapping[str, str]:
        """The texts of a version that was in force. Raises NotFound."""
        return (await self._recorded(version))[0]

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        reads, changes = Concurrency.AT_ONCE, Concurrency.IN_ORDER

        def row(answer: Any, concurrency: Concurrency, *audit: str) -> MethodRow[ConsoleCaller]:
            return MethodRow(answer, concurrency, MethodPermission.OPERATOR, audit)

        signed = ("policy:proposed", "policy:published", "policy:loaded", "policy-signature:refused", "grant:revoked")
        return {
            "policy/get": row(self.get, reads),
            "policy/history": row(self.history, reads),
            "policy/validate": row(self.validate, reads),
            "policy/compare": row(self.compare, reads),
            "policy/rehearse": row(self.rehearse, reads),
            "policy/stop-rehearsal": row(self.stop_rehearsal, reads),
            "policy/shadow": row(self.shadow, reads),
            "policy/start-shadow": row(self.start_shadow, changes, "policy-shadow:started"),
            "policy/stop-shadow": row(self.stop_shadow, changes, "policy-shadow:ended"),
            "policy/propose": row(self.propose, reads),
            "policy/proposals": row(self.list_proposals, reads),
            "policy/open": row(self.open, reads),
            "policy/sign": row(self.sign, changes, *signed),
            "policy/withdraw": row(self.withdraw, changes),
            "policy/freeze": row(self.freeze, reads, "policy:frozen", "grant:revoked"),
            "policy/thaw-question": row(self.ask_to_thaw, reads),
            "policy/thaw": row(self.thaw, changes, "policy:thawed", "policy-signature:refused"),
            **PolicySwitchMethods(self._publishing).rows(),
        }

    async def get(self, _caller: ConsoleCaller, params: wire.PolicyVersionRef) -> wire.PolicyText:
        """A version's texts."""
        if params.version is None or params.version == self._publishing.workshop.active.version:
            return self._view_active()
        documents, cases = await self._recorded(params.version)
        return self._view_text(params.version, documents, cases)

    async def history(self, _caller: ConsoleCaller, params: wire.PolicyHistoryPage) -> wire.PolicyHistory:
        """Versions that came into force."""
        limit = params.limit or HISTORY_PAGE
        loaded = await self._records.audit(AuditQuery(event="policy:loaded", before=params.before, limit=limit + 1))
        published = {}
        if loaded:
            rows = await self._records.audit(AuditQuery(event="policy:published", before=loaded[0].index, limit=limit + 1))
            published = {(row.body["policyVersion"], row.body["at"]): row for row in rows}
        views = [view_version(row, published.get((row.body["policyVersion"], row.body["at"]))) for row in loaded[:limit]]
        return wire.PolicyHistory(versions=tuple(views), next=views[-1].index if len(loaded) > limit else None)

    async def validate(self, _caller: ConsoleCaller, params: wire.PolicyDraftText) -> wire.PolicyCheck:
        """Every fault of a draft, and its decision table."""
        return view_check(*await self._publishing.validate(*_split(params.documents)))

    async def compare(self, _caller: ConsoleCaller, params: wire.PolicyComparing) -> wire.PolicyComparisonView:
        """How a draft differs."""
        base = None
        if params.base is not None and params.base != self._publishing.workshop.active.version:
            base = self._publishing.workshop.load((await self._recorded(params.base))[0], was_in_force=True)
        return view_comparison(await self._publishing.compare(await self._load(params.documents), base))

    async def rehearse(self, caller: ConsoleCaller, params: wire.PolicyRehearsing) -> wire.PolicyRehearsal:
        """A draft over the record, with progress to the connection that asked."""
        draft = await self._load(params.documents)

        def tell(judged: int) -> None:
            caller.connection.outbox.put(RehearsalProgressNotice(judged))
            if caller.connection.outbox.closing is not None:
                self._rehearsals.stop(caller.connection.id)

        result = await self._rehearsals.rehearse(caller.connection.id, draft, params.days, tell)
        return view_rehearsal(draft.version, result)

    async def stop_rehearsal(self, caller: ConsoleCaller, _params: Nothing) -> wire.RehearsalStopped:
        """Stop the one that this connection asked for."""
        return wire.RehearsalStopped(stopped=self._rehearsals.stop(caller.connection.id))

    async def shadow(self, _caller: ConsoleCaller, _params: Nothing) -> wire.PolicyShadowState:
        """What came of the candidate in shadow."""
        return view_shadow(await self._shadow.look())

    async def start_shadow(self, caller: ConsoleCaller, params: wire.ShadowStarting) -> wire.PolicyShadowState:
        """Run a draft, or an earlier version, beside the policy in force."""
        if (params.documents is None) == (params.version is None):
            raise InvalidParams("give either `documents` or the `version` that is to run")
        if params.version is None:
            documents = (await self._load(params.documents or ())).documents
        else:
            documents, _ = await self._recorded(params.version)
        await self._shadow.start(documents, params.why, caller.principal.id)
        return view_shadow(await self._shadow.look(stretches=0))

    async def stop_shadow(self, caller: ConsoleCaller, _params: Nothing) -> wire.PolicyShadowState:
        """Stop it; what came of it is told a last time."""
        return view_shadow(await self._shadow.stop(caller.principal.id))

    async def propose(self, caller: ConsoleCaller, params: wire.PolicyProposing) -> wire.WirePolicyProposed:
        """A draft, or an earlier version, to be signed."""
        if (params.documents is None) == (params.version is None):
            raise InvalidParams("give either `documents` or the `version` to go back to")
        if params.version is None:
            documents, cases = _split(params.documents or ())
        else:
            documents, cases = await self._recorded(params.version)
        if self._publishing.source is PolicySource.FILES:
            return await self._offer_patch(documents, cases)
        answer = await self._publishing.propose(documents, cases, base=params.base, reason=params.reason, author=caller.session)
        check = view_check(answer.draft, answer.faults, answer.report)
        opened = None if answer.proposal is None else view_signable(answer.proposal)
        active = None if answer.conflict is None else self._view_active()
        return wire.WirePolicyProposed(outcome=_outcome(answer), check=check, opened=opened, active=active)

    async def list_proposals(self, _caller: ConsoleCaller, _params: Nothing) -> wire.ProposalList:
        """Everybody's that wait."""
        return wire.ProposalList(proposals=tuple(map(view_proposal, self._publishing.proposals())))

    async def open(self, caller: ConsoleCaller, params: wire.ProposalRef) -> wire.ProposalOpened:
        """One of them, to read and sign."""
        return view_signable(await self._publishing.signable(params.proposal_id, caller.session))

    async def sign(self, caller: ConsoleCaller, params: wire.ProposalSigning) -> wire.PolicySigned:
        """A signature; with the last one the version is in force when this returns."""
        version = (await self._publishing.signable(params.proposal_id, None)).proposal.draft.version
        answer = await self._publishing.sign(
            caller.session, params.proposal_id, params.assertion, confirmed=params.confirmed is True
        )
        if answer.conflict is not None:
            return wire.PolicySigned(outcome="conflict", version=version, missing=0, active=self._view_active())
        outcome = "signed" if answer.published is None else "published"
        return wire.PolicySigned(outcome=outcome, version=version, missing=answer.missing)

    async def withdraw(self, _caller: ConsoleCaller, params: wire.ProposalRef) -> Nothing:
        """Take a proposal back, whoever made it."""
        await self._publishing.withdraw(params.proposal_id)
        return Nothing()

    async def freeze(self, caller: ConsoleCaller, params: wire.FreezeOrder) -> wire.FreezeView:
        """Forbid everything, at once."""
        return view_freeze(await self._freezing.freeze(params.why, caller.principal.id))

    async def ask_to_thaw(self, caller: ConsoleCaller, _params: Nothing) -> wire.ThawQuestion:
        """What a passkey signs to end the freeze."""
        freeze, statement, options = await self._freezing.thaw_options(caller.session)
        return wire.ThawQuestion(
            freeze=view_freeze(freeze),
            statement=orjson.loads(statement),
            statement_digest=hashlib.sha256(statement).hexdigest(),
            passkey_options=dict(options),
        )

    async def thaw(self, caller: ConsoleCaller, params: wire.ThawAnswer) -> Nothing:
        """End the freeze."""
        await self._freezing.thaw(caller.session, params.assertion)
        return Nothing()

    # ── private ──

    def _view_active(self) -> wire.PolicyText:
        workshop = self._publishing.workshop
        return self._view_text(workshop.active.version, workshop.active.documents, workshop.cases())

    def _view_text(self, version: str, documents: Mapping[str, str], cases: Mapping[str, str] | None) -> wire.PolicyText:
        texts = {**documents, **(cases or {})}
        require_page_size(texts)
        freeze = self._freezing.holding
        return wire.PolicyText(
            version=version,
            source=self._publishing.source.value,
            documents=view_documents(texts),
            freeze=None if freeze is None else view_freeze(freeze),
        )

    async def _load(self, documents: wire.PolicyTexts) -> PolicyDraft:
        draft, faults, _ = await self._publishing.validate(*_split(documents))
        if draft is None:
            first = faults[0]
            raise Refused("policyUnusable", f"`{first.file}` line {first.line}, column {first.column}: {first.message}", 409)
        return draft

    async def _recorded(self, version: str) -> tuple[Mapping[str, str], Mapping[str, str] | None]:
        """The texts of a version that was in force, and its decision table where it was published with one."""
        before = None
        while rows := await self._records.audit(AuditQuery(event="policy:loaded", before=before, limit=50)):
            for row in rows:
                if row.body["policyVersion"] != version or row.payload is None or "documents" not in row.payload:
                    continue
                if digest(row.payload["documents"]) != version:
                    raise Refused("damaged", "the texts on record are not those of which that version is the digest", 409)
                beside = await self._records.audit(AuditQuery(event="policy:published", before=row.index, limit=1))
                found = beside[0] if beside and beside[0].body["policyVersion"] == version else None
                cases = None if found is None or found.payload is None else found.payload.get("cases")
                return row.payload["documents"], cases
            before = rows[-1].index
        raise NotFound("no policy of that version is on record")

    async def _offer_patch(self, documents: Mapping[str, str], cases: Mapping[str, str] | None) -> wire.WirePolicyProposed:
        draft, faults, report = await self._publishing.validate(documents, cases)
        workshop = self._publishing.workshop
        now = {**workshop.active.documents, **workshop.cases()}
        wanted = {**documents, **(workshop.cases() if cases is None else cases)}
        check = view_check(draft, faults, report)
        return wire.WirePolicyProposed(outcome="files", check=check, patch=_write_patch(now, wanted))


def _outcome(answer: ProposalAnswer) -> Any:
    if answer.proposal is not None:
        return "proposed"
    if answer.draft is None:
        return "invalid"
    if answer.conflict is not None:
        return "conflict"
    return "unchanged" if answer.unchanged else "casesFail"


def _split(documents: wire.PolicyTexts) -> tuple[dict[str, str], dict[str, str] | None]:
    """Documents and decision table; None for the table where none is given. Raises InvalidParams for a name given twice."""
    texts = {each.name: each.text for each in documents}
    if len(texts) != len(documents):
        raise InvalidParams("a document is given twice")
    cases = {name: text for name, text in texts.items() if name.startswith(CASES)}
    return {name: text for name, text in texts.items() if name not in cases}, cases or None


def _write_patch(now: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """What `git apply` takes, from the folder of the policy."""
    import difflib

    lines: list[str] = []
    for name in sorted({*now, *wanted}):
        before, after = now.get(name), wanted.get(name)
        if before == after:
            continue
        old, new = (f"a/{name}" if before is not None else "/dev/null"), (f"b/{name}" if after is not None else "/dev/null")
        changed = difflib.unified_diff((before or "").splitlines(True), (after or "").splitlines(True), old, new)
        lines += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in changed]
    return "".join(lines)
