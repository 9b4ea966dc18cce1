"""Inference leases: short-lived tokens for `/v1`, each bound to session, conversation, turn and model.

A lease lives in memory only. It dies with its turn, its session, its expiry or this process, whichever comes first, and
takes every stream opened with it along: whoever reads a stream watches `Lease.revoked`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import InferenceFinished, InferenceTokenMinted
from gateway.core.model import Session
from gateway.core.vocabulary import PermissionMode
from gateway.runtime.allowances import Allowances
from gateway.runtime.connections import Hub
from gateway.runtime.ports import Clock, Entropy, InferenceBackend, Ledger, ModelInfo, PolicyEngine, PolicySubject

if TYPE_CHECKING:
    from gateway.core.vocabulary import Reason
    from gateway.runtime.conversations import Conversation, Turn

LEASE_SECONDS = 300.0
"""Backend.md section A: a five-minute token; the client asks again when a turn runs longer."""

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

    def revoke(self, _reason: Reason) -> None:
        """Void the token and abort what runs on it."""
        self.revoked.set()


class InferenceDesk:
    """Mints and checks leases."""

    def __init__(
        self,
        *,
        backend: InferenceBackend,
        allowances: Allowances,
        policy: PolicyEngine,
        ledger: Ledger,
        hub: Hub,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self._backend = backend
        self._allowances = allowances
        self._policy = policy
        self._ledger = ledger
        self._hub = hub
        self._clock = clock
        self._entropy = entropy
        self._leases: dict[str, Lease] = {}

    @property
    def backend(self) -> InferenceBackend:
        """The models behind the desk."""
        return self._backend

    async def models(self, session: Session) -> Sequence[ModelInfo]:
        """The models this session may use at its label."""
        subject = PolicySubject(session.principal, session.label)
        return [
            model
            for model in await self._backend.models()
            if self._policy.may_infer(subject, local=model.local, label=session.label).mode is PermissionMode.AUTO
        ]

    async def mint(self, session: Session, conversation: Conversation, turn: Turn, model_id: str) -> tuple[str, Lease]:
        """A token for one turn and model. Raises NotFound for a model that this session may not use."""
        subject = PolicySubject(session.principal, session.label)
        model = next((model for model in await self._backend.models() if model.id == model_id), None)
        label = max(session.label, conversation.exposure.label)
        if model is None or self._policy.may_infer(subject, local=model.local, label=label).mode is not PermissionMode.AUTO:
            raise NotFound("unknown model")
        if len(turn.leases) >= LEASES_PER_TURN:
            raise Refused("quotaExceeded", "too many inference tokens in this turn", 429)
        self._allowances.demand_tokens(session)
        self._allowances.take_room(session)
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
        turn.model_id = model.id
        turn.leases.add(lease)
        return secret, lease

    def check(self, secret: str) -> Lease | None:
        """The lease of a token that still stands, or None."""
        lease = self._leases.get(_hash(secret))
        if lease is None or not self.stands(lease):
            return None
        return lease

    def stands(self, lease: Lease) -> bool:
        """Whether a lease may still be used."""
        return (
            not lease.revoked.is_set()
            and self._clock.monotonic() < lease.deadline
            and lease.conversation.turn is lease.turn
            and self._hub.is_live(lease.session.id, self._clock.now())
        )

    def demand_tokens(self, lease: Lease) -> None:
        """Raises TooManyRequests when the lease's session has used its tokens up."""
        self._allowances.demand_tokens(lease.session)

    async def finish(
        self,
        lease: Lease,
        outcome: str,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        *,
        estimated_tokens: int = 0,
    ) -> None:
        """Record that one request ended: `completed`, `aborted` or `failed`. What the model did not live to count is
        taken from the session's tokens as estimated: breaking off just before the count must not make answers free."""
        counted = (prompt_tokens or 0) + (completion_tokens or 0)
        self._allowances.take_tokens(lease.session, counted or estimated_tokens)
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
            )
        )

    def _sweep(self) -> None:
        self._leases = {key: lease for key, lease in self._leases.items() if self.stands(lease)}


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
