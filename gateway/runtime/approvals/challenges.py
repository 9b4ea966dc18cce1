"""Single-use challenges for answers to approvals, each for one console session."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from gateway.core.approval import Approval
from gateway.core.errors import Refused
from gateway.runtime.approvals.pending import Pending
from gateway.runtime.ports import Clock, ConsoleSession, Entropy

CHALLENGE_SECONDS = 60.0
"""docs/PROTOCOL.md section 6."""

CHALLENGES_AT_ONCE = 16
"""Of one console session for one question: as many tabs as show it. A further one takes the place of the oldest."""


class Challenges:
    """Issues and spends them."""

    def __init__(self, *, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._issued: dict[str, dict[tuple[str, str], float]] = {}

    def issue(self, pending: Pending, console: ConsoleSession) -> str:
        """A challenge for one answer of this console session; the statement's digest where a passkey signs."""
        approval = pending.approval
        value = _base64url(statement_challenge(approval)) if approval.needs_passkey else self._entropy.secret()
        now = self._clock.monotonic()
        issued = self._issued.get(approval.id, {})
        kept = {key: until for key, until in issued.items() if until > now}
        kept.pop((console.id, value), None)
        own = [key for key in kept if key[0] == console.id]
        for key in own[: max(0, len(own) + 1 - CHALLENGES_AT_ONCE)]:
            del kept[key]
        kept[console.id, value] = min(now + CHALLENGE_SECONDS, pending.deadline)
        self._issued[approval.id] = kept
        return value

    def spend(self, approval: Approval, console: ConsoleSession, challenge: str) -> None:
        """Use one up. Raises Refused `challengeUnknown` or `challengeExpired`."""
        until = self._issued.get(approval.id, {}).pop((console.id, challenge), None)
        if until is None:
            raise Refused("challengeUnknown", "that challenge was not issued to you or is used up; open the approval again", 409)
        if self._clock.monotonic() >= until:
            raise Refused("challengeExpired", "that challenge has expired; open the approval again", 410)

    def spend_all(self, shown: Sequence[tuple[Approval, str]], console: ConsoleSession) -> None:
        """Use up one for each of these approvals, or none. Raises as `spend`."""
        issued = self._issued
        unknown = next((pair for pair in shown if (console.id, pair[1]) not in issued.get(pair[0].id, {})), None)
        for approval, challenge in shown if unknown is None else (unknown,):
            self.spend(approval, console, challenge)

    def forget(self, approval: Approval) -> None:
        """Nobody can answer the approval any more."""
        self._issued.pop(approval.id, None)


def statement_challenge(approval: Approval) -> bytes:
    """What a passkey signs: SHA-256 of the canonical statement."""
    return hashlib.sha256(approval.statement).digest()


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
