import limits from "../../../loop/limits.json" with { type: "json" };
import type { ChatMessage, JsonSchema } from "./chat.ts";
import { goesRound, withoutCircles } from "./circles.ts";
import { copy } from "./copy.ts";
import { collect, type LaneInput, type LaneStep, type ProposedCall } from "./lane.ts";
import { looksLikePlanning } from "./nudges.ts";
import { AnswerReader, parseEnvelope } from "./parse.ts";
import { correction, RepairDialogue } from "./repair.ts";
import { isRespond, messageOf } from "./respond.ts";

/** requirement 000-07: tokens of one step of a model that writes JSON. */
export const MAX_STEP_TOKENS = limits.jsonLaneTokens;

/** The action that a model chose. */
export type Choice =
  | { readonly kind: "call"; readonly call: ProposedCall }
  | Extract<LaneStep, { readonly kind: "answer" | "stuck" }>;

/**
 * One JSON action out of a model: asked for, read, corrected where it is none, and given up after that. An answer is streamed
 * as it comes. With `canCall`, words that only announce a step are no answer.
 */
export async function choose(
  input: LaneInput,
  prompt: readonly ChatMessage[],
  schema: JsonSchema,
  canCall: boolean,
): Promise<Choice> {
  const { chat, listener, signal } = input;
  const dialogue = new RepairDialogue();
  while (true) {
    let [isShown, written] = [false, ""];
    const reader = new AnswerReader();
    const { text } = await collect(
      chat,
      { messages: [...prompt, ...dialogue.turns], schema, maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
      listener,
      "after-object",
      (soFar) => {
        const fresh = reader.read(soFar);
        if (fresh) {
          listener.streamed(fresh);
          isShown = true;
          written += fresh;
        }
        return goesRound(written);
      },
    );
    // It says the same over and over.
    if (goesRound(written)) return { kind: "answer", text: `${withoutCircles(written)}\n\n${copy.saidAgain}` };
    const action = parseEnvelope(text);
    if (action.kind === "call" && !isRespond(action.tool, input.tools))
      return { kind: "call", call: { name: action.tool, arguments: action.arguments } };
    const said = action.kind === "answer" ? action.text : action.kind === "call" ? messageOf(action.arguments) : null;
    if (said !== null && !(canCall && looksLikePlanning(said))) return { kind: "answer", text: said };
    if (isShown) listener.discarded();
    if (action.kind === "malformed") {
      if (!dialogue.repair(text, correction(action.reason))) return { kind: "stuck", why: "unreadable" };
    } else if (!dialogue.nudge(text)) return { kind: "stuck", why: "planning" };
  }
}
