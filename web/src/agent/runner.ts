import { RpcCode } from "../protocol/codes.ts";
import type { ClaimedMessage, ModelInfo, ToolCall, TurnSnapshot } from "../protocol/generated.ts";
import { ConnectionLost, RpcError } from "../protocol/rpc.ts";
import { isNamedIn, leftUndone } from "./acts.ts";
import { recordOf, withoutFalseClaims } from "./claims.ts";
import { copy, explainStuck, nameTheRest } from "./copy.ts";
import type { LoopDependencies } from "./dependencies.ts";
import type { TurnOutcome } from "./events.ts";
import { explainFailure, observeRefusal } from "./gateway.ts";
import { isGerman } from "./german.ts";
import { inGerman } from "./german-words.ts";
import { holdToRecord } from "./holding.ts";
import type { ProposedCall, StuckReason } from "./lane.ts";
import { CANCELLED, countRounds, type Message, type Observation, UNHEARD, unanswered } from "./messages.ts";
import { planAtFront } from "./plans.ts";
import { askForStep, refresh } from "./retries.ts";
import { tierOf } from "./tiers.ts";
import { type LoopTurn, openTurn, TurnStopped, voidsSnapshot } from "./turn.ts";
import { labelOf, progressOf } from "./turn-progress.ts";

const INVOKE_RETRIES = 20;

/** Reasons to give up that are no answer, however calmly they are said. */
const NO_ANSWER: ReadonlySet<StuckReason> = new Set<StuckReason>([
  "unreadable",
  "planning",
  "capped",
  "looping",
  "cut",
  "filtered",
]);

/** A turn that the gateway has opened; `finished` resolves when it is over, however it went. */
export interface Begun {
  readonly finished: Promise<void>;
}

/**
 * Drives one conversation's turns: asks the model, sends what it proposes through the gateway, one call at a time, feeds
 * the results back, and stops. It holds no authority; every call it sends may be refused, and then stays refused.
 */
export class TurnRunner {
  readonly #dependencies: LoopDependencies;
  readonly #conversationId: string;
  readonly #messages: Message[];
  readonly #shown: Message[];
  #starting: AbortController | null = null;
  #turn: LoopTurn | null = null;

  constructor(dependencies: LoopDependencies, conversationId: string, messages: readonly Message[]) {
    this.#dependencies = dependencies;
    this.#conversationId = conversationId;
    this.#messages = [...messages];
    this.#shown = [...messages];
  }

  get busy(): boolean {
    return this.#turn !== null || this.#starting !== null;
  }

  /** Take what the person said through a whole turn. Null when it never reached the gateway and can be sent again. */
  async run(text: string, model: ModelInfo): Promise<Begun | null> {
    const turn = await this.#begin(text, model);
    return turn && { finished: this.#drive(turn, model) };
  }

  /** One call that the person makes, with no model in between: a turn of its own, through the same gate. */
  async call(text: string, proposal: ProposedCall): Promise<Begun | null> {
    const turn = await this.#begin(text, null);
    const work = async (opened: LoopTurn) => {
      await this.#propose(opened, "", [proposal]);
      return this.#execute(opened);
    };
    return turn && { finished: this.#finish(turn, () => work(turn)) };
  }

  /** Go on with a turn that an earlier page began: first the calls that have no result yet, then the model, if there is one. */
  async resume(snapshot: TurnSnapshot, model: ModelInfo | null): Promise<void> {
    this.#dependencies.emit({ type: "turn:resumed", turnId: snapshot.turnId, tools: snapshot.tools });
    const turn = openTurn(snapshot, model, this.#messages, this.#shown);
    this.#turn = turn;
    if (model !== null) await this.#drive(turn, model);
    else await this.#finish(turn, () => this.#execute(turn));
  }

  /** Stop everything of this turn at once: the model, the call that runs, the calls that wait for a person. */
  async stop(): Promise<void> {
    this.#starting?.abort();
    const turn = this.#turn;
    if (turn === null || turn.stop.signal.aborted) return;
    turn.stop.abort(new TurnStopped("stopped"));
    try {
      await this.#dependencies.gateway.call("turns/cancel", { conversationId: turn.conversationId, turnId: turn.id });
    } catch {
      // The connection is away; the gateway ends the turn by itself when its grace period is over.
    }
  }

  /** A new connection holds the turn now, or, without a snapshot, the gateway has ended it meanwhile. */
  rebound(snapshot: TurnSnapshot | null): void {
    const turn = this.#turn;
    if (turn === null) return;
    if (snapshot?.turnId !== turn.id) {
      turn.stop.abort(new TurnStopped("over"));
      return;
    }
    turn.snapshot = snapshot;
    turn.stale = false;
  }

  /** The gateway voided a snapshot. Gives whether another tab has taken the turn over; if not, a fresh snapshot is asked for. */
  revoked(snapshotId: string, reason: string): boolean {
    const turn = this.#turn;
    if (turn?.snapshot.id !== snapshotId) return false;
    const isElsewhere = reason === "rebound";
    if (isElsewhere) turn.stop.abort(new TurnStopped("elsewhere"));
    else turn.stale = true;
    return isElsewhere;
  }

  async #begin(text: string, model: ModelInfo | null): Promise<LoopTurn | null> {
    const { gateway, emit } = this.#dependencies;
    const message = { role: "user", content: text } as const;
    const params = { conversationId: this.#conversationId, message, ...(model && { modelId: model.id }) };
    this.#starting = new AbortController();
    const { signal } = this.#starting;
    try {
      const { snapshot } = await gateway.call("turns/begin", params, signal);
      this.#keep({ role: "user", turnId: snapshot.turnId, content: text });
      emit({ type: "turn:begun", turnId: snapshot.turnId, text, tools: snapshot.tools });
      this.#turn = openTurn(snapshot, model, this.#messages, this.#shown);
      return this.#turn;
    } catch (error) {
      if (!signal.aborted) this.#notice(explainFailure(error, copy.notSent));
      return null;
    } finally {
      this.#starting = null;
    }
  }

  #drive(turn: LoopTurn, model: ModelInfo): Promise<void> {
    return this.#finish(turn, async () => {
      while (true) {
        await this.#execute(turn);
        await this.#takeSteered(turn, model);
        const step = await askForStep(this.#dependencies, turn, model);
        switch (step.kind) {
          case "split":
            this.#split(turn, step.actions);
            break;
          case "condensed":
            this.#condense(turn, step.shown);
            break;
          case "calls":
            await this.#propose(turn, step.text, step.proposals);
            break;
          case "report":
            await this.#say(turn, this.#holdToRecord(turn, step.text));
            this.#beginAction(turn);
            break;
          case "answer":
            return this.#answer(turn, step.text);
          case "stuck":
            return this.#giveUp(turn, step.why);
        }
      }
    });
  }

  /**
   * Take in what the person has said meanwhile, as their own words of this turn. It gives no permission: what it asks for are
   * calls like any other. A model that takes one action at a time has it as a further one.
   */
  async #takeSteered(turn: LoopTurn, model: ModelInfo): Promise<void> {
    const { message } = progressOf(turn.messages, turn.id);
    const isSingle = tierOf(model) === "single" || turn.actions !== null;
    // What the message itself asks for is not known before the first step.
    if (isSingle && turn.actions === null && countRounds(turn.messages, turn.id) === 0) return;
    for (const content of this.#dependencies.takeSteered?.() ?? []) {
      this.#keep({ role: "user", turnId: turn.id, content });
      this.#dependencies.emit({ type: "turn:steered", text: content });
      await this.#record(turn, { role: "user", content });
      if (isSingle) this.#split(turn, [...(turn.actions ?? [message]), content]);
    }
  }

  #split(turn: LoopTurn, actions: readonly string[]): void {
    turn.actions = actions;
    if (actions.length === 1) return;
    this.#dependencies.emit({ type: "actions:split", actions });
    this.#beginAction(turn);
  }

  #condense(turn: LoopTurn, shown: readonly Message[] | null): void {
    turn.maySummarise = shown !== null;
    if (shown === null) return;
    this.#dependencies.emit({ type: "context:condensed" });
    this.#shown.splice(0, this.#shown.length, ...shown);
  }

  #beginAction(turn: LoopTurn): void {
    this.#dependencies.emit({ type: "action:begun", index: progressOf(turn.messages, turn.id).finished });
  }

  /** The last words of a turn. A model that has none leaves what was done to speak for itself. */
  async #answer(turn: LoopTurn, text: string): Promise<TurnOutcome> {
    const { message, finished, closed } = progressOf(turn.messages, turn.id);
    const said = this.#holdToRecord(turn, text);
    const told = [said, ...toldUndone(turn)].join("\n");
    const rest = leftUndone(message, closed, turn.snapshot.tools).filter((each) => !isNamedIn(told, each));
    const words = [said, rest.length > 0 ? nameTheRest(rest) : ""].filter((each) => each.trim() !== "");
    const isSilent = words.length === 0 && finished === 0 && closed.length === 0;
    await this.#say(turn, isSilent ? copy.silent : words.join("\n\n"));
    return "answered";
  }

  /** A model's words without what they claim and no call did. */
  #holdToRecord(turn: LoopTurn, text: string): string {
    return holdToRecord(text, recordOf(turn.messages, turn.id, turn.snapshot.tools, turn.actions));
  }

  /** End a turn in our own words. What is done stands, and what is not is named. */
  async #giveUp(turn: LoopTurn, why: StuckReason): Promise<TurnOutcome> {
    const { finished, closed } = progressOf(turn.messages, turn.id);
    const hasWork = finished > 0 || closed.length > 0;
    const words = explainStuck(why, hasWork);
    // Of a message of which nothing is done, nobody needs to hear what is not.
    const rest = hasWork && turn.actions !== null && turn.actions.length > 1 ? turn.actions.slice(finished) : [];
    await this.#say(turn, rest.length > 0 ? `${words}\n\n${nameTheRest(rest)}` : words);
    return NO_ANSWER.has(why) ? "capped" : "answered";
  }

  /** See a turn through: do its work and close it, whatever happened. */
  async #finish(turn: LoopTurn, work: () => Promise<TurnOutcome>): Promise<void> {
    let ending: TurnOutcome;
    try {
      ending = await work();
    } catch (error) {
      ending = await this.#handleFailure(turn, error);
    }
    if (ending === "answered" || ending === "capped") await this.#end(turn);
    this.#turn = null;
    const label = labelOf(progressOf(turn.messages, turn.id).closed, turn.snapshot.tools);
    this.#dependencies.emit({ type: "turn:ended", ending, label });
  }

  async #handleFailure(turn: LoopTurn, error: unknown): Promise<TurnOutcome> {
    const halt = turn.stop.signal.aborted ? turn.stop.signal.reason : null;
    if (halt instanceof TurnStopped && halt.why === "elsewhere") {
      // Nothing has gone wrong, and there is a way back. Half an answer on record would be the whole of it to the other tab.
      this.#dependencies.emit({ type: "notice:raised", tone: "info", text: copy.elsewhere });
      return "failed";
    }
    const begun = turn.streamed || turn.broken;
    if (begun.trim() !== "") await this.#say(turn, begun, true);
    if (halt instanceof TurnStopped && halt.why === "stopped") {
      this.#cancelCalls(turn);
      return "stopped";
    }
    if (halt instanceof TurnStopped) {
      this.#notice(copy.turnOver);
      return "failed";
    }
    const isGone = error instanceof RpcError && error.code === RpcCode.notFound;
    this.#notice(isGone ? copy.superseded : explainFailure(error));
    if (!isGone) await this.#end(turn);
    return "failed";
  }

  /** Close what has no result yet: the gateway has cancelled it, and model servers want a result for every call. */
  #cancelCalls(turn: LoopTurn) {
    for (const call of unanswered(turn.messages, turn.id)) {
      const result = call.id === turn.sent ? UNHEARD : CANCELLED;
      this.#keep({ role: "tool", turnId: turn.id, call, result });
      this.#dependencies.emit({ type: "call:closed", callId: call.id, result });
    }
  }

  /** Put the model's proposals on record before any of them is sent. */
  async #propose(turn: LoopTurn, written: string, proposals: readonly ProposedCall[]) {
    // Nothing of it has run yet, whatever the model says beside it.
    const text = withoutFalseClaims(written, recordOf(turn.messages, turn.id, turn.snapshot.tools));
    const toolCalls = proposals.map((each): ToolCall => ({ id: this.#dependencies.newCallId(), ...each }));
    turn.streamed = "";
    if (text.trim() === "") this.#dependencies.emit({ type: "text:discarded" });
    else this.#dependencies.emit({ type: "assistant:said", content: text, stopped: false });
    for (const call of toolCalls) {
      const tool = turn.snapshot.tools.find(({ name }) => name === call.name);
      this.#dependencies.emit({ type: "call:proposed", call, ...(tool && { tool }) });
    }
    this.#keep({ role: "assistant", turnId: turn.id, content: text, toolCalls });
    await this.#record(turn, { role: "assistant", content: text, toolCalls });
  }

  /** Send the calls that have no result yet, one after the other; those that a person is asked about in a row, at once. */
  async #execute(turn: LoopTurn): Promise<"answered"> {
    let waiting = unanswered(turn.messages, turn.id);
    while (waiting.length > 0) {
      const plan = planAtFront(waiting, turn.snapshot.tools);
      waiting = waiting.slice(plan.length);
      await this.#executePlan(turn, plan);
    }
    return "answered";
  }

  /** Send calls that the gateway runs one after another, and that a person is asked about together. */
  async #executePlan(turn: LoopTurn, plan: readonly ToolCall[]): Promise<void> {
    await refresh(this.#dependencies, turn);
    const sent = plan.map((call, place) => {
      this.#dependencies.emit({ type: "call:sent", callId: call.id });
      const result = this.#invoke(turn, call, plan[place - 1]?.id);
      // One that fails ends the turn where it is waited for; until then nobody listens.
      result.catch(() => undefined);
      return { call, result };
    });
    for (const { call, result: coming } of sent) {
      turn.sent = call.id;
      const result = await coming;
      this.#keep({ role: "tool", turnId: turn.id, call, result });
      this.#dependencies.emit({ type: "call:closed", callId: call.id, result });
      if (voidsSnapshot(result.reason)) turn.stale = true;
    }
  }

  async #invoke(turn: LoopTurn, call: ToolCall, after: string | undefined): Promise<Observation> {
    const { conversationId, id: turnId, model } = turn;
    for (let attempt = 1; ; attempt++) {
      await refresh(this.#dependencies, turn);
      try {
        const { id: snapshotId, digest: snapshotDigest } = turn.snapshot;
        return await this.#dependencies.gateway.call(
          "tools/invoke",
          {
            conversationId,
            turnId,
            snapshotId,
            snapshotDigest,
            call,
            ...(model && { model: { id: model.id, backend: model.backend } }),
            ...(after !== undefined && { after }),
          },
          turn.stop.signal,
        );
      } catch (error) {
        turn.stop.signal.throwIfAborted();
        // Asking again under the same call id is safe: the gateway answers with what became of the call, and runs nothing twice.
        if (error instanceof ConnectionLost && attempt < INVOKE_RETRIES) continue;
        if (error instanceof RpcError && error.code === RpcCode.invalidParams) return observeRefusal(error);
        throw error;
      }
    }
  }

  async #say(turn: LoopTurn, content: string, stopped = false): Promise<void> {
    turn.streamed = "";
    if (content.trim() === "") return;
    const told = isGerman(progressOf(turn.messages, turn.id).message) ? inGerman(content) : content;
    this.#dependencies.emit({ type: "assistant:said", content: told, stopped });
    this.#keep({ role: "assistant", turnId: turn.id, content, toolCalls: [] });
    await this.#record(turn, { role: "assistant", content: told });
  }

  /** Store what was said. The conversation goes on in this page even if that fails; then a reload will not show it. */
  async #record(turn: LoopTurn, message: ClaimedMessage): Promise<void> {
    const { conversationId, id: turnId } = turn;
    const append = () => this.#dependencies.gateway.call("messages/append", { conversationId, turnId, message });
    await append().catch(async (error: unknown) => {
      if (!(error instanceof ConnectionLost)) return this.#notice(explainFailure(error));
      await append().catch((again: unknown) => this.#notice(explainFailure(again)));
    });
  }

  async #end(turn: LoopTurn): Promise<void> {
    const { conversationId, id: turnId, promptTokens, completionTokens } = turn;
    const usage = { promptTokens, completionTokens };
    await this.#dependencies.gateway.call("turns/end", { conversationId, turnId, usage }).catch(() => {
      // An open turn holds up nothing: the next one ends it.
    });
  }

  /** Write down what happened, for the loop and for the model. */
  #keep(message: Message): void {
    this.#messages.push(message);
    this.#shown.push(message);
  }

  #notice(text: string): void {
    this.#dependencies.emit({ type: "notice:raised", tone: "danger", text });
  }
}

/** What was said in a turn of wishes that are not done, each in a sentence of its own. */
function toldUndone({ id, actions, messages }: LoopTurn): string[] {
  const sentences = new Set(actions?.map((each) => nameTheRest([each])));
  return messages.flatMap((each) =>
    each.turnId === id && each.role === "assistant" && sentences.has(each.content) ? [each.content] : [],
  );
}
