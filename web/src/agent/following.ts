import type { ToolDescriptor } from "../protocol/generated.ts";
import { ACTS, type Act, type AskedAct, askedActs, does, isAbout, type NamedCall } from "./acts.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { partsOf } from "./names.ts";
import { wordsOf } from "./words.ts";

/*
 * What may follow a result that nobody vouches for. A model that is shown a file may do what the file says. So once such a result
 * was shown, a call that does more than read has to be one that the person's message asks for: by its verb, and for the thing
 * that stands after the verb.
 */

type KnownTool = Pick<ToolDescriptor, "name" | "category">;

/** Whether the model may be offered this tool after these calls. */
export function mayFollow(message: string, closed: readonly ToolMessage[], tool: KnownTool): boolean {
  return isFree(closed, tool) || isAskedFor(message, { name: tool.name, arguments: {} }, tool);
}

/** Whether this call may be sent after these. One of an unknown tool may: the gateway refuses it. */
export function callMayFollow(
  message: string,
  closed: readonly ToolMessage[],
  call: ProposedCall,
  tools: readonly KnownTool[],
): boolean {
  const tool = tools.find(({ name }) => name === call.name);
  return tool === undefined || isFree(closed, tool) || isAskedFor(message, call, tool);
}

function isFree(closed: readonly ToolMessage[], { category }: KnownTool): boolean {
  return category === "read" || closed.every(({ result }) => result.trust === "trusted");
}

function isAskedFor(message: string, call: NamedCall, tool: KnownTool): boolean {
  const asked = askedActs(message).filter(({ act }) => canDo(act, call, tool));
  if (asked.length > 0) return Object.keys(call.arguments).length === 0 || asked.some((each) => namesThing(each, call));
  // A tool of one's own is often called like what people say: `set_budget`.
  const [first] = partsOf(tool.name);
  return first !== undefined && wordsOf(message).some(({ bare }) => bare === first);
}

/** Whether a call is about a thing that stands after the verb. A verb without one leaves it open. */
function namesThing({ things }: AskedAct, call: NamedCall): boolean {
  return things.length === 0 || things.some((thing) => isAbout(call, thing));
}

/** Reading is no reason for what can do anything, such as a shell. */
function canDo(act: Act, call: NamedCall, tool: KnownTool): boolean {
  if (act !== "read") return does(act, call, [tool]);
  const reading: readonly string[] = ACTS.find(([name]) => name === act)?.[1].calls ?? [];
  return tool.category === "network" && partsOf(tool.name).some((part) => reading.includes(part));
}
