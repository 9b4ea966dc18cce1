import { isThing } from "./acts.ts";
import { bareWord, givenIn, isSpacedName, QUOTED } from "./words.ts";

/* A message as words with the marks that part them: what is quoted is one word, and so is a file's name. */

const RUN = /[^ \t\r\n\f\v\u00a0\u2028\u2029\u3000;]+/gy;
const GAP = /[ \t\r\n\f\v\u00a0\u2028\u2029\u3000;]*/gy;
const TRAIL = /[,.:!?)\]]*$/;
const ITEM = /^(?:[-*•]|\(?[0-9]{1,2}[.)]|\(?[a-h]\))$/;
const SIGN = /^[%€$£¥₹°]/;
const DASH = /^[-–—]$/;
const WHOLE_QUOTE = new RegExp(`^(?:${QUOTED.source})$`);

/** Whether a mark ends a sentence. */
export const endsSentence = (mark: string): boolean => mark === "." || mark === ";" || mark === "\n";

/**
 * A word as it is written, without the marks behind it. `mark` is what parts it from the next word, `gap` all that stands between
 * the two, `at` its place in the message; a word that was put in has none.
 */
export interface Token {
  readonly text: string;
  readonly bare: string;
  readonly mark: string;
  readonly gap: string;
  readonly at: number;
  readonly isQuoted: boolean;
  readonly isName: boolean;
}

/** The words of a message. Numbers and bullets that count its wishes are no words: they end what stands before them. */
export function tokenise(message: string): Token[] {
  const runs = runsIn(message);
  const bullets = bulletsIn(runs);
  const tokens: Token[] = [];
  const mark = (change: (token: Token) => Token) => tokens.splice(-1, 1, ...tokens.slice(-1).map(change));
  for (const run of runs) {
    const { text } = run;
    if (bullets.has(run)) mark((each) => (each.mark === ":" ? each : { ...each, mark: "\n" }));
    else if (bareWord(text) !== "" || text === "&" || SIGN.test(text) || WHOLE_QUOTE.test(text))
      tokens.push(token(run, tokens.length));
    else if (DASH.test(text)) mark((each) => (each.mark === "" ? { ...each, mark: "," } : each));
  }
  return tokens;
}

/** Words as a text: as they were written where they stood together, with a space between others. */
export function spoken(tokens: readonly Token[]): string {
  return tokens
    .map((one, place) => {
      const next = tokens[place + 1];
      if (next === undefined) return one.text;
      const isWhole = one.at >= 0 && one.at === next.at - 1 && !/[.;\n]/.test(one.gap);
      return `${one.text}${isWhole ? one.gap : " "}`;
    })
    .join("");
}

/** A word without what clings to it; nothing where there is none. A place before the first counts from the end. */
export function bareAt(tokens: readonly Token[], at: number): string {
  return tokens.at(at)?.bare ?? "";
}

/** What parts a word from the next; nothing where there is none. */
export function markAt(tokens: readonly Token[], at: number): string {
  return tokens.at(at)?.mark ?? "";
}

/** Whether a word is a figure. */
export function isFigure({ bare }: Pick<Token, "bare">): boolean {
  return /^\p{Nd}/u.test(bare);
}

/** A word that the message does not have at this place. */
export function added(text: string): Token {
  return { text, bare: bareWord(text), mark: "", gap: " ", at: -1, isQuoted: false, isName: false };
}

/** A word in another place than its own. */
export function moved(token: Token): Token {
  return { ...token, mark: "", gap: " ", at: -1 };
}

const NONE: ReadonlySet<string> = new Set();

/** How many words the longest phrase takes that stands at a place, with those of `passed` among them; 0 where none does. */
export function phraseAt(tokens: readonly Token[], at: number, phrases: readonly string[], passed = NONE): number {
  return Math.max(0, ...phrases.map((phrase) => lengthOf(tokens, at, phrase.split(" "), passed)));
}

/** The same for a phrase that ends before a place. */
export function phraseBefore(tokens: readonly Token[], end: number, phrases: readonly string[]): number {
  const own = tokens.slice(0, end);
  const lengths = phrases.map((phrase) => phrase.split(" ").length);
  return Math.max(0, ...lengths.filter((length) => length <= end && phraseAt(own, end - length, phrases) === length));
}

function lengthOf(tokens: readonly Token[], at: number, words: readonly string[], passed: ReadonlySet<string>): number {
  let place = at;
  for (const [number, word] of words.entries()) {
    while (number > 0 && passed.has(bareAt(tokens, place)) && bareAt(tokens, place) !== word) place++;
    const token = tokens[place];
    const isParted = number > 0 && tokens[place - 1]?.mark !== "";
    if (token === undefined || isParted || token.isQuoted || token.bare !== word) return 0;
    place++;
  }
  return place - at;
}

/** A word with all that clings to it, and what stands between it and the next one. */
interface Run {
  readonly text: string;
  readonly gap: string;
  readonly opensLine: boolean;
  readonly isGiven: boolean;
}

/** The runs of a message. A space inside quotes ends none. */
function runsIn(message: string): Run[] {
  const quoted = [...message.matchAll(QUOTED)].map((match) => [match.index, match.index + match[0].length] as const);
  const given = givenIn(message);
  const runs: Run[] = [];
  let at = endOf(GAP, message, 0);
  let opensLine = true;
  while (at < message.length) {
    const stop = endOf(RUN, message, at);
    const inside = quoted.filter(([begin]) => begin >= at && begin < stop).map(([, end]) => end);
    const end = endOf(RUN, message, Math.max(stop, ...inside));
    const next = endOf(GAP, message, end);
    const isGiven = given.some(([first, last]) => first <= at && at < last);
    runs.push({ text: message.slice(at, end), gap: message.slice(end, next), opensLine, isGiven });
    opensLine = message.slice(end, next).includes("\n");
    at = next;
  }
  return runs;
}

function endOf(pattern: RegExp, message: string, at: number): number {
  pattern.lastIndex = at;
  const found = pattern.exec(message);
  return at + (found?.[0].length ?? 0);
}

/** The bullets: signs at the beginning of a line, and numbers that count from one. */
function bulletsIn(runs: readonly Run[]): Set<Run> {
  const marks = runs.filter(({ text }) => ITEM.test(text));
  const counted: Run[] = [];
  for (const run of marks) if (Number(/[0-9]+/.exec(run.text)?.[0]) === counted.length + 1) counted.push(run);
  return new Set([...marks.filter(({ opensLine }) => opensLine), ...(counted.length > 1 ? counted : [])]);
}

function token({ text: written, gap, isGiven }: Run, at: number): Token {
  let text = WHOLE_QUOTE.test(written) ? written : written.replace(TRAIL, "");
  let trail = written.slice(text.length);
  const count = (mark: string) => text.split(mark).length;
  if (/^[)\]]/.test(trail) && (count("(") > count(")") || count("[") > count("]"))) {
    text += trail[0];
    trail = trail.slice(1);
  }
  const isWhole = WHOLE_QUOTE.test(text);
  const isText = isGiven || (isWhole && text.includes(" ") && !isSpacedName(text.slice(1, -1)));
  const isName = isThing(text) && !isText;
  const word = isName ? text.toLowerCase() : bareWord(text).replaceAll("’", "'");
  const bare = text === "&" ? "and" : word;
  return { text, bare, mark: markOf(trail, gap), gap: `${trail}${gap}`, at, isQuoted: isWhole && !isName, isName };
}

function markOf(trail: string, gap: string): string {
  if (gap.includes("\n")) return "\n";
  if (gap.includes(";")) return ";";
  if (/[.!?]/.test(trail)) return ".";
  if (trail.includes(",")) return ",";
  return trail.includes(":") ? ":" : "";
}
