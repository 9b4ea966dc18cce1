import words from "../../../loop/copy.json" with { type: "json" };
import type { Outcome } from "../protocol/generated.ts";
import type { CutReason } from "./chat.ts";
import { fill } from "./fill.ts";
import type { StuckReason } from "./lane.ts";
import type { Observation } from "./messages.ts";

/**
 * Every sentence the loop says by itself, in one place: calm, and true whatever the model did. Models' own failures never
 * reach the screen as if they were answers. The agent on the command line reads the same file.
 */
export const copy: Readonly<typeof words.says> = words.says;

type Sentences = { readonly otherwise: string } & { readonly [reason in string]?: string };

const OUTCOMES: Readonly<Record<Outcome, Sentences>> = words.outcomes;

/** What became of a call that gave no result, as a sentence about the tool. Unknown words fall back to the outcome. */
export function explainOutcome(tool: string, result: Observation): string {
  const sentences = OUTCOMES[result.outcome];
  const reason = result.reason ?? "otherwise";
  const sentence = (Object.hasOwn(sentences, reason) ? sentences[reason] : undefined) ?? sentences.otherwise;
  return fill(sentence, (name) => (name === "tool" ? `\`${tool}\`` : why(result)));
}

/** Why a turn ends without an answer, depending on whether anything of it is done. */
export function explainStuck(why: StuckReason, hasWork: boolean): string {
  switch (why) {
    case "unreadable":
      return hasWork ? copy.keptWork : copy.rephrase;
    case "planning":
      return hasWork ? copy.keptWork : copy.planned;
    case "repeated":
      return copy.keptWork;
    case "looping":
      return copy.looped;
    case "cut":
      return copy.cutCall;
    case "filtered":
      return copy.heldBack;
    case "capped":
      return copy.capped;
  }
}

/** What is missing from a reply that is taken as it is. */
export function explainCut(why: CutReason): string {
  switch (why) {
    case "length":
      return copy.cutShort;
    case "filtered":
      return copy.restHeldBack;
    case "calls":
      return copy.callsLeftOut;
  }
}

/** What was asked for and is left undone, said at the end of a turn. */
export function nameTheRest(actions: readonly string[]): string {
  return fill(copy.notDone, () => actions.map((action) => `\`${action.replaceAll("`", "'")}\``).join(", "));
}

/** That nothing in the message asks for a tool, and what can be asked for. */
export function nameAbilities(abilities: string): string {
  return fill(copy.notAskedFor, () => abilities);
}

/** The gateway's own words, which begin in lower case and end without a stop, as the rest of a sentence. */
export function why({ error }: Observation): string {
  const words = error?.trim() ?? "";
  if (words === "") return ".";
  return /[.!?]$/.test(words) ? `: ${words}` : `: ${words}.`;
}
