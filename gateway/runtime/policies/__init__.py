"""The life of a policy version: proposed, signed and put in force, frozen and thawed."""

from __future__ import annotations

from gateway.runtime.policies.assembly import Policies, assemble_policies
from gateway.runtime.policies.freezing import PolicyFreezing
from gateway.runtime.policies.proposals import PolicyProposal, ProposalAnswer, Signable
from gateway.runtime.policies.publishing import PolicyPublishing, PolicySource, SignatureAnswer
from gateway.runtime.policies.shadowing import PolicyShadow, ShadowState

__all__ = [
    "Policies",
    "PolicyFreezing",
    "PolicyProposal",
    "PolicyPublishing",
    "PolicyShadow",
    "PolicySource",
    "ProposalAnswer",
    "ShadowState",
    "Signable",
    "SignatureAnswer",
    "assemble_policies",
]
