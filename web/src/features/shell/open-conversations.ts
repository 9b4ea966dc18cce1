import type { AgentEvent } from "../../agent/events.ts";
import type { ModelInfo } from "../../protocol/generated.ts";
import { OpenConversation } from "./open-conversation.ts";
import type { Settings } from "./settings.ts";
import type { AgentClient, ShellEnvironment } from "./shell-environment.ts";
import { TurnsUnderWay } from "./turns-under-way.ts";

/** Told of every change in a conversation; `event` is null when the log was replaced as a whole. */
export type ChangeListener = (conversationId: string, event: AgentEvent | null) => void;

/** The conversations that this page has open, and what the gateway announces about them. */
export class OpenConversations {
  readonly #client: AgentClient;
  readonly #environment: ShellEnvironment;
  readonly #settings: () => Settings;
  readonly #onChange: ChangeListener;
  readonly #byId = new Map<string, OpenConversation>();

  constructor(client: AgentClient, environment: ShellEnvironment, settings: () => Settings, onChange: ChangeListener) {
    this.#client = client;
    this.#environment = environment;
    this.#settings = settings;
    this.#onChange = onChange;
  }

  get(id: string | null): OpenConversation | undefined {
    return id === null ? undefined : this.#byId.get(id);
  }

  /** Open a conversation, with an empty log as yet. */
  create(id: string): OpenConversation {
    const changed = (event: AgentEvent | null) => this.#onChange(id, event);
    const conversation = new OpenConversation(id, this.#client, this.#environment, this.#settings, changed);
    this.#byId.set(id, conversation);
    return conversation;
  }

  close(id: string): void {
    this.#byId.delete(id);
  }

  /** Have the turns go on that this tab ran in other conversations before it was loaded again. */
  async takeUpOthers(models: readonly ModelInfo[]): Promise<void> {
    const ids = new TurnsUnderWay(this.#environment.keptInTab).conversationIds;
    for (const id of ids.filter((each) => !this.#byId.has(each))) {
      try {
        const opened = await this.#client.call("conversations/open", { conversationId: id });
        if (!this.#byId.has(id)) await this.create(id).restore(opened, models);
      } catch {
        // It is gone, or the gateway is away. It is there for the person to open.
        this.close(id);
      }
    }
  }

  /** Pass on what the gateway announces, until the functions that are returned are called. */
  listen(): (() => void)[] {
    const client = this.#client;
    client.onRebind((call) => this.#rebind(call));
    return [
      client.on("approvals/requested", ({ approval }) =>
        this.#byId.get(approval.conversationId)?.apply({ type: "approval:requested", approval }),
      ),
      client.on("approvals/changed", ({ approval }) =>
        this.#byId.get(approval.conversationId)?.apply({ type: "approval:changed", approval }),
      ),
      client.on("approvals/resolved", ({ callId, status }) =>
        this.#applyToCall(callId, { type: "approval:resolved", callId, status }),
      ),
      client.on("tools/progress", ({ callId, message, fraction }) =>
        this.#applyToCall(callId, {
          type: "call:progressed",
          callId,
          message,
          ...(fraction !== undefined && { fraction }),
        }),
      ),
      client.on("snapshot/revoked", ({ snapshotId, reason }) => {
        for (const conversation of this.#byId.values()) conversation.snapshotRevoked(snapshotId, reason);
      }),
    ];
  }

  /** After a reconnect every turn under way has to be moved to the new connection before anything else is asked on it. */
  async #rebind(call: AgentClient["call"]): Promise<void> {
    for (const conversation of this.#byId.values()) {
      if (!conversation.busy && conversation.unfinishedTurn === null) continue;
      const takeOver = conversation.busy;
      conversation.rebound(await call("conversations/open", { conversationId: conversation.id, takeOver }));
    }
  }

  /** An event names only the call that it is about. */
  #applyToCall(callId: string, event: AgentEvent): void {
    for (const conversation of this.#byId.values())
      if (conversation.log.calls[callId] !== undefined) conversation.apply(event);
  }
}
