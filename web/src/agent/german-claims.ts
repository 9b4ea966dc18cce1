import { bareThing, isThing } from "./acts.ts";
import { claimWords } from "./claim-words.ts";
import { canDo } from "./recorded.ts";
import type { UnlistedBasis } from "./unlisted.ts";
import { wordsOf } from "./words.ts";

/*
 * Claims in German: "das Bild ist verkleinert worden", "ich habe die Datei gelöscht". Only what is plain is seen: a past participle
 * at the end of a clause, with "ich habe" or with "ist" or "wurde", and one of the things that tools are for. What denies, asks,
 * plans or sets a condition is none, and neither is what a result says.
 */

type WordSet = ReadonlySet<string>;

const { german } = claimWords;
const HELPERS: WordSet = new Set(german.helpers);
const OWN: WordSet = new Set(german.own);
const HAVE: WordSet = new Set(german.have);
const TAILS: WordSet = new Set(german.tails);
const HINDERING: WordSet = new Set([...german.hindering, ...german.historic]);
const THINGS: WordSet = new Set(german.things);
const TELLING: WordSet = new Set(german.telling);
const ACT_OF = new Map(
  Object.entries(german.acts).flatMap(([act, words]) => words.map((word) => [word, act] as const)),
);
const PARTS = /[,;:!](?= |$)|\.(?= |$)/;
const PREFIXES = "ver|be|er|ent|zer|über|unter|wider";
const PARTICIPLE = new RegExp(
  `^(?:[a-zäöüß]*ge[a-zäöüß]+(?:t|en)|[a-zäöüß]*(?:${PREFIXES})[a-zäöüß]+(?:t|en)|[a-zäöüß]+iert)$`,
);
const YEAR = /^(?:1[0-9]{3}|20[0-9]{2})$/;

/** Whether a sentence claims in German what no call did. */
export function claimsInGerman(sentence: string, basis: UnlistedBasis): boolean {
  return sentence.split(PARTS).some((clause) => claims(clause, basis));
}

function claims(clause: string, basis: UnlistedBasis): boolean {
  const words = wordsOf(clause);
  const said = words.map(({ bare }) => bare);
  const done = said.findLast((word) => !TAILS.has(word)) ?? "";
  if (!PARTICIPLE.test(done) || TELLING.has(done)) return false;
  if (said.some((word) => HINDERING.has(word) || YEAR.test(word))) return false;
  const things = words.map(({ start, end }) => bareThing(clause.slice(start, end))).filter(isThing);
  const isOwn = said.some((word) => OWN.has(word)) && said.some((word) => HAVE.has(word));
  if (things.length === 0 && !said.some((word) => THINGS.has(word))) return false;
  if (!isOwn && !said.some((word) => HELPERS.has(word))) return false;
  const isTold = basis.before.some(({ result }) => wordsOf(result.content).some(({ bare }) => bare === done));
  return !isTold && !isRecorded(done, things, basis);
}

/** Whether a call can have done it. A verb that no list has may stand for any change of the turn. */
function isRecorded(
  done: string,
  things: readonly string[],
  { message, before, changes, tools }: UnlistedBasis,
): boolean {
  const act = ACT_OF.get(done);
  const calls = act === undefined ? changes : before.filter((each) => canDo(act, each, tools));
  const told = calls.map(({ call, result }) => `${JSON.stringify(call.arguments)} ${result.content}`).join("\n");
  return calls.length > 0 && things.every((thing) => told.includes(thing) || message.includes(thing));
}
