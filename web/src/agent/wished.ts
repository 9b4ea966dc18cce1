import { isThing } from "./acts.ts";
import { anyPhrase, claimWords, formsOf, holds } from "./claim-words.ts";
import { stem, termsIn } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * Which acts a message may be about, seen more widely than the wishes that the loop takes apart: what an answer says of such an act
 * needs a record.
 */

/** An act that no list has a verb for. */
export const OTHER = "other";

const SENTENCE = /[^.!?;\n]+(?:[.!?](?=\S)[^.!?;\n]*)*[?]?/g;
const SEGMENT = new RegExp(`[,:](?=\\s)|\\b(?:${vocabulary.cues.join("|")})\\b`, "i");
const PLACES = anyPhrase(claimWords.places);
const TEXTS: ReadonlySet<string> = new Set(claimWords.textNouns);
const COMPOSING: ReadonlySet<string> = new Set(claimWords.composing);
const TELLING: ReadonlySet<string> = new Set(claimWords.telling);
const LEADING: ReadonlySet<string> = new Set([...vocabulary.fillers, ...vocabulary.cues, ...claimWords.leading]);
const HOW: ReadonlySet<string> = new Set(claimWords.explained);
const QUESTIONS: ReadonlySet<string> = new Set(
  [...vocabulary.questionWords, ...vocabulary.askingWords].filter((word) => word !== "should"),
);
const ASKING: ReadonlySet<string> = new Set(claimWords.askingHelpers);
const NOT: ReadonlySet<string> = new Set(vocabulary.negations);

/** What a message asks for, as far as the words of an answer are held against it. */
export interface MessageActs {
  /** The acts that it asks for. */
  readonly wished: ReadonlySet<string>;
  /** Those that it asks about, or asks not to do. */
  readonly askedAbout: ReadonlySet<string>;
  /** The stems of its words. */
  readonly stems: ReadonlySet<string>;
  /** Whether the answer is a text that is made up. */
  readonly isText: boolean;
  /** The terms by which it names what is to be changed. */
  readonly objects: ReadonlySet<string>;
}

/** What acts a message is about, by its words. Quoted words ask for nothing. */
export function actsOf(message: string): MessageActs {
  const text = message.replaceAll(QUOTED, (quoted) =>
    isThing(quoted.slice(1, -1)) ? ` ${quoted.slice(1, -1)} ` : " ",
  );
  const words = wordsOf(text);
  const namesThing = words.some(({ start, end }) => isThing(text.slice(start, end)));
  const bare = words.map((word) => word.bare);
  const hasObject = namesThing || holds(bare.join(" "), PLACES);
  const isText = !namesThing && bare.some((word) => TEXTS.has(word));
  const wished = new Set<string>();
  const askedAbout = new Set<string>();
  const objects = new Set<string>();
  for (const [sentence] of text.matchAll(SENTENCE)) {
    const said = wordsOf(sentence).map((word) => word.bare);
    if (said.slice(0, 4).some((word) => HOW.has(word))) continue;
    if (said.slice(0, 1).some((word) => ASKING.has(word))) {
      for (const { act } of said.flatMap(formsOf)) askedAbout.add(act);
      continue;
    }
    for (const segment of sentence.split(SEGMENT)) {
      const own = wordsOf(segment).map((word) => word.bare);
      const found = isText ? [] : askedIn(own, hasObject);
      const isDenied = own.some((word) => NOT.has(word)) || /n['’]t/.test(segment);
      for (const act of found) (isDenied ? askedAbout : wished).add(act);
      const isOther = found.length === 0 && !isDenied && hasObject && mayAsk(own);
      if (isOther) wished.add(OTHER);
      if (isOther || found.some((act) => act !== "read"))
        for (const term of own.filter((word) => formsOf(word).length === 0).flatMap(termsIn)) objects.add(term);
    }
  }
  wished.delete("read");
  const first = bare.filter((word) => !LEADING.has(word)).slice(0, 1);
  return {
    wished,
    askedAbout,
    stems: new Set(bare.map((word) => undoubled(stem(word)))),
    isText: isText || (!hasObject && first.some((word) => TELLING.has(word) || COMPOSING.has(word))),
    objects,
  };
}

/** A stem without the second of two like letters at its end: "dimm" as "dim". */
export function undoubled(text: string): string {
  return text.length > 2 && text.at(-1) === text.at(-2) ? text.slice(0, -1) : text;
}

function askedIn(said: readonly string[], hasObject: boolean): string[] {
  if (said.slice(0, 1).some((word) => QUESTIONS.has(word))) return [];
  return said.flatMap((word, place) => {
    const isLed =
      said.slice(Math.max(0, place - 1), place).some((each) => LEADING.has(each)) ||
      said.slice(0, place).every((each) => LEADING.has(each));
    if (!isLed || (!hasObject && COMPOSING.has(word))) return [];
    return formsOf(word).flatMap(({ act, form, particles }) => {
      const isWhole = particles.length === 0 || particles.some((each) => said.includes(each));
      return (form === "base" || form === "same") && isWhole ? [act] : [];
    });
  });
}

function mayAsk(said: readonly string[]): boolean {
  const first = said.find((word) => !LEADING.has(word));
  return first !== undefined && !(TELLING.has(first) || QUESTIONS.has(first) || isThing(first));
}
