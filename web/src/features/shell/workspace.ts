import { emptyConversation } from "../../agent/conversation.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { readCommand } from "../../agent/slash.ts";
import type { Conversation, ModelInfo, SessionDescription, ToolDescriptor } from "../../protocol/generated.ts";
import { shownTitle } from "../../ui/conversation-title.ts";
import { type GivenFile, PendingFiles } from "./attachments.ts";
import { Attempts } from "./attempts.ts";
import { Bell } from "./bell.ts";
import { type BranchPoint, branchesAt } from "./branches.ts";
import { type CommandContext, runCommand } from "./commands.ts";
import { ConversationIndex, titleFrom } from "./conversation-index.ts";
import { describeAfterLoss, describeSession } from "./describe-session.ts";
import { HeldGrants } from "./held-grants.ts";
import { Library } from "./library.ts";
import { Lookups } from "./lookups.ts";
import type { SoughtPlace } from "./message-search.ts";
import { ModelChoice } from "./model-choice.ts";
import type { OpenConversation } from "./open-conversation.ts";
import { OpenConversations } from "./open-conversations.ts";
import { PublishedState } from "./published-state.ts";
import { onSettingsElsewhere, readSettings, type Settings, writeSettings } from "./settings.ts";
import type { AgentClient, ShellEnvironment } from "./shell-environment.ts";
import { WaitingLine } from "./waiting-line.ts";
import { rowOf, type WorkspaceState } from "./workspace-state.ts";

/** What the shell knows and does, apart from how it looks: the connection, the list, and the conversations in use. */
export class Workspace {
  readonly environment: ShellEnvironment;
  readonly lookups: Lookups;
  readonly grants: HeldGrants;
  readonly #files: PendingFiles;
  /** What is done with whole conversations. */
  readonly library: Library;
  /** What was written while an answer is under way. */
  readonly line: WaitingLine;
  readonly #client: AgentClient;
  readonly #index: ConversationIndex;
  readonly #opened: OpenConversations;
  readonly #published: PublishedState<WorkspaceState>;
  readonly #eventListeners = new Set<(event: AgentEvent) => void>();
  readonly #stops: (() => void)[] = [];
  readonly #bell: Bell;
  #settings: Settings;
  #session: SessionDescription | null = null;
  readonly #models: ModelChoice;
  readonly #attempts = new Attempts(() => this.#publish());
  #currentId: string | null = null;
  #loading = false;
  #place: SoughtPlace | null = null;
  #offered: { readonly text: string } | null = null;

  constructor(environment: ShellEnvironment) {
    this.environment = environment;
    this.#client = environment.createClient();
    this.#files = new PendingFiles(environment.kept, environment.shrinkImage);
    this.grants = new HeldGrants(this.#client, this.#attempts.attempt);
    this.lookups = new Lookups(this.#client, environment);
    this.#settings = readSettings(environment.kept);
    this.#models = new ModelChoice(environment.kept);
    this.#bell = new Bell({ isOn: () => this.#settings.sound, now: environment.now, ring: environment.ring });
    this.#index = new ConversationIndex(this.#client);
    this.#opened = new OpenConversations(
      this.#client,
      environment,
      () => this.#settings,
      (id, event) => this.#conversationChanged(id, event),
    );
    this.library = new Library({
      client: this.#client,
      index: this.#index,
      opened: this.#opened,
      environment,
      currentId: () => this.#currentId,
      open: (id) => this.open(id),
      forget: (id) => this.#models.forget(id),
      attempt: this.#attempts.attempt,
    });
    this.line = new WaitingLine({
      conversation: (id) => this.#opened.get(id ?? this.#currentId),
      send: (text, conversation) => this.#run(text, conversation),
      offer: (text) => this.#offer(text),
      changed: () => this.#publish(),
    });
    this.#published = new PublishedState(
      () => this.#compose(),
      (paint) => environment.nextFrame(paint),
    );
  }

  // ── for React's useSyncExternalStore ──

  readonly getState = (): WorkspaceState => this.#published.value;

  readonly subscribe = (listener: () => void): (() => void) => this.#published.subscribe(listener);

  /** Told of what happens in the conversation on the screen. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  // ── the session ──

  /** Connect, and show what the address names. Resolves once that is on the screen. */
  async start(): Promise<void> {
    this.#stops.push(
      this.#client.onState(() => this.#publish()),
      describeAfterLoss(this.#client),
      ...this.#opened.listen(),
      this.environment.address.onChange(() => void this.open(this.environment.address.read())),
      onSettingsElsewhere(this.environment, (settings) => {
        this.#settings = settings;
        this.#publish();
      }),
    );
    this.#client.start();
    await this.#attempts.attempt(async () => {
      this.#session = await describeSession(this.#client);
      await this.#index.loadNewest();
      await this.open(this.environment.address.read());
      await this.#opened.takeUpOthers(this.#session.models);
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
    await this.#attempts.attempt(() => this.environment.signOut());
    this.environment.address.write(null);
    this.#client.stop();
  }

  /** For the conversation on the screen alone. */
  chooseModel(id: string): void {
    this.#models.choose(this.#currentId, id);
    this.#publish();
  }

  changeSettings(settings: Settings): void {
    // Whoever turns it on hears what it will be like.
    if (settings.sound && !this.#settings.sound) this.environment.ring("sample");
    this.#settings = settings;
    writeSettings(this.environment.kept, settings);
    this.#publish();
  }

  // ── the list of conversations ──

  /** Show a conversation, or an empty page for a new one. */
  async open(id: string | null): Promise<void> {
    this.#attempts.say(null);
    this.#place = null;
    this.#show(id);
    if (id === null || this.#opened.get(id) !== undefined) return this.#publish();
    const conversation = this.#opened.create(id);
    this.#loading = true;
    this.#publish();
    const restored = await this.#attempts.attempt(async () => {
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

  /** Show a conversation at a message of it. */
  async openAt(id: string, place: SoughtPlace): Promise<void> {
    await this.open(id);
    this.#place = place;
    this.#publish();
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
    const current = this.#current;
    if (current?.busy && (command.kind === "message" || command.kind === "call")) {
      this.line.add(typed.trim(), current);
      return true;
    }
    return this.#run(typed.trim(), current);
  }

  /** Take files for the next message of the conversation on the screen. */
  async attach(files: readonly GivenFile[]): Promise<void> {
    this.#attempts.say(await this.#files.add(this.#currentId, files));
  }

  removeFile(place: number): void {
    this.#files.remove(this.#currentId, place);
    this.#publish();
  }

  /** Ask again from a turn on, in a branch: the conversation itself stays as it is. */
  async askInBranch(turnId: string, text: string): Promise<void> {
    const original = this.#current;
    const place = original?.log.turnIds.indexOf(turnId) ?? -1;
    if (original === undefined || place < 0) return;
    const isThere = await this.#attempts.attempt(async () => {
      const opened = await this.#index.fork(original.id, place, place === 0 ? titleFrom(text) : null);
      await this.#opened.create(opened.conversation.id).restore(opened, []);
      this.#models.copy(original.id, opened.conversation.id);
      this.#show(opened.conversation.id);
    });
    if (isThere && !(await this.submit(text))) this.#offer(text);
  }

  /** Where the conversation on the screen forks at a turn; null where it does not. */
  branchesAt(turnId: string): BranchPoint | null {
    const place = this.#current?.log.turnIds.indexOf(turnId) ?? -1;
    return branchesAt(this.#index.conversations ?? [], this.#currentId, place);
  }

  async stopTurn(): Promise<void> {
    await this.#current?.stop();
  }

  async cancelCall(callId: string): Promise<void> {
    await this.#attempts.attempt(async () => this.#current?.cancelCall(callId));
  }

  /** Withdraw a call that waits and make it again, with arguments that the person has edited. */
  async callEdited(name: string, given: Record<string, unknown>): Promise<void> {
    await this.#attempts.attempt(async () => this.#current?.callInstead({ name, arguments: given }));
  }

  async continueTurn(): Promise<void> {
    await this.#attempts.attempt(async () => this.#current?.continueTurn(this.#session?.models ?? []));
  }

  async discardTurn(): Promise<void> {
    await this.#attempts.attempt(async () => this.#current?.discardTurn());
  }

  openApproval(approvalId: string): void {
    if (this.#session !== null)
      this.environment.openConsole(`${this.#session.consoleOrigin}/approvals/${approvalId}#asked`);
  }

  dismissProblem(): void {
    this.#attempts.say(null);
  }

  /** The tool of that name in the conversation on the screen; null, with the reason said, where it cannot be had. */
  async findTool(name: string): Promise<ToolDescriptor | null> {
    let found: ToolDescriptor | undefined;
    await this.#attempts.attempt(async () => {
      found = (await this.lookups.tools(this.#currentId)).find((each) => each.name === name);
    });
    return found ?? null;
  }

  // ── inside ──

  get #current(): OpenConversation | undefined {
    return this.#opened.get(this.#currentId);
  }

  /** The person's conversations: what is looked up while typing is on record, and none of theirs. */
  get #listed(): readonly Conversation[] | undefined {
    return this.#index.conversations?.filter(({ id }) => id !== this.lookups.conversationId);
  }

  #modelFor(id: string | null): ModelInfo | null {
    return this.#models.among(this.#session?.models ?? [], id, this.#settings.modelId);
  }

  /** Run what was typed in a conversation, or in a new one. Gives whether it was taken. */
  async #run(typed: string, conversation: OpenConversation | undefined): Promise<boolean> {
    const id = conversation?.id ?? null;
    const context: CommandContext = {
      client: this.#client,
      findModel: async () => {
        // The models may have come up since this page asked, and been tried.
        if (this.#modelFor(id)?.tier === undefined) this.#session = await describeSession(this.#client);
        return this.#modelFor(id);
      },
      sendFiles: (opened) => this.#files.sendTo(opened),
      hasImages: () => this.#files.of(id).some(({ mediaType }) => mediaType !== undefined),
      models: () => this.#session,
      chooseModel: (to, model) => this.#models.choose(to, model),
      showGrants: () => this.grants.show(),
      conversationFor: async (text) => {
        if (conversation === undefined) return this.#createConversation(text);
        // A title that could not be changed keeps nobody from asking.
        await this.#index.nameAfter(conversation.id, text).catch(() => undefined);
        return conversation;
      },
    };
    let taken = false;
    await this.#attempts.attempt(async () => {
      const outcome = await runCommand(readCommand(typed), typed, context);
      taken = outcome.taken;
      if (!outcome.taken) this.#attempts.say(outcome.problem);
    });
    return taken;
  }

  #offer(text: string): void {
    this.#offered = { text };
    this.#publish();
  }

  #show(id: string | null): void {
    this.#currentId = id;
    this.environment.address.write(id);
  }

  /** A new conversation, named after what it begins with. */
  async #createConversation(text: string): Promise<OpenConversation> {
    const conversation = await this.#index.create(text);
    const created = this.#opened.create(conversation.id);
    this.#models.copy(this.#currentId, conversation.id);
    this.#models.forget(null);
    this.#files.move(null, conversation.id);
    this.#show(conversation.id);
    this.#publish();
    return created;
  }

  #conversationChanged(id: string, event: AgentEvent | null): void {
    if (event !== null && id === this.#currentId) for (const listener of this.#eventListeners) listener(event);
    if (event?.type === "text:streamed") this.#published.publishAtNextFrame();
    else this.#publish();
    if (event !== null) this.#bell.hear(id, event);
    if (event?.type === "approval:requested") this.environment.notifier.tell(event.approval, () => void this.open(id));
    if (event?.type === "turn:ended") {
      this.#refreshList();
      // After a stop or a failure the person says whether the rest is to be sent.
      if (event.ending === "answered" || event.ending === "capped") void this.line.sendNext(id);
    }
  }

  /** The order of the list has changed. If it cannot be had now, the next turn brings it. */
  #refreshList(): void {
    this.#index.loadNewest().then(
      () => this.#publish(),
      () => undefined,
    );
  }

  #publish(): void {
    this.#published.publish();
  }

  #compose(): WorkspaceState {
    const current = this.#current;
    return {
      connection: this.#client.state,
      session: this.#session,
      settings: this.#settings,
      model: this.#modelFor(this.#currentId),
      list: this.#listed?.map((each) => rowOf(each, this.#opened.get(each.id))) ?? null,
      hasMore: this.#index.hasMore,
      currentId: this.#currentId,
      title: shownTitle(this.#index.find(this.#currentId)?.title ?? ""),
      log: current?.log ?? emptyConversation,
      place: this.#place,
      figures: current?.figures ?? new Map(),
      busy: current?.busy ?? false,
      files: this.#files.of(this.#currentId),
      queue: current?.queue.texts ?? [],
      steering: current?.queue.steering ?? 0,
      offered: this.#offered,
      unfinishedTurn: current?.unfinishedTurn ?? null,
      loading: this.#loading,
      grants: this.grants.held,
      grantsAsked: this.grants.asked,
      problem: this.#attempts.problem,
    };
  }
}
