// Generated from protocol.schema.json by scripts/gen-protocol.mjs. Never edited by hand.

/**
 * A click on the console, or a passkey over the exact statement.
 */
export type ApprovalKind = "consent" | "stepUp";
/**
 * How long an approval lasts.
 */
export type GrantScope = "once" | "turn" | "session";
/**
 * Within what an argument may vary under a lasting approval.
 */
export type PatternKind = "folder" | "host" | "atMost";
/**
 * The state of an approval; every state but pending is final.
 */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "cancelled";
/**
 * What may be shown as what it is; everything else is bytes to be saved. SVG is not among them, for it is a document with
 * scripts and links.
 */
export type MediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/octet-stream";
/**
 * How a call closed.
 */
export type Outcome =
  | "ok"
  | "refusedByPolicy"
  | "deniedByUser"
  | "stepUpFailed"
  | "executionError"
  | "timedOut"
  | "cancelled"
  | "invalidArguments"
  | "unknownTool";
/**
 * Why, where the outcome alone does not say it (docs/PROTOCOL.md section 7).
 */
export type Reason =
  | "replayConflict"
  | "turnClosed"
  | "staleSnapshot"
  | "snapshotExpired"
  | "wrongConnection"
  | "notAdvertised"
  | "policyChanged"
  | "policyFrozen"
  | "schema"
  | "quotaExceeded"
  | "forbidden"
  | "denied"
  | "approvalExpired"
  | "assertionInvalid"
  | "noCredential"
  | "sessionEnded"
  | "toolTimeout"
  | "toolError"
  | "sourceUnavailable"
  | "signInNeeded"
  | "sandboxUnavailable"
  | "notInOrder"
  | "earlierCallFailed"
  | "ledgerUnavailable"
  | "outcomeUnknown";
/**
 * Whether a result is trusted, by the tool's own definition; never by what the result says.
 */
export type Trust = "trusted" | "untrusted";
/**
 * The author of a message.
 */
export type Role = "system" | "user" | "assistant" | "tool";
/**
 * What kind of effect a tool has; the policy's main handle.
 */
export type Category = "read" | "write" | "destructive" | "network" | "execute" | "admin";
/**
 * What a call needs before it may run, from no approval to never allowed. `strictness` orders them.
 */
export type PermissionMode = "auto" | "consent" | "stepUp" | "forbidden";
/**
 * The loop that a model can carry.
 */
export type Tier = "native" | "chained" | "single";
/**
 * Who a principal is to the policy.
 */
export type Profile = "operator" | "guest" | "anonymous" | "auditor";
/**
 * What a person is to an approval.
 */
export type ApproverStanding = "mayApprove" | "hasApproved" | "requesterExcluded" | "notAnApprover";
/**
 * In what two calls differ.
 */
export type CallDifference = "tool" | "arguments" | "decision" | "rules" | "outcome";
/**
 * What comparing two calls at the same place of two conversations led to.
 */
export type ComparisonFinding = "same" | "different" | "cannotBeTold" | "firstOnly" | "secondOnly";
/**
 * What a person does with a form, in MCP's words.
 */
export type ElicitationAction = "accept" | "decline" | "cancel";
/**
 * The formats that MCP allows for a text.
 */
export type TextFormat = "email" | "uri" | "date" | "date-time";
/**
 * What goes into a field.
 */
export type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "choices";
/**
 * What may be done with a call whose outcome is unknown after a crash. Nothing re-runs by itself.
 */
export type Recovery = "pure" | "idempotent" | "probe" | "unsafe";
/**
 * How a switch stands.
 */
export type SwitchState = "off" | "on" | "changedByHand";
/**
 * A wish that people have without wanting to write a rule.
 */
export type PolicySwitch =
  "askOutsideFolders" | "letHostsThrough" | "passkeyForWrites" | "neverDelete" | "noNetworkAfterUntrusted";
/**
 * What has to be told to turn a switch on.
 */
export type SwitchTakes = "nothing" | "folders" | "hosts";
/**
 * What kind of other side a source is.
 */
export type SourceKind = "mcp" | "http" | "sql";
/**
 * Whether a tool may be called, as far as people decided.
 */
export type Standing = "proposed" | "inUse" | "keptOut" | "quarantined";
/**
 * How a form ended: the audit record's word.
 */
export type ElicitationStatus = "accepted" | "declined" | "cancelled" | "expired" | "withdrawn";
/**
 * The stable word of an error: the reason of a refusal, or a code.
 */
export type ErrorWord =
  | "alreadyDecided"
  | "alreadySigned"
  | "ambiguous"
  | "approvalExpired"
  | "arguments"
  | "assertionInvalid"
  | "assertionMissing"
  | "auditorReadsOnly"
  | "backupEligibility"
  | "body_too_large"
  | "breakGlassForbidden"
  | "challenge"
  | "challengeExpired"
  | "challengeUnknown"
  | "changed"
  | "changedByHand"
  | "code"
  | "conflict"
  | "counter"
  | "credential"
  | "crossOrigin"
  | "damaged"
  | "declared"
  | "deviceLink"
  | "enrolment"
  | "forbidsItsAuthor"
  | "gateway_error"
  | "gateway_stopping"
  | "hasApproved"
  | "internal"
  | "internal_error"
  | "invalid_params"
  | "invalid_request"
  | "invalid_token"
  | "isEnrolled"
  | "isOpen"
  | "isSuspended"
  | "label"
  | "lastOperator"
  | "lastPasskey"
  | "ledger_damaged"
  | "ledger_superseded"
  | "ledger_unavailable"
  | "malformed"
  | "malformed_json"
  | "message_too_large"
  | "method_not_allowed"
  | "misdirected_request"
  | "model_error"
  | "model_unavailable"
  | "name"
  | "nameTaken"
  | "needsSecondOperator"
  | "noCredential"
  | "noLongerOpen"
  | "noShadow"
  | "noSignIn"
  | "notAnApprover"
  | "notFrozen"
  | "notSuspended"
  | "not_found"
  | "not_signed_in"
  | "operatorFirst"
  | "operatorOnly"
  | "origin"
  | "otherStatement"
  | "pins"
  | "planChanged"
  | "policyFrozen"
  | "policyInFiles"
  | "policyUnusable"
  | "probe"
  | "pushAddress"
  | "pushNotConfigured"
  | "pushNotTaken"
  | "quotaExceeded"
  | "quota_exceeded"
  | "reason"
  | "refused"
  | "request_timeout"
  | "requesterExcluded"
  | "rpId"
  | "scopeNotOffered"
  | "settingFixed"
  | "shadowRuns"
  | "signInFailed"
  | "signature"
  | "signerGone"
  | "state"
  | "stepUpRequired"
  | "stopped"
  | "suspended"
  | "switchArgument"
  | "token"
  | "token_revoked"
  | "tooLarge"
  | "tooMany"
  | "tooManyClients"
  | "tooManyCodes"
  | "tooManyDevices"
  | "tooManyFailures"
  | "tooManyPasskeys"
  | "tooManyProposals"
  | "tooManyRehearsals"
  | "tooManyTests"
  | "too_many_requests"
  | "unchanged"
  | "unknownAttempt"
  | "unknown_method"
  | "unsupported_media_type"
  | "upgrade_required"
  | "userPresence"
  | "userVerification"
  | "web_app_missing";

/**
 * The wire protocol countersign.v1. Generated from gateway/protocol.
 */
export interface CountersignProtocol {
  agent: {
    methods: {
      "conversations/delete": {
        params: ConversationRef;
        result: Nothing;
      };
      "conversations/export": {
        params: ConversationRef;
        result: ConversationExport;
      };
      "conversations/fork": {
        params: ConversationFork;
        result: ConversationForked;
      };
      "conversations/list": {
        params: ConversationPage;
        result: ConversationList;
      };
      "conversations/open": {
        params: ConversationOpening;
        result: ConversationOpened;
      };
      "conversations/rename": {
        params: ConversationTitle;
        result: ConversationHead;
      };
      "conversations/search": {
        params: MessageSearch;
        result: FoundMessages;
      };
      "grants/list": {
        params: Nothing;
        result: GrantList;
      };
      "grants/revoke": {
        params: GrantRef;
        result: Nothing;
      };
      "inference/token": {
        params: InferenceTokenRequest;
        result: InferenceToken;
      };
      "messages/append": {
        params: MessageAppending;
        result: MessageAppended;
      };
      "session/describe": {
        params: Nothing;
        result: SessionDescription;
      };
      "tools/cancel": {
        params: CallRef;
        result: Nothing;
      };
      "tools/describe": {
        params: ConversationRef;
        result: ToolList;
      };
      "tools/invoke": {
        params: ToolRequest;
        result: ToolResult;
      };
      "tools/list-calls": {
        params: ConversationRef;
        result: CallList;
      };
      "turns/begin": {
        params: TurnBeginning;
        result: SnapshotIssued;
      };
      "turns/cancel": {
        params: TurnRef;
        result: TurnCancelled;
      };
      "turns/end": {
        params: TurnEnding;
        result: Nothing;
      };
      "turns/refresh": {
        params: TurnRef;
        result: SnapshotIssued;
      };
    };
    notifications: {
      "approvals/changed": ApprovalChanged;
      "approvals/requested": ApprovalRequested;
      "approvals/resolved": ApprovalResolved;
      "policy/changed": PolicyChanged;
      "session/ended": SessionEnded;
      "snapshot/revoked": SnapshotRevoked;
      "tools/progress": ToolProgress;
    };
  };
  console: {
    methods: {
      "approvals/decide": {
        params: ApprovalAnswer;
        result: ApprovalDecided;
      };
      "approvals/decide-plan": {
        params: PlanAnswer;
        result: PlanDecided;
      };
      "approvals/get": {
        params: ApprovalRef;
        result: ApprovalQuestion;
      };
      "approvals/get-plan": {
        params: ApprovalRef;
        result: PlanQuestion;
      };
      "approvals/list": {
        params: ApprovalPage;
        result: ApprovalList;
      };
      "audit/call": {
        params: AuditedCallRef;
        result: CallDetails;
      };
      "audit/calls": {
        params: CallPageRequest;
        result: AuditedCallList;
      };
      "audit/choices": {
        params: Nothing;
        result: CallChoices;
      };
      "audit/compare": {
        params: ConversationPair;
        result: ConversationComparison;
      };
      "audit/conversations": {
        params: Nothing;
        result: RecentConversations;
      };
      "audit/count": {
        params: CallCounting;
        result: CallCount;
      };
      "audit/erase": {
        params: ErasureRequest;
        result: ErasureDone;
      };
      "audit/list": {
        params: AuditPage;
        result: AuditList;
      };
      "audit/load": {
        params: AuditSpan;
        result: AuditLoad;
      };
      "audit/models": {
        params: AuditSpan;
        result: AuditModels;
      };
      "audit/sinks": {
        params: Nothing;
        result: AuditSinks;
      };
      "audit/verify": {
        params: Nothing;
        result: AuditVerification;
      };
      "backups/list": {
        params: Nothing;
        result: BackupList;
      };
      "backups/make": {
        params: Nothing;
        result: BackupMade;
      };
      "clients/disconnect": {
        params: ClientRef;
        result: Nothing;
      };
      "clients/list": {
        params: Nothing;
        result: ClientList;
      };
      "elicitations/answer": {
        params: ElicitationAnswer;
        result: Nothing;
      };
      "elicitations/list": {
        params: Nothing;
        result: Elicitations;
      };
      "grants/list": {
        params: Nothing;
        result: GrantList;
      };
      "grants/revoke": {
        params: GrantRef;
        result: Nothing;
      };
      "passkeys/list": {
        params: Nothing;
        result: PasskeyList;
      };
      "passkeys/remove": {
        params: PasskeyRef;
        result: Nothing;
      };
      "passkeys/rename": {
        params: PasskeyName;
        result: Nothing;
      };
      "people/invite": {
        params: Invitation;
        result: InvitationLink;
      };
      "people/list": {
        params: Nothing;
        result: PersonList;
      };
      "people/remove": {
        params: PersonRef;
        result: Nothing;
      };
      "people/resume": {
        params: PersonRef;
        result: Nothing;
      };
      "people/set-profile": {
        params: ProfileChoice;
        result: Nothing;
      };
      "people/suspend": {
        params: PersonRef;
        result: Nothing;
      };
      "policy/compare": {
        params: PolicyComparing;
        result: PolicyComparisonView;
      };
      "policy/describe": {
        params: Nothing;
        result: PolicyDescription;
      };
      "policy/explain": {
        params: CallExplaining;
        result: CallExplanation;
      };
      "policy/freeze": {
        params: FreezeOrder;
        result: FreezeView;
      };
      "policy/get": {
        params: PolicyVersionRef;
        result: PolicyText;
      };
      "policy/history": {
        params: PolicyHistoryPage;
        result: PolicyHistory;
      };
      "policy/open": {
        params: ProposalRef;
        result: ProposalOpened;
      };
      "policy/overview": {
        params: Nothing;
        result: PolicyOverview;
      };
      "policy/proposals": {
        params: Nothing;
        result: ProposalList;
      };
      "policy/propose": {
        params: PolicyProposing;
        result: PolicyProposed;
      };
      "policy/rehearse": {
        params: PolicyRehearsing;
        result: PolicyRehearsal;
      };
      "policy/shadow": {
        params: Nothing;
        result: PolicyShadowState;
      };
      "policy/sign": {
        params: ProposalSigning;
        result: PolicySigned;
      };
      "policy/start-shadow": {
        params: ShadowStarting;
        result: PolicyShadowState;
      };
      "policy/stop-rehearsal": {
        params: Nothing;
        result: RehearsalStopped;
      };
      "policy/stop-shadow": {
        params: Nothing;
        result: PolicyShadowState;
      };
      "policy/switches": {
        params: Nothing;
        result: PolicySwitches;
      };
      "policy/thaw": {
        params: ThawAnswer;
        result: Nothing;
      };
      "policy/thaw-question": {
        params: Nothing;
        result: ThawQuestion;
      };
      "policy/turn-switch": {
        params: SwitchTurning;
        result: SwitchDraft;
      };
      "policy/validate": {
        params: PolicyDraftText;
        result: PolicyCheck;
      };
      "policy/withdraw": {
        params: ProposalRef;
        result: Nothing;
      };
      "push/add": {
        params: NewPushDevice;
        result: PushState;
      };
      "push/list": {
        params: Nothing;
        result: PushState;
      };
      "push/remove": {
        params: PushDeviceRef;
        result: PushState;
      };
      "push/test": {
        params: PushDeviceRef;
        result: Nothing;
      };
      "secrets/list": {
        params: Nothing;
        result: SecretList;
      };
      "secrets/remove": {
        params: SecretRef;
        result: Nothing;
      };
      "secrets/store": {
        params: NewSecret;
        result: Nothing;
      };
      "session/describe": {
        params: Nothing;
        result: ConsoleDescription;
      };
      "sessions/allow-questions": {
        params: AgentSessionRef;
        result: Nothing;
      };
      "sessions/end": {
        params: SessionRef;
        result: Nothing;
      };
      "sessions/list": {
        params: Nothing;
        result: SessionList;
      };
      "sessions/restrict": {
        params: SessionLabelChoice;
        result: Nothing;
      };
      "settings/ask": {
        params: SettingWish;
        result: SettingQuestionView;
      };
      "settings/change": {
        params: SettingAnswer;
        result: SettingList;
      };
      "settings/list": {
        params: Nothing;
        result: SettingList;
      };
      "sources/add": {
        params: NewSource;
        result: Source;
      };
      "sources/change": {
        params: SourceChange;
        result: Source;
      };
      "sources/decide": {
        params: SourceDecisions;
        result: Source;
      };
      "sources/finish-sign-in": {
        params: SignInReturn;
        result: Source;
      };
      "sources/import": {
        params: ConfigurationImport;
        result: SourceList;
      };
      "sources/list": {
        params: Nothing;
        result: SourceList;
      };
      "sources/list-tools": {
        params: SourceToolPage;
        result: SourceToolList;
      };
      "sources/read-configuration": {
        params: ConfigurationText;
        result: ConfigurationPreview;
      };
      "sources/remove": {
        params: SourceRef;
        result: Nothing;
      };
      "sources/sign-in": {
        params: SourceRef;
        result: SignInLocation;
      };
      "sources/sign-out": {
        params: SourceRef;
        result: SignOutAnswer;
      };
      "sources/switch": {
        params: SourceSwitch;
        result: Source;
      };
      "sources/test": {
        params: SourceRef;
        result: Source;
      };
      "turns/allow-questions": {
        params: OpenTurnRef;
        result: Nothing;
      };
    };
    notifications: {
      "approvals/break-glass": BreakGlass;
      "approvals/changed": ApprovalChanged;
      "approvals/requested": ApprovalRequested;
      "approvals/resolved": ApprovalResolved;
      "elicitations/requested": ElicitationRequested;
      "elicitations/resolved": ElicitationResolved;
      "grants/changed": GrantsChanged;
      "policy/changed": PolicyChanged;
      "policy/rehearsing": RehearsalProgress;
      "policy/state": PolicyState;
      "session/ended": SessionEnded;
      "settings/changed": SettingsChanged;
      "sources/changed": SourcesChanged;
    };
  };
}
/**
 * Which conversation.
 */
export interface ConversationRef {
  conversationId: string;
}
/**
 * No parameters, or a result without content.
 */
export interface Nothing {}
/**
 * A conversation as a file: all that its owner may see, including results.
 */
export interface ConversationExport {
  calls: CallView[];
  conversation: Conversation;
  exportedAt: string;
  format: "countersign.conversation.v1";
  messages: StoredMessage[];
}
/**
 * A recorded call and its state, so that a reloaded page can show it. `approval` is set while it waits for a
 * person, `result` once it is closed.
 */
export interface CallView {
  approval?: Approval;
  approvalId?: string;
  call: ToolCall;
  receivedAt: string;
  result?: ToolResult;
  state: "awaitingApproval" | "running" | "closed";
  turnId: string;
}
/**
 * A request for a person's decision. It holds nothing that could be used to decide it. Where it is for others than the
 * requester alone, `given` are those who have approved so far, and the console is told whose call it is (a name and an id).
 * `plan` is there for a call that follows another one; `answered`: it was approved, and its call waits for that one.
 */
export interface Approval {
  answered?: boolean;
  arguments: {
    [k: string]: unknown;
  };
  because: RuleReason[];
  callId: string;
  conversationId: string;
  effects: string[];
  expiresAt: string;
  given?: GivenApproval[];
  id: string;
  kind: ApprovalKind;
  needs: Needs;
  offers: GrantScope[];
  patterns?: Pattern[];
  plan?: PlanPlace;
  requestedAt: string;
  requester?: string;
  requesterId?: string;
  statementDigest: string;
  status: ApprovalStatus;
  summary: string;
  tool: string;
  turnId: string;
  withdrawn?: string;
}
/**
 * A policy rule that led to the decision, and the sentence that its author wrote for people.
 */
export interface RuleReason {
  id: string;
  why: string;
}
/**
 * One person's yes to what takes several. The console is told who it was, the agent's origin is not.
 */
export interface GivenApproval {
  at: string;
  name?: string;
  principal?: string;
}
/**
 * What an approval requires. `presence` requires the passkey even for a consent. `approvers` different people must approve;
 * with `breakGlass` an operator may do so alone, for a reason.
 */
export interface Needs {
  approvers: number;
  breakGlass?: boolean;
  presence: boolean;
  requesterMayApprove: boolean;
}
/**
 * Within what one argument may vary: `bound` is a folder, the origin of a URL, or the greatest amount.
 */
export interface Pattern {
  argument: string;
  bound: string | number;
  kind: PatternKind;
}
/**
 * Where a call stands in a plan: `first` is the call that it begins with, `after` the one that it follows, `step` from 1.
 */
export interface PlanPlace {
  after: string;
  first: string;
  step: number;
}
/**
 * A call that a model in the browser proposed. Untrusted.
 */
export interface ToolCall {
  arguments: {
    [k: string]: unknown;
  };
  id: string;
  name: string;
}
/**
 * How a call closed. `replayed` marks the recorded answer to a call id that was seen before; `auditSeq` is the index of
 * its closing leaf, absent only when the log could not be written. `own`: it is of the person's own workspace
 * or record, which is no reason to believe it.
 */
export interface ToolResult {
  attachments?: Attachment[];
  auditSeq?: number;
  callId: string;
  content: string;
  durationMs: number;
  error?: string;
  labels: string[];
  outcome: Outcome;
  own?: true;
  reason?: Reason;
  receiptId: string;
  redactions: number;
  replayed: boolean;
  structured?: unknown;
  truncated: boolean;
  trust: Trust;
}
/**
 * Bytes that came with a result, for `GET /attachments/ID`. `mediaType` is what their first bytes say.
 */
export interface Attachment {
  bytes: number;
  digest: string;
  id: string;
  mediaType: MediaType;
}
/**
 * A conversation without its messages. `label` is the highest confidentiality of what it contains. `inheritedTurns` counts
 * the turns that a copy took from `parentId`, or without one those that were imported; `turnCount` counts its own, which come
 * after them.
 */
export interface Conversation {
  createdAt: string;
  id: string;
  inheritedTurns?: number;
  label: "public" | "internal" | "confidential" | "high";
  messageCount: number;
  openTurnId?: string;
  parentId?: string;
  tainted: boolean;
  title: string;
  turnCount: number;
  updatedAt: string;
}
/**
 * A message of a conversation, in order. `provenance` is its source: the browser (`claimed`, with the `index`
 * that `messages/append` gave), a file that a browser took it from (`imported`: nothing vouches for who said it, and nothing
 * that it tells of is on record here) or the gateway, with the `tool` whose result it is; `own` as with a `ToolResult`.
 */
export interface StoredMessage {
  at: string;
  content: string;
  index?: number;
  own?: true;
  provenance: "claimed" | "imported" | "gateway";
  role: Role;
  tool?: string;
  toolCallId?: string;
  toolCalls?: ToolCall[];
  turnId: string;
}
/**
 * Copy a conversation up to the turn with index `fromTurn`, without that turn. The turns that it inherited count first.
 */
export interface ConversationFork {
  conversationId: string;
  fromTurn: number;
}
/**
 * The new conversation, with the messages that were copied.
 */
export interface ConversationForked {
  conversation: Conversation;
  messages: StoredMessage[];
}
/**
 * Which page of the conversations, most recently used first.
 */
export interface ConversationPage {
  cursor?: string;
}
/**
 * One page. `nextCursor` is absent on the last.
 */
export interface ConversationList {
  conversations: Conversation[];
  nextCursor?: string;
}
/**
 * Open a conversation by id, or a new one. `takeOver` moves its open turn here from a connection that is still open.
 */
export interface ConversationOpening {
  conversationId?: string;
  takeOver?: boolean;
  title?: string;
}
/**
 * A conversation with its messages and its open turn.
 */
export interface ConversationOpened {
  conversation: Conversation;
  messages: StoredMessage[];
  openTurn?: OpenTurn;
}
/**
 * The open turn. `snapshot` is present when the turn is bound to this connection, absent when it is bound to another.
 */
export interface OpenTurn {
  modelId?: string;
  snapshot?: TurnSnapshot;
  turnId: string;
  turnIndex: number;
}
/**
 * What may be called in one turn. `digest` covers all the other members.
 */
export interface TurnSnapshot {
  connectionId: string;
  conversationId: string;
  digest: string;
  expiresAt: string;
  id: string;
  issuedAt: string;
  policyVersion: string;
  sessionId: string;
  tools: ToolDescriptor[];
  turnId: string;
  turnIndex: number;
}
/**
 * One published tool, as browsers and models see it. `digest` covers every other member but `permission`.
 */
export interface ToolDescriptor {
  category: Category;
  description: string;
  digest: string;
  interfaceId: string;
  local?: true;
  methodName: string;
  name: string;
  paramSchema: {
    [k: string]: unknown;
  };
  permission: PermissionMode;
  source: string;
  title?: string;
}
/**
 * A new title for a conversation.
 */
export interface ConversationTitle {
  conversationId: string;
  title: string;
}
/**
 * A conversation without its messages.
 */
export interface ConversationHead {
  conversation: Conversation;
}
/**
 * Which words to look for in what was said, and which page of it. Every word of `text` has to be in a message.
 */
export interface MessageSearch {
  cursor?: string;
  text: string;
}
/**
 * One page of what was found, newest first. `nextCursor` is absent on the last. Conversations above the session's label are
 * not searched.
 */
export interface FoundMessages {
  found: FoundMessage[];
  nextCursor?: string;
}
/**
 * A message that has the words, with a piece of it around them. It is what was said, and as inert as any message.
 */
export interface FoundMessage {
  at: string;
  conversationId: string;
  excerpt: string;
  role: Role;
  title: string;
  turnId: string;
}
/**
 * The valid grants.
 */
export interface GrantList {
  grants: Grant[];
}
/**
 * A permission for several calls. `pins` holds the arguments that are fixed; `freed` names those that may vary, `within` a
 * pattern where there is one.
 */
export interface Grant {
  approvalId: string;
  conversationId: string;
  expiresAt: string;
  freed: string[];
  id: string;
  issuedAt: string;
  maxUses: number;
  pins: {
    [k: string]: unknown;
  };
  scope: GrantScope;
  tool: string;
  turnId?: string;
  uses: number;
  within?: Pattern;
}
/**
 * Which grant.
 */
export interface GrantRef {
  grantId: string;
}
/**
 * Request a token for one model in one turn.
 */
export interface InferenceTokenRequest {
  conversationId: string;
  modelId: string;
  turnId: string;
}
/**
 * A bearer token for `endpoint`. It ends with the session, with the turn, or at `expiresAt`. `revocable` is false for a
 * provider that is used directly and has no way to revoke it.
 */
export interface InferenceToken {
  endpoint: string;
  expiresAt: string;
  modelId: string;
  provider: string;
  revocable: boolean;
  token: string;
}
/**
 * Store a message. It is a claim of the browser and gives no permission.
 */
export interface MessageAppending {
  conversationId: string;
  message: ClaimedMessage;
  turnId: string;
}
/**
 * A message that a browser submits. Its role is `user` or `assistant`, never `tool`.
 */
export interface ClaimedMessage {
  content: string;
  role: "user" | "assistant";
  /**
   * @maxItems 64
   */
  toolCalls?: ToolCall[];
}
/**
 * The message's position in its conversation.
 */
export interface MessageAppended {
  index: number;
}
/**
 * The session, its connection, its limits, and the models it may use. `at` is the gateway's time: what is left of a question
 * is told by it, whatever the device's clock says.
 */
export interface SessionDescription {
  at: string;
  connectionId: string;
  consoleOrigin: string;
  limits: SessionLimits;
  missingModels?: MissingModel[];
  models: ModelInfo[];
  session: AgentSession;
}
/**
 * What this session may use. `messageBytes` counts one message in UTF-8, `messageDepth` its nesting.
 */
export interface SessionLimits {
  callsPerDay: number;
  callsPerSession: number;
  callsPerTurn: number;
  messageBytes: number;
  messageDepth: number;
  pendingApprovals: number;
  requestsInFlight: number;
}
/**
 * A model that is configured and not there: what it is configured by, and why it cannot be chosen.
 */
export interface MissingModel {
  name: string;
  why: string;
}
/**
 * A model that can be used. `id` is weight digest plus architecture tag for local weights; memory in bytes.
 *
 * `tier`: the loop that it can carry, where the gateway knows it. `seesImages` is there where images can be shown to it.
 * `trouble` says why it would not answer now; it may be chosen all the same, since the next question tries again.
 */
export interface ModelInfo {
  approxPeakRamBytes?: number;
  arch: string;
  backend: string;
  contextTokens: number;
  displayName: string;
  id: string;
  licence: string;
  local: boolean;
  outputTokens: number;
  quantisation: string;
  seesImages?: boolean;
  supportsTools: boolean;
  tier?: Tier;
  toolCallRank?: number;
  trouble?: string;
}
/**
 * The session that was issued to this browser. `principal` is the person's id, `principalName` the name to display.
 */
export interface AgentSession {
  expiresAt: string;
  id: string;
  labels: string[];
  principal: string;
  principalName: string;
  profile: Profile;
}
/**
 * Which call.
 */
export interface CallRef {
  callId: string;
  conversationId: string;
}
/**
 * A preview that is bound to no turn; no tool can be called with it.
 */
export interface ToolList {
  obstacles?: ToolObstacle[];
  tools: ToolDescriptor[];
}
/**
 * Why these tools of a list cannot be called now, in words for a person. `reason` is `sourceUnavailable` where that may pass
 * by itself.
 */
export interface ToolObstacle {
  reason: Reason;
  tools: string[];
  why: string;
}
/**
 * A proposed call. It names the snapshot that the client takes for the current one. `after` is the id of an open call of the
 * same turn: this one is asked about at once, and runs only after that one closed `ok`.
 */
export interface ToolRequest {
  after?: string;
  call: ToolCall;
  conversationId: string;
  model?: ModelRef;
  snapshotDigest: string;
  snapshotId: string;
  turnId: string;
}
/**
 * The model that proposed a call, as the browser claims.
 */
export interface ModelRef {
  backend?: string;
  id: string;
  nonce?: string;
}
/**
 * The calls of a conversation, oldest first.
 */
export interface CallList {
  calls: CallView[];
}
/**
 * Open a turn; the conversation's open turn ends. `message` is the person's message.
 */
export interface TurnBeginning {
  conversationId: string;
  message?: SpokenMessage;
  modelId?: string;
}
/**
 * The person's message, as the browser submits it.
 */
export interface SpokenMessage {
  content: string;
  role: "user";
}
/**
 * The tools of the turn, bound to this connection.
 */
export interface SnapshotIssued {
  snapshot: TurnSnapshot;
}
/**
 * Which turn.
 */
export interface TurnRef {
  conversationId: string;
  turnId: string;
}
/**
 * The calls that were cancelled with the turn.
 */
export interface TurnCancelled {
  cancelled: string[];
}
/**
 * Close a turn. `usage` is what the browser counted, in the members of whoever counts there; it goes on record alone.
 */
export interface TurnEnding {
  conversationId: string;
  turnId: string;
  usage?: {
    [k: string]: unknown;
  };
}
/**
 * It still waits, and other people have approved it than before.
 */
export interface ApprovalChanged {
  approval: Approval;
}
/**
 * A call waits for a person's decision.
 */
export interface ApprovalRequested {
  approval: Approval;
}
/**
 * An approval is no longer pending. `status` is final. `withdrawn` says why it ended without anybody's answer, if it did.
 */
export interface ApprovalResolved {
  approvalId: string;
  callId: string;
  status: ApprovalStatus;
  withdrawn?: string;
}
/**
 * A new policy is in force; snapshots of the policy before it are revoked.
 */
export interface PolicyChanged {
  policyVersion: string;
}
/**
 * The session has ended and nothing of it runs any more; the connection closes next.
 */
export interface SessionEnded {
  reason: string;
}
/**
 * A snapshot is no longer valid. `reason` is a stable code.
 */
export interface SnapshotRevoked {
  reason: string;
  snapshotId: string;
}
/**
 * A line from a running tool; `fraction` goes from 0 to 1.
 */
export interface ToolProgress {
  callId: string;
  fraction?: number;
  message: string;
}
/**
 * A person's decision. Without `scope` an approval is for one call. `pins` names the arguments that a turn or session grant
 * fixes, all of them when absent; the fixed values come from the statement, never from the browser. `within` is the kind of
 * pattern that the argument left open keeps to, one of those that the approval shows. `breakGlass` is why an operator acts
 * alone; the passkey then signs, user verified, the statement with `breakGlass: {principal, reason}` added to it.
 */
export interface ApprovalAnswer {
  approvalId: string;
  assertion?: {
    [k: string]: unknown;
  };
  breakGlass?: string;
  challenge: string;
  decision: "approve" | "deny";
  /**
   * @maxItems 256
   */
  pins?: string[];
  /**
   * How long an approval lasts.
   */
  scope?: "once" | "turn" | "session";
  within?: PatternKind;
}
/**
 * The approval's new status, and the grant if one was issued.
 */
export interface ApprovalDecided {
  approval: Approval;
  grant?: Grant;
}
/**
 * A person's yes to every covered part of a plan, in its order.
 */
export interface PlanAnswer {
  assertion?: {
    [k: string]: unknown;
  };
  /**
   * @maxItems 64
   */
  parts: ShownPart[];
}
/**
 * A question that was shown, and the challenge that it came with.
 */
export interface ShownPart {
  approvalId: string;
  challenge: string;
}
/**
 * The approvals as they stand. One whose call waits for an earlier one is pending, and `answered`.
 */
export interface PlanDecided {
  approvals: Approval[];
}
/**
 * Which approval.
 */
export interface ApprovalRef {
  approvalId: string;
}
/**
 * An approval, the statement to decide on, and, while it is pending, a single-use challenge for one decision.
 *
 * `statement` canonicalises (RFC 8785) to exactly the bytes whose SHA-256 is the approval's `statementDigest`. Where a
 * passkey is required, `passkeyOptions` is a WebAuthn Level 3 PublicKeyCredentialRequestOptionsJSON over them. `standing`, where
 * others may approve, is what this person may do; with `mayBreakGlass` they may approve alone, for a reason. `copied` is there
 * where the arguments, or a part of them, count as taken from untrusted results. `background` is for the person who asked, and
 * for whoever reads everybody's records.
 */
export interface ApprovalQuestion {
  approval: Approval;
  background?: QuestionBackground;
  challenge?: string;
  copied?: CopiedArguments;
  mayBreakGlass?: boolean;
  order: string[];
  passkeyOptions?: {
    [k: string]: unknown;
  };
  preview?: Preview;
  standing?: ApproverStanding;
  statement: {
    [k: string]: unknown;
  };
}
/**
 * What led to a question, and what came of it. `request` is what the person wrote in that turn, as the tab says: nobody
 * checked that a person typed it, and it is not signed. `call` is absent until the log has been read so far.
 */
export interface QuestionBackground {
  call?: QuestionedCall;
  request?: string;
  title?: string;
}
/**
 * Who decided, and what became of the call, as the log tells it: `outcome` is `open` while it waits or runs, `position` that
 * of its first record. The names are absent where they are not known any more.
 */
export interface QuestionedCall {
  approverName?: string;
  closedAt?: string;
  decidedAt?: string;
  durationMs?: number;
  outcome: string;
  passkeyName?: string;
  position: number;
}
/**
 * What of the arguments was taken from untrusted results, as things are now. Not `complete`: there was more than is compared,
 * so that nobody can say that nothing else was. It is not signed.
 */
export interface CopiedArguments {
  complete: boolean;
  copies: CopiedText[];
}
/**
 * A part of an argument that stands in an untrusted result of the conversation. `about` is what that call was made with, in
 * short; it is empty where that is not known any more.
 */
export interface CopiedText {
  about: string;
  argument: string;
  callId: string;
  text: string;
  tool: string;
}
/**
 * What the call would change as things are now, or send. It is not signed; `digest` changes when the thing does.
 *
 * `impossible`: the call could not work any more, for the reason in `obstacle`.
 */
export interface Preview {
  bytesAfter?: number;
  bytesBefore?: number;
  change: "create" | "replace" | "keep" | "delete" | "move" | "make" | "send" | "impossible";
  complete: boolean;
  digest: string;
  lines: PreviewLine[];
  obstacle?: string;
  target: string;
}
/**
 * A line of the thing that would change, or how many are left out.
 */
export interface PreviewLine {
  count: number;
  mark: "same" | "removed" | "added" | "skipped";
  text: string;
}
/**
 * What still waits of a plan, in the order in which its calls run. Where a covered part needs a passkey, `passkeyOptions` are
 * over the list of the covered statements; one that is null all the same says that this person has no passkey.
 */
export interface PlanQuestion {
  parts: PlanPartView[];
  passkeyOptions?: {
    [k: string]: unknown;
  };
}
/**
 * A question of the plan, as `approvals/get` gives it. `covered`: an answer to the plan is one to this question too.
 */
export interface PlanPartView {
  covered: boolean;
  question: ApprovalQuestion;
}
/**
 * Which approvals to list: the pending ones, or all, newest first.
 */
export interface ApprovalPage {
  status?: "pending" | "all";
}
/**
 * Approvals that this person may see, and what asks them nothing more until they allow it. Operators get what one of them
 * did alone in the last days that takes several people, newest first.
 */
export interface ApprovalList {
  approvals: Approval[];
  brokenGlass?: BreakGlassView[];
  stopped: StoppedView[];
}
/**
 * An operator, `name`, did alone what takes several people.
 */
export interface BreakGlassView {
  approvalId: string;
  at: string;
  name: string;
  reason: string;
  tool: string;
}
/**
 * A session that asks this person nothing more after `denials` noes in a row; with a turn, only that open turn of it.
 */
export interface StoppedView {
  conversationId?: string;
  denials: number;
  sessionId: string;
  turnId?: string;
}
/**
 * A call by the position of its first record.
 */
export interface AuditedCallRef {
  position: number;
}
/**
 * Everything that is on record of a call, as it was then. `entries` are its records, oldest first. `definition` is the
 * tool's own from the snapshot, `offered` all that the turn had. `request` is what the person wrote last in that turn, as
 * the tab says; absent where it is not kept. `turn_model_id` is the model that the turn began with, which need not be the one
 * that proposed the call.
 */
export interface CallDetails {
  call: AuditedCall;
  definition?: {
    [k: string]: unknown;
  };
  entries: AuditEntry[];
  offered?: VisibleTool[];
  request?: string;
  rules: RuleWords[];
  snapshotDigest?: string;
  title?: string;
  turnModelId?: string;
}
/**
 * A call as the log tells it. `position` is that of its first record; `outcome` is `open` while it waits or runs. `tool`
 * is absent where nothing of that name was on offer, `label` where the policy was not asked. `approver` and `passkey` are
 * their names, where they are still known.
 */
export interface AuditedCall {
  answer?: string;
  approvalId?: string;
  approvalKind?: ApprovalKind;
  approverId?: string;
  approverName?: string;
  askedAt?: string;
  at: string;
  callId: string;
  closedAt?: string;
  conversationId: string;
  credentialId?: string;
  decidedAt?: string;
  decision?: string;
  durationMs?: number;
  grantId?: string;
  label?: "public" | "internal" | "confidential" | "high";
  modelId?: string;
  outcome: string;
  passkeyName?: string;
  policyVersion?: string;
  position: number;
  principalId: string;
  principalName: string;
  reason?: string;
  rules: string[];
  source?: string;
  startedAt?: string;
  tool?: string;
  turnId: string;
  turnIndex?: number;
}
/**
 * One leaf of the log. `hash` is its RFC 6962 leaf hash; `payload` is absent after it was erased.
 */
export interface AuditEntry {
  body: {
    [k: string]: unknown;
  };
  hash: string;
  index: number;
  payload?: {
    [k: string]: unknown;
  };
}
/**
 * A tool that the call's turn had on offer.
 */
export interface VisibleTool {
  digest: string;
  name: string;
  permission: string;
}
/**
 * A rule that decided. `why` is absent where the policy in force does not have it.
 */
export interface RuleWords {
  id: string;
  why?: string;
}
/**
 * Which page of the calls, newest first.
 */
export interface CallPageRequest {
  cursor?: string;
  filter?: CallFilter;
  limit?: number;
}
/**
 * Which calls, of those that began from `since` to before `until`; without them, in the last 24 hours. An absent member means
 * any. `outcome` is an outcome or `open`. `text` is the beginning of an id (call, conversation, turn, question), or a part of a
 * name (person, tool, source, model, rule).
 */
export interface CallFilter {
  conversationId?: string;
  decision?: string;
  label?: "public" | "internal" | "confidential" | "high";
  modelId?: string;
  outcome?: string;
  policyVersion?: string;
  principalId?: string;
  rule?: string;
  since?: string;
  source?: string;
  text?: string;
  tool?: string;
  until?: string;
}
/**
 * One page, newest first. `unread` counts records of the log that are not told yet: a long log is read in the background
 * after an upgrade. `nextCursor` is absent on the last page.
 */
export interface AuditedCallList {
  calls: AuditedCall[];
  nextCursor?: string;
  unread: number;
}
/**
 * What there is to choose from, over the whole log.
 */
export interface CallChoices {
  models: string[];
  people: PersonName[];
  policyVersions: string[];
  rules: string[];
  sources: string[];
  tools: string[];
}
/**
 * Somebody who called. The name is the id where it is not known.
 */
export interface PersonName {
  id: string;
  name: string;
}
/**
 * Two conversations, which differ.
 */
export interface ConversationPair {
  first: string;
  second: string;
}
/**
 * The closed calls of both, aligned. `unread` counts records of the log that are not told yet.
 */
export interface ConversationComparison {
  first: ComparedSide;
  pairs: ComparedPair[];
  second: ComparedSide;
  unread: number;
}
/**
 * A conversation of the two. `calls` counts those compared, which are the newest where `cut`; `parentId` is that of which it
 * is a fork. `title` and `parentId` are absent where the conversation was deleted.
 */
export interface ComparedSide {
  calls: number;
  conversationId: string;
  cut: boolean;
  parentId?: string;
  principalName?: string;
  title?: string;
}
/**
 * What stands at one place of both. `differs` says in what; arguments are compared whole.
 */
export interface ComparedPair {
  differs: CallDifference[];
  finding: ComparisonFinding;
  first?: ComparedCall;
  second?: ComparedCall;
}
/**
 * A closed call. `arguments` are the beginning of their JSON; absent, with `erased`, where none are kept.
 */
export interface ComparedCall {
  arguments?: string;
  callId: string;
  decision?: string;
  erased: boolean;
  outcome: string;
  position: number;
  rules: string[];
  tool?: string;
}
/**
 * Those of the newest calls, the newest first.
 */
export interface RecentConversations {
  conversations: RecentConversation[];
}
/**
 * A conversation with calls, and when the newest of them began. `title` is absent where the conversation was deleted.
 */
export interface RecentConversation {
  at: string;
  conversationId: string;
  principalName: string;
  title?: string;
}
/**
 * Which calls to count.
 */
export interface CallCounting {
  filter?: CallFilter;
}
/**
 * How many calls there are, over exactly this time: one of six hours or more is rounded to whole hours. A bucket is
 * `stepMs` wide and begins at a multiple of it; one without a call is left out.
 */
export interface CallCount {
  buckets: CallBucket[];
  outcomes: OutcomeCount[];
  since: string;
  stepMs: number;
  total: number;
  unread: number;
  until: string;
}
/**
 * Calls that began from `at` to the next bucket.
 */
export interface CallBucket {
  at: string;
  outcomes: OutcomeCount[];
}
/**
 * How many calls ended that way.
 */
export interface OutcomeCount {
  calls: number;
  outcome: string;
}
/**
 * What to erase: a call of a conversation, a whole conversation, or a person who was removed.
 */
export interface ErasureRequest {
  callId?: string;
  conversationId?: string;
  principal?: string;
}
/**
 * How many records lost their content, and which copies of the conversation are still there.
 */
export interface ErasureDone {
  copies: string[];
  records: number;
}
/**
 * Which page of the log, newest first.
 */
export interface AuditPage {
  cursor?: string;
  filter?: AuditFilter;
  limit?: number;
}
/**
 * Which audit entries; an absent member means any.
 */
export interface AuditFilter {
  conversationId?: string;
  event?: string;
  outcome?: string;
  principalId?: string;
  tool?: string;
}
/**
 * One page; `size` is the number of leaves in the whole log. `nextCursor` is absent on the last page.
 */
export interface AuditList {
  entries: AuditEntry[];
  nextCursor?: string;
  size: number;
}
/**
 * From when to when; without them, the last seven days.
 */
export interface AuditSpan {
  since?: string;
  until?: string;
}
/**
 * How much people were asked: the most asked first.
 */
export interface AuditLoad {
  people: PersonLoad[];
  since: string;
  tools: ToolLoad[];
  unread: number;
  until: string;
}
/**
 * A person's turns, and the questions that they brought. `questionsPerTurn` is absent without a turn.
 */
export interface PersonLoad {
  asked: number;
  denied: number;
  expired: number;
  medianWaitMs?: number;
  principalId: string;
  principalName: string;
  questionsPerTurn?: number;
  repeated: number;
  turns: number;
}
/**
 * What a person was asked about one tool, and how it ended; those that are in none of the counts wait. `repeated` counts
 * approved questions whose tool had been approved in the same conversation before: a grant could have saved them. The waits
 * are those until a person's own answer, absent where there was none.
 */
export interface ToolLoad {
  approved: number;
  asked: number;
  cancelled: number;
  denied: number;
  expired: number;
  longestWaitMs?: number;
  medianWaitMs?: number;
  principalId: string;
  principalName: string;
  repeated: number;
  tool: string;
}
/**
 * The most used first.
 */
export interface AuditModels {
  models: ModelUseView[];
  since: string;
  unread: number;
  until: string;
}
/**
 * What was used of a model. `modelId` is absent for turns and calls that named none. `seconds` are those in which it
 * answered, `requests` those through the gateway; `callsRan` are the calls whose tool was started, whatever came of it;
 * `callsPerTurn` is absent without a turn or a model.
 */
export interface ModelUseView {
  calls: number;
  callsPerTurn?: number;
  callsRan: number;
  completionTokens: number;
  failures: number;
  modelId?: string;
  promptTokens: number;
  requests: number;
  seconds: number;
  turns: number;
}
/**
 * All of them, in the order of the settings.
 */
export interface AuditSinks {
  anchors: AuditAnchor[];
  sinks: AuditSink[];
}
/**
 * A place outside this host that has a checkpoint over the first `size` records, and since when; `unanchored` records came
 * later. `fault` says why it takes none now.
 */
export interface AuditAnchor {
  anchoredAt?: string;
  fault?: string;
  kind: string;
  name: string;
  size: number;
  unanchored: number;
}
/**
 * A place outside this host that records are sent to as they come: the first `sent` of them were taken, and `behind` wait.
 * `fault` says why it takes none now.
 */
export interface AuditSink {
  behind: number;
  fault?: string;
  kind: string;
  name: string;
  sent: number;
  sentAt?: string;
}
/**
 * The result of the gateway's own check: every leaf is hashed again into `root` and compared with the last signed
 * checkpoint (a C2SP note). Only the offline verifiers are independent of the gateway.
 */
export interface AuditVerification {
  checkpoint: string;
  detail: string;
  root: string;
  size: number;
  verified: boolean;
}
/**
 * The backups that the console has had made and that are still there, newest first; `folder` is where they are, on the
 * gateway's machine.
 */
export interface BackupList {
  backups: Backup[];
  folder: string;
}
/**
 * A backup that was checked before it got its name. `file` is that name, within the folder of backups.
 */
export interface Backup {
  file: string;
  madeAt: string;
  size: number;
}
/**
 * The new backup, how many records it holds, and their root.
 */
export interface BackupMade {
  backup: Backup;
  records: number;
  root: string;
}
/**
 * Which client.
 */
export interface ClientRef {
  clientId: string;
}
/**
 * The person's own, for an operator everybody's, oldest first.
 */
export interface ClientList {
  clients: Client[];
}
/**
 * A program that acts for a person. `name` and `version` are what it calls itself, cut and made visible, and may be empty.
 *
 * `transport` is `stdio` for a program of this machine, which is one connection, and `http` for one that was let in on the
 * console and may have several, or none at the moment. `since` is when it was let in, `expiresAt` when it has to ask again.
 */
export interface Client {
  clientId: string;
  connections: number;
  expiresAt: string;
  label: "public" | "internal" | "confidential" | "high";
  lastCallAt?: string;
  name: string;
  principal: string;
  principalName: string;
  since: string;
  transport: "stdio" | "http";
  version: string;
}
/**
 * What the person does with a form. `values` go to the server that asked, and only with `accept`.
 */
export interface ElicitationAnswer {
  action: ElicitationAction;
  elicitationId: string;
  values?: {
    [k: string]: unknown;
  };
}
/**
 * What waits for this person, the oldest first.
 */
export interface Elicitations {
  elicitations: Elicitation[];
}
/**
 * What the server of a running tool asks this person. `source` is the name that an operator gave the server, `message` is
 * the server's. `speaksOfSecrets`: the words do, although no field is named so.
 */
export interface Elicitation {
  askedAt: string;
  callId: string;
  conversationId: string;
  expiresAt: string;
  fields: FormField[];
  id: string;
  message: string;
  source: string;
  speaksOfSecrets: boolean;
  tool: string;
}
/**
 * One field. `least` and `most` bound a number itself, the characters of a text, or how many choices are made.
 *
 * `name`, `title`, `description` and `options` are the server's words.
 */
export interface FormField {
  default?: unknown;
  description?: string;
  format?: TextFormat;
  kind: FieldKind;
  least?: number;
  most?: number;
  name: string;
  options: FormOption[];
  required: boolean;
  title?: string;
}
/**
 * One of the values of a choice, and what is read for it. Both are the server's words.
 */
export interface FormOption {
  label: string;
  value: string;
}
/**
 * The person's own passkeys.
 */
export interface PasskeyList {
  passkeys: PasskeyView[];
}
/**
 * A registered passkey, without its public key.
 */
export interface PasskeyView {
  backedUp: boolean;
  createdAt: string;
  id: string;
  lastUsedAt?: string;
  name: string;
  transports: string[];
}
/**
 * Which passkey.
 */
export interface PasskeyRef {
  passkeyId: string;
}
/**
 * A new name for a passkey.
 */
export interface PasskeyName {
  name: string;
  passkeyId: string;
}
/**
 * Who may enrol, and as what.
 */
export interface Invitation {
  name: string;
  profile: Profile;
}
/**
 * A link that enrols one person, once, for so many seconds. It is told this one time.
 *
 * `qr` is its QR code: a string of `0` and `1` (dark) for each row of modules, without the quiet zone.
 */
export interface InvitationLink {
  link: string;
  qr: string[];
  seconds: number;
}
/**
 * Everybody, oldest first.
 */
export interface PersonList {
  people: Person[];
}
/**
 * Somebody who was ever enrolled. Without a passkey they were removed, or worked only at the terminal; `suspended` people
 * keep theirs and can sign in with none. `sessions` counts the agent sessions of theirs that are alive.
 */
export interface Person {
  id: string;
  lastUsedAt?: string;
  name: string;
  passkeys: number;
  profile: Profile;
  sessions: number;
  suspended: boolean;
}
/**
 * Which person.
 */
export interface PersonRef {
  principal: string;
}
/**
 * Which person, and what they are from now on.
 */
export interface ProfileChoice {
  principal: string;
  profile: Profile;
}
/**
 * A draft, and the version that it is compared with; the one in force when absent.
 */
export interface PolicyComparing {
  base?: string;
  /**
   * @minItems 1
   * @maxItems 256
   */
  documents: [PolicyDocument, ...PolicyDocument[]];
}
/**
 * A text of the policy.
 */
export interface PolicyDocument {
  name: string;
  text: string;
}
/**
 * How a draft differs over `compared` kinds of calls. `loosened` is what else it asks less for, in words; where `complete` is
 * false, not everything could be compared, and it counts as loosening.
 */
export interface PolicyComparisonView {
  compared: number;
  complete: boolean;
  differences: PolicyDifference[];
  loosened: string[];
  loosens: boolean;
}
/**
 * A kind of call that is decided differently; `change` is `newlyAllowed`, `questionRemoved`, `passkeyRemoved`,
 * `approversRemoved`, which loosen, `questionAdded`, `passkeyAdded`, `approversAdded` or `newlyRefused`.
 */
export interface PolicyDifference {
  after: PermissionMode;
  before: PermissionMode;
  category: Category;
  change: string;
  count: number;
  example: string;
  loosens: boolean;
  profile: Profile;
  rules: string[];
}
/**
 * The policy in force, with the sentences of its authors.
 */
export interface PolicyDescription {
  profiles: ProfilePolicy[];
  rules: RuleReason[];
  tools: PolicyTool[];
  version: string;
}
/**
 * The limits of a profile; `sessionSeconds` is the lifetime of its sessions.
 */
export interface ProfilePolicy {
  callsPerDay: number;
  callsPerSession: number;
  callsPerTurn: number;
  pendingApprovals: number;
  profile: Profile;
  sessionSeconds: number;
  showsForbidden: boolean;
  suppressedTools: string[];
}
/**
 * A tool as the policy treats it. `descriptor.permission` is the mode for the person who asks; `unavailable` says why it
 * cannot run here, `recovery` what may be done about a call of which nobody knows whether it took effect.
 */
export interface PolicyTool {
  descriptor: ToolDescriptor;
  modes: ToolModes;
  recovery: Recovery;
  unavailable?: string;
}
/**
 * The mode of a tool in a new conversation's snapshot, by profile.
 */
export interface ToolModes {
  anonymous: PermissionMode;
  guest: PermissionMode;
  operator: PermissionMode;
}
/**
 * Either a call that was made or one that is imagined.
 */
export interface CallExplaining {
  call?: RecordedCallRef;
  imagined?: ImaginedCall;
}
/**
 * A call that was made.
 */
export interface RecordedCallRef {
  callId: string;
  conversationId: string;
}
/**
 * A call that nobody made, of a tool that exists. Its facts are those that the tool reports about the arguments; `person`
 * is for rules that name one. It is the first call of its session unless a count says otherwise.
 */
export interface ImaginedCall {
  arguments: {
    [k: string]: unknown;
  };
  label?: "public" | "internal" | "confidential" | "high";
  minuteOfDay?: number;
  person?: string;
  profile: Profile;
  tainted?: boolean;
  tool: string;
  weekday?: number;
}
/**
 * The verdict of the policy `version` over a call, why, and what would change it. Of a call that was made `version` is the
 * one that judged it, and `now` what the policy in force says where that is another one.
 */
export interface CallExplanation {
  category: Category;
  changes: ExplainedChange[];
  facts: {
    [k: string]: unknown;
  };
  label: "public" | "internal" | "confidential" | "high";
  mode: PermissionMode;
  now?: PermissionMode;
  person: string;
  profile: Profile;
  rules: ExplainedRule[];
  tainted: boolean;
  tool: string;
  version: string;
}
/**
 * What would be decided with one thing changed: `what` is `profile`, `taint`, `label`, a fact or a part of the moment.
 */
export interface ExplainedChange {
  mode: PermissionMode;
  rules: string[];
  value: unknown;
  what: string;
}
/**
 * A rule that takes part. `file`, `line`, `text` and `obliges` are absent for what no rule says, such as that one failed.
 */
export interface ExplainedRule {
  file?: string;
  id: string;
  line?: number;
  obliges?: {
    [k: string]: unknown;
  };
  text?: string;
  why: string;
}
/**
 * Why everything is to be forbidden.
 */
export interface FreezeOrder {
  why: string;
}
/**
 * Everything is forbidden since `at`, whatever the policy says.
 */
export interface FreezeView {
  at: string;
  freezeId: string;
  why: string;
}
/**
 * Which version; the one in force when absent.
 */
export interface PolicyVersionRef {
  version?: string;
}
/**
 * A version with all its texts. `source` is where the policy is kept and so where it is changed.
 */
export interface PolicyText {
  documents: PolicyDocument[];
  freeze?: FreezeView;
  source: "files" | "database";
  version: string;
}
/**
 * Which part of the history.
 */
export interface PolicyHistoryPage {
  before?: number;
  limit?: number;
}
/**
 * Versions in the order in which they came into force, newest first; `next` is the `before` of the next page.
 */
export interface PolicyHistory {
  next?: number;
  versions: VersionView[];
}
/**
 * A version that came into force with the record `index`. What is absent is not known: it was read from files, or its record
 * was erased. `signers` are principals, the publisher first.
 */
export interface VersionView {
  at: string;
  base?: string;
  index: number;
  reason?: string;
  signers: string[];
  version: string;
}
/**
 * Which proposal.
 */
export interface ProposalRef {
  proposalId: string;
}
/**
 * A proposal before the operator who looks at it. `passkeyOptions` is absent where they have signed.
 */
export interface ProposalOpened {
  comparison: PolicyComparisonView;
  documents: PolicyDocument[];
  forbidsYou: boolean;
  passkeyOptions?: {
    [k: string]: unknown;
  };
  proposal: ProposalView;
  statement: {
    [k: string]: unknown;
  };
  statementDigest: string;
}
/**
 * A version that waits for `needed` signatures, of which `signers` gave theirs. `statementDigest` is what passkeys sign: the
 * SHA-256 of the canonical `statement`.
 */
export interface ProposalView {
  author: string;
  base: string;
  expiresAt: string;
  loosens: boolean;
  madeAt: string;
  needed: number;
  proposalId: string;
  reason: string;
  signers: string[];
  version: string;
}
/**
 * What the policy in force makes of each kind of action. `scope` is `own` for a person who sees their own row only.
 *
 * `assumesMoment` says that a rule looks at the time or at how much was called before; what is shown is then the verdict for
 * a first call on a Monday at midnight.
 */
export interface PolicyOverview {
  assumesMoment: boolean;
  rows: PolicyRow[];
  scope: "everybody" | "own";
  version: string;
}
/**
 * One profile. The cells of all rows are of the same kinds, in the same order.
 */
export interface PolicyRow {
  cells: PolicyCell[];
  profile: Profile;
}
/**
 * What one profile needs for one kind of action. `because` is empty where no rule permits it.
 *
 * `host` narrows the category `network` to one host. `exceptions` holds the first of `exceptionCount`, by name.
 */
export interface PolicyCell {
  because: RuleReason[];
  category: Category;
  changes: CircumstanceChange[];
  exceptionCount: number;
  exceptions: ToolException[];
  host?: string;
  mode: PermissionMode;
}
/**
 * How the same action would be treated otherwise: after untrusted content, in a conversation of another label, or with
 * arguments that were taken from untrusted content.
 */
export interface CircumstanceChange {
  argumentsFromUntrusted?: boolean;
  because: RuleReason[];
  label?: "public" | "internal" | "confidential" | "high";
  mode: PermissionMode;
  taint?: number;
}
/**
 * A tool that is treated otherwise than its kind.
 */
export interface ToolException {
  because: RuleReason[];
  mode: PermissionMode;
  tool: string;
}
/**
 * Those that wait, oldest first.
 */
export interface ProposalList {
  proposals: ProposalView[];
}
/**
 * A draft to put in force: the version it was made from, why, and its texts, or the version to go back to.
 */
export interface PolicyProposing {
  base: string;
  /**
   * @minItems 1
   * @maxItems 256
   */
  documents?: [PolicyDocument, ...PolicyDocument[]];
  reason: string;
  version?: string;
}
/**
 * What became of a draft. `outcome`: `proposed` with `opened`; `invalid` and `casesFail` with `check`; `conflict` with the
 * texts in force (`active`), beside which the sender still has their own; `unchanged`; `files` with a `patch` of the folder.
 */
export interface PolicyProposed {
  active?: PolicyText;
  check: PolicyCheck;
  opened?: ProposalOpened;
  outcome: "proposed" | "invalid" | "casesFail" | "conflict" | "unchanged" | "files";
  patch?: string;
}
/**
 * A draft that was examined. `version` and `cases` are absent where it does not load.
 */
export interface PolicyCheck {
  cases?: CaseTally;
  faults: PolicyFault[];
  rules: number;
  version?: string;
}
/**
 * The decision table put to a draft. `failed` of `total` rows are not given; the first of them are told.
 */
export interface CaseTally {
  failed: number;
  failures: CaseFailure[];
  total: number;
}
/**
 * A row of the decision table that the draft does not give.
 */
export interface CaseFailure {
  about: string;
  expected: PermissionMode;
  given: PermissionMode;
  question: string;
  rules: string[];
}
/**
 * What is to be said about a draft, and where: line and column from 1. An `error` keeps it from coming into force.
 */
export interface PolicyFault {
  column: number;
  file: string;
  line: number;
  message: string;
  severity: "error" | "warning";
}
/**
 * A draft, and how many days of recorded calls it is put to.
 */
export interface PolicyRehearsing {
  days: number;
  /**
   * @minItems 1
   * @maxItems 256
   */
  documents: [PolicyDocument, ...PolicyDocument[]];
}
/**
 * A draft put to what is on record. `unlike` calls do not give what is on record under their own version: a fault.
 */
export interface PolicyRehearsal {
  changes: ChangeCount[];
  judged: number;
  questionsAfter: number;
  questionsBefore: number;
  unjudged: number;
  unlike: number;
  version: string;
}
/**
 * How many calls a draft decides in that other way, and the first of them by conversation and call.
 */
export interface ChangeCount {
  change: string;
  count: number;
  examples: {
    [k: string]: unknown;
  }[];
}
/**
 * The candidate in shadow; absent where none runs.
 */
export interface PolicyShadowState {
  shadow?: ShadowView;
}
/**
 * A candidate that runs beside the policy in force since `at`, and decides nothing. Of `judged` calls it decides those under
 * `changes` otherwise; `unjudged` calls could not be judged again, `unlike` not even as on record. `behind`: more calls are on
 * record already.
 */
export interface ShadowView {
  at: string;
  behind: boolean;
  changes: ChangeCount[];
  judged: number;
  shadowId: string;
  unjudged: number;
  unlike: number;
  version: string;
}
/**
 * A passkey's answer over the statement; `confirmed`: although it leaves the signer nothing to call.
 */
export interface ProposalSigning {
  assertion: {
    [k: string]: unknown;
  };
  confirmed?: boolean;
  proposalId: string;
}
/**
 * `published` is in force; `signed` waits for `missing` more; `conflict`: another version came into force meanwhile.
 */
export interface PolicySigned {
  active?: PolicyText;
  missing: number;
  outcome: "published" | "signed" | "conflict";
  version: string;
}
/**
 * A draft to run beside the policy in force, or a version that was in force, and why.
 */
export interface ShadowStarting {
  /**
   * @minItems 1
   * @maxItems 256
   */
  documents?: [PolicyDocument, ...PolicyDocument[]];
  version?: string;
  why: string;
}
/**
 * Whether there was a rehearsal to stop.
 */
export interface RehearsalStopped {
  stopped: boolean;
}
/**
 * Every switch, under the version in force. `source` is where the policy is kept and so where it is changed.
 */
export interface PolicySwitches {
  source: "files" | "database";
  switches: SwitchDescription[];
  version: string;
}
/**
 * A switch as the policy in force has it: what it has to be told, what it was told, and the text of its file.
 */
export interface SwitchDescription {
  arguments: string[];
  file: string;
  state: SwitchState;
  switch: PolicySwitch;
  takes: SwitchTakes;
  text: string;
}
/**
 * The passkey's answer.
 */
export interface ThawAnswer {
  assertion: {
    [k: string]: unknown;
  };
}
/**
 * What a passkey has to sign to end the freeze; good for two minutes, once, in this console session.
 */
export interface ThawQuestion {
  freeze: FreezeView;
  passkeyOptions: {
    [k: string]: unknown;
  };
  statement: {
    [k: string]: unknown;
  };
  statementDigest: string;
}
/**
 * A switch to turn, with the folders or hosts of one that takes any.
 */
export interface SwitchTurning {
  /**
   * @maxItems 64
   */
  arguments?: string[];
  on: boolean;
  switch: PolicySwitch;
}
/**
 * A draft made by a switch from the version `base`: nothing is changed by it. It is compared, rehearsed and
 * proposed as any other.
 */
export interface SwitchDraft {
  amended: AmendedCase[];
  base: string;
  check: PolicyCheck;
  documents: PolicyDocument[];
}
/**
 * A row of the decision table that expects something else with the switch turned.
 */
export interface AmendedCase {
  about: string;
  after: PermissionMode;
  before: PermissionMode;
  file: string;
  question: string;
}
/**
 * Texts that somebody writes.
 */
export interface PolicyDraftText {
  /**
   * @minItems 1
   * @maxItems 256
   */
  documents: [PolicyDocument, ...PolicyDocument[]];
}
/**
 * A browser's subscription with a name for it. `publicKey` is what the Push API calls `p256dh`.
 */
export interface NewPushDevice {
  auth: string;
  endpoint: string;
  name: string;
  publicKey: string;
}
/**
 * Whether devices can be added here, the public key that a browser subscribes with, and those that there are.
 */
export interface PushState {
  configured: boolean;
  devices: PushDevice[];
  key?: string;
}
/**
 * A device. `service` is the host that carries messages to it. `digest` is SHA-256 of its address and keys with a line feed
 * between them, by which its own page finds it in the list.
 */
export interface PushDevice {
  addedAt: string;
  digest: string;
  id: string;
  name: string;
  service: string;
}
/**
 * Which device.
 */
export interface PushDeviceRef {
  device: string;
}
/**
 * Every secret.
 */
export interface SecretList {
  secrets: SecretView[];
}
/**
 * A stored secret and the sources that use it. Its value is never told.
 */
export interface SecretView {
  name: string;
  sources: string[];
}
/**
 * Which secret.
 */
export interface SecretRef {
  name: string;
}
/**
 * A secret to store, or another value for one.
 */
export interface NewSecret {
  name: string;
  value: string;
}
/**
 * The data that every console page loads first. `at` is the gateway's time.
 */
export interface ConsoleDescription {
  agentOrigin: string;
  at: string;
  connectionId: string;
  session: ConsoleSessionView;
}
/**
 * The console session: the person and the expiry.
 */
export interface ConsoleSessionView {
  expiresAt: string;
  id: string;
  principal: string;
  principalName: string;
  profile: Profile;
}
/**
 * Which agent session.
 */
export interface AgentSessionRef {
  sessionId: string;
}
/**
 * Which session.
 */
export interface SessionRef {
  sessionId: string;
}
/**
 * Everybody's.
 */
export interface SessionList {
  sessions: AliveSession[];
}
/**
 * An agent session that is alive, and the highest label of what it has seen.
 */
export interface AliveSession {
  expiresAt: string;
  id: string;
  label: "public" | "internal" | "confidential" | "high";
  principal: string;
  principalName: string;
}
/**
 * Which session, and the label that it has at least from now on.
 */
export interface SessionLabelChoice {
  label: "public" | "internal" | "confidential" | "high";
  sessionId: string;
}
/**
 * What a setting shall be: `value`, or what it would be without a choice on the console (`reset`).
 */
export interface SettingWish {
  base: string;
  name: string;
  reset?: boolean;
  value?: number | string;
}
/**
 * What a passkey has to sign for the change; good for two minutes, once, in this console session.
 */
export interface SettingQuestionView {
  passkeyOptions: {
    [k: string]: unknown;
  };
  statement: {
    [k: string]: unknown;
  };
  statementDigest: string;
}
/**
 * The passkey's answer.
 */
export interface SettingAnswer {
  assertion: {
    [k: string]: unknown;
  };
}
/**
 * All of them. `version` is of the choices on the console; a change names the one that it was made from.
 */
export interface SettingList {
  settings: Setting[];
  version: string;
}
/**
 * A setting that can be changed here. `value` is in force and comes from `place`; without a choice on the console it would be
 * `configured`. It may be a whole number from `least` to `most`, where these are given, or one of the `words`. A setting that is
 * `fixed` is changed where it is set.
 */
export interface Setting {
  configured: number | string;
  fixed: boolean;
  least?: number;
  most?: number;
  name: string;
  place: "default" | "file" | "environment" | "commandLine" | "console";
  value: number | string;
  words: string[];
}
/**
 * A source to add. docs/TOOLS.md lists the settings of each kind.
 */
export interface NewSource {
  kind: SourceKind;
  name: string;
  settings: {
    [k: string]: unknown;
  };
}
/**
 * A source and how it is now. `state` is `off`, `connecting`, `ready`, `away` or `needsSignIn`; `why` says in words why it
 * is away. `signIn` is there for a source that people sign in to.
 *
 * `refused` has the first of `refusedCount`. `settings` have long texts and lists cut, and name their secrets as
 * `${secret:NAME}`; `shortened` names the members of which not all is there, and `settingsDigest` is that of all of them, uncut.
 * `declared`: it stands in the settings file and is changed there.
 */
export interface Source {
  addedAt?: string;
  counts: ToolCounts;
  declared: boolean;
  enabled: boolean;
  kind: SourceKind;
  name: string;
  refused: RefusedTool[];
  refusedCount: number;
  settings: {
    [k: string]: unknown;
  };
  settingsDigest: string;
  shortened: string[];
  signIn?: CurrentSignIn;
  state: string;
  version: string;
  why?: string;
}
/**
 * How many tools of a source are how far: nobody decided, in use, kept out, changed since they were decided about.
 */
export interface ToolCounts {
  inUse: number;
  keptOut: number;
  proposed: number;
  quarantined: number;
}
/**
 * An offered tool that cannot be published, and why.
 */
export interface RefusedTool {
  tool: string;
  why: string;
}
/**
 * A sign-in to a source: where its tokens are from and since when, both absent while nobody is signed in.
 */
export interface CurrentSignIn {
  at?: string;
  server?: string;
}
/**
 * Other settings for a source that has the settings of that digest: these members anew, those `without` taken away, and
 * all others as they are.
 */
export interface SourceChange {
  name: string;
  settings: {
    [k: string]: unknown;
  };
  settingsDigest: string;
  /**
   * @maxItems 64
   */
  without?: string[];
}
/**
 * Decisions about tools of one source, all recorded or none.
 */
export interface SourceDecisions {
  /**
   * @minItems 1
   * @maxItems 200
   */
  decisions: [SourceDecision, ...SourceDecision[]];
  name: string;
}
/**
 * What somebody decides about a tool whose definition has that `pin`: its category, absent when nobody calls it.
 */
export interface SourceDecision {
  category?: Category;
  pin: string;
  tool: string;
}
/**
 * What the browser brought back from there to the source's own page: the parameters of its address.
 */
export interface SignInReturn {
  code?: string;
  error?: string;
  issuer?: string;
  name: string;
  state: string;
}
/**
 * Which servers of a configuration to add, all of them or none. `digest` is that of the preview that was looked at.
 */
export interface ConfigurationImport {
  digest: string;
  network?: boolean;
  /**
   * @minItems 1
   * @maxItems 64
   */
  servers: [string, ...string[]];
  text: string;
}
/**
 * Every source, by name.
 */
export interface SourceList {
  sources: Source[];
}
/**
 * Which tools of a source: those whose names or descriptions hold `search`, and have that `standing`; in the order of their
 * names, after the tool `after`.
 */
export interface SourceToolPage {
  after?: string;
  limit?: number;
  name: string;
  search?: string;
  standing?: Standing;
}
/**
 * One page; `next` is the tool after which the next page begins, absent on the last one.
 */
export interface SourceToolList {
  next?: string;
  tools: SourceTool[];
  total: number;
}
/**
 * A tool of a source. `definition` is what it is now and `pin` its digest; `decided` is the definition that was decided
 * about, where that is another one. `modes` are what the policy makes of it in its category, or in the proposed one.
 */
export interface SourceTool {
  because: string;
  category?: Category;
  decided?: {
    [k: string]: unknown;
  };
  definition: {
    [k: string]: unknown;
  };
  modes: ToolModes;
  name: string;
  offered: boolean;
  pin: string;
  proposed: Category;
  standing: Standing;
  tool: string;
}
/**
 * The configuration of another MCP client as it stands in its file, and whether its programs may reach the network.
 */
export interface ConfigurationText {
  network?: boolean;
  text: string;
}
/**
 * What would be added; nothing of it was. `digest` is that of all of it.
 */
export interface ConfigurationPreview {
  digest: string;
  refused: RefusedServer[];
  servers: ImportedServer[];
}
/**
 * A server of it that cannot be added, and why.
 */
export interface RefusedServer {
  name: string;
  why: string;
}
/**
 * A server of it as a source. `secrets` are the names under which values would be kept that were taken out of `settings`,
 * `replaced` those of them that are stored now; `missing` has to be stored before it can connect. `fetches`: a program that
 * cannot get its package, since it may not reach the network.
 */
export interface ImportedServer {
  fetches?: string;
  missing: string[];
  name: string;
  notes: string[];
  replaced: string[];
  secrets: string[];
  settings: {
    [k: string]: unknown;
  };
}
/**
 * Which source.
 */
export interface SourceRef {
  name: string;
}
/**
 * Where the browser goes to sign in: an address of the authorization server `server`.
 */
export interface SignInLocation {
  location: string;
  server: string;
}
/**
 * The source without its sign-in; `why` says why its authorization server did not void the tokens, where it did not.
 */
export interface SignOutAnswer {
  source: Source;
  why?: string;
}
/**
 * Whether a source is used.
 */
export interface SourceSwitch {
  enabled: boolean;
  name: string;
}
/**
 * Which open turn.
 */
export interface OpenTurnRef {
  turnId: string;
}
/**
 * An operator, `name`, did alone what takes several people. Operators' consoles are told.
 */
export interface BreakGlass {
  approvalId: string;
  at: string;
  name: string;
  reason: string;
  tool: string;
}
/**
 * The server of a running tool asks this person something.
 */
export interface ElicitationRequested {
  elicitation: Elicitation;
}
/**
 * It waits no longer.
 */
export interface ElicitationResolved {
  elicitationId: string;
  status: ElicitationStatus;
}
/**
 * A grant of this person began, was used or ended; which there are now has to be asked.
 */
export interface GrantsChanged {}
/**
 * So many calls were judged again.
 */
export interface RehearsalProgress {
  judged: number;
}
/**
 * The freeze, or the proposals that wait, are not as they were.
 */
export interface PolicyState {
  freeze?: FreezeView;
  proposals: number;
}
/**
 * A setting is not what it was; what it is now has to be asked.
 */
export interface SettingsChanged {}
/**
 * A source, a decision about a tool, or a stored secret is not as it was; what it is now has to be asked.
 */
export interface SourcesChanged {}
/**
 * One message in the model's chat format.
 */
export interface ChatMessage {
  content: string;
  role: Role;
  toolCallId?: string;
  toolCalls?: ToolCall[];
}
/**
 * A conversation from a file, as a browser has read it: the body of `POST /conversations/import`. `source` is the program
 * that wrote the file, and `label` the confidentiality that the file says it has.
 */
export interface ConversationImport {
  label?: "public" | "internal" | "confidential" | "high";
  /**
   * @minItems 1
   * @maxItems 1000
   */
  messages: [ImportedMessage, ...ImportedMessage[]];
  source: "countersign" | "chatgpt" | "claude" | "openWebUi";
  title: string;
}
/**
 * A message of a file. `at` is when the file says that it was said, if it says so.
 */
export interface ImportedMessage {
  at?: string;
  content: string;
  role: "user" | "assistant";
}
/**
 * A JSON-RPC error. `message` is safe to show.
 */
export interface ErrorBody {
  code: number;
  data: ErrorData;
  message: string;
}
/**
 * The stable code of an error, in addition to its number.
 */
export interface ErrorData {
  code: string;
}
/**
 * The answer to a message that is no well-formed call of a known method; `id` is null where none could be read.
 */
export interface Failure {
  error: ErrorBody;
  id: string | number | null;
  jsonrpc: "2.0";
}
/**
 * A message of the gateway that answers no request.
 */
export interface Notification {
  jsonrpc: "2.0";
  method: string;
  params: {
    [k: string]: unknown;
  };
}
/**
 * One call of one method, as a client sends it.
 */
export interface Request {
  id: string | number;
  jsonrpc: "2.0";
  method: string;
  params?: {
    [k: string]: unknown;
  };
}
/**
 * The answer to a request.
 */
export interface Success {
  id: string | number;
  jsonrpc: "2.0";
  result: {
    [k: string]: unknown;
  };
}
