import type { Conversation as ConversationLog } from "../../agent/conversation.ts";
import { emptyConversation, waitingCalls } from "../../agent/conversation.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { explainFailure } from "../../agent/gateway.ts";
import { readCommand } from "../../agent/slash.ts";
import type { Conversation, Grant, ModelInfo, SessionDescription } from "../../protocol/generated.ts";
import type { ConnectionState } from "../../protocol/rpc.ts";
import { type CommandContext, runCommand } from "./commands.ts";
import { ConversationIndex } from "./conversation-index.ts";
import type { OpenConversation, UnfinishedTurn } from "./open-conversation.ts";
import { OpenConversations } from "./open-conversations.ts";
import { type AgentClient, PartMissing, type ShellEnvironment } from "./shell-environment.ts";

/** One row of the conversation list. */
export interface ConversationRow {
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
  readonly list: readonly ConversationRow[] | null;
  readonly hasMore: boolean;
  readonly currentId: string | null;
  readonly title: string;
  readonly log: ConversationLog;
  readonly busy: boolean;
  readonly unfinishedTurn: UnfinishedTurn | null;
  readonly loading: boolean;
  readonly grants: readonly Grant[] | null;
  /** What could not be done just now, in words. */
  readonly problem: string | null;
}

const TITLE_LENGTH = 60;

const PART_MISSING = "A part of this page could not be loaded. Reload the page; what you have typed is kept.";

/** What the shell knows and does, apart from how it looks: the connection, the list, and the conversations in use. */
export class Workspace {
  readonly environment: ShellEnvironment;
  readonly #client: AgentClient;
  readonly #index: ConversationIndex;
  readonly #opened: OpenConversations;
  readonly #listeners = new Set<() => void>();
  readonly #eventListeners = new Set<(event: AgentEvent) => void>();
  readonly #stops: (() => void)[] = [];
  #session: SessionDescription | null = null;
  /** What was chosen, by conversation; under null, for the one that begins next. */
  readonly #chosenModels = new Map<string | null, string>();
  #currentId: string | null = null;
  #loading = false;
  #grants: readonly Grant[] | null = null;
  #problem: string | null = null;
  #paintPlanned = false;
  #state: WorkspaceState;

  constructor(environment: ShellEnvironment) {
    this.environment = environment;
    this.#client = environment.createClient();
    this.#index = new ConversationIndex(this.#client);
    this.#opened = new OpenConversations(this.#client, environment, (id, event) =>
      this.#conversationChanged(id, event),
    );
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

  // ── the session ──

  /** Connect, and show what the address names. Resolves once that is on the screen. */
  async start(): Promise<void> {
    const client = this.#client;
    this.#stops.push(
      client.onState(() => this.#publish()),
      ...this.#opened.listen(),
      this.environment.address.onChange(() => void this.open(this.environment.address.read())),
    );
    client.start();
    await this.#attempt(async () => {
      this.#session = await client.call("session/describe", {});
      await this.#index.loadNewest();
      await this.open(this.environment.address.read());
    });
    // The first message should not have to wait for the loop; if it cannot be had now, that message asks again.
    this.environment.whenIdle(() => void this.environment.loadLoop().catch(() => undefined));
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#client.stop();
  }

  retryNow(): void {
    this.#client.retryNow();
  }

  async signOut(): Promise<void> {
    await this.#attempt(() => this.environment.signOut());
    this.environment.address.write(null);
    this.#client.stop();
  }

  /** For the conversation on the screen alone: another one may hold what this model must not be told. */
  chooseModel(id: string): void {
    this.#chosenModels.set(this.#currentId, id);
    this.#publish();
  }

  // ── the list of conversations ──

  /** Show a conversation, or an empty page for a new one. */
  async open(id: string | null): Promise<void> {
    this.#problem = null;
    this.#show(id);
    if (id === null || this.#opened.get(id) !== undefined) {
      this.#publish();
      return;
    }
    const conversation = this.#opened.create(id);
    this.#loading = true;
    this.#publish();
    const restored = await this.#attempt(async () => {
      const opened = await this.#client.call("conversations/open", { conversationId: id });
      this.#index.put(opened.conversation);
      await conversation.restore(opened, this.#session?.models ?? []);
    });
    this.#loading = false;
    if (!restored) {
      this.#opened.close(id);
      if (this.#currentId === id) this.#show(null);
    }
    this.#publish();
  }

  rename(id: string, title: string): Promise<boolean> {
    return this.#attempt(() => this.#index.rename(id, title));
  }

  async delete(id: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#opened.get(id)?.stop();
      await this.#index.delete(id);
      this.#opened.close(id);
      if (this.#currentId === id) await this.open(null);
    });
  }

  /** Show a copy of a conversation, to go on in it without changing the original. */
  async continueInCopy(id: string): Promise<void> {
    await this.#attempt(async () => this.open(await this.#index.copy(id)));
  }

  /** Save a conversation as a JSON file. */
  async export(id: string): Promise<void> {
    await this.#attempt(async () => {
      const exported = await this.#index.export(id);
      this.environment.saveFile(`conversation-${id}.json`, `${JSON.stringify(exported, null, 2)}\n`);
    });
  }

  loadOlder(): Promise<boolean> {
    return this.#attempt(() => this.#index.loadOlder());
  }

  // ── the conversation on the screen ──

  /** Take what was typed. True when the message box need not keep it. */
  async submit(typed: string): Promise<boolean> {
    const command = readCommand(typed);
    if (command.kind === "message" && command.text === "") return false;
    if (command.kind === "exit") {
      await this.signOut();
      return true;
    }
    let taken = false;
    await this.#attempt(async () => {
      const outcome = await runCommand(command, typed.trim(), this.#commandContext);
      taken = outcome.taken;
      if (!outcome.taken) this.#problem = outcome.problem;
    });
    return taken;
  }

  async stopTurn(): Promise<void> {
    await this.#current?.stop();
  }

  async cancelCall(callId: string): Promise<void> {
    await this.#attempt(async () => this.#current?.cancelCall(callId));
  }

  async continueTurn(): Promise<void> {
    await this.#attempt(async () => this.#current?.continueTurn(this.#session?.models ?? []));
  }

  async discardTurn(): Promise<void> {
    await this.#attempt(async () => this.#current?.discardTurn());
  }

  openApproval(approvalId: string): void {
    if (this.#session !== null) this.environment.openConsole(`${this.#session.consoleOrigin}/approvals/${approvalId}`);
  }

  dismissProblem(): void {
    this.#problem = null;
    this.#publish();
  }

  // ── grants ──

  async loadGrants(): Promise<void> {
    await this.#attempt(async () => {
      this.#grants = (await this.#client.call("grants/list", {})).grants;
    });
  }

  async revokeGrant(grantId: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#client.call("grants/revoke", { grantId });
      this.#grants = this.#grants?.filter((grant) => grant.id !== grantId) ?? null;
    });
  }

  // ── inside ──

  get #current(): OpenConversation | undefined {
    return this.#opened.get(this.#currentId);
  }

  get #model(): ModelInfo | null {
    const models = this.#session?.models ?? [];
    const chosen = this.#chosenModels.get(this.#currentId);
    return models.find(({ id }) => id === chosen) ?? models[0] ?? null;
  }

  get #commandContext(): CommandContext {
    return {
      client: this.#client,
      findModel: async () => {
        // The models may have come up since this page asked, and been tried.
        if (this.#model?.tier === undefined) this.#session = await this.#client.call("session/describe", {});
        return this.#model;
      },
      conversationFor: async (text) => this.#current ?? (await this.#createConversation(text)),
    };
  }

  #show(id: string | null): void {
    this.#currentId = id;
    this.environment.address.write(id);
  }

  /** A new conversation, named after what it begins with. */
  async #createConversation(text: string): Promise<OpenConversation> {
    const firstLine = text.split("\n", 1)[0] ?? "";
    const title = firstLine.length > TITLE_LENGTH ? `${firstLine.slice(0, TITLE_LENGTH - 1)}…` : firstLine;
    const { conversation } = await this.#client.call("conversations/open", { title });
    const created = this.#opened.create(conversation.id);
    this.#index.put(conversation);
    const chosen = this.#chosenModels.get(this.#currentId);
    if (chosen !== undefined) this.#chosenModels.set(conversation.id, chosen);
    this.#chosenModels.delete(null);
    this.#show(conversation.id);
    this.#publish();
    return created;
  }

  #conversationChanged(id: string, event: AgentEvent | null): void {
    if (event !== null && id === this.#currentId) for (const listener of this.#eventListeners) listener(event);
    if (event?.type === "text:streamed") this.#publishAtNextFrame();
    else this.#publish();
    if (event?.type === "turn:ended") this.#refreshList();
  }

  /** The order of the list has changed. If it cannot be had now, the next turn brings it. */
  #refreshList(): void {
    this.#index.loadNewest().then(
      () => this.#publish(),
      () => undefined,
    );
  }

  /** Do something that may fail, and say so in words if it does. Gives whether it was done. */
  async #attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      this.#problem = null;
      await work();
      return true;
    } catch (error) {
      this.#problem = error instanceof PartMissing ? PART_MISSING : explainFailure(error);
      return false;
    } finally {
      this.#publish();
    }
  }

  #publishAtNextFrame(): void {
    if (this.#paintPlanned) return;
    this.#paintPlanned = true;
    this.environment.nextFrame(() => {
      this.#paintPlanned = false;
      this.#publish();
    });
  }

  #publish(): void {
    this.#state = this.#compose();
    for (const listener of this.#listeners) listener();
  }

  #compose(): WorkspaceState {
    const current = this.#current;
    return {
      connection: this.#client.state,
      session: this.#session,
      model: this.#model,
      list: this.#index.conversations?.map((conversation) => this.#rowOf(conversation)) ?? null,
      hasMore: this.#index.hasMore,
      currentId: this.#currentId,
      title: this.#index.find(this.#currentId)?.title ?? "",
      log: current?.log ?? emptyConversation,
      busy: current?.busy ?? false,
      unfinishedTurn: current?.unfinishedTurn ?? null,
      loading: this.#loading,
      grants: this.#grants,
      problem: this.#problem,
    };
  }

  #rowOf(conversation: Conversation): ConversationRow {
    const opened = this.#opened.get(conversation.id);
    return { conversation, busy: opened?.busy ?? false, waiting: opened ? waitingCalls(opened.log).length : 0 };
  }
}
