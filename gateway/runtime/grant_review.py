"""Whether grants would still be given: asked when another policy comes into force and at every start.

Each call that a grant covers is judged by row 11 anyway. But a grant that only slept while the policy asked for more would count
again when the policy came back, and the person who gave it had every reason to think it gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.core.approval import Grant
from gateway.core.canonical import Json, parse
from gateway.core.errors import ToolFailed
from gateway.core.ledger import GrantRevoked
from gateway.core.model import CallFacts, Session, ToolSpec
from gateway.core.vocabulary import PermissionMode
from gateway.runtime.freeze_state import FreezeState
from gateway.runtime.grants import Grants
from gateway.runtime.ports import (
    Clock,
    ConversationRecord,
    GrantReviewRecords,
    PolicyDraft,
    PolicyEngine,
    PolicySubject,
    PolicyVerdict,
    Toolbox,
)

Judge = PolicyEngine | PolicyDraft


class GrantReview:
    """Ends the grants that nobody would be asked for, or could not give, any more."""

    def __init__(
        self,
        *,
        grants: Grants,
        records: GrantReviewRecords,
        policy: PolicyEngine,
        toolbox: Toolbox,
        clock: Clock,
        freeze: FreezeState,
    ) -> None:
        self._freeze = freeze
        self._grants = grants
        self._records = records
        self._policy = policy
        self._toolbox = toolbox
        self._clock = clock

    async def end_refused(self) -> Sequence[GrantRevoked]:
        """Take them out of memory, and give what the caller records together with the policy."""
        refused = await self.find_refused(self._policy)
        for grant in refused:
            self._grants.drop(grant)
        return self.end(refused)

    async def find_refused(self, policy: Judge) -> Sequence[Grant]:
        """Those that this policy would not give."""
        given = await self._records.live_grants(self._clock.now())
        return [grant for grant in given if not await self._would_issue(grant, policy)]

    def end(self, refused: Sequence[Grant]) -> Sequence[GrantRevoked]:
        """What records their end. The ledger takes no use of them after that."""
        now = self._clock.now()
        return [GrantRevoked(now, grant.id, grant.principal_id, "the policy would not give it any more") for grant in refused]

    async def _would_issue(self, grant: Grant, policy: Judge) -> bool:
        if self._freeze.holding is not None:
            return False
        spec = self._toolbox.find(grant.tool)
        session = await self._records.session(grant.session_id)
        conversation = await self._records.conversation(grant.conversation_id)
        if spec is None or spec.digest != grant.descriptor_digest or session is None or conversation is None:
            return False
        try:
            facts = self._facts(grant, spec)
        except ToolFailed:
            return False
        judged = self._judge(policy, session, conversation, spec, facts)
        # A call that needs no question now needs no grant either, and none is taken away.
        return judged.mode.strictness <= PermissionMode.CONSENT.strictness and not judged.needs.each_time

    def _facts(self, grant: Grant, spec: ToolSpec) -> CallFacts | None:
        """Those of the pinned call. None where an argument may vary: the tool is judged, and each call once more by itself."""
        if grant.freed:
            return None
        arguments: dict[str, Json] = {name: parse(pinned) for name, pinned in grant.pins.items()}
        return self._toolbox.facts(spec, arguments)

    def _judge(
        self, policy: Judge, session: Session, conversation: ConversationRecord, spec: ToolSpec, facts: CallFacts | None
    ) -> PolicyVerdict:
        subject = PolicySubject(session.principal, int(session.label))
        return policy.judge(subject, spec, facts, taint=conversation.taint, label=conversation.label)
