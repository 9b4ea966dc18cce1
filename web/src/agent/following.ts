import type { ToolDescriptor } from "../protocol/generated.ts";
import { type Act, type AskedAct, askedActs, does, isAbout, type NamedCall } from "./acts.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { partsOf } from "./names.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * What may follow a result. A model that is shown a file may do what the file says, and a small one goes on with whatever there
 * is to do. So after the first call, one that does more than read has to be asked for by the message: by its verb, for the thing
 * that stands after the verb, and no more often than that.
 */

type KnownTool = Pick<ToolDescriptor, "name" | "category">;

/** Whether the model may be offered this tool after these calls. */
export function mayFollow(message: string, closed: readonly ToolMessage[], tool: KnownTool): boolean {
  return isFree(closed, tool) || isAskedFor(message, { name: tool.name, arguments: {} }, closed, tool);
}

/** Whether this call may be sent after these. One of an unknown tool may: the gateway refuses it. */
export function callMayFollow(
  message: string,
  closed: readonly ToolMessage[],
  call: ProposedCall,
  tools: readonly KnownTool[],
): boolean {
  const tool = tools.find(({ name }) => name === call.name);
  return tool === undefined || isFree(closed, tool) || isAskedFor(message, call, closed, tool);
}

function isFree(closed: readonly ToolMessage[], { category }: KnownTool): boolean {
  return category === "read" || closed.length === 0;
}

function isAskedFor(message: string, call: NamedCall, closed: readonly ToolMessage[], tool: KnownTool): boolean {
  const asked = askedActs(message).filter(({ act }) => canDo(act, call, tool));
  const isOpen = Object.keys(call.arguments).length === 0;
  if (asked.length > 0)
    return asked.some((each) => !isUsedUp(each, asked, closed) && (isOpen || namesThing(each, call)));
  // A tool of one's own is often called like what people say: `set_budget`.
  const [first] = partsOf(tool.name);
  const isMade = closed.some((each) => each.call.name === tool.name);
  return !isMade && first !== undefined && wordsOf(message).some(({ bare }) => bare === first);
}

/**
 * Whether as many calls were made for an act as the message asks for. A call is one act, though its tool may serve several: the one
 * whose thing it names, else the first that is left.
 */
function isUsedUp(each: AskedAct, asked: readonly AskedAct[], closed: readonly ToolMessage[]): boolean {
  const left = asked.map(({ things }) => Math.max(1, things.length));
  for (const { call } of closed) {
    const parts = partsOf(call.name);
    const possible = asked.flatMap(({ act }, at) => {
      const doing: readonly string[] = vocabulary.acts[act].calls;
      return left[at] !== 0 && parts.some((part) => doing.includes(part)) ? [at] : [];
    });
    const named = possible.find((at) => asked[at]?.things.some((thing) => isAbout(call, thing)));
    const at = named ?? possible[0];
    if (at !== undefined) left[at] = (left[at] as number) - 1;
  }
  return left[asked.indexOf(each)] === 0;
}

/** Whether a call is about a thing that stands after the verb. A verb without one leaves it open. */
function namesThing({ things }: AskedAct, call: NamedCall): boolean {
  return things.length === 0 || things.some((thing) => isAbout(call, thing));
}

/** Reading is no reason for what can do anything, such as a shell. */
function canDo(act: Act, call: NamedCall, tool: KnownTool): boolean {
  if (act !== "read") return does(act, call, [tool]);
  const reading: readonly string[] = vocabulary.acts[act].calls;
  return tool.category === "network" && partsOf(tool.name).some((part) => reading.includes(part));
}
