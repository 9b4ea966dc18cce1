"""Inference leases: short-lived tokens for `/v1`, each bound to session, conversation, turn and model.

A lease lives in memory only. It dies with its turn, its session, its expiry or this process, and when the policy no longer lets
its model be asked, by a rise of a label or another policy; whichever comes first takes every stream opened with it along:
whoever reads a stream watches `Lease.revoked`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gateway.core.budget import Exhausted, QuotaMeter
from gateway.core.errors import LedgerUnavailable, NotFound, Refused, TooManyRequests
from gateway.core.gate import POLICY_FROZEN
from gateway.core.ledger import InferenceFinished, InferenceRefused, InferenceTokenMinted, TokensReserved
from gateway.core.model import ModelRef, Session
from gateway.core.vocabulary import InferenceRefusal, PermissionMode, Profile, Reason
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation, Turn
from gateway.runtime.exposures import Exposures
from gateway.runtime.freeze_state import FreezeState
from gateway.runtime.ports import Clock, Entropy, IncompleteBackend, InferenceBackend, Ledger, ModelInfo, PolicyEngine
from gateway.runtime.quotas import Quotas
from gateway.runtime.usage import NOTHING_RESERVED, QuotaUsage, Reservation

TROUBLE_OF_A_MODEL = "its server does not answer"
"""For those who do not run the gateway: the reason may hold a setting or an address."""

LEASE_SECONDS = 300.0
"""A token of five minutes: the client asks again when a turn runs longer."""

LEASES_PER_TURN = 64
"""A loop of 8 rounds with 2 requests each needs 16; a flood gets no further."""


@dataclass(eq=False, slots=True)
class Lease:
    """What a token stands for. `expires_at` is epoch milliseconds, `deadline` the same on the monotonic clock."""

    session: Session
    conversation: Conversation
    turn: Turn
    model: ModelInfo
    expires_at: int
    deadline: float
    revoked: asyncio.Event = field(default_factory=asyncio.Event)

    def reference(self, nonce: str = "") -> ModelRef:
        """The model as a call's record names it: the gateway's own knowledge."""
        return ModelRef(self.model.id, self.model.backend, nonce, claimed=False)

    def revoke(self, reason: Reason) -> None:
        """Void the token and abort what runs on it."""
        self.revoked.set()


class InferenceBroker:
    """Mints and checks leases."""

    def __init__(
        self,
        *,
        backend: InferenceBackend,
        quotas: Quotas,
        usage: QuotaUsage,
        exposures: Exposures,
        policy: PolicyEngine,
        ledger: Ledger,
        connections: ConnectionRegistry,
        clock: Clock,
        entropy: Entropy,
        freeze: FreezeState,
    ) -> None:
        self._backend = backend
        self._freeze = freeze
        self._quotas = quotas
        self._usage = usage
        self._exposures = exposures
        self._policy = policy
        self._ledger = ledger
        self._connections = connections
        self._clock = clock
        self._entropy = entropy
        self._leases: dict[str, Lease] = {}

    @property
    def backend(self) -> InferenceBackend:
        """The models that the backend offers."""
        return self._backend

    async def models(self, session: Session) -> Sequence[ModelInfo]:
        """The models this session may use at its label. Why one would not answer now is for who runs the gateway."""
        subject = self._exposures.subject(session)
        tells_all = session.principal.profile is Profile.OPERATOR
        return [
            model if tells_all or not model.trouble else replace(model, trouble=TROUBLE_OF_A_MODEL)
            for model in await self._backend.models()
            if self._policy.may_infer(subject, local=model.local, label=subject.label).mode is PermissionMode.AUTO
        ]

    async def missing(self, session: Session) -> Sequence[tuple[str, str]]:
        """The models that are configured and not there, each by its name, with the reason.

        Only for who runs the gateway: the name may be a path or an address of this machine.
        """
        if session.principal.profile is not Profile.OPERATOR or not isinstance(self._backend, IncompleteBackend):
            return ()
        return await self._backend.missing()

    async def mint(self, session: Session, conversation: Conversation, turn: Turn, model_id: str) -> tuple[str, Lease]:
        """A token for one turn and model. Raises NotFound for a model that this session may not use, Refused `policyFrozen`."""
        if self._freeze.holding is not None:
            raise Refused("policyFrozen", POLICY_FROZEN.message)
        model = next((model for model in await self._backend.models() if model.id == model_id), None)
        if model is None or not self._may_ask(session, conversation, model):
            await self._record_refusal(session, conversation, turn, model, InferenceRefusal.MODEL)
            raise NotFound("unknown model")
        if len(turn.lent) + turn.lending >= LEASES_PER_TURN:
            await self._record_refusal(session, conversation, turn, model, InferenceRefusal.QUOTA)
            raise Refused("quotaExceeded", "too many inference tokens in this turn", 429)
        turn.begin_lending()
        try:
            return await self._lend(session, conversation, turn, model)
        finally:
            turn.end_lending()

    def check(self, secret: str) -> Lease | None:
        """The lease of a token that still stands, or None."""
        lease = self._leases.get(_hash(secret))
        if lease is None or not self.stands(lease):
            return None
        return lease

    async def admit(self, secret: str) -> Lease | None:
        """The lease of a token that still stands. That one no longer does is put on record."""
        lease = self._leases.get(_hash(secret))
        if lease is None or self.stands(lease):
            return lease
        await self.refuse(lease, InferenceRefusal.TOKEN)
        return None

    async def refuse(self, lease: Lease, reason: InferenceRefusal) -> None:
        """Put on record that a request under a token was refused."""
        await self._record_refusal(lease.session, lease.conversation, lease.turn, lease.model, reason)

    def stands(self, lease: Lease) -> bool:
        """Whether a lease may still be used: it has not run out, its turn and its session are live, and the policy in force lets
        its model be asked at the labels that session and conversation have now."""
        return self._clock.monotonic() < lease.deadline and self._is_backed(lease)

    def _is_backed(self, lease: Lease) -> bool:
        """The same for an answer that began in time, and may take longer than a token holds."""
        return (
            self._freeze.holding is None
            and not lease.revoked.is_set()
            and lease.conversation.turn is lease.turn
            and self._connections.is_live(lease.session.id, self._clock.now())
            and self._may_ask(lease.session, lease.conversation, lease.model)
        )

    def has_connection(self, lease: Lease, connection_id: str) -> bool:
        """Whether a page of the lease's session is still connected."""
        return self._connections.connection(lease.session.id, connection_id) is not None

    def judge_again(self) -> None:
        """A label rose or the policy changed, maybe for somebody else: void for good what nothing backs any more, and abort what
        streams under it."""
        for lease in self._leases.values():
            if not lease.revoked.is_set() and not self._is_backed(lease):
                lease.revoke(Reason.FORBIDDEN)

    def require_tokens(self, lease: Lease) -> None:
        """Raises TooManyRequests when a quota of tokens is used up."""
        self._usage.require_tokens(lease.session, lease.turn.id)

    async def reserve_tokens(self, lease: Lease, estimate: int) -> Reservation:
        """Set aside the tokens that a request may take. Raises TooManyRequests when a quota of them is used up; the answer that
        uses the last ones is finished."""
        await self._usage.recall(lease.session, lease.turn.id)
        reserved = self._usage.reserve(lease.session, lease.turn.id, {QuotaMeter.TOKENS: estimate})
        if isinstance(reserved, Exhausted):
            raise TooManyRequests(reserved.tell(self._clock.now()))
        return reserved

    async def record_reserved(self, lease: Lease, reserved: Reservation) -> Reservation:
        """Put on record what was set aside; gives what counts instead where that cannot be recorded. Nothing of an answer is
        passed on before: a gateway that is killed in the middle of one must not have given it for nothing."""
        if not reserved.uses:
            return reserved
        try:
            await self._ledger.append(TokensReserved(reserved.uses))
        except LedgerUnavailable:
            # An answer is no act. It is given, and counted once it has ended, as far as that can be recorded then.
            self._usage.give_back(reserved)
            return self._usage.note(lease.session, lease.turn.id, QuotaMeter.TOKENS)
        return reserved

    def begin(self, lease: Lease) -> str:
        """One chat request begins. Gives its nonce, which a call that comes of it may name."""
        nonce = self._entropy.identifier("inf_")
        lease.turn.begin_inference(lease.reference(nonce))
        return nonce

    async def finish(
        self,
        lease: Lease,
        outcome: str,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        *,
        estimated_tokens: int = 0,
        reserved: Reservation = NOTHING_RESERVED,
        nonce: str = "",
    ) -> None:
        """Record that one request ended: `completed`, `aborted` or `failed`. What the model did not live to count is
        taken from the session's tokens as estimated: breaking off just before the count must not make answers free."""
        counted = (prompt_tokens or 0) + (completion_tokens or 0)
        if reserved is NOTHING_RESERVED:
            reserved = self._usage.note(lease.session, lease.turn.id, QuotaMeter.TOKENS)
        used = self._usage.settle(reserved, {QuotaMeter.TOKENS: counted or estimated_tokens})
        await self._ledger.append(
            InferenceFinished(
                self._clock.now(),
                lease.session.principal.id,
                lease.conversation.id,
                lease.turn.id,
                lease.model.id,
                outcome,
                prompt_tokens,
                completion_tokens,
                nonce,
                used,
            )
        )

    async def _lend(self, session: Session, conversation: Conversation, turn: Turn, model: ModelInfo) -> tuple[str, Lease]:
        await self._usage.recall(session, turn.id)
        self._usage.require_tokens(session, turn.id)
        self._quotas.charge_storage(session)
        secret = self._entropy.secret()
        now = self._clock.now()
        lease = Lease(
            session=session,
            conversation=conversation,
            turn=turn,
            model=model,
            expires_at=now + int(LEASE_SECONDS * 1000),
            deadline=self._clock.monotonic() + LEASE_SECONDS,
        )
        token_hash = _hash(secret)
        await self._ledger.append(
            InferenceTokenMinted(
                now, session.principal.id, session.id, conversation.id, turn.id, model.id, token_hash, lease.expires_at
            )
        )
        self._sweep()
        self._leases[token_hash] = lease
        turn.lend(lease, lease.reference())
        # The label may have risen while the record was on its way.
        self.judge_again()
        return secret, lease

    def _may_ask(self, session: Session, conversation: Conversation, model: ModelInfo) -> bool:
        subject = self._exposures.subject(session)
        label = max(subject.label, conversation.exposure.label)
        return self._policy.may_infer(subject, local=model.local, label=label).mode is PermissionMode.AUTO

    async def _record_refusal(
        self, session: Session, conversation: Conversation, turn: Turn, model: ModelInfo | None, reason: InferenceRefusal
    ) -> None:
        try:
            self._quotas.charge_storage(session)
        except TooManyRequests:
            # No room is left for what this session is refused.
            return
        model_id = None if model is None else model.id
        await self._ledger.append(
            InferenceRefused(self._clock.now(), session.principal.id, session.id, conversation.id, turn.id, model_id, reason)
        )

    def _sweep(self) -> None:
        # One whose turn is still open is kept though it was revoked or has run out: a request under it is put on record as
        # refused, and an answer that began in time may be under way, which is judged again when a label rises.
        self._leases = {key: lease for key, lease in self._leases.items() if lease.conversation.turn is lease.turn}


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
