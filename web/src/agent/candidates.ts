import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { partsOf } from "./names.ts";
import { type Document, documentOf, score, stem, termsIn } from "./ranking.ts";

/*
 * Which tools a model is shown this turn, where there are too many for all of them. Up to `MANY` tools the choice is all of
 * them: measured, showing fewer does not help a model that has examples, and a prompt that changes from turn to turn costs the
 * server's cache. Beyond that the words of the message decide (BM25 over names, descriptions and examples). What is chosen are
 * the snapshot's own objects in the snapshot's order, so that nothing about them can differ.
 */

export const MANY = limits.shownTools;

const NAME_WEIGHT = limits.nameWeight;

/** Messages by the name of the tool that answers them. */
type Examples = ReadonlyMap<string, readonly string[]>;
type Candidate = Pick<ToolDescriptor, "name" | "description" | "title" | "local">;

/** The examples of prompts.json. */
export const EXAMPLES: Examples = gather(words.action.shots);

/** The tools to show: all, or the `most` likely ones. Pseudo-tools of the agent's own stay and do not count. */
export function select<T extends Candidate>(
  message: string,
  tools: readonly T[],
  examples: Examples = EXAMPLES,
  most: number = MANY,
): T[] {
  const foreign = tools.filter((tool) => tool.local !== true);
  if (foreign.length <= most) return [...tools];
  const documents = tools.map((tool) => describe(tool, examples.get(tool.name) ?? []));
  const scores = score(termsIn(message), documents);
  const ranked = tools.map((tool, at) => ({ tool, score: scores[at] as number }));
  const likely = ranked.filter(({ tool }) => tool.local !== true).toSorted((one, other) => other.score - one.score);
  const chosen = new Set(likely.slice(0, most).map(({ tool }) => tool));
  return tools.filter((tool) => tool.local === true || chosen.has(tool));
}

function gather(shots: readonly { readonly user: string; readonly reply: { readonly tool?: string } }[]): Examples {
  const examples = new Map<string, string[]>();
  for (const { user, reply } of shots)
    if (reply.tool !== undefined) examples.set(reply.tool, [...(examples.get(reply.tool) ?? []), user]);
  return examples;
}

function describe(tool: Candidate, examples: readonly string[]): Document {
  return documentOf([
    [[...partsOf(tool.name), ...partsOf(tool.title ?? "")].map(stem), NAME_WEIGHT],
    [[tool.description, ...examples].flatMap(termsIn), 1],
  ]);
}
