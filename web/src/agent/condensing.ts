import limits from "../../../loop/limits.json" with { type: "json" };
import { accept, compacted, planCompaction, summaryPrompt, widen } from "./compaction.ts";
import { collect, type LaneInput, type LaneStep } from "./lane.ts";
import type { Message } from "./messages.ts";
import { shareRoom } from "./shares.ts";

/** As many as the longest summary takes. */
const MAX_SUMMARY_TOKENS = limits.summaryTokens;
const PROMPT_MARGIN = limits.summaryMargin;

/**
 * Make room, before a model is asked, in what it is shown of the conversation: by a summary where one helps, and with a word to
 * the person where none does. `view` is what the lane makes its prompt from. Null when the lane can go on. Whatever does not fit after that is left out by the lane, which
 * says so too.
 */
export async function condense(input: LaneInput, view: readonly Message[], limit: number): Promise<LaneStep | null> {
  const { chat, listener, model, signal } = input;
  const plan = planCompaction(shareRoom(view, limit, input.tools).messages, limit);
  if (plan?.kind === "full") listener.filled(plan.used, plan.limit);
  if (plan?.kind !== "compaction" || !input.maySummarise) return null;
  const room = model.contextTokens - MAX_SUMMARY_TOKENS - PROMPT_MARGIN;
  const messages = summaryPrompt(view, plan, room);
  const request = { messages, maxTokens: MAX_SUMMARY_TOKENS, temperature: 0, signal };
  const { text } = await collect(chat, request, listener, "stream");
  const summary = accept(text, plan);
  if (summary === null) return { kind: "condensed", shown: null };
  return { kind: "condensed", shown: compacted(input.shown, widen(plan, view, input.shown), summary) };
}
