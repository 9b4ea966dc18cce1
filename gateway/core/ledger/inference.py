"""The model: which token was minted for it, and how each request to it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from gateway.core.audit import Leaf, header
from gateway.core.budget import QuotaUse
from gateway.core.vocabulary import InferenceRefusal

__all__ = [
    "REQUEST_OUTCOMES",
    "InferenceFinished",
    "InferenceRefused",
    "InferenceTokenMinted",
    "TokensReserved",
]

REQUEST_OUTCOMES: Final = ("completed", "aborted", "failed")
"""How a request to a model can end, as its record says."""


@dataclass(frozen=True, slots=True)
class InferenceTokenMinted:
    """A short-lived token for `/v1`, bound to session, conversation, turn and model."""

    EVENT: ClassVar[str] = "inference-token:minted"

    at: int
    principal_id: str
    session_id: str
    conversation_id: str
    turn_id: str
    model_id: str
    token_hash: str
    expires_at: int

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "sessionId": self.session_id,
                "conversationId": self.conversation_id,
                "turnId": self.turn_id,
                "modelId": self.model_id,
                "expiresAt": self.expires_at,
            }
        )


@dataclass(frozen=True, slots=True)
class TokensReserved:
    """A request through `/v1` begins: what is set aside for it of quotas. In the tables only; its end is what the log has."""

    uses: tuple[QuotaUse, ...]

    def leaf(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class InferenceFinished:
    """One request through `/v1` ended: `completed`, `aborted` or `failed`, with the sidecar's own counts. `nonce` is what a
    call that came of it may name; requests that no call can come of have none."""

    EVENT: ClassVar[str] = "inference:finished"

    at: int
    principal_id: str
    conversation_id: str
    turn_id: str
    model_id: str
    outcome: str
    prompt_tokens: int | None
    completion_tokens: int | None
    nonce: str = ""
    used: tuple[QuotaUse, ...] = ()
    """What it came to beyond what was set aside, or below. In the tables only."""

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "conversationId": self.conversation_id,
                "turnId": self.turn_id,
                "modelId": self.model_id,
                "outcome": self.outcome,
                "promptTokens": self.prompt_tokens,
                "completionTokens": self.completion_tokens,
                # Absent where there was none, as in every log written before requests had one.
                **({"nonce": self.nonce} if self.nonce else {}),
            }
        )


@dataclass(frozen=True, slots=True)
class InferenceRefused:
    """A model was not asked. `model_id` is None for a model that the gateway does not have."""

    EVENT: ClassVar[str] = "inference:refused"

    at: int
    principal_id: str
    session_id: str
    conversation_id: str
    turn_id: str
    model_id: str | None
    reason: InferenceRefusal

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "sessionId": self.session_id,
                "conversationId": self.conversation_id,
                "turnId": self.turn_id,
                "modelId": self.model_id,
                "reason": self.reason.value,
            }
        )


InferenceEntry = InferenceTokenMinted | TokensReserved | InferenceFinished | InferenceRefused
