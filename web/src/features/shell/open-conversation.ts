import { ATTACHER } from "../../agent/attached.ts";
import { chatOver } from "../../agent/chat.ts";
import { advance, type Conversation, emptyConversation, restore as restoreLog } from "../../agent/conversation.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { ProposedCall } from "../../agent/lane.ts";
import { type Message, recall, unanswered } from "../../agent/messages.ts";
import type { Begun } from "../../agent/runner.ts";
import type { ConversationOpened, ModelInfo, OpenTurn } from "../../protocol/generated.ts";
import { LastEnding } from "./last-ending.ts";
import { attachedWords, changedFor } from "./log/own-turns.ts";
import { MessageQueue } from "./message-queue.ts";
import { PartialAnswer } from "./partial-answer.ts";
import { ResumedText } from "./resumed-text.ts";
import type { Settings } from "./settings.ts";
import type { AgentClient, Loop, ShellEnvironment } from "./shell-environment.ts";
import { type AnswerFigures, TurnFigures } from "./turn-figures.ts";
import { TurnsUnderWay } from "./turns-under-way.ts";

/** How often a page looks whether a turn that another tab holds is over. */
const WATCH_MS = 3_000;
const UNSTOPPED = new AbortController().signal;

/** A turn that an earlier page, or another tab, left open. */
export interface UnfinishedTurn {
  readonly turn: OpenTurn;
  /** Another tab holds it: this one may only take it over. */
  readonly elsewhere: boolean;
}

interface LoadedLoop extends Pick<Loop, "withRoom"> {
  readonly runner: InstanceType<Loop["TurnRunner"]>;
}

/** One conversation as this page has it open: what is shown, and the loop that runs it. It runs on while another is shown. */
export class OpenConversation {
  readonly id: string;
  readonly queue: MessageQueue;
  readonly #client: AgentClient;
  readonly #environment: ShellEnvironment;
  readonly #settings: () => Settings;
  readonly #onChange: (event: AgentEvent | null) => void;
  /** What was said before this page had the conversation. */
  #recalled: readonly Message[] = [];
  #loop: LoadedLoop | null = null;
  #isLoading = false;
  /** Between the turn that takes a file in and the message that it goes with, nothing else may begin. */
  #isAttaching = false;
  /** The turn that runs now; resolved when none does. */
  #underWay: Promise<void> = Promise.resolve();
  readonly #figures: TurnFigures;
  #log: Conversation = emptyConversation;
  #unfinishedTurn: UnfinishedTurn | null = null;
  #models: readonly ModelInfo[] = [];
  /** The turn that another tab holds, until it is over there or taken back. */
  #watchedTurn: string | null = null;
  readonly #partial: PartialAnswer;
  readonly #ending: LastEnding;
  readonly #resumed = new ResumedText();
  readonly #turnsUnderWay: TurnsUnderWay;

  constructor(
    id: string,
    client: AgentClient,
    environment: ShellEnvironment,
    settings: () => Settings,
    onChange: (event: AgentEvent | null) => void,
  ) {
    this.id = id;
    this.queue = new MessageQueue(id, environment.kept);
    this.#partial = new PartialAnswer(id, environment);
    this.#ending = new LastEnding(id, environment.kept);
    this.#figures = new TurnFigures(id, environment.kept);
    this.#turnsUnderWay = new TurnsUnderWay(environment.keptInTab);
    this.#client = client;
    this.#environment = environment;
    this.#settings = settings;
    this.#onChange = onChange;
  }

  get log(): Conversation {
    return this.#log;
  }

  /** What the answers that this browser has seen took, by turn. */
  get figures(): ReadonlyMap<string, AnswerFigures> {
    return this.#figures.byTurn;
  }

  get unfinishedTurn(): UnfinishedTurn | null {
    return this.#unfinishedTurn;
  }

  get busy(): boolean {
    return this.#isLoading || this.#isAttaching || (this.#loop?.runner.busy ?? false);
  }

  /** Show what the gateway has stored, and wait again for what still runs there. */
  async restore(opened: ConversationOpened, models: readonly ModelInfo[]): Promise<void> {
    const { openTurn } = opened;
    const { begun, isLive } = await this.#recall(opened);
    this.#unfinishedTurn = openTurn ? { turn: openTurn, elsewhere: openTurn.snapshot === undefined } : null;
    this.#models = models;
    if (openTurn?.snapshot === undefined) this.#turnsUnderWay.end(this.id);
    const goesOn = openTurn?.snapshot !== undefined && (isLive || this.#mayTakeUp(openTurn));
    // What another tab still writes has not stopped.
    const stopped = this.#unfinishedTurn?.elsewhere !== true;
    this.#show(goesOn ? this.#resumed.begin(begun) : [{ type: "assistant:said", content: begun, stopped }]);
    if (this.#unfinishedTurn?.elsewhere) void this.#watch(this.#unfinishedTurn.turn.turnId);
    // If the loop cannot be had now, the page says that the answer was interrupted, with the way on.
    if (goesOn) this.#goOn(openTurn, models).catch(() => this.#onChange(null));
  }

  /** Have here what the gateway has stored; what had come of an answer is not shown yet. */
  async #recall({ messages, openTurn }: ConversationOpened) {
    const { calls } = await this.#client.call("tools/list-calls", { conversationId: this.id });
    this.#recalled = recall(messages, calls);
    this.#loop = null;
    const log = restoreLog(messages, calls, openTurn?.turnId ?? null);
    const gauge = this.#figures.recall();
    this.#log = { ...(openTurn === undefined ? this.#ending.restore(log, messages.at(-1)) : log), gauge };
    return {
      begun: this.#partial.of(messages.at(-1)) ?? "",
      // A call that waits for a person, or runs, is waited for at once.
      isLive: calls.some((view) => view.turnId === openTurn?.turnId && view.state !== "closed"),
    };
  }

  #show(events: readonly AgentEvent[]): void {
    for (const event of events) this.#log = advance(this.#log, event);
    this.#onChange(null);
  }

  /**
   * Whether the model is asked again without a word of the person: for a turn that this tab ran until it was loaded again, where
   * each call has its result. One that was proposed and never sent, and a turn of another tab, are for the person to go on with.
   */
  #mayTakeUp({ turnId, modelId }: OpenTurn): boolean {
    const isModelThere = this.#models.some(({ id }) => id === modelId);
    if (!isModelThere || unanswered(this.#recalled, turnId).length > 0) return false;
    return this.#turnsUnderWay.takeUp(this.id, turnId);
  }

  /** Whether the message reached the gateway; the turn then goes on by itself. */
  async sendMessage(text: string, model: ModelInfo): Promise<boolean> {
    this.#figures.send(this.#environment.now());
    const { runner, withRoom } = await this.#takeLoop();
    this.#unfinishedTurn = null;
    this.#watchedTurn = null;
    this.#models = [model];
    return this.#follow(await runner.run(text, withRoom(model, this.#settings())));
  }

  async call(text: string, proposal: ProposedCall): Promise<boolean> {
    const { runner } = await this.#takeLoop();
    this.#unfinishedTurn = null;
    this.#watchedTurn = null;
    return this.#follow(await runner.call(text, proposal));
  }

  /** Take in a file that the person attaches, by a call of their own in a turn of its own. Whether it came in. */
  async attach(name: string, data: string): Promise<boolean> {
    this.#isAttaching = true;
    try {
      if (!(await this.call(attachedWords(name), { name: ATTACHER, arguments: { name, data } }))) return false;
      await this.#underWay;
      return Object.values(this.#log.calls).at(-1)?.result?.outcome === "ok";
    } finally {
      this.#isAttaching = false;
    }
  }

  /**
   * Withdraw what waits or runs, and make a call with arguments that the person has edited. It is a turn of its own, in which no
   * model was asked: a call of the model's turn would stand on record as the model's.
   */
  async callInstead(proposal: ProposedCall): Promise<boolean> {
    const { entries, turnId } = this.#log;
    const asked = entries.find((each) => each.kind === "user" && each.turnId === turnId);
    await this.stop();
    await this.#underWay;
    return this.call(changedFor(proposal.name, asked?.kind === "user" ? asked.text : undefined), proposal);
  }

  /** Go on with the turn that was left open, taking it over from another tab if need be. */
  async continueTurn(models: readonly ModelInfo[]): Promise<void> {
    const unfinished = this.#unfinishedTurn;
    if (unfinished === null) return;
    // A tab that cannot run it takes it from no other.
    await this.#takeLoop();
    const takeOver = unfinished.elsewhere;
    const opened = await this.#client.call("conversations/open", { conversationId: this.id, takeOver });
    // The other tab may have come further than what is shown here, and what is shown of its answer is not said twice.
    const { begun } = await this.#recall(opened);
    this.#show(this.#resumed.begin(begun));
    await this.#goOn(opened.openTurn, models);
  }

  async #goOn(openTurn: OpenTurn | undefined, models: readonly ModelInfo[]): Promise<void> {
    const { runner, withRoom } = await this.#takeLoop();
    this.#unfinishedTurn = null;
    this.#watchedTurn = null;
    this.#onChange(null);
    if (openTurn?.snapshot === undefined) return;
    const model = models.find(({ id }) => id === openTurn.modelId) ?? null;
    this.#underWay = runner.resume(openTurn.snapshot, model === null ? null : withRoom(model, this.#settings()));
    await this.#underWay;
  }

  /** Do not go on with the turn that was left open: end it, or leave it to the tab that holds it. */
  async discardTurn(): Promise<void> {
    const unfinished = this.#unfinishedTurn;
    if (unfinished === null) return;
    this.#unfinishedTurn = null;
    this.#onChange(null);
    if (unfinished.elsewhere) return;
    this.apply({ type: "turn:resumed", turnId: unfinished.turn.turnId, tools: [] });
    this.apply({ type: "turn:ended", ending: "stopped", label: "words" });
    await this.#client.call("turns/cancel", { conversationId: this.id, turnId: unfinished.turn.turnId });
  }

  async stop(): Promise<void> {
    await this.#loop?.runner.stop();
  }

  async cancelCall(callId: string): Promise<void> {
    await this.#client.call("tools/cancel", { conversationId: this.id, callId });
  }

  /** Something happened that concerns this conversation. */
  apply(happened: AgentEvent): void {
    for (const event of this.#resumed.translate(happened)) {
      this.#figures.follow(event, this.#log.turnId, this.#environment.now());
      this.#log = advance(this.#log, event);
      // What was meant for an earlier turn, which a reload cut off, is not meant for this one.
      if (event.type === "turn:begun") this.queue.stopSteering();
      if (event.type === "turn:begun" || event.type === "turn:resumed")
        this.#turnsUnderWay.begin(this.id, event.turnId);
      if (event.type === "turn:ended") {
        this.queue.stopSteering();
        this.#turnsUnderWay.end(this.id);
      }
      this.#partial.follow(event, this.#log);
      this.#ending.follow(event, this.#log);
      this.#onChange(event);
    }
  }

  /** The page has a new connection; `opened` is what the gateway says about this conversation on it. */
  rebound(opened: ConversationOpened): void {
    const { openTurn } = opened;
    if (this.#loop?.runner.busy) this.#loop.runner.rebound(openTurn?.snapshot ?? null);
    else if (this.#unfinishedTurn !== null)
      this.#unfinishedTurn = openTurn ? { turn: openTurn, elsewhere: openTurn.snapshot === undefined } : null;
    this.#onChange(null);
  }

  snapshotRevoked(snapshotId: string, reason: string): void {
    if (this.#loop?.runner.revoked(snapshotId, reason) === true) void this.#handOver();
  }

  /** Another tab has taken the turn. What is shown is from now on what the gateway has of it, with a way to take it back. */
  async #handOver(): Promise<void> {
    await this.#underWay;
    await this.#reload();
  }

  /** Look now and then whether a turn still runs elsewhere, and show what became of it once it does not. */
  async #watch(turnId: string): Promise<void> {
    if (this.#watchedTurn === turnId) return;
    this.#watchedTurn = turnId;
    while (this.#watchedTurn === turnId) {
      await this.#environment.wait(WATCH_MS, UNSTOPPED);
      if (this.#watchedTurn !== turnId || this.#client.state.phase === "ended") return;
      if (await this.#isOpen(turnId)) continue;
      this.#watchedTurn = null;
      await this.#reload();
    }
  }

  /** Asked by the list, which moves no turn from one connection to another. */
  async #isOpen(turnId: string): Promise<boolean> {
    try {
      const { conversations } = await this.#client.call("conversations/list", {});
      return conversations.some(({ id, openTurnId }) => id === this.id && openTurnId === turnId);
    } catch {
      return true;
    }
  }

  async #reload(): Promise<void> {
    try {
      await this.restore(await this.#client.call("conversations/open", { conversationId: this.id }), this.#models);
    } catch {
      // The connection is away. What is shown stays, and the person can open the conversation again.
    }
  }

  /** Whether the turn has begun; from now on it is the one under way. */
  #follow(begun: Begun | null): boolean {
    if (begun !== null) this.#underWay = begun.finished;
    return begun !== null;
  }

  /** The loop that runs the turns. It is the larger part of this program, and is loaded when it is first needed. */
  async #takeLoop(): Promise<LoadedLoop> {
    if (this.#loop !== null) return this.#loop;
    this.#isLoading = true;
    this.#onChange(null);
    try {
      const { TurnRunner, personalChat, withRoom } = await this.#environment.loadLoop();
      // Whoever asked at the same time, or restored the conversation meanwhile, gets the same one.
      this.#loop ??= {
        withRoom,
        runner: new TurnRunner(
          {
            gateway: this.#client,
            chatWith: (token) =>
              personalChat(
                chatOver(this.#environment.fetch, token),
                this.#settings(),
                (figures) => this.#log.turnId !== null && this.#figures.add(this.#log.turnId, figures),
                this.#environment.now,
              ),
            mostRounds: () => this.#settings().steps,
            takeSteered: () => this.queue.takeSteering(),
            newCallId: this.#environment.newCallId,
            wait: this.#environment.wait,
            today: this.#environment.today,
            emit: (event) => this.apply(event),
          },
          this.id,
          this.#recalled,
        ),
      };
      return this.#loop;
    } finally {
      this.#isLoading = false;
    }
  }
}
