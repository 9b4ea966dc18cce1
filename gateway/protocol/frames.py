"""The frames of both origins: the JSON-RPC 2.0 envelope and one row per method and notification.

Only the methods in these tables exist: the unknown-method answer, the schema for the browser and the tables of handlers
are all derived from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from gateway.protocol import agent_methods as agent
from gateway.protocol import audit_methods as audit
from gateway.protocol import backup_methods as backups
from gateway.protocol import client_methods as clients
from gateway.protocol import console_methods as console
from gateway.protocol import elicitation_methods as elicitation
from gateway.protocol import erasure_methods as erasure
from gateway.protocol import explain_methods as explain
from gateway.protocol import notifications
from gateway.protocol import overview_methods as overview
from gateway.protocol import people_methods as people
from gateway.protocol import plan_methods as plans
from gateway.protocol import policy_methods as policy
from gateway.protocol import push_methods as push
from gateway.protocol import setting_methods as settings
from gateway.protocol import source_methods as sources
from gateway.protocol.shapes import WireToolResult
from gateway.protocol.wire import JsonObject, Nothing, Wire

SUBPROTOCOL = "countersign.v1"

MAX_MESSAGE_BYTES = 256 * 1024
"""docs/PROTOCOL.md section 2, the largest message in either direction, in UTF-8 bytes."""

MAX_ID_LENGTH = 128

RequestId = Annotated[str, Field(max_length=MAX_ID_LENGTH)] | int
"""Chosen by the client. JSON-RPC allows null; this contract does not."""


class Request(Wire):
    """One call of one method, as a client sends it."""

    jsonrpc: Literal["2.0"]
    id: RequestId
    method: str
    params: JsonObject | None = None


class ErrorData(Wire):
    """The stable code of an error, in addition to its number."""

    code: str


class ErrorBody(Wire):
    """A JSON-RPC error. `message` is safe to show."""

    code: int
    message: str
    data: ErrorData


class Success(Wire):
    """The answer to a request."""

    jsonrpc: Literal["2.0"]
    id: RequestId
    result: JsonObject


class Failure(Wire):
    """The answer to a message that is no well-formed call of a known method; `id` is null where none could be read."""

    jsonrpc: Literal["2.0"]
    id: RequestId | None
    error: ErrorBody


class Notification(Wire):
    """A message of the gateway that answers no request."""

    jsonrpc: Literal["2.0"]
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class MethodShape:
    """The parameters and the result of a method."""

    params: type[Wire]
    result: type[Wire]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The methods and notifications of one origin's socket."""

    methods: Mapping[str, MethodShape]
    notifications: Mapping[str, type[Wire]]


AGENT = Dialect(
    methods=MappingProxyType(
        {
            "session/describe": MethodShape(Nothing, agent.SessionDescription),
            "conversations/open": MethodShape(agent.ConversationOpening, agent.WireConversationOpened),
            "conversations/list": MethodShape(agent.ConversationPage, agent.ConversationList),
            "conversations/search": MethodShape(agent.MessageSearch, agent.FoundMessages),
            "conversations/rename": MethodShape(agent.ConversationTitle, agent.ConversationHead),
            "conversations/delete": MethodShape(agent.ConversationRef, Nothing),
            "conversations/export": MethodShape(agent.ConversationRef, agent.ConversationExport),
            "conversations/fork": MethodShape(agent.ConversationFork, agent.ConversationForked),
            "messages/append": MethodShape(agent.MessageAppending, agent.WireMessageAppended),
            "tools/describe": MethodShape(agent.ConversationRef, agent.ToolList),
            "turns/begin": MethodShape(agent.TurnBeginning, agent.WireSnapshotIssued),
            "turns/refresh": MethodShape(agent.TurnRef, agent.WireSnapshotIssued),
            "turns/end": MethodShape(agent.WireTurnEnding, Nothing),
            "turns/cancel": MethodShape(agent.TurnRef, agent.TurnCancelled),
            "tools/invoke": MethodShape(agent.WireToolRequest, WireToolResult),
            "tools/cancel": MethodShape(agent.CallRef, Nothing),
            "tools/list-calls": MethodShape(agent.ConversationRef, agent.CallList),
            "inference/token": MethodShape(agent.InferenceTokenRequest, agent.InferenceToken),
            "grants/list": MethodShape(Nothing, agent.GrantList),
            "grants/revoke": MethodShape(agent.GrantRef, Nothing),
        }
    ),
    notifications=MappingProxyType(
        {
            "snapshot/revoked": notifications.SnapshotRevokedParams,
            "approvals/requested": notifications.ApprovalRequestedParams,
            "approvals/changed": notifications.ApprovalChangedParams,
            "approvals/resolved": notifications.ApprovalResolvedParams,
            "tools/progress": notifications.ToolProgressParams,
            "session/ended": notifications.SessionEndedParams,
            "policy/changed": notifications.PolicyChangedParams,
        }
    ),
)
"""docs/PROTOCOL.md section 5. No method here can approve a call."""

CONSOLE = Dialect(
    methods=MappingProxyType(
        {
            "session/describe": MethodShape(Nothing, console.ConsoleDescription),
            "approvals/list": MethodShape(console.ApprovalPage, console.ApprovalList),
            "approvals/get": MethodShape(console.ApprovalRef, console.ApprovalQuestion),
            "approvals/decide": MethodShape(console.ApprovalAnswer, console.ApprovalDecided),
            "approvals/get-plan": MethodShape(console.ApprovalRef, plans.PlanQuestion),
            "approvals/decide-plan": MethodShape(plans.PlanAnswerParams, plans.PlanDecided),
            "elicitations/list": MethodShape(Nothing, elicitation.WireElicitations),
            "elicitations/answer": MethodShape(elicitation.WireElicitationAnswer, Nothing),
            "turns/allow-questions": MethodShape(console.OpenTurnRef, Nothing),
            "sessions/allow-questions": MethodShape(console.AgentSessionRef, Nothing),
            "grants/list": MethodShape(Nothing, agent.GrantList),
            "grants/revoke": MethodShape(agent.GrantRef, Nothing),
            "passkeys/list": MethodShape(Nothing, console.PasskeyList),
            "passkeys/rename": MethodShape(console.PasskeyName, Nothing),
            "passkeys/remove": MethodShape(console.PasskeyRef, Nothing),
            "audit/list": MethodShape(console.AuditPage, console.AuditList),
            "audit/verify": MethodShape(Nothing, console.AuditVerification),
            "audit/erase": MethodShape(erasure.ErasureRequest, erasure.ErasureDone),
            "audit/calls": MethodShape(audit.CallPageRequest, audit.AuditedCallList),
            "audit/count": MethodShape(audit.CallCounting, audit.CallCount),
            "audit/choices": MethodShape(Nothing, audit.CallChoices),
            "audit/call": MethodShape(audit.AuditedCallRef, audit.CallDetails),
            "audit/conversations": MethodShape(Nothing, audit.RecentConversations),
            "audit/compare": MethodShape(audit.ConversationPair, audit.ConversationComparison),
            "audit/load": MethodShape(audit.AuditSpan, audit.AuditLoad),
            "audit/models": MethodShape(audit.AuditSpan, audit.AuditModels),
            "audit/sinks": MethodShape(Nothing, audit.AuditSinks),
            "policy/describe": MethodShape(Nothing, console.PolicyDescription),
            "policy/get": MethodShape(policy.PolicyVersionRef, policy.PolicyText),
            "policy/history": MethodShape(policy.PolicyHistoryPage, policy.PolicyHistory),
            "policy/validate": MethodShape(policy.PolicyDraftText, policy.PolicyCheck),
            "policy/compare": MethodShape(policy.PolicyComparing, policy.PolicyComparisonView),
            "policy/rehearse": MethodShape(policy.PolicyRehearsing, policy.PolicyRehearsal),
            "policy/stop-rehearsal": MethodShape(Nothing, policy.RehearsalStopped),
            "policy/shadow": MethodShape(Nothing, policy.PolicyShadowState),
            "policy/start-shadow": MethodShape(policy.ShadowStarting, policy.PolicyShadowState),
            "policy/stop-shadow": MethodShape(Nothing, policy.PolicyShadowState),
            "policy/propose": MethodShape(policy.PolicyProposing, policy.WirePolicyProposed),
            "policy/proposals": MethodShape(Nothing, policy.ProposalList),
            "policy/open": MethodShape(policy.ProposalRef, policy.ProposalOpened),
            "policy/sign": MethodShape(policy.ProposalSigning, policy.PolicySigned),
            "policy/withdraw": MethodShape(policy.ProposalRef, Nothing),
            "policy/freeze": MethodShape(policy.FreezeOrder, policy.FreezeView),
            "policy/thaw-question": MethodShape(Nothing, policy.ThawQuestion),
            "policy/thaw": MethodShape(policy.ThawAnswer, Nothing),
            "policy/overview": MethodShape(Nothing, overview.PolicyOverview),
            "policy/explain": MethodShape(explain.CallExplaining, explain.CallExplanation),
            "policy/switches": MethodShape(Nothing, policy.PolicySwitches),
            "policy/turn-switch": MethodShape(policy.SwitchTurning, policy.SwitchDraft),
            "sources/list": MethodShape(Nothing, sources.SourceList),
            "sources/list-tools": MethodShape(sources.SourceToolPage, sources.SourceToolList),
            "sources/add": MethodShape(sources.NewSource, sources.WireSource),
            "sources/read-configuration": MethodShape(sources.ConfigurationText, sources.ConfigurationPreview),
            "sources/import": MethodShape(sources.ConfigurationImport, sources.SourceList),
            "sources/test": MethodShape(sources.SourceRef, sources.WireSource),
            "sources/change": MethodShape(sources.SourceChange, sources.WireSource),
            "sources/switch": MethodShape(sources.SourceSwitch, sources.WireSource),
            "sources/remove": MethodShape(sources.SourceRef, Nothing),
            "sources/decide": MethodShape(sources.SourceDecisions, sources.WireSource),
            "sources/sign-in": MethodShape(sources.SourceRef, sources.SignInLocation),
            "sources/finish-sign-in": MethodShape(sources.SignInReturn, sources.WireSource),
            "sources/sign-out": MethodShape(sources.SourceRef, sources.SignOutAnswer),
            "secrets/list": MethodShape(Nothing, sources.SecretList),
            "secrets/store": MethodShape(sources.NewSecret, Nothing),
            "secrets/remove": MethodShape(sources.SecretRef, Nothing),
            "settings/list": MethodShape(Nothing, settings.SettingList),
            "settings/ask": MethodShape(settings.SettingWish, settings.SettingQuestionView),
            "settings/change": MethodShape(settings.SettingAnswer, settings.SettingList),
            "push/list": MethodShape(Nothing, push.PushState),
            "push/add": MethodShape(push.NewPushDevice, push.PushState),
            "push/remove": MethodShape(push.PushDeviceRef, push.PushState),
            "push/test": MethodShape(push.PushDeviceRef, Nothing),
            "backups/list": MethodShape(Nothing, backups.BackupList),
            "backups/make": MethodShape(Nothing, backups.BackupMade),
            "clients/list": MethodShape(Nothing, clients.ClientList),
            "clients/disconnect": MethodShape(clients.ClientRef, Nothing),
            "people/list": MethodShape(Nothing, people.PersonList),
            "people/invite": MethodShape(people.Invitation, people.InvitationLink),
            "people/set-profile": MethodShape(people.ProfileChoice, Nothing),
            "people/suspend": MethodShape(people.PersonRef, Nothing),
            "people/resume": MethodShape(people.PersonRef, Nothing),
            "people/remove": MethodShape(people.PersonRef, Nothing),
            "sessions/list": MethodShape(Nothing, people.SessionList),
            "sessions/end": MethodShape(people.SessionRef, Nothing),
            "sessions/restrict": MethodShape(people.SessionLabelChoice, Nothing),
        }
    ),
    notifications=MappingProxyType(
        {
            "approvals/requested": notifications.ApprovalRequestedParams,
            "approvals/changed": notifications.ApprovalChangedParams,
            "approvals/resolved": notifications.ApprovalResolvedParams,
            "approvals/break-glass": notifications.BreakGlassParams,
            "grants/changed": notifications.GrantsChangedParams,
            "elicitations/requested": elicitation.ElicitationRequestedParams,
            "elicitations/resolved": elicitation.ElicitationResolvedParams,
            "session/ended": notifications.SessionEndedParams,
            "settings/changed": settings.SettingsChangedParams,
            "sources/changed": notifications.SourcesChangedParams,
            "policy/changed": notifications.PolicyChangedParams,
            "policy/state": policy.PolicyStateParams,
            "policy/rehearsing": policy.RehearsalProgressParams,
        }
    ),
)
"""docs/PROTOCOL.md section 6, and the other methods of the console pages."""
