import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { partsOf } from "./names.ts";
import { vocabulary } from "./vocabulary.ts";

/*
 * Which tools a model is shown this turn, where there are too many for all of them. Up to `MANY` tools the choice is all of
 * them: measured, showing fewer does not help a model that has examples, and a prompt that changes from turn to turn costs the
 * server's cache. Beyond that the words of the message decide (BM25 over names, descriptions and examples). What is chosen are
 * the snapshot's own objects in the snapshot's order, so that nothing about them can differ.
 */

export const MANY = limits.shownTools;

const NAME_WEIGHT = limits.nameWeight;
const SATURATION = limits.termSaturation;
const LENGTH_SHARE = limits.lengthShare;

const COMMON: ReadonlySet<string> = new Set(vocabulary.commonTerms);

/** Messages by the name of the tool that answers them. */
type Examples = ReadonlyMap<string, readonly string[]>;
type Candidate = Pick<ToolDescriptor, "name" | "description" | "title" | "local">;

/** What describes a tool: how often each term stands in it, and how many there are. */
interface Document {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** The examples of prompts.json. */
const EXAMPLES: Examples = gather(words.action.shots);

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
  const counts = new Map<string, number>();
  const add = (terms: readonly string[], weight: number) => {
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight);
  };
  add([...partsOf(tool.name), ...partsOf(tool.title ?? "")].map(stem), NAME_WEIGHT);
  add([tool.description, ...examples].flatMap(termsIn), 1);
  return { counts, length: sum([...counts.values()]) };
}

function termsIn(text: string): string[] {
  const found = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return found.filter((term) => !COMMON.has(term)).map(stem);
}

function stem(term: string): string {
  return /^(.{3,}?)(?:ing|ed|es|s|e)$/u.exec(term)?.[1] ?? term;
}

/** How well each document answers the query, in their order. */
function score(query: readonly string[], documents: readonly Document[]): number[] {
  const mean = Math.max(1, sum(documents.map(({ length }) => length)) / documents.length);
  const weights = [...new Set(query)].map((term) => {
    const having = documents.filter(({ counts }) => counts.has(term)).length;
    return [term, rarity(having, documents.length)] as const;
  });
  return documents.map(({ counts, length }) => {
    const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / mean);
    return sum(
      weights.map(([term, weight]) => {
        const count = counts.get(term) ?? 0;
        return (weight * count * (SATURATION + 1)) / (count + norm);
      }),
    );
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Rounded, because logarithms differ in their last digit from one machine to the next, and the choice must not. */
function rarity(having: number, all: number): number {
  return Math.floor(Math.log(1 + (all - having + 0.5) / (having + 0.5)) * 1e6 + 0.5) / 1e6;
}
