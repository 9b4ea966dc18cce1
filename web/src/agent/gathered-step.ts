import limits from "../../../loop/limits.json" with { type: "json" };
import { compares } from "./called-names.ts";
import { callsUnderWay, lookingFor } from "./further.ts";
import { afterNames, isNamesCall, namesCall } from "./gathering.ts";
import { hasCue } from "./intents.ts";
import type { LaneInput, ProposedCall } from "./lane.ts";
import type { Message } from "./messages.ts";
import { offered } from "./respond.ts";
import type { TurnProgress } from "./turn-progress.ts";

/* The look at the names in the workspace with which a question may begin, as a step of the loop, and the conversation without it. */

/**
 * The calls, or the words, where the wish under way calls what it is about by its name in the workspace, or may do so; null for any
 * other. `begins` gives the call with which it would begin without that look: another one is surer.
 */
export function gatheringStep(
  { messages, turnId, tools, actions, mayCall }: LaneInput,
  { closed }: TurnProgress,
  wish: string,
  begins: () => ProposedCall | string | null,
): readonly ProposedCall[] | string | null {
  const able = offered(tools);
  const areSeveral = (actions?.length ?? 0) > 1;
  const calls = areSeveral ? callsUnderWay(messages, turnId) : closed;
  const [look] = calls;
  if (!mayCall) return null;
  if (look !== undefined) {
    // Of calls that are proposed together, each would be taken for a wish of its own.
    const most = areSeveral ? 1 : limits.gatheredFiles;
    return isNamesCall(look, able) ? afterNames(wish, look, calls.slice(1), able, most) : null;
  }
  const names = namesCall(wish, able);
  if (names === null || (actions === null && hasCue(wish) && !compares(wish))) return null;
  const first = begins();
  return first === null || JSON.stringify(first) === JSON.stringify(lookingFor(wish, able)) ? [names] : null;
}

/** The same as if nobody had looked at the names. */
export function withoutNames(input: LaneInput): LaneInput {
  const able = offered(input.tools);
  const looks = new Set(
    input.messages.flatMap((each) => (each.role === "tool" && isNamesCall(each, able) ? [each.call.id] : [])),
  );
  const isLook = (message: Message): boolean => {
    if (message.role === "tool") return looks.has(message.call.id);
    const calls = message.role === "assistant" ? message.toolCalls : [];
    return calls.length > 0 && calls.every(({ id }) => looks.has(id));
  };
  return { ...input, messages: input.messages.filter((each) => !isLook(each)) };
}
