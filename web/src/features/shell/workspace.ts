import type { Conversation as View } from "../../agent/conversation.ts";
import { emptyConversation, waitingCalls } from "../../agent/conversation.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { explainFailure } from "../../agent/gateway.ts";
import type { Command } from "../../agent/slash.ts";
import { readCommand } from "../../agent/slash.ts";
import type { Conversation, Grant, ModelInfo, SessionDescription } from "../../protocol/generated.ts";
import type { ConnectionState } from "../../protocol/rpc.ts";
import { type LeftOpen, Room } from "./room.ts";
import type { AgentLine, Surroundings } from "./surroundings.ts";

/** A line of the conversation list. */
export interface Listed {
  readonly conversation: Conversation;
  readonly busy: boolean;
  /** How many of its calls wait for a person. */
  readonly waiting: number;
}

/** Everything the page shows, as one value that is replaced when anything changes. */
export interface WorkspaceState {
  readonly connection: ConnectionState;
  readonly session: SessionDescription | null;
  readonly model: ModelInfo | null;
  readonly list: readonly Listed[] | null;
  readonly hasMore: boolean;
  readonly currentId: string | null;
  readonly title: string;
  readonly view: View;
  readonly busy: boolean;
  readonly leftOpen: LeftOpen | null;
  readonly loading: boolean;
  readonly grants: readonly Grant[] | null;
  /** What could not be done just now, in words. */
  readonly fault: string | null;
}

const TITLE_LENGTH = 60;

/** What the shell knows and does, apart from how it looks: the line, the list, and the rooms that are in use. */
export class Workspace {
  readonly around: Surroundings;
  readonly #line: AgentLine;
  readonly #rooms = new Map<string, Room>();
  readonly #listeners = new Set<() => void>();
  readonly #eventListeners = new Set<(event: AgentEvent) => void>();
  readonly #stops: (() => void)[] = [];
  #session: SessionDescription | null = null;
  #modelId: string | null = null;
  #list: Conversation[] | null = null;
  #nextCursor: string | undefined;
  #currentId: string | null = null;
  #loading = false;
  #grants: readonly Grant[] | null = null;
  #fault: string | null = null;
  #painting = false;
  #state: WorkspaceState;

  constructor(around: Surroundings) {
    this.around = around;
    this.#line = around.openLine();
    this.#state = this.#compose();
  }

  // ── for React's useSyncExternalStore ──

  readonly getState = (): WorkspaceState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Told of what happens in the conversation on the screen. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  // ── coming and going ──

  /** Connect, and show what the address names. Resolves once that is on the screen. */
  async start(): Promise<void> {
    const line = this.#line;
    this.#stops.push(
      line.onState(() => this.#publish()),
      line.on("approvals/requested", ({ approval }) =>
        this.#rooms.get(approval.conversationId)?.tell({ type: "approval:requested", approval }),
      ),
      line.on("approvals/resolved", ({ callId, status }) =>
        this.#tellWhoHas(callId, { type: "approval:resolved", callId, status }),
      ),
      line.on("tools/progress", ({ callId, message, fraction }) =>
        this.#tellWhoHas(callId, {
          type: "call:progressed",
          callId,
          message,
          ...(fraction !== undefined && { fraction }),
        }),
      ),
      line.on("snapshot/revoked", ({ snapshotId, reason }) => {
        for (const room of this.#rooms.values()) room.revoked(snapshotId, reason);
      }),
      this.around.place.onChange(() => void this.open(this.around.place.read())),
    );
    line.onRebind((call) => this.#rebind(call));
    line.start();
    await this.#attempt(async () => {
      this.#session = await line.call("session/describe", {});
      await this.#loadList();
      await this.open(this.around.place.read());
    });
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#line.stop();
  }

  retryNow(): void {
    this.#line.retryNow();
  }

  async signOut(): Promise<void> {
    await this.#attempt(() => this.around.signOut());
    this.around.place.write(null);
    this.#line.stop();
  }

  // ── conversations ──

  /** Show a conversation, or an empty page for a new one. */
  async open(id: string | null): Promise<void> {
    this.#currentId = id;
    this.#fault = null;
    this.around.place.write(id);
    if (id === null || this.#rooms.has(id)) {
      this.#publish();
      return;
    }
    const room = this.#makeRoom(id);
    this.#loading = true;
    this.#publish();
    const entered = await this.#attempt(async () => {
      const opened = await this.#line.call("conversations/open", { conversationId: id });
      this.#remember(opened.conversation);
      await room.enter(opened, this.#session?.models ?? []);
    });
    this.#loading = false;
    if (!entered) {
      this.#rooms.delete(id);
      if (this.#currentId === id) {
        this.#currentId = null;
        this.around.place.write(null);
      }
    }
    this.#publish();
  }

  async rename(id: string, title: string): Promise<void> {
    await this.#attempt(async () => {
      const { conversation } = await this.#line.call("conversations/rename", { conversationId: id, title });
      this.#remember(conversation);
    });
  }

  async remove(id: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#rooms.get(id)?.stop();
      const { openTurn } = await this.#line.call("conversations/open", { conversationId: id });
      if (openTurn !== undefined)
        await this.#line.call("turns/cancel", { conversationId: id, turnId: openTurn.turnId });
      await this.#line.call("conversations/delete", { conversationId: id });
      this.#rooms.delete(id);
      this.#list = this.#list?.filter((each) => each.id !== id) ?? null;
      if (this.#currentId === id) await this.open(null);
    });
  }

  async loadMore(): Promise<void> {
    await this.#attempt(async () => {
      if (this.#nextCursor === undefined) return;
      const page = await this.#line.call("conversations/list", { cursor: this.#nextCursor });
      this.#list = [...(this.#list ?? []), ...page.conversations];
      this.#nextCursor = page.nextCursor;
    });
  }

  // ── talking ──

  chooseModel(id: string): void {
    this.#modelId = id;
    this.#publish();
  }

  /** Take what was typed. True when it needs to be kept no longer. */
  async submit(typed: string): Promise<boolean> {
    const command = readCommand(typed);
    if (command.kind === "message" && command.text === "") return false;
    if (command.kind === "exit") {
      await this.signOut();
      return true;
    }
    let taken = false;
    await this.#attempt(async () => {
      taken = await this.#obey(command, typed.trim());
    });
    return taken;
  }

  async stopTurn(): Promise<void> {
    await this.#room?.stop();
  }

  async cancelCall(callId: string): Promise<void> {
    await this.#attempt(async () => this.#room?.cancelCall(callId));
  }

  async goOn(): Promise<void> {
    await this.#attempt(async () => this.#room?.goOn(this.#session?.models ?? []));
  }

  async letGo(): Promise<void> {
    await this.#attempt(async () => this.#room?.letGo());
  }

  openApproval(approvalId: string): void {
    if (this.#session !== null) this.around.openConsole(`${this.#session.consoleOrigin}/approvals/${approvalId}`);
  }

  // ── grants ──

  async loadGrants(): Promise<void> {
    await this.#attempt(async () => {
      this.#grants = (await this.#line.call("grants/list", {})).grants;
    });
  }

  async revokeGrant(grantId: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#line.call("grants/revoke", { grantId });
      this.#grants = this.#grants?.filter((grant) => grant.id !== grantId) ?? null;
    });
  }

  dismissFault(): void {
    this.#fault = null;
    this.#publish();
  }

  // ── inside ──

  get #room(): Room | undefined {
    return this.#currentId === null ? undefined : this.#rooms.get(this.#currentId);
  }

  get #model(): ModelInfo | null {
    const models = this.#session?.models ?? [];
    return models.find(({ id }) => id === this.#modelId) ?? models[0] ?? null;
  }

  async #obey(command: Command, typed: string): Promise<boolean> {
    if (command.kind === "mistake") {
      this.#fault = command.why;
      return false;
    }
    const model = this.#model;
    if (command.kind === "message" && model === null) {
      // The models may have come up since this page asked.
      this.#session = await this.#line.call("session/describe", {});
      if (this.#model === null) {
        this.#fault = "No model is available. `countersign doctor` says what is missing.";
        return false;
      }
    }
    const room = this.#room ?? (await this.#found(command.kind === "message" ? command.text : typed));
    switch (command.kind) {
      case "message":
        return this.#model !== null && room.say(command.text, this.#model);
      case "call":
        return room.call(typed, { name: command.name, arguments: command.arguments });
      case "help":
        room.tell({ type: "panel:shown", panel: { kind: "help" } });
        return true;
      case "tools":
      case "inspect": {
        const described = await this.#line.call("tools/describe", { conversationId: room.id });
        const tools = described.tools.filter((each) => each.local !== true);
        if (command.kind === "tools") {
          room.tell({ type: "panel:shown", panel: { kind: "tools", tools } });
          return true;
        }
        const tool = tools.find(({ name }) => name === command.name);
        if (tool === undefined) this.#fault = `There is no tool called \`${command.name}\` here.`;
        else room.tell({ type: "panel:shown", panel: { kind: "tool", tool } });
        return tool !== undefined;
      }
      case "exit":
        return true;
    }
  }

  /** A new conversation, named after what it begins with. */
  async #found(text: string): Promise<Room> {
    const line = text.split("\n", 1)[0] ?? "";
    const title = line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1)}…` : line;
    const { conversation } = await this.#line.call("conversations/open", { title });
    const room = this.#makeRoom(conversation.id);
    this.#remember(conversation);
    this.#currentId = conversation.id;
    this.around.place.write(conversation.id);
    this.#publish();
    return room;
  }

  #makeRoom(id: string): Room {
    const room = new Room(id, this.#line, this.around, (event) => {
      if (event !== null && id === this.#currentId) for (const listener of this.#eventListeners) listener(event);
      if (event?.type === "text:streamed") this.#paintSoon();
      else this.#publish();
      // The order of the list has changed. If it cannot be had now, the next turn brings it.
      if (event?.type === "turn:ended") this.#loadList().catch(() => undefined);
    });
    this.#rooms.set(id, room);
    return room;
  }

  /** After a reconnect every turn under way has to be moved to the new connection before anything else is asked on it. */
  async #rebind(call: AgentLine["call"]): Promise<void> {
    for (const room of this.#rooms.values()) {
      if (!room.busy && room.leftOpen === null) continue;
      const takeOver = room.busy;
      room.rebound(await call("conversations/open", { conversationId: room.id, takeOver }));
    }
  }

  #tellWhoHas(callId: string, event: AgentEvent): void {
    for (const room of this.#rooms.values()) if (room.view.calls[callId] !== undefined) room.tell(event);
  }

  /** The newest page, in front of what was already fetched of the older ones. */
  async #loadList(): Promise<void> {
    const { conversations, nextCursor } = await this.#line.call("conversations/list", {});
    const isFirst = this.#list === null;
    const fresh = new Set(conversations.map(({ id }) => id));
    this.#list = [...conversations, ...(this.#list?.filter(({ id }) => !fresh.has(id)) ?? [])];
    if (isFirst) this.#nextCursor = nextCursor;
    this.#publish();
  }

  #remember(conversation: Conversation): void {
    const others = this.#list?.filter((each) => each.id !== conversation.id) ?? [];
    const known = others.length < (this.#list?.length ?? 0);
    this.#list = known
      ? (this.#list?.map((each) => (each.id === conversation.id ? conversation : each)) ?? null)
      : [conversation, ...others];
  }

  /** Do something that may fail, and say so in words if it does. Gives whether it was done. */
  async #attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      this.#fault = null;
      await work();
      return true;
    } catch (error) {
      this.#fault = explainFailure(error);
      return false;
    } finally {
      this.#publish();
    }
  }

  #paintSoon(): void {
    if (this.#painting) return;
    this.#painting = true;
    this.around.nextFrame(() => {
      this.#painting = false;
      this.#publish();
    });
  }

  #publish(): void {
    this.#state = this.#compose();
    for (const listener of this.#listeners) listener();
  }

  #compose(): WorkspaceState {
    const room = this.#room;
    return {
      connection: this.#line.state,
      session: this.#session,
      model: this.#model,
      list: this.#list?.map((conversation) => this.#listed(conversation)) ?? null,
      hasMore: this.#nextCursor !== undefined,
      currentId: this.#currentId,
      title: this.#list?.find(({ id }) => id === this.#currentId)?.title ?? "",
      view: room?.view ?? emptyConversation,
      busy: room?.busy ?? false,
      leftOpen: room?.leftOpen ?? null,
      loading: this.#loading,
      grants: this.#grants,
      fault: this.#fault,
    };
  }

  #listed(conversation: Conversation): Listed {
    const room = this.#rooms.get(conversation.id);
    return { conversation, busy: room?.busy ?? false, waiting: room ? waitingCalls(room.view).length : 0 };
  }
}
