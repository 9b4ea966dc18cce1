import { type Conversation as ConversationLog, waitingCalls } from "../../agent/conversation.ts";
import type { Conversation, Grant, ModelInfo, SessionDescription } from "../../protocol/generated.ts";
import type { ConnectionState } from "../../protocol/rpc.ts";
import type { PendingFile } from "./attachments.ts";
import type { SoughtPlace } from "./message-search.ts";
import type { OpenConversation, UnfinishedTurn } from "./open-conversation.ts";
import type { Settings } from "./settings.ts";
import type { AnswerFigures } from "./turn-figures.ts";

/** One row of the conversation list. */
export interface ConversationRow {
  readonly conversation: Conversation;
  readonly busy: boolean;
  /** How many of its calls wait for a person. */
  readonly waiting: number;
  /** When the first of them expires. */
  readonly expiresAt: string | null;
}

/** Everything the page shows, as one value that is replaced when anything changes. */
export interface WorkspaceState {
  readonly connection: ConnectionState;
  readonly session: SessionDescription | null;
  readonly settings: Settings;
  readonly model: ModelInfo | null;
  readonly list: readonly ConversationRow[] | null;
  readonly hasMore: boolean;
  readonly currentId: string | null;
  readonly title: string;
  readonly log: ConversationLog;
  /** The message to be shown, where one was looked for. */
  readonly place: SoughtPlace | null;
  /** What answers took, by turn. */
  readonly figures: ReadonlyMap<string, AnswerFigures>;
  readonly busy: boolean;
  /** What goes with the next message. */
  readonly files: readonly PendingFile[];
  /** What will be sent when the answer under way is complete. */
  readonly queue: readonly string[];
  /** How many of them, from the first on, are taken in before the next step of the turn under way. */
  readonly steering: number;
  /** A text for the message box; a new one is a new object. */
  readonly offered: { readonly text: string } | null;
  readonly unfinishedTurn: UnfinishedTurn | null;
  readonly loading: boolean;
  readonly grants: readonly Grant[] | null;
  /** How often the grants were asked for by a command: each time is one more. */
  readonly grantsAsked: number;
  /** What could not be done just now, in words. */
  readonly problem: string | null;
}

/** A stored conversation with what goes on in it, if this page has it open. */
export function rowOf(conversation: Conversation, opened: OpenConversation | undefined): ConversationRow {
  const waiting = opened === undefined ? [] : waitingCalls(opened.log);
  const expiries = waiting.flatMap(({ approval }) => (approval === undefined ? [] : [approval.expiresAt])).sort();
  return { conversation, busy: opened?.busy ?? false, waiting: waiting.length, expiresAt: expiries[0] ?? null };
}
