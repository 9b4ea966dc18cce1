import type { ToolDescriptor } from "../protocol/generated.ts";
import { ACTS, type ClosedCall, does } from "./acts.ts";
import { formsOf } from "./claim-words.ts";
import { partsOf } from "./names.ts";

/* What a call on record can have done, and what it was about: what the words of a turn are held against. */

type Tools = readonly Pick<ToolDescriptor, "name" | "category">[];

/** The words that a call and its result hold, and those for what it does. */
export function wordsAbout({ call, result }: ClosedCall): string[] {
  const parts = partsOf(call.name);
  const acts = ACTS.filter(([, { calls }]) => calls.some((each) => parts.includes(each)));
  const given = JSON.stringify(call.arguments).replaceAll("\\n", " ");
  const told = `${given} ${result.content}`.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...parts, ...told, ...acts.flatMap(([, { verbs, claims }]) => [...verbs, ...claims])];
}

/** Whether a call can have done an act: by the verbs in its tool's name, or by its category. */
export function canDo(act: string, message: ClosedCall, tools: Tools): boolean {
  const { name: called } = message.call;
  // Of a tool that only looks, "file" in its name is what it looks at.
  const looks = tools.some(({ name, category }) => name === called && category === "read");
  const parts = partsOf(called).slice(0, looks ? 1 : undefined);
  // "File" is a verb before "away", and in `delete_file` a noun.
  const verbs = parts
    .flatMap(formsOf)
    .filter(({ particles }) => particles.length === 0 || particles.some((each) => parts.includes(each)));
  if (verbs.some((each) => each.act === act)) return true;
  const known = ACTS.find(([name]) => name === act);
  return known === undefined ? changes(message, tools) : does(known[0], message.call, tools);
}

/** Whether a call is one of a tool that changes something. */
export function changes({ call }: ClosedCall, tools: Tools): boolean {
  return tools.some(({ name, category }) => name === call.name && category !== "read");
}

/** Whether a call ran. */
export function isDone({ result }: ClosedCall): boolean {
  return result.outcome === "ok";
}
