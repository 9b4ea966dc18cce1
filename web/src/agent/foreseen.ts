import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolCall, ToolDescriptor } from "../protocol/generated.ts";
import type { Lane, LaneInput, LaneListener, LaneStep, ProposedCall } from "./lane.ts";
import type { Message, Observation } from "./messages.ts";
import { isAskedAbout } from "./plans.ts";
import { vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * Calls of wishes that are still to come, chosen before the one before them has run, so that a person is asked about all at once.
 * Only what is asked about and changes something is foreseen: what a look comes to may be what the next wish stands on.
 */

const { questionWords, askingWords, contentVerbs, conditions } = vocabulary;
const { readingVerbs, telling, pronouns, backwards, results } = wishWords;
const LOOKING: ReadonlySet<string> = new Set([questionWords, askingWords, contentVerbs, readingVerbs, telling].flat());
/** Words by which a wish goes back to another one, or to what that comes to. */
const LEANING: ReadonlySet<string> = new Set([pronouns, backwards, results, conditions].flat());

/**
 * A call with those of the wishes that come after its own, as far as a person is asked about each. `choose` chooses the next step, from
 * a conversation in which the calls before it went well.
 */
export async function withForeseen(
  input: LaneInput,
  first: ProposedCall,
  wishes: readonly string[],
  choose: Lane,
): Promise<LaneStep> {
  const proposals = [first];
  const listener = unheard(input.listener);
  let messages = input.messages;
  let last = first;
  for (const wish of wishes.slice(0, limits.planSteps - 1)) {
    if (!(goesWithOthers(last, input.tools) && standsAlone(wish))) break;
    messages = [...messages, ...asDone(last, input)];
    const following = await choose({ ...input, messages, listener, maySummarise: false });
    const [call] = following.kind === "calls" ? following.proposals : [];
    if (call === undefined || !goesWithOthers(call, input.tools)) break;
    proposals.push(call);
    last = call;
  }
  return { kind: "calls", text: "", proposals };
}

/** Whether a call can be a part of one question. */
function goesWithOthers({ name }: ProposedCall, tools: readonly ToolDescriptor[]): boolean {
  const tool = tools.find((each) => each.name === name);
  return tool !== undefined && isAskedAbout(tool) && tool.category !== "read";
}

/**
 * What is in the conversation once this call went well, without what it came to; and where wishes are told of one by one, the words with
 * which it ends.
 */
function asDone(proposal: ProposedCall, { turnId, actions }: LaneInput): Message[] {
  const call: ToolCall = { id: "", name: proposal.name, arguments: proposal.arguments };
  const result: Observation = { outcome: "ok", content: "", trust: "trusted", truncated: false };
  const done: Message[] = [
    { role: "assistant", turnId, content: "", toolCalls: [call] },
    { role: "tool", turnId, call, result },
  ];
  return actions === null ? done : [...done, { role: "assistant", turnId, content: "", toolCalls: [] }];
}

/** Whether a wish is an order that nothing before it has to answer. */
function standsAlone(wish: string): boolean {
  const words = wordsOf(wish.replace(QUOTED, " ")).map(({ bare }) => bare);
  const isOrder = words.length > 0 && !wish.includes("?") && !LOOKING.has(words[0] as string);
  return isOrder && !words.some((word) => LEANING.has(word));
}

/** Of what is chosen ahead only the tokens are told: words that come of it are asked for again when it is their turn. */
function unheard(own: LaneListener): LaneListener {
  return {
    streamed() {},
    discarded() {},
    counted: own.counted.bind(own),
    filled: own.filled.bind(own),
    trimmed: own.trimmed.bind(own),
    cut: own.cut.bind(own),
  };
}
