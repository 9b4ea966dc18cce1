import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, bareThing, isThing } from "./acts.ts";
import { sourceOf } from "./answers.ts";
import { copy } from "./copy.ts";
import { cited, excerptOf } from "./excerpts.ts";
import type { ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { pageOf } from "./kept.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { linesOf } from "./passages.ts";
import { byAge } from "./picking.ts";
import { numbersIn, type Quantity, readQuantities, scaled } from "./quantities.ts";
import { isFile, readerAmong } from "./reading.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Files that a wish compares: "which of a.txt and b.txt is cheaper?", "compare a.txt and b.txt".
 *
 * All of them are read. Which one is cheaper, longer or newer is told by code, and only where each has exactly one amount, all of its
 * text, or one day; otherwise what they say is shown, and no model makes an answer of a part of it.
 */

/** By what files are compared, and which of them is asked for; `Shown` where nothing is asked for but to see them. */
export type Measure = keyof typeof vocabulary.comparedBy | "Shown";

/** The files that are compared, in the order of the wish, and by what. */
export interface FileComparison {
  readonly files: readonly string[];
  readonly measure: Measure;
}

/** What a file is compared by, as a number that is larger where there is more of it, and how that is shown. */
interface Value {
  readonly rank: bigint;
  readonly shown: string;
}

const MEASURE_OF: ReadonlyMap<string, Measure> = new Map(
  (Object.entries(vocabulary.comparedBy) as [Measure, readonly string[]][]).flatMap(([measure, words]) =>
    words.map((word) => [word, measure] as const),
  ),
);
const MEASURED = new RegExp(`\\b(${anyOf([...MEASURE_OF.keys()])})(?: (\\w+))?`, "g");
const AMOUNTS: ReadonlySet<Measure> = new Set(["Less", "More"]);
const LENGTHS: ReadonlySet<Measure> = new Set(["Longer", "Shorter"]);
const UPWARD: ReadonlySet<Measure> = new Set(["More", "Longer", "Newer"]);
const OF_FILES: ReadonlySet<string> = new Set([
  ...vocabulary.linkWords,
  ...vocabulary.phraseEnds,
  ...vocabulary.documentNouns,
  "one",
]);
const FIGURES: ReadonlySet<string> = new Set(vocabulary.figureNouns);
const ASKING: ReadonlySet<string> = new Set([...vocabulary.questionWords, "whether", "if"]);
const COMPARING: ReadonlySet<string> = new Set(vocabulary.comparingVerbs);
const DAY = /(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])/g;
/** Names that the world knows: the difference between node.js and vue.js stands in no file. */
const PRODUCT = new RegExp(`\\.(?:js|${anyOf(vocabulary.siteEndings)})$`);
const FEWEST = 2;
/** Files that are read for one comparison. */
const MOST = 3;

/** The files that a wish compares; null for any other wish, and where no tool reads. */
export function comparisonIn(wish: string, tools: readonly ToolDescriptor[]): FileComparison | null {
  const words = wordsOf(wish).map(({ start, end, bare }) => ({ bare, written: wish.slice(start, end) }));
  const files = [...new Set(words.filter(({ written }) => isThing(written)).map(({ written }) => bareThing(written)))];
  const said = words.filter(({ written }) => !isThing(written)).map(({ bare }) => bare);
  const measures = measuresIn(said);
  const compares = said.some((word) => COMPARING.has(word));
  const isAsked = compares || (measures.size > 0 && said.some((word) => ASKING.has(word)));
  const areFiles =
    files.length >= FEWEST && files.length <= MOST && files.every((each) => isFile(each) && !PRODUCT.test(each));
  if (!areFiles || measures.size > 1 || !isAsked) return null;
  if (readerAmong(tools) === null || askedActs(wish).some(({ act }) => act !== "read")) return null;
  const [measure = "Shown"] = measures;
  return { files, measure };
}

/** The read that follows these calls; once all files are read, what they come to. */
export function nextCompared(
  { files, measure }: FileComparison,
  calls: readonly ToolMessage[],
  tools: readonly ToolDescriptor[],
): ProposedCall | string {
  const reader = readerAmong(tools) as NonNullable<ReturnType<typeof readerAmong>>;
  const read = calls.filter(({ call }) => call.name === reader.name);
  const file = files[read.length];
  if (file !== undefined) return { name: reader.name, arguments: { [reader.path]: file } };
  return toldOf(measure, read);
}

/** By what these words compare files. */
export function measuresIn(said: readonly string[]): Set<Measure> {
  return new Set(
    [...said.join(" ").matchAll(MEASURED)].flatMap(([, word, after]) => {
      const measure = MEASURE_OF.get(word as string) as Measure;
      return isOfFiles(measure, after ?? "") ? [measure] : [];
    }),
  );
}

/** Whether it is the files that are compared, and not something in them: "the longest word". */
function isOfFiles(measure: Measure, after: string): boolean {
  return after === "" || OF_FILES.has(after) || (AMOUNTS.has(measure) && FIGURES.has(after));
}

/** Which file it is, and by what; where code cannot tell that, what the files say. */
export function toldOf(measure: Measure, read: readonly ToolMessage[]): string {
  const sources = read.map(sourceOf);
  const areWhole =
    sources.every(({ whole }) => whole) && read.every(({ result }) => pageOf(result.content).note === "");
  const values = areWhole ? valuesOf(measure, sources) : [];
  if (values.length === 0 || measure === "Shown") {
    const said = measure === "Shown" ? copy.comparedShown : copy.comparedOpen;
    return [said, ...sources.map(({ name, text }) => `${cited(name)}\n\n${excerptOf(text).text}`)].join("\n\n");
  }
  const isUpward = UPWARD.has(measure);
  const ranks = values.map(({ rank }) => rank);
  const best = ranks.reduce((one, other) => (one > other === isUpward ? one : other));
  const shown = values.map((each) => `- ${each.shown}`).join("\n");
  if (ranks.filter((rank) => rank === best).length > 1) return `${copy.comparedSame}\n\n${shown}`;
  const name = (sources[ranks.indexOf(best)] as ResultSource).name;
  return `${fill(copy[`compared${measure}`], () => name)}\n\n${shown}`;
}

/** What each of the files is compared by; none where one has no such value, or more of them. */
function valuesOf(measure: Measure, sources: readonly ResultSource[]): readonly Value[] {
  if (measure === "Shown") return [];
  if (AMOUNTS.has(measure)) return amountsOf(sources);
  if (!LENGTHS.has(measure)) return daysOf(sources);
  return sources.map(({ name, text }) => ({ rank: BigInt(text.length), shown: `${text.length} ${cited(name)}` }));
}

function amountsOf(sources: readonly ResultSource[]): readonly Value[] {
  const paid = sources.map(({ text }) => {
    const found = linesOf(text).flatMap((line, at) => numbersIn(line).map((number) => ({ number, place: at + 1 })));
    const marked = found.filter(({ number }) => /^[A-Z]+$/.test(number.unit));
    return marked.length > 0 ? marked : found;
  });
  const read = readQuantities(paid.flatMap((pairs) => pairs.map(({ number }) => number)));
  if (read === null || paid.some((pairs) => pairs.length !== 1)) return [];
  const scale = Math.max(...read.numbers.map((each) => each.scale));
  return paid.flat().map(({ number, place }, at) => ({
    rank: scaled(read.numbers[at] as Quantity, scale),
    shown: `${number.text} ${cited((sources[at] as ResultSource).name, [place])}`,
  }));
}

function daysOf(sources: readonly ResultSource[]): readonly Value[] {
  const ranked = byAge(
    "oldest",
    sources.map(({ name }) => name),
  );
  if (ranked.length > 0)
    return sources.map(({ name }) => ({ rank: BigInt(ranked.indexOf(name)), shown: `\`${name}\`` }));
  const days = sources.map(({ text }) => {
    const found = linesOf(text).flatMap((line, at) => (line.match(DAY) ?? []).map((day) => [day, at + 1] as const));
    return [...new Map(found.toReversed())];
  });
  return days.every((each) => each.length === 1)
    ? days.flat().map(([day, place], at) => ({
        rank: BigInt(day.replaceAll("-", "")),
        shown: `${day} ${cited((sources[at] as ResultSource).name, [place])}`,
      }))
    : [];
}
