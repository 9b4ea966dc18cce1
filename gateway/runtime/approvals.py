"""Pending approvals: asked, answered once, or lapsed.

The desk checks an answer; it does not write it. The driver of the call that waits records the answer together with what
follows from it, in one transaction, so that no crash can part a yes from the intent it allowed.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import orjson

from gateway.core.approval import Approval, Grant
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import ApprovalResolved, AssertionRefused, Passkey, PasskeyUsed
from gateway.core.model import ToolRequest
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, GrantScope
from gateway.runtime.connections import Hub
from gateway.runtime.ports import Clock, ConsoleSession, Entropy, Ledger, PasskeyVerifier, Records

CHALLENGE_SECONDS = 60.0
"""protocol.md section 6."""

GRANT_SECONDS = {GrantScope.TURN: 15 * 60.0, GrantScope.SESSION: 60 * 60.0}
"""How long a standing yes lasts at most; a person who still means it is asked again."""

GRANT_USES = {GrantScope.TURN: 20, GrantScope.SESSION: 50}

LISTED = 100


@dataclass(frozen=True, slots=True)
class Approved:
    """Yes. `resolved` is ready to be recorded; `grant` comes with it when the yes lasts."""

    resolved: ApprovalResolved
    grant: Grant | None
    used: PasskeyUsed | None


@dataclass(frozen=True, slots=True)
class Denied:
    """No."""

    resolved: ApprovalResolved


@dataclass(frozen=True, slots=True)
class StepUpFailed:
    """A passkey answer that does not verify over exactly these bytes."""

    resolved: ApprovalResolved
    refused: AssertionRefused


PersonalAnswer = Approved | Denied | StepUpFailed


@dataclass(frozen=True, slots=True)
class Decided:
    """An answer that is durable: how the approval stands, and the grant if the yes lasts."""

    approval: Approval
    grant: Grant | None


@dataclass(eq=False, slots=True)
class Pending:
    """An approval that waits. `answered` is set by a person, `recorded` once the driver has made it durable, with how it
    ended and the grant that was issued on it, if one was: a yes that came too late for its call grants nothing."""

    approval: Approval
    request: ToolRequest
    descriptor_digest: str
    deadline: float
    answered: asyncio.Future[PersonalAnswer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    recorded: asyncio.Future[tuple[ApprovalStatus, Grant | None]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    challenges: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    taken: bool = False


class ApprovalDesk:
    """Every approval that is pending in this process, and the answers to them."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: Records,
        passkeys: PasskeyVerifier,
        hub: Hub,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._passkeys = passkeys
        self._hub = hub
        self._clock = clock
        self._entropy = entropy
        self._pending: dict[str, Pending] = {}
        self._asking: Counter[str] = Counter()

    # ── for the driver ──

    @contextmanager
    def one_more(self, principal_id: str, most: int) -> Generator[bool]:
        """Whether one more question may be put to a person, `most` being what they can bear at once.

        Counted from before the question is on record: many calls at once must not all find room for one.
        """
        waiting = sum(pending.approval.principal_id == principal_id for pending in self._pending.values())
        if waiting + self._asking[principal_id] >= most:
            yield False
            return
        self._asking[principal_id] += 1
        try:
            yield True
        finally:
            self._asking[principal_id] -= 1

    def open(self, approval: Approval, request: ToolRequest, descriptor_digest: str) -> Pending:
        """Put a recorded approval before the person: list it, and tell their consoles and the asking session."""
        left = (approval.expires_at - self._clock.now()) / 1000
        pending = Pending(approval, request, descriptor_digest, self._clock.monotonic() + left)
        self._pending[approval.id] = pending
        shown = {"approval": approval.wire()}
        self._hub.notify(approval.session_id, "approvals/requested", shown)
        self._hub.notify_console(approval.principal_id, "approvals/requested", shown)
        return pending

    def close(
        self,
        pending: Pending,
        status: ApprovalStatus,
        error: BaseException | None = None,
        *,
        grant: Grant | None = None,
    ) -> None:
        """The driver has recorded how the approval ended, or failed to. Wakes whoever answered and tells everybody."""
        approval = pending.approval
        self._pending.pop(approval.id, None)
        if not pending.recorded.done():
            if error is None:
                pending.recorded.set_result((status, grant))
            else:
                pending.recorded.set_exception(error)
                pending.recorded.exception()
        told = {"approvalId": approval.id, "callId": approval.call_id, "status": status.value}
        self._hub.notify(approval.session_id, "approvals/resolved", told)
        self._hub.notify_console(approval.principal_id, "approvals/resolved", told)

    def withdraw(self, approval_id: str) -> None:
        """The driver broke down: whoever answered hears of it, and nobody may answer any more."""
        pending = self._pending.get(approval_id)
        if pending is not None:
            self.close(pending, ApprovalStatus.CANCELLED)

    # ── for the console ──

    async def list(self, principal_id: str) -> Sequence[Approval]:
        """Pending and decided, newest first."""
        recorded = await self._records.approvals(principal_id, limit=LISTED)
        known = {approval.id for approval in recorded}
        # What waits is always listed, however many were asked and withdrawn since: nobody can be made to overlook it.
        waiting = [pending.approval for pending in self._pending.values() if pending.approval.principal_id == principal_id]
        return [*(approval for approval in waiting if approval.id not in known), *recorded]

    async def get(self, console: ConsoleSession, approval_id: str) -> tuple[Approval, Mapping[str, Json], str | None]:
        """The approval, its statement, and a fresh single-use challenge while it is pending. Raises NotFound."""
        pending = self._pending.get(approval_id)
        if pending is None or pending.approval.principal_id != console.principal.id:
            decided = next((each for each in await self.list(console.principal.id) if each.id == approval_id), None)
            if decided is None:
                raise NotFound("unknown approval")
            return decided, orjson.loads(decided.statement), None
        return pending.approval, orjson.loads(pending.approval.statement), self._challenge(pending, console)

    async def assertion_options(self, console: ConsoleSession, approval_id: str) -> Mapping[str, Json]:
        """WebAuthn request options over the statement's digest, for this person's own passkeys. Raises NotFound, Refused."""
        pending = self._own(console, approval_id)
        passkeys = await self._records.passkeys(console.principal.id)
        if not passkeys:
            raise Refused("noCredential", "no passkey is registered for this account", 409)
        return self._passkeys.assertion_options(
            challenge=_statement_challenge(pending.approval),
            allow=passkeys,
            user_verification=pending.approval.kind is ApprovalKind.STEP_UP,
        )

    async def decide(
        self,
        console: ConsoleSession,
        approval_id: str,
        *,
        challenge: str,
        approve: bool,
        scope: GrantScope,
        freed: Sequence[str] = (),
        assertion: Mapping[str, Json] | None = None,
    ) -> Decided:
        """Take a person's answer. Raises NotFound, or Refused with what to do; returns once the answer is durable.

        Everything that could make the answer void is checked before it is taken, and `taken` is set without a wait in
        between: of two tabs that answer at once, one is told that it is too late.
        """
        pending = self._own(console, approval_id)
        approval = pending.approval
        self._demand_time(pending)
        if pending.taken:
            raise Refused("alreadyDecided", "this approval was answered a moment ago", 409)
        self._spend_challenge(pending, console, challenge)
        resolved = self._resolve(
            pending, console, ApprovalStatus.APPROVED if approve else ApprovalStatus.DENIED, assertion=assertion
        )
        if not approve:
            return await self._answer(pending, Denied(resolved))
        if scope not in approval.offers:
            raise Refused("scopeNotOffered", f"this approval cannot be given for `{scope.value}`", 409)
        grant = self._grant(pending, scope, freed)
        if approval.kind is ApprovalKind.CONSENT and not approval.needs.presence:
            return await self._answer(pending, Approved(resolved, grant, None))
        return await self._verify(pending, console, resolved, grant, assertion)

    # ── inside ──

    async def _verify(
        self,
        pending: Pending,
        console: ConsoleSession,
        resolved: ApprovalResolved,
        grant: Grant | None,
        assertion: Mapping[str, Json] | None,
    ) -> Decided:
        approval = pending.approval
        if assertion is None:
            raise Refused("assertionMissing", "this approval needs your passkey", 409)
        pending.taken = True
        try:
            passkey = await self._own_passkey(console, self._passkeys.credential_id(assertion))
            verified = self._passkeys.verify_assertion(
                assertion,
                challenge=_statement_challenge(approval),
                passkey=passkey,
                user_verification=approval.kind is ApprovalKind.STEP_UP,
            )
        except Refused as refusal:
            # No browser submits an assertion that does not verify: it is an attack or a fault, and the call ends here.
            refused = AssertionRefused(
                self._clock.now(),
                approval.id,
                approval.call_id,
                approval.conversation_id,
                console.principal.id,
                refusal.reason,
            )
            denied = self._resolve(pending, console, ApprovalStatus.DENIED, detail=refusal.reason)
            await self._answer(pending, StepUpFailed(denied, refused))
            raise Refused("assertionInvalid", refusal.message, 403) from None
        except BaseException:
            pending.taken = False
            raise
        self._demand_time(pending)
        used = PasskeyUsed(self._clock.now(), console.principal.id, passkey.id, verified.sign_count, verified.backed_up)
        resolved = self._resolve(pending, console, ApprovalStatus.APPROVED, credential_id=passkey.id, assertion=assertion)
        return await self._answer(pending, Approved(resolved, grant, used))

    async def _answer(self, pending: Pending, answer: PersonalAnswer) -> Decided:
        pending.taken = True
        if pending.answered.done() or pending.recorded.done():
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        pending.answered.set_result(answer)
        status, grant = await asyncio.shield(pending.recorded)
        if status is not answer.resolved.status:
            # Cancelled in the same breath: what is on record counts, and it is not this answer.
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        return Decided(replace(pending.approval, status=status), grant)

    def _demand_time(self, pending: Pending) -> None:
        # By either clock: the ledger takes no yes that the record says came too late.
        if self._clock.monotonic() >= pending.deadline or self._clock.now() >= pending.approval.expires_at:
            raise Refused("approvalExpired", "this approval has expired; nothing ran", 410)

    async def _own_passkey(self, console: ConsoleSession, credential_id: bytes) -> Passkey:
        passkey = await self._records.passkey(credential_id)
        if passkey is None or passkey.principal_id != console.principal.id:
            raise Refused("credential", "that passkey does not belong to this account")
        return passkey

    def _own(self, console: ConsoleSession, approval_id: str) -> Pending:
        pending = self._pending.get(approval_id)
        if pending is None or pending.approval.principal_id != console.principal.id:
            raise NotFound("that approval is not open")
        return pending

    def _challenge(self, pending: Pending, console: ConsoleSession) -> str:
        approval = pending.approval
        needs_passkey = approval.kind is ApprovalKind.STEP_UP or approval.needs.presence
        value = _base64url(_statement_challenge(approval)) if needs_passkey else self._entropy.secret()
        now = self._clock.monotonic()
        pending.challenges = {key: until for key, until in pending.challenges.items() if until > now}
        pending.challenges[console.id, value] = min(now + CHALLENGE_SECONDS, pending.deadline)
        return value

    def _spend_challenge(self, pending: Pending, console: ConsoleSession, challenge: str) -> None:
        until = pending.challenges.pop((console.id, challenge), None)
        if until is None:
            raise Refused("challengeUnknown", "that challenge was not issued to you or is used up; open the approval again", 409)
        if self._clock.monotonic() >= until:
            raise Refused("challengeExpired", "that challenge has expired; open the approval again", 410)

    def _resolve(
        self,
        pending: Pending,
        console: ConsoleSession,
        status: ApprovalStatus,
        *,
        credential_id: bytes | None = None,
        assertion: Mapping[str, Json] | None = None,
        detail: str | None = None,
    ) -> ApprovalResolved:
        approval = pending.approval
        return ApprovalResolved(
            at=self._clock.now(),
            approval_id=approval.id,
            call_id=approval.call_id,
            conversation_id=approval.conversation_id,
            status=status,
            approver_id=console.principal.id,
            console_session_id=console.id,
            credential_id=credential_id,
            assertion=assertion if credential_id is not None else None,
            detail=detail,
        )

    def _grant(self, pending: Pending, scope: GrantScope, freed: Sequence[str]) -> Grant | None:
        if scope is GrantScope.ONCE:
            if freed:
                raise Refused("pins", "an approval for once pins every argument", 409)
            return None
        approval = pending.approval
        arguments: dict[str, Json] = orjson.loads(approval.arguments)
        if len(freed) > 1 or any(name not in arguments for name in freed):
            raise Refused("pins", "at most one argument that was shown may be left open", 409)
        now = self._clock.now()
        return Grant(
            id=self._entropy.identifier("grt_"),
            approval_id=approval.id,
            principal_id=approval.principal_id,
            session_id=approval.session_id,
            conversation_id=approval.conversation_id,
            turn_id=approval.turn_id if scope is GrantScope.TURN else None,
            scope=scope,
            tool=approval.tool,
            descriptor_digest=pending.descriptor_digest,
            pins={name: canonical_bytes(value) for name, value in arguments.items() if name not in freed},
            freed=tuple(freed),
            issued_at=now,
            expires_at=now + int(GRANT_SECONDS[scope] * 1000),
            max_uses=GRANT_USES[scope],
        )


def _statement_challenge(approval: Approval) -> bytes:
    return hashlib.sha256(approval.statement).digest()


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
