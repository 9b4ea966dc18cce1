import type { ToolDescriptor } from "../protocol/generated.ts";
import { ACTS } from "./acts.ts";
import { partsOf } from "./names.ts";
import { stem } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/* The verbs with which a wish may begin: those that people ask with, and those of the tools that there are. */

const ACT_VERBS = ACTS.flatMap(([, { verbs }]) => verbs);
const { imperatives, synonyms, commands } = wishWords;
const IMPERATIVES: ReadonlySet<string> = new Set([...ACT_VERBS, ...imperatives, ...synonyms, ...commands]);
const PLACES: ReadonlySet<string> = new Set([
  ...vocabulary.documentNouns,
  ...vocabulary.folderNouns,
  "text",
  "workspace",
]);
/** How a description begins that says what its tool does: "Start a timer". */
const DESCRIBED = /^([A-Z][a-z]+) (?:a|an|the) /;
const MIN_NOUN = 3;

/**
 * `all` are the verbs, `own` those for which there is a tool or an act, `nouns` what the tools are for, as stems, `subjects` the
 * other words for that, but for files, and `forms` the verb of each form in -ing or -ed.
 */
export interface WishVerbs {
  readonly all: ReadonlySet<string>;
  readonly own: ReadonlySet<string>;
  readonly nouns: ReadonlySet<string>;
  readonly subjects: ReadonlySet<string>;
  readonly forms: ReadonlyMap<string, string>;
}

/** As much of a tool as tells what it does. */
export type DescribedTool = Pick<ToolDescriptor, "name" | "description">;

/** The verbs for these tools. */
export function wishVerbs(tools: readonly DescribedTool[]): WishVerbs {
  const names = tools.map(({ name }) => partsOf(name.slice(name.lastIndexOf("__") + 1)));
  const described = tools.flatMap(({ description }) => DESCRIBED.exec(description)?.[1]?.toLowerCase() ?? []);
  const own = [...names.flatMap((parts) => parts.slice(0, 1)), ...described].filter(
    (verb) => !vocabulary.commonTerms.includes(verb),
  );
  const all = new Set([...IMPERATIVES, ...own]);
  const nouns = names.flat().filter((part) => !all.has(part) && part.length >= MIN_NOUN);
  return {
    all,
    own: new Set([...own, ...ACT_VERBS]),
    nouns: new Set(nouns.map(stem)),
    subjects: subjectsOf(names),
    forms: formsOf(all),
  };
}

function subjectsOf(names: readonly (readonly string[])[]): Set<string> {
  const said = new Set(names.flatMap((parts) => parts.slice(1)));
  const groups = vocabulary.sameThings.filter(
    (group) => group.some((word) => said.has(word)) && !group.some((word) => PLACES.has(word)),
  );
  return new Set([...said, ...groups.flat()].filter((word) => !PLACES.has(word)).map(stem));
}

/** The verb of a form in -ing, or null. */
export function gerundOf(word: string, { forms }: WishVerbs): string | null {
  return word.endsWith("ing") ? (forms.get(word) ?? null) : null;
}

/** Alphabetical, so that where two verbs share a form it is the same one in both languages. */
function formsOf(verbs: ReadonlySet<string>): Map<string, string> {
  const forms = new Map<string, string>();
  for (const verb of [...verbs].sort()) {
    for (const root of [verb.replace(/e$/, ""), `${verb}${verb.at(-1)}`]) {
      forms.set(`${root}ing`, verb);
      forms.set(`${root}ed`, verb);
    }
    if (verb.endsWith("y")) forms.set(`${verb.slice(0, -1)}ied`, verb);
  }
  return new Map([...forms, ...Object.entries(wishWords.irregularForms)]);
}
