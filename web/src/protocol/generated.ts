// Generated from protocol.schema.json by scripts/gen-protocol.mjs. Never edited by hand.

/**
 * A click on the console, or a passkey over the exact statement.
 */
export type ApprovalKind = "consent" | "stepUp";
/**
 * How long a yes lasts.
 */
export type GrantScope = "once" | "turn" | "session";
/**
 * Where an approval stands; everything but pending is final.
 */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "cancelled";
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
 * Why, where the outcome alone does not say it (protocol.md section 7).
 */
export type Reason =
  | "replayConflict"
  | "turnClosed"
  | "staleSnapshot"
  | "snapshotExpired"
  | "wrongConnection"
  | "notAdvertised"
  | "policyChanged"
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
  | "sandboxUnavailable"
  | "ledgerUnavailable"
  | "outcomeUnknown";
/**
 * Whether a result may be believed, by the tool's own definition; never by what the result says.
 */
export type Trust = "trusted" | "untrusted";
/**
 * Who speaks in a message.
 */
export type Role = "system" | "user" | "assistant" | "tool";
/**
 * What kind of effect a tool has; the policy's main handle.
 */
export type Category = "read" | "write" | "destructive" | "network" | "execute" | "admin";
/**
 * What a call needs before it may run, from nothing to never. `strictness` orders them.
 */
export type PermissionMode = "auto" | "consent" | "stepUp" | "forbidden";
/**
 * Who a principal is to the policy.
 */
export type Profile = "operator" | "guest" | "anonymous";

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
      "approvals/get": {
        params: ApprovalRef;
        result: ApprovalQuestion;
      };
      "approvals/list": {
        params: ApprovalPage;
        result: ApprovalList;
      };
      "audit/list": {
        params: AuditPage;
        result: AuditList;
      };
      "audit/verify": {
        params: Nothing;
        result: AuditVerification;
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
      "policy/describe": {
        params: Nothing;
        result: PolicyDescription;
      };
      "principals/list": {
        params: Nothing;
        result: PrincipalList;
      };
      "session/describe": {
        params: Nothing;
        result: ConsoleDescription;
      };
    };
    notifications: {
      "approvals/requested": ApprovalRequested;
      "approvals/resolved": ApprovalResolved;
      "policy/changed": PolicyChanged;
      "session/ended": SessionEnded;
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
 * No parameters, or a result that says no more than that it was done.
 */
export interface Nothing {}
/**
 * A conversation as a file: everything its owner may see, results included.
 */
export interface ConversationExport {
  calls: CallView[];
  conversation: Conversation;
  exportedAt: string;
  format: "countersign.conversation.v1";
  messages: StoredMessage[];
}
/**
 * A recorded call and where it stands, so that a reloaded page can show it. `approval` is set while it waits for a
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
 * One question to a person. Holds nothing that could answer it.
 */
export interface Approval {
  arguments: {
    [k: string]: unknown;
  };
  because: RuleReason[];
  callId: string;
  conversationId: string;
  effects: string[];
  expiresAt: string;
  id: string;
  kind: ApprovalKind;
  needs: Needs;
  offers: GrantScope[];
  requestedAt: string;
  statementDigest: string;
  status: ApprovalStatus;
  summary: string;
  tool: string;
  turnId: string;
}
/**
 * A policy rule that took part, and the sentence its author wrote for people.
 */
export interface RuleReason {
  id: string;
  why: string;
}
/**
 * What it takes to say yes. `presence` asks for a touch of the passkey even for a consent.
 */
export interface Needs {
  approvers: number;
  presence: boolean;
  requesterMayApprove: boolean;
}
/**
 * A proposal, made by a model in the browser. Untrusted.
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
 * its closing leaf, absent only when the log could not be written.
 */
export interface ToolResult {
  auditSeq?: number;
  callId: string;
  content: string;
  durationMs: number;
  error?: string;
  labels: string[];
  outcome: Outcome;
  reason?: Reason;
  receiptId: string;
  redactions: number;
  replayed: boolean;
  structured?: unknown;
  truncated: boolean;
  trust: Trust;
}
/**
 * A conversation's head. `label` is the highest confidentiality that entered it.
 */
export interface Conversation {
  createdAt: string;
  id: string;
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
 * A message of a conversation, in order. `provenance` says who vouches for it: the browser (`claimed`, with the `index`
 * that `messages/append` gave) or the gateway, which then names the `tool` whose result it is.
 */
export interface StoredMessage {
  at: string;
  content: string;
  index?: number;
  provenance: "claimed" | "gateway";
  role: Role;
  tool?: string;
  toolCallId?: string;
  toolCalls?: ToolCall[];
  turnId: string;
}
/**
 * Branch off before the turn with index `fromTurn`.
 */
export interface ConversationFork {
  conversationId: string;
  fromTurn: number;
}
/**
 * The branch, with the messages it starts from.
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
 * Open a conversation by id, or a new one. `takeOver` moves its open turn here from a connection that still lives.
 */
export interface ConversationOpening {
  conversationId?: string;
  takeOver?: boolean;
  title?: string;
}
/**
 * A conversation as a page needs it to go on.
 */
export interface ConversationOpened {
  conversation: Conversation;
  messages: StoredMessage[];
  openTurn?: OpenTurn;
}
/**
 * The turn that is open. `snapshot` is there when it binds the turn to this connection, absent while another holds it.
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
 * Another title for a conversation.
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
 * The grants that are live.
 */
export interface GrantList {
  grants: Grant[];
}
/**
 * A yes that lasts. `pins` holds the arguments that must be exactly these; `freed` names those that may vary.
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
}
/**
 * Which grant.
 */
export interface GrantRef {
  grantId: string;
}
/**
 * Ask to infer with one model in one turn.
 */
export interface InferenceTokenRequest {
  conversationId: string;
  modelId: string;
  turnId: string;
}
/**
 * A bearer token for `endpoint`, dead as soon as session, turn or expiry is. `revocable` is false for direct providers
 * that cannot be told.
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
 * Store what was said. A claim: never authority.
 */
export interface MessageAppending {
  conversationId: string;
  message: ClaimedMessage;
  turnId: string;
}
/**
 * A message that a browser submits. It can claim only what a person or a model said, never a tool's result.
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
 * Where the message stands in its conversation.
 */
export interface MessageAppended {
  index: number;
}
/**
 * Who this is, on which connection, and what it may ask.
 */
export interface SessionDescription {
  connectionId: string;
  consoleOrigin: string;
  limits: SessionLimits;
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
 * A model that can be asked. `id` is weight digest plus architecture tag for local weights; memory in bytes.
 *
 * `more`: it can say beside a call that further ones follow.
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
  more?: boolean;
  outputTokens: number;
  quantisation: string;
  supportsTools: boolean;
  toolCallRank?: number;
}
/**
 * Authority lent to this browser. `principal` is the person's id, `principalName` what screens show.
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
 * An unbound preview: none of these may be called on the strength of it.
 */
export interface ToolList {
  tools: ToolDescriptor[];
}
/**
 * A proposed call, under the snapshot that the client believes current.
 */
export interface ToolRequest {
  call: ToolCall;
  conversationId: string;
  model?: ModelRef;
  snapshotDigest: string;
  snapshotId: string;
  turnId: string;
}
/**
 * Which model proposed a call, as the browser says.
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
 * Open a turn; an open one of the conversation ends. `message` is what the person said.
 */
export interface TurnBeginning {
  conversationId: string;
  message?: SpokenMessage;
  modelId?: string;
}
/**
 * What the person said, as the browser submits it.
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
 * Close a turn. `usage` is what the browser counted: token counts and the like, by name.
 */
export interface TurnEnding {
  conversationId: string;
  turnId: string;
  usage?: {
    [k: string]: number;
  };
}
/**
 * A call waits for a person.
 */
export interface ApprovalRequested {
  approval: Approval;
}
/**
 * It waits no longer. `status` is final.
 */
export interface ApprovalResolved {
  approvalId: string;
  callId: string;
  status: ApprovalStatus;
}
/**
 * Another policy is in force; snapshots taken under the one before are revoked.
 */
export interface PolicyChanged {
  policyVersion: string;
}
/**
 * Nothing of this session runs any more; the connection closes next.
 */
export interface SessionEnded {
  reason: string;
}
/**
 * A snapshot no longer allows anything. `reason` is a stable word.
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
 * A person's answer. Without `scope` a yes is for once. `pins` names the arguments that must stay as shown in a turn or
 * session grant, all of them when absent; their values are the statement's own, never the browser's.
 */
export interface ApprovalAnswer {
  approvalId: string;
  assertion?: {
    [k: string]: unknown;
  };
  challenge: string;
  decision: "approve" | "deny";
  /**
   * @maxItems 256
   */
  pins?: string[];
  /**
   * How long a yes lasts.
   */
  scope?: "once" | "turn" | "session";
}
/**
 * How the approval stands now, and the grant if the yes lasts.
 */
export interface ApprovalDecided {
  approval: Approval;
  grant?: Grant;
}
/**
 * Which approval.
 */
export interface ApprovalRef {
  approvalId: string;
}
/**
 * An approval, the statement that is decided on, and, while it waits, a single-use challenge for one answer to it.
 *
 * `statement` canonicalises (RFC 8785) to exactly the bytes whose SHA-256 is the approval's `statementDigest`. Where a
 * passkey must answer, `passkeyOptions` is a WebAuthn Level 3 PublicKeyCredentialRequestOptionsJSON over them.
 */
export interface ApprovalQuestion {
  approval: Approval;
  challenge?: string;
  passkeyOptions?: {
    [k: string]: unknown;
  };
  statement: {
    [k: string]: unknown;
  };
}
/**
 * Which approvals: those that wait, or all, newest first.
 */
export interface ApprovalPage {
  status?: "pending" | "all";
}
/**
 * Approvals that this person may see.
 */
export interface ApprovalList {
  approvals: Approval[];
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
 * One leaf of the log. `hash` is its RFC 6962 leaf hash; `payload` is absent once it was erased.
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
 * The log's head as the gateway itself sees it: every leaf hashed again into `root`, compared with the last signed
 * checkpoint (a C2SP note). A gateway vouching for itself; the offline verifiers need no such trust.
 */
export interface AuditVerification {
  checkpoint: string;
  detail: string;
  root: string;
  size: number;
  verified: boolean;
}
/**
 * One's own passkeys.
 */
export interface PasskeyList {
  passkeys: PasskeyView[];
}
/**
 * A registered passkey, without its key.
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
 * Another name for a passkey.
 */
export interface PasskeyName {
  name: string;
  passkeyId: string;
}
/**
 * The policy in force, in its authors' words.
 */
export interface PolicyDescription {
  profiles: ProfilePolicy[];
  rules: RuleReason[];
  tools: PolicyTool[];
  version: string;
}
/**
 * What a profile may use up; `sessionSeconds` is how long its sessions last.
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
 * cannot run here.
 */
export interface PolicyTool {
  descriptor: ToolDescriptor;
  modes: ToolModes;
  unavailable?: string;
}
/**
 * The mode a snapshot would publish a tool with, before anything was read, by profile.
 */
export interface ToolModes {
  anonymous: PermissionMode;
  guest: PermissionMode;
  operator: PermissionMode;
}
/**
 * Everybody who is enrolled.
 */
export interface PrincipalList {
  principals: Principal[];
}
/**
 * A person the gateway knows.
 */
export interface Principal {
  id: string;
  name: string;
  profile: Profile;
}
/**
 * What a console page needs first.
 */
export interface ConsoleDescription {
  agentOrigin: string;
  connectionId: string;
  session: ConsoleSessionView;
}
/**
 * Who is signed in on the console, and until when.
 */
export interface ConsoleSessionView {
  expiresAt: string;
  id: string;
  principal: string;
  principalName: string;
  profile: Profile;
}
/**
 * One message as a model's chat format knows it.
 */
export interface ChatMessage {
  content: string;
  role: Role;
  toolCallId?: string;
  toolCalls?: ToolCall[];
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
 * The stable word for an error, beside its number.
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
 * What the gateway says unasked.
 */
export interface Notification {
  jsonrpc: "2.0";
  method: string;
  params: {
    [k: string]: unknown;
  };
}
/**
 * What a client sends: one call of one method.
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
