import { RpcCode } from "../protocol/codes.ts";
import type { ClaimedMessage, InferenceToken, ModelInfo, ToolCall, TurnSnapshot } from "../protocol/generated.ts";
import { ConnectionLost, RpcError } from "../protocol/rpc.ts";
import { type Chat, ChatFailure } from "./chat.ts";
import { copy } from "./copy.ts";
import type { Emit, Ending } from "./events.ts";
import { explainFailure, type Gateway, observeRefusal } from "./gateway.ts";
import { jsonLane } from "./json-lane.ts";
import type { Lane, Proposal, Step } from "./lane.ts";
import { countRounds, type Message, type Observation, unanswered } from "./messages.ts";
import { nativeLane } from "./native-lane.ts";
import { Halt, openTurn, type Turn, voidsSnapshot } from "./turn.ts";

/** requirement 000-07: tool rounds of one turn. */
export const MAX_ROUNDS = 8;

/** How long the loop waits for a model that is starting or was restarted: 45 times 2 s covers loading from a cold disk. */
const MODEL_RETRIES = 45;
const MODEL_RETRY_MS = 2_000;
const BREAK_RETRIES = 2;
const INVOKE_RETRIES = 20;

/** What the loop needs from the world. */
export interface RunnerSurroundings {
  readonly gateway: Gateway;
  /** A chat that speaks with this token. */
  chatWith(token: InferenceToken): Chat;
  newCallId(): string;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  readonly emit: Emit;
}

/** A turn that the gateway has opened; `finished` resolves when it is over, however it went. */
export interface Begun {
  readonly finished: Promise<void>;
}

/**
 * Drives one conversation's turns: asks the model, sends what it proposes through the gateway, one call at a time, feeds
 * the results back, and stops. It holds no authority; every call it sends may be refused, and then stays refused.
 */
export class Runner {
  readonly #around: RunnerSurroundings;
  readonly #conversationId: string;
  readonly #messages: Message[];
  #starting: AbortController | null = null;
  #turn: Turn | null = null;

  constructor(around: RunnerSurroundings, conversationId: string, messages: readonly Message[]) {
    this.#around = around;
    this.#conversationId = conversationId;
    this.#messages = [...messages];
  }

  get busy(): boolean {
    return this.#turn !== null || this.#starting !== null;
  }

  /** The turn under way, for whoever has to re-bind it. */
  get turnId(): string | null {
    return this.#turn?.id ?? null;
  }

  /** Take what the person said through a whole turn. Null when it never reached the gateway and can be sent again. */
  async run(text: string, model: ModelInfo): Promise<Begun | null> {
    const turn = await this.#begin(text, model);
    return turn && { finished: this.#drive(turn, model) };
  }

  /** One call that the person makes, with no model in between: a turn of its own, through the same gate. */
  async call(text: string, proposal: Proposal): Promise<Begun | null> {
    const turn = await this.#begin(text, null);
    const work = async (opened: Turn) => {
      await this.#propose(opened, "", [proposal]);
      return this.#execute(opened);
    };
    return turn && { finished: this.#see(turn, () => work(turn)) };
  }

  /** Go on with a turn that an earlier page began: first the calls that have no result yet, then the model, if there is one. */
  async resume(snapshot: TurnSnapshot, model: ModelInfo | null): Promise<void> {
    this.#around.emit({ type: "turn:resumed", turnId: snapshot.turnId, tools: snapshot.tools });
    const turn = openTurn(snapshot, model, this.#messages);
    this.#turn = turn;
    if (model !== null) await this.#drive(turn, model);
    else await this.#see(turn, () => this.#execute(turn));
  }

  /** Stop everything of this turn at once: the model, the call that runs, the calls that wait for a person. */
  async stop(): Promise<void> {
    this.#starting?.abort();
    const turn = this.#turn;
    if (turn === null || turn.stop.signal.aborted) return;
    turn.stop.abort(new Halt("stopped"));
    try {
      await this.#around.gateway.call("turns/cancel", { conversationId: turn.conversationId, turnId: turn.id });
    } catch {
      // The connection is away; the gateway ends the turn by itself when its grace period is over.
    }
  }

  /** A new connection holds the turn now, or, without a snapshot, the gateway has ended it meanwhile. */
  rebound(snapshot: TurnSnapshot | null): void {
    const turn = this.#turn;
    if (turn === null) return;
    if (snapshot?.turnId !== turn.id) {
      turn.stop.abort(new Halt("over"));
      return;
    }
    turn.snapshot = snapshot;
    turn.stale = false;
  }

  /** The gateway voided a snapshot. Another tab may have taken the turn over; otherwise a fresh one is asked for. */
  revoked(snapshotId: string, reason: string): void {
    const turn = this.#turn;
    if (turn?.snapshot.id !== snapshotId) return;
    if (reason === "rebound") turn.stop.abort(new Halt("elsewhere"));
    else turn.stale = true;
  }

  async #begin(text: string, model: ModelInfo | null): Promise<Turn | null> {
    const { gateway, emit } = this.#around;
    const message = { role: "user", content: text } as const;
    const params = { conversationId: this.#conversationId, message, ...(model && { modelId: model.id }) };
    this.#starting = new AbortController();
    const { signal } = this.#starting;
    try {
      const { snapshot } = await gateway.call("turns/begin", params, signal);
      this.#messages.push({ role: "user", turnId: snapshot.turnId, content: text });
      emit({ type: "turn:begun", turnId: snapshot.turnId, text, tools: snapshot.tools });
      this.#turn = openTurn(snapshot, model, this.#messages);
      return this.#turn;
    } catch (error) {
      if (!signal.aborted) this.#notice(explainFailure(error, copy.notSent));
      return null;
    } finally {
      this.#starting = null;
    }
  }

  #drive(turn: Turn, model: ModelInfo): Promise<void> {
    return this.#see(turn, async () => {
      while (true) {
        await this.#execute(turn);
        const rounds = countRounds(turn.messages, turn.id);
        const step: Step = rounds < MAX_ROUNDS ? await this.#step(turn, model) : { kind: "answer", text: copy.capped };
        if (step.kind === "calls") {
          await this.#propose(turn, step.text, step.proposals);
          continue;
        }
        const lost = rounds === 0 ? copy.rephrase : copy.keptWork;
        await this.#say(turn, step.kind === "answer" ? step.text : lost);
        return rounds < MAX_ROUNDS ? "answered" : "capped";
      }
    });
  }

  /** See a turn through: do its work and close it, whatever happened. */
  async #see(turn: Turn, work: () => Promise<Ending>): Promise<void> {
    let ending: Ending;
    try {
      ending = await work();
    } catch (error) {
      ending = await this.#breakOff(turn, error);
    }
    if (ending === "answered" || ending === "capped") await this.#end(turn);
    this.#turn = null;
    this.#around.emit({ type: "turn:ended", ending });
  }

  async #breakOff(turn: Turn, error: unknown): Promise<Ending> {
    const halt = turn.stop.signal.aborted ? turn.stop.signal.reason : null;
    if (turn.streamed.trim() !== "") await this.#say(turn, turn.streamed, true);
    if (halt instanceof Halt) {
      if (halt.why !== "stopped") this.#notice(halt.why === "over" ? copy.turnOver : copy.elsewhere);
      return halt.why === "stopped" ? "stopped" : "failed";
    }
    const isGone = error instanceof RpcError && error.code === RpcCode.notFound;
    this.#notice(isGone ? copy.superseded : explainFailure(error));
    if (!isGone) await this.#end(turn);
    return "failed";
  }

  /** Ask the model for the next step, again after whatever a little patience can mend. */
  async #step(turn: Turn, model: ModelInfo): Promise<Step> {
    const lane = model.supportsTools ? nativeLane : jsonLane;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#refresh(turn);
        this.#around.emit({ type: "model:asked" });
        const chat = this.#around.chatWith(await this.#token(turn, model));
        return await lane({ ...this.#laneInput(turn, model), chat });
      } catch (error) {
        turn.stop.signal.throwIfAborted();
        if (!(await this.#mend(turn, error, attempt))) throw error;
        this.#discard(turn);
      }
    }
  }

  #laneInput(turn: Turn, model: ModelInfo): Omit<Parameters<Lane>[0], "chat"> {
    const { emit } = this.#around;
    return {
      messages: turn.messages,
      turnId: turn.id,
      tools: turn.snapshot.tools,
      model,
      signal: turn.stop.signal,
      listener: {
        streamed: (delta) => {
          turn.streamed += delta;
          emit({ type: "text:streamed", delta });
        },
        discarded: () => this.#discard(turn),
        counted: (promptTokens, completionTokens, exact) => {
          turn.promptTokens += promptTokens;
          turn.completionTokens += completionTokens;
          const used = promptTokens + completionTokens;
          emit({ type: "tokens:counted", used, limit: model.contextTokens, exact });
        },
        trimmed: (droppedTurns) => emit({ type: "context:trimmed", droppedTurns }),
      },
    };
  }

  /** Whether it is worth asking again after this failure; waits as long as that takes. */
  async #mend(turn: Turn, error: unknown, attempt: number): Promise<boolean> {
    const { gateway, emit, wait } = this.#around;
    const { signal } = turn.stop;
    if (error instanceof ConnectionLost) return attempt <= BREAK_RETRIES;
    if (!(error instanceof ChatFailure)) return false;
    switch (error.kind) {
      case "refused":
        return false;
      case "unauthorised":
        turn.token = null;
        return attempt <= BREAK_RETRIES;
      case "modelUnavailable":
        if (error.state === "absent" || attempt > MODEL_RETRIES) return false;
        emit({ type: "model:waited-for", state: error.state });
        await wait(MODEL_RETRY_MS, signal);
        return true;
      case "unreachable":
        if (attempt > BREAK_RETRIES) return false;
        // Answered only once there is a connection again, and the turn re-bound to it.
        await gateway.call("session/describe", {}, signal);
        return true;
    }
  }

  async #token(turn: Turn, model: ModelInfo): Promise<InferenceToken> {
    turn.token ??= await this.#around.gateway.call(
      "inference/token",
      { conversationId: turn.conversationId, turnId: turn.id, modelId: model.id },
      turn.stop.signal,
    );
    return turn.token;
  }

  /** Put the model's proposals on record before any of them is sent. */
  async #propose(turn: Turn, text: string, proposals: readonly Proposal[]) {
    const toolCalls = proposals.map((each): ToolCall => ({ id: this.#around.newCallId(), ...each }));
    turn.streamed = "";
    if (text.trim() === "") this.#around.emit({ type: "text:discarded" });
    else this.#around.emit({ type: "assistant:said", content: text, stopped: false });
    for (const call of toolCalls) {
      const tool = turn.snapshot.tools.find(({ name }) => name === call.name);
      this.#around.emit({ type: "call:proposed", call, ...(tool && { tool }) });
    }
    turn.messages.push({ role: "assistant", turnId: turn.id, content: text, toolCalls });
    await this.#record(turn, { role: "assistant", content: text, toolCalls });
  }

  /** Send the calls that have no result yet, one after the other. With nobody to ask what comes next, that is all. */
  async #execute(turn: Turn): Promise<"answered"> {
    for (const call of unanswered(turn.messages, turn.id)) {
      this.#around.emit({ type: "call:sent", callId: call.id });
      const result = await this.#invoke(turn, call);
      turn.messages.push({ role: "tool", turnId: turn.id, call, result });
      this.#around.emit({ type: "call:closed", callId: call.id, result });
      if (voidsSnapshot(result.reason)) turn.stale = true;
    }
    return "answered";
  }

  async #invoke(turn: Turn, call: ToolCall): Promise<Observation> {
    const { conversationId, id: turnId, model } = turn;
    for (let attempt = 1; ; attempt++) {
      await this.#refresh(turn);
      try {
        const { id: snapshotId, digest: snapshotDigest } = turn.snapshot;
        return await this.#around.gateway.call(
          "tools/invoke",
          {
            conversationId,
            turnId,
            snapshotId,
            snapshotDigest,
            call,
            ...(model && { model: { id: model.id, backend: model.backend } }),
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

  async #refresh(turn: Turn): Promise<void> {
    if (!turn.stale) return;
    const { conversationId, id: turnId } = turn;
    const { snapshot } = await this.#around.gateway.call("turns/refresh", { conversationId, turnId }, turn.stop.signal);
    turn.snapshot = snapshot;
    turn.stale = false;
  }

  async #say(turn: Turn, content: string, stopped = false): Promise<void> {
    turn.streamed = "";
    if (content.trim() === "") return;
    this.#around.emit({ type: "assistant:said", content, stopped });
    turn.messages.push({ role: "assistant", turnId: turn.id, content, toolCalls: [] });
    await this.#record(turn, { role: "assistant", content });
  }

  /** Store what was said. The conversation goes on in this page even if that fails; then a reload will not show it. */
  async #record(turn: Turn, message: ClaimedMessage): Promise<void> {
    const { conversationId, id: turnId } = turn;
    const append = () => this.#around.gateway.call("messages/append", { conversationId, turnId, message });
    await append().catch(async (error: unknown) => {
      if (!(error instanceof ConnectionLost)) return this.#notice(explainFailure(error));
      await append().catch((again: unknown) => this.#notice(explainFailure(again)));
    });
  }

  async #end(turn: Turn): Promise<void> {
    const { conversationId, id: turnId, promptTokens, completionTokens } = turn;
    const usage = { promptTokens, completionTokens };
    await this.#around.gateway.call("turns/end", { conversationId, turnId, usage }).catch(() => {
      // An open turn holds up nothing: the next one ends it.
    });
  }

  #discard(turn: Turn): void {
    turn.streamed = "";
    this.#around.emit({ type: "text:discarded" });
  }

  #notice(text: string): void {
    this.#around.emit({ type: "notice:raised", tone: "danger", text });
  }
}
