"""What the runtime needs from the world, in one module for each kind of thing.

Each port has one contract suite in `tests/adapters`, run over the fake and the real one. Times are epoch milliseconds unless
a name says otherwise. Ports raise only errors of `gateway.core.errors`.
"""

from __future__ import annotations

from gateway.runtime.ports.identity import CookieSigner, NewPasskey, PasskeyVerifier, VerifiedAssertion
from gateway.runtime.ports.inference import InferenceBackend, InferenceStream, ModelInfo, ModelPhase, ModelState
from gateway.runtime.ports.ledger import Ledger
from gateway.runtime.ports.observing import Observer, Step
from gateway.runtime.ports.policy import PolicyEngine, PolicySubject, PolicyVerdict, ProfileLimits
from gateway.runtime.ports.recorded import (
    AuditQuery,
    AuditRow,
    CallRecord,
    CallState,
    ConsoleSession,
    ConversationRecord,
    EnrolmentOffer,
    KeptResult,
    LoadedPolicy,
    OpenApproval,
    RecordedDecision,
    StoredClientGrant,
    StoredSignIn,
    UnfinishedCall,
)
from gateway.runtime.ports.records import (
    ApprovalRecords,
    AuditRecords,
    CallRecords,
    ClientRecords,
    ConversationRecords,
    DispatchRecords,
    GrantRecords,
    GrantReviewRecords,
    KeptRecords,
    LiveSessionRecords,
    OpenApprovalRecords,
    PasskeyRecords,
    PeopleRecords,
    QuotaRecords,
    ReadinessRecords,
    Records,
    RecoveryRecords,
    SessionRecords,
    SourceRecords,
)
from gateway.runtime.ports.sign_ins import PreparedSignIn, SignInHost, SignInReply
from gateway.runtime.ports.sources import OnOffer, SecretSealer, SecretShelf, SourceHost, SourcePhase, SourceState
from gateway.runtime.ports.system import Clock, Entropy
from gateway.runtime.ports.tools import ArgumentFault, Elicit, Toolbox, ToolContext

__all__ = [
    "ApprovalRecords",
    "ArgumentFault",
    "AuditQuery",
    "AuditRecords",
    "AuditRow",
    "CallRecord",
    "CallRecords",
    "CallState",
    "ClientRecords",
    "Clock",
    "ConsoleSession",
    "ConversationRecord",
    "ConversationRecords",
    "CookieSigner",
    "DispatchRecords",
    "Elicit",
    "EnrolmentOffer",
    "Entropy",
    "GrantRecords",
    "GrantReviewRecords",
    "InferenceBackend",
    "InferenceStream",
    "KeptRecords",
    "KeptResult",
    "Ledger",
    "LiveSessionRecords",
    "LoadedPolicy",
    "ModelInfo",
    "ModelPhase",
    "ModelState",
    "NewPasskey",
    "Observer",
    "OnOffer",
    "OpenApproval",
    "OpenApprovalRecords",
    "PasskeyRecords",
    "PasskeyVerifier",
    "PeopleRecords",
    "PolicyEngine",
    "PolicySubject",
    "PolicyVerdict",
    "PreparedSignIn",
    "ProfileLimits",
    "QuotaRecords",
    "ReadinessRecords",
    "RecordedDecision",
    "Records",
    "RecoveryRecords",
    "SecretSealer",
    "SecretShelf",
    "SessionRecords",
    "SignInHost",
    "SignInReply",
    "SourceHost",
    "SourcePhase",
    "SourceRecords",
    "SourceState",
    "Step",
    "StoredClientGrant",
    "StoredSignIn",
    "ToolContext",
    "Toolbox",
    "UnfinishedCall",
    "VerifiedAssertion",
]
