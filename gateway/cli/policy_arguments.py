"""Which policy a command means: a folder, or a version that was in force."""

from __future__ import annotations

from pathlib import Path

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import from_texts, read_documents
from gateway.policy_records import RecordedPolicies

SHORT = 12
"""Digits of a version that are printed: enough to tell apart all that one gateway will ever have."""


def resolve(named: str | None, default: Path, recorded: RecordedPolicies) -> CedarPolicy:
    """The policy that a person named by a folder or by digits of its version; the one in the settings for None.

    Raises Misconfigured or PolicyUnusable.
    """
    if named is None:
        return CedarPolicy(default)
    if Path(named).is_dir():
        return CedarPolicy(read_documents(Path(named)))
    return CedarPolicy(from_texts(recorded.texts(recorded.find(named))))
