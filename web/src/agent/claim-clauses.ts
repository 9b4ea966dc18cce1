import { bareThing, isThing } from "./acts.ts";
import { anyPhrase, claimWords, SPELLED } from "./claim-words.ts";
import { bareWord } from "./words.ts";

/* The clauses of a sentence, as plain words: without marks and emphasis, short forms written out, names of things as `#`. */

/** Stands for the name of a thing in a clause. */
export const THING = "#";

const INVISIBLE = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\ufe0e|\ufe0f/g;
const APOSTROPHE = /[\u2018\u2019\u02bc\u00b4]/g;
const EMPHASIS = /[*~`]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])/g;
const MARK = new RegExp(claimWords.marks.join("|"), "gu");
const PART = /[\u2014\u2013\u2192\u21d2|=()[\]{}<>\u2022]|--+/g;
const COLON = /(?<=[A-Za-z]):(?=[A-Za-z])/g;
const BREAKS = /[,;:.!?\u2026]/;
const FULL = Object.entries({ "n't": "not", "'ve": "have", "'m": "am", "'re": "are", "'ll": "will", "'s": "is" });
const JOINTS: ReadonlySet<string> = new Set(claimWords.joints);
const HARMLESS = anyPhrase(claimWords.harmless);

/** The words of a clause in lower case, the things it names as they were written, and the words written with a capital. */
export interface ClaimClause {
  readonly words: readonly string[];
  readonly things: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

type Written = readonly [word: string, written: string];

/** The clauses of a sentence that hold a word. */
export function claimClausesOf(sentence: string): ClaimClause[] {
  const parts: Written[][] = [[]];
  for (const chunk of plain(sentence).split(/\s+/)) {
    const bare = bareWord(chunk);
    const begins = bare === "" ? chunk.length : chunk.toLowerCase().indexOf(bare);
    if (bare === "" || BREAKS.test(chunk.slice(0, begins))) parts.push([]);
    if (JOINTS.has(bare)) parts.push([]);
    else if (bare !== "") {
      parts.at(-1)?.push(...wordsIn(chunk, bare));
      if (BREAKS.test(chunk.slice(begins + bare.length))) parts.push([]);
    }
  }
  return parts.map(clauseOf).filter(({ words }) => words.length > 0);
}

function plain(sentence: string): string {
  return sentence
    .normalize("NFKC")
    .replaceAll(INVISIBLE, "")
    .replaceAll(APOSTROPHE, "'")
    .replaceAll(EMPHASIS, "")
    .replaceAll(MARK, " done , ")
    .replaceAll(PART, " , ")
    .replaceAll(COLON, ": ");
}

/** The words of a chunk between white space, each with how it was written. */
function wordsIn(chunk: string, bare: string): Written[] {
  const spelled = SPELLED.get(bare);
  if (spelled !== undefined) return spelled.split(" ").map((word) => [word, word]);
  const thing = bareThing(chunk);
  const short = FULL.find(([end]) => bare.endsWith(end) && bare.length > end.length);
  if (short === undefined) return [[isThing(thing) ? THING : bare, thing]];
  const [end, full] = short;
  const written = thing.toLowerCase().endsWith(end) ? thing.slice(0, -end.length) : thing;
  return [
    [isThing(written) ? THING : bare.slice(0, -end.length), written],
    [full, ""],
  ];
}

function clauseOf(part: readonly Written[]): ClaimClause {
  const words = part.map(([word]) => word).join(" ");
  const isName = ([word, written]: Written) => word !== THING && word !== "i" && /^\p{Lu}/u.test(written);
  return {
    words: words
      .replaceAll(HARMLESS, " ")
      .split(" ")
      .filter((word) => word !== ""),
    things: new Set(part.filter(([word]) => word === THING).map(([, written]) => written)),
    names: new Set(
      part
        .slice(1)
        .filter(isName)
        .map(([word]) => word),
    ),
  };
}
