import limits from "../../../loop/limits.json" with { type: "json" };
import { bareThing, isThing } from "./acts.ts";
import { questionIn } from "./affairs.ts";
import { copy } from "./copy.ts";
import { cited, numbered } from "./excerpts.ts";
import type { ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { leveled, tellsAll } from "./levels.ts";
import { linesOf } from "./passages.ts";
import { stem, termsIn } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Whether something stands in a file, where just that is asked: "does prices.csv list a price for painting?".
 *
 * A small model says yes to most of these questions, or misses the line. So the words are looked for by code: a line that has all of
 * them is a yes and is shown, a file that has none of them is a no. Whatever lies between is the model's.
 */

const HOLDING = anyOf(vocabulary.holdingVerbs);
const IN = "(?:in|on|inside)(?: the)?(?: file| list)? ([^ ]+)";
/** Each with the places of what is looked for, and of the file. */
const FORMS: readonly (readonly [RegExp, number, number])[] = [
  [
    new RegExp(
      `^(?:does|do|did) (?:the )?([^ ]+) (?:${HOLDING})(?: (?:anything|something))?(?: about| on)? (.+?)(?: (?:in|on) it)?$`,
      "i",
    ),
    2,
    1,
  ],
  [new RegExp(`^(?:is|are) there (?:(?:anything|something) )?(?:(?:about|on|for) )?(.+) ${IN}$`, "i"), 1, 2],
  [new RegExp(`^(?:is|are) (.+?)(?: (?:${HOLDING}))? ${IN}$`, "i"), 1, 2],
];
/** Words that say what kind of thing is looked for, and not which. */
const WEAK: ReadonlySet<string> = new Set(
  [
    ...vocabulary.attributes,
    ...vocabulary.figureNouns,
    ...vocabulary.lightWords,
    ...vocabulary.commonTerms,
    "any",
    "some",
  ].map(stem),
);
/** What is there though no word says so: whether it is takes judgement. */
const JUDGED: ReadonlySet<string> = new Set(vocabulary.judgedNouns.map(stem));
const COMPARING: ReadonlySet<string> = new Set([
  ...vocabulary.superlatives,
  ...vocabulary.measures,
  ...vocabulary.comparingWords,
]);
/** What something is or is not, after its name. A line with both words may say that it is not: "backup enabled: false". */
const STATES: ReadonlySet<string> = new Set(
  [vocabulary.switchWords, vocabulary.negatedWords].flatMap((pairs) => Object.entries(pairs).flat()),
);
const MOST_WORDS = 5;
/** Letters of a word of which all are looked for. */
const SHORT = 3;

/** Yes with the lines that say so, or no; null where that is not what a wish asks, or where it is in doubt. */
export function answerPresence(wish: string, { name, text, whole, hasLines }: ResultSource): string | null {
  const what = soughtIn(wish);
  const terms = [...new Set(termsIn(what).filter((term) => !WEAK.has(term)))];
  if (!hasLines || terms.length === 0) return null;
  const lines = linesOf(text);
  const wanted = leveled(terms);
  const held = lines.flatMap((line, at) => (tellsAll(wanted, termsIn(line)) ? [at + 1] : []));
  const places = held.slice(0, limits.closestLines);
  if (places.length > 0) return `${copy.present} ${cited(name, places)}:\n\n${numbered(lines, places)}`;
  const isAbsent = whole && !terms.some((term) => text.toLowerCase().includes(beginningOf(term)));
  // Code with a mistake in it does not say so.
  const absent = terms.some((term) => JUDGED.has(term)) ? copy.unjudged : copy.absent;
  return isAbsent ? fill(absent, (blank) => (blank === "file" ? name : what)) : null;
}

/** What other forms of a word begin with: of "city" what "cities" does. */
function beginningOf(term: string): string {
  return term.length > SHORT ? term.slice(0, -1) : term;
}

/** The words that are asked for in a file which is named; empty for any other wish. */
function soughtIn(wish: string): string {
  const question = questionIn(wish).replace(/[ ?!.]+$/, "");
  for (const [form, what, file] of FORMS) {
    const found = form.exec(question);
    if (found !== null && isThing(bareThing(found[file] as string))) {
      const sought = found[what] as string;
      return isPlain(wordsOf(sought).map(({ bare }) => bare)) ? sought : "";
    }
  }
  return "";
}

/** Whether it only names something, and compares or denies nothing, nor asks for its state. */
function isPlain(said: readonly string[]): boolean {
  if (said.length > 1 && STATES.has(said.at(-1) as string)) return false;
  return said.length <= MOST_WORDS && !said.some((word) => COMPARING.has(word) || isThing(word));
}
