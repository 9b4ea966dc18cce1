import { chatOver } from "../../agent/chat.ts";
import { advance, type Conversation, emptyConversation, restore } from "../../agent/conversation.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { Proposal } from "../../agent/lane.ts";
import { recall } from "../../agent/messages.ts";
import { Runner } from "../../agent/runner.ts";
import type { CallView, ConversationOpened, ModelInfo, OpenTurn, StoredMessage } from "../../protocol/generated.ts";
import type { AgentLine, Surroundings } from "./surroundings.ts";

/** A turn that an earlier page, or another tab, left open. */
export interface LeftOpen {
  readonly turn: OpenTurn;
  /** Another tab holds it: this one may only take it over. */
  readonly elsewhere: boolean;
}

/** One conversation as this page holds it: what is shown, and the loop that drives it. It goes on while another is shown. */
export class Room {
  readonly id: string;
  readonly #line: AgentLine;
  readonly #around: Surroundings;
  readonly #changed: (event: AgentEvent | null) => void;
  #runner: Runner;
  #view: Conversation = emptyConversation;
  #leftOpen: LeftOpen | null = null;

  constructor(id: string, line: AgentLine, around: Surroundings, changed: (event: AgentEvent | null) => void) {
    this.id = id;
    this.#line = line;
    this.#around = around;
    this.#changed = changed;
    this.#runner = this.#engage([], []);
  }

  get view(): Conversation {
    return this.#view;
  }

  get leftOpen(): LeftOpen | null {
    return this.#leftOpen;
  }

  get busy(): boolean {
    return this.#runner.busy;
  }

  /** Show what the gateway has stored, and take up again what still runs there. */
  async enter(opened: ConversationOpened, models: readonly ModelInfo[]): Promise<void> {
    const { calls } = await this.#line.call("tools/list-calls", { conversationId: this.id });
    const { messages, openTurn } = opened;
    this.#runner = this.#engage(messages, calls);
    this.#view = restore(messages, calls, openTurn?.turnId ?? null);
    this.#leftOpen = openTurn ? { turn: openTurn, elsewhere: openTurn.snapshot === undefined } : null;
    this.#changed(null);
    // A call that waits for a person or runs needs no second yes to be waited for; a silent model does.
    const isLive = calls.some((view) => view.turnId === openTurn?.turnId && view.state !== "closed");
    if (isLive && openTurn?.snapshot !== undefined) void this.goOn(models);
  }

  /** Whether the message reached the gateway; the turn then goes on by itself. */
  async say(text: string, model: ModelInfo): Promise<boolean> {
    this.#leftOpen = null;
    return (await this.#runner.run(text, model)) !== null;
  }

  async call(text: string, proposal: Proposal): Promise<boolean> {
    this.#leftOpen = null;
    return (await this.#runner.call(text, proposal)) !== null;
  }

  /** Go on with the turn that was left open, taking it over from another tab if need be. */
  async goOn(models: readonly ModelInfo[]): Promise<void> {
    const left = this.#leftOpen;
    if (left === null) return;
    const { openTurn } = left.elsewhere
      ? await this.#line.call("conversations/open", { conversationId: this.id, takeOver: true })
      : { openTurn: left.turn };
    this.#leftOpen = null;
    this.#changed(null);
    if (openTurn?.snapshot === undefined) return;
    const model = models.find(({ id }) => id === openTurn.modelId) ?? null;
    await this.#runner.resume(openTurn.snapshot, model);
  }

  /** Do not go on with the turn that was left open: end it, or leave it to the tab that holds it. */
  async letGo(): Promise<void> {
    const left = this.#leftOpen;
    if (left === null) return;
    this.#leftOpen = null;
    this.#changed(null);
    if (left.elsewhere) return;
    this.tell({ type: "turn:resumed", turnId: left.turn.turnId, tools: [] });
    this.tell({ type: "turn:ended", ending: "stopped", label: "words" });
    await this.#line.call("turns/cancel", { conversationId: this.id, turnId: left.turn.turnId });
  }

  stop(): Promise<void> {
    return this.#runner.stop();
  }

  async cancelCall(callId: string): Promise<void> {
    await this.#line.call("tools/cancel", { conversationId: this.id, callId });
  }

  /** Something happened that concerns this conversation. */
  tell(event: AgentEvent): void {
    this.#view = advance(this.#view, event);
    this.#changed(event);
  }

  /** The page has a new connection; `opened` is what the gateway says about this conversation on it. */
  rebound(opened: ConversationOpened): void {
    const { openTurn } = opened;
    if (this.#runner.busy) this.#runner.rebound(openTurn?.snapshot ?? null);
    else if (this.#leftOpen !== null)
      this.#leftOpen = openTurn ? { turn: openTurn, elsewhere: openTurn.snapshot === undefined } : null;
    this.#changed(null);
  }

  revoked(snapshotId: string, reason: string): void {
    this.#runner.revoked(snapshotId, reason);
  }

  #engage(stored: readonly StoredMessage[], calls: readonly CallView[]): Runner {
    return new Runner(
      {
        gateway: this.#line,
        chatWith: (token) => chatOver(this.#around.fetch, token),
        newCallId: this.#around.newCallId,
        wait: this.#around.wait,
        today: this.#around.today,
        emit: (event) => this.tell(event),
      },
      this.id,
      recall(stored, calls),
    );
  }
}
