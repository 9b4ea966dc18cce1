"""Plans: calls of one turn of which each runs after the one before it, and which people answer together. Pure.

Where a call stands is in its own statement, so that it is displayed and signed. A passkey that approves several statements at
once signs the digest of the ordered list of their digests. That list is canonical JSON with a `type` that no statement has, so a
signature over a list never passes for one over a statement, nor the other way round.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.canonical import Json, canonical_bytes

PLAN_TYPE: Final = "countersign.plan"
PLAN_VERSION: Final = 1

PLAN_STEPS: Final = 8
"""Calls of one plan: as many as a turn has rounds, and as a person reads before they answer."""


@dataclass(frozen=True, slots=True)
class PlanPlace:
    """Where a call stands: `first` is the id of the call that the plan begins with, `after` of the one that it follows, and
    `step` counts from 1. The first call has no place, for nobody knows yet that another one will follow."""

    first: str
    after: str
    step: int

    def described(self) -> dict[str, Json]:
        """What a statement says of it."""
        return {"first": self.first, "after": self.after, "step": self.step}


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """One answer to several questions: the digests of their statements, in order, and which of them this one is."""

    statements: tuple[str, ...]
    index: int

    def described(self) -> dict[str, Json]:
        """What the record of an answer says of it."""
        return {"statements": list(self.statements), "index": self.index}


def compose_plan(statements: Sequence[str]) -> bytes:
    """The canonical bytes that a passkey signs for all of these statements, by their digests, in this order."""
    return canonical_bytes({"type": PLAN_TYPE, "v": PLAN_VERSION, "statements": list(statements)})


def signed_digest(payload: Mapping[str, Any], statement_digest: str) -> bytes:
    """The SHA-256 that a passkey has to have signed for an answer to that statement: the statement's own, or that of the plan
    that the record of the answer names. Empty, and so never signed, where the plan is none, or has another
    statement in that place."""
    if "plan" not in payload:
        return bytes.fromhex(statement_digest)
    plan: Mapping[str, Any] = payload["plan"]
    statements: list[str] = plan["statements"]
    index: int = plan["index"]
    if not 1 < len(set(statements)) == len(statements) <= PLAN_STEPS or not 0 <= index < len(statements):
        return b""
    return hashlib.sha256(compose_plan(statements)).digest() if statements[index] == statement_digest else b""
