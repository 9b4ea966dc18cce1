import limits from "../../../loop/limits.json" with { type: "json" };
import type { InferenceToken, ModelInfo, ToolDescriptor } from "../protocol/generated.ts";
import { ConnectionLost } from "../protocol/rpc.ts";
import { withoutAttachedBytes } from "./attached.ts";
import { ChatFailure } from "./chat.ts";
import { recordOf } from "./claims.ts";
import { explainCut } from "./copy.ts";
import type { LoopDependencies } from "./dependencies.ts";
import { withWholeAction, withWholeWishes } from "./follow-ups.ts";
import { isGerman, withFramesInEnglish } from "./german.ts";
import { ShownBeginning } from "./holding.ts";
import { usefulTools } from "./kept.ts";
import type { LaneListener, LaneStep } from "./lane.ts";
import { countRounds, type Message } from "./messages.ts";
import { mayBeCut } from "./shares.ts";
import { withNamesQuoted } from "./spaced-names.ts";
import { laneFor, tierOf } from "./tiers.ts";
import type { LoopTurn } from "./turn.ts";
import { progressOf } from "./turn-progress.ts";

/** requirement 000-07: tool rounds of one turn. */
export const MAX_ROUNDS = limits.rounds;

/** How long the loop waits for a model that is starting or was restarted: 45 times 2 s covers loading from a cold disk. */
const MODEL_RETRIES = limits.modelWaits;
const MODEL_RETRY_MS = limits.modelWaitSeconds * 1_000;

/** What broke off is asked again that often. Each time may cost money where somebody else runs the model. */
const BREAK_RETRIES = limits.brokenReplyRetries;

/** Ask the model for the next step, again after whatever a little patience can mend. */
export async function askForStep(dependencies: LoopDependencies, turn: LoopTurn, model: ModelInfo): Promise<LaneStep> {
  const lane = laneFor(model);
  for (let attempt = 1; ; attempt++) {
    try {
      await refresh(dependencies, turn);
      dependencies.emit({ type: "model:asked" });
      const chat = dependencies.chatWith(await tokenFor(dependencies, turn, model));
      const tools = usefulTools(turn.snapshot.tools, turn.messages, (content) => isReadOn(content, model));
      const messages = asRead(turn.messages, model, tools);
      const step = await lane({
        messages,
        shown: asRead(turn.shown, model, tools),
        maySummarise: turn.maySummarise,
        turnId: turn.id,
        tools,
        model,
        actions: withWholeAction(turn.actions, messages, turn.id, tools),
        mayCall: countRounds(turn.messages, turn.id) < Math.min(MAX_ROUNDS, dependencies.mostRounds?.() ?? MAX_ROUNDS),
        today: dependencies.today(),
        quotes: isGerman(progressOf(turn.messages, turn.id).message),
        chat,
        signal: turn.stop.signal,
        listener: listenerOf(dependencies, turn, model),
      });
      takeBack(dependencies, turn);
      return step;
    } catch (error) {
      turn.stop.signal.throwIfAborted();
      if (!(await mend(dependencies, turn, model, error, attempt))) throw error;
      turn.broken = turn.streamed || turn.broken;
      turn.streamed = "";
    }
  }
}

/** Messages as a lane has them. A model with declared tools reads names by itself. */
function asRead(messages: readonly Message[], model: ModelInfo, tools: readonly ToolDescriptor[]): readonly Message[] {
  const kept = withoutAttachedBytes(messages);
  const tier = tierOf(model);
  if (tier === "native") return kept;
  // A larger model understands German, and what a wish leaves out, by itself.
  if (tier !== "single") return withNamesQuoted(kept);
  return withWholeWishes(withNamesQuoted(withFramesInEnglish(kept)), tools);
}

/** Whether a model may be told how to read on in a result. Smaller ones cannot write down an id, and are told otherwise. */
function isReadOn(content: string, model: ModelInfo): boolean {
  return tierOf(model) === "native" && mayBeCut(content, model.contextTokens);
}

/** Get a fresh snapshot where the one in hand is void. */
export async function refresh({ gateway }: LoopDependencies, turn: LoopTurn): Promise<void> {
  if (!turn.stale) return;
  const { conversationId, id: turnId } = turn;
  const { snapshot } = await gateway.call("turns/refresh", { conversationId, turnId }, turn.stop.signal);
  turn.snapshot = snapshot;
  turn.stale = false;
}

function listenerOf(dependencies: LoopDependencies, turn: LoopTurn, model: ModelInfo): LaneListener {
  const { emit } = dependencies;
  let heard = "";
  let beginning = beginningOf(turn);
  return {
    streamed: (delta) => {
      heard += delta;
      const shown = heard.slice(turn.streamed.length, beginning.lengthOf(heard));
      if (shown === "") return;
      takeBack(dependencies, turn);
      turn.streamed += shown;
      emit({ type: "text:streamed", delta: shown });
    },
    discarded: () => {
      heard = "";
      beginning = beginningOf(turn);
      if (turn.broken === "") discard(dependencies, turn);
    },
    counted: (promptTokens, completionTokens, exact) => {
      turn.promptTokens += promptTokens;
      turn.completionTokens += completionTokens;
      const used = promptTokens + completionTokens;
      emit({ type: "tokens:counted", used, limit: model.contextTokens, exact });
    },
    filled: (used, limit) => emit({ type: "context:filled", used, limit }),
    trimmed: (droppedTurns) => emit({ type: "context:trimmed", droppedTurns }),
    cut: (why) => emit({ type: "notice:raised", tone: "info", text: explainCut(why) }),
  };
}

function beginningOf({ messages, id, snapshot, actions }: LoopTurn): ShownBeginning {
  return new ShownBeginning(recordOf(messages, id, snapshot.tools, actions));
}

/** Whether it is worth asking again after this failure; waits as long as that takes. */
async function mend(
  { gateway, emit, wait }: LoopDependencies,
  turn: LoopTurn,
  model: ModelInfo,
  error: unknown,
  attempt: number,
): Promise<boolean> {
  const { signal } = turn.stop;
  if (error instanceof ConnectionLost) return attempt <= BREAK_RETRIES;
  if (!(error instanceof ChatFailure)) return false;
  switch (error.kind) {
    case "refused":
      return false;
    case "unauthorised":
      turn.token = null;
      return attempt <= BREAK_RETRIES;
    case "modelUnavailable": {
      const isComing = error.state === "starting" || model.local;
      if (error.state === "absent" || attempt > (isComing ? MODEL_RETRIES : BREAK_RETRIES)) return false;
      emit({ type: "model:waited-for", state: error.state });
      await wait(MODEL_RETRY_MS, signal);
      return true;
    }
    case "failed":
    case "brokeOff":
    case "unreachable":
      if (attempt > BREAK_RETRIES) return false;
      // Answered only once there is a connection again, and the turn re-bound to it.
      await gateway.call("session/describe", {}, signal);
      return true;
  }
}

async function tokenFor({ gateway }: LoopDependencies, turn: LoopTurn, model: ModelInfo): Promise<InferenceToken> {
  turn.token ??= await gateway.call(
    "inference/token",
    { conversationId: turn.conversationId, turnId: turn.id, modelId: model.id },
    turn.stop.signal,
  );
  return turn.token;
}

/** What broke off is taken off the screen only for something else: the next attempt may come to nothing. */
function takeBack(dependencies: LoopDependencies, turn: LoopTurn): void {
  if (turn.broken === "") return;
  turn.broken = "";
  discard(dependencies, turn);
}

function discard({ emit }: LoopDependencies, turn: LoopTurn): void {
  turn.streamed = "";
  emit({ type: "text:discarded" });
}
