import type { ToolDescriptor } from "../protocol/generated.ts";
import {
  ACTS,
  type Act,
  type AskedAct,
  askedActs,
  bareThing,
  type ClosedCall,
  does,
  isThing,
  missingThings,
} from "./acts.ts";
import { partsOf } from "./names.ts";
import { stem } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * What a model's words claim was done, held against the calls that ran. A sentence proves nothing: what was done is what the
 * calls' records say. A sentence that claims an act of which no call is on record is not shown. What a text merely tells, as a
 * letter does that somebody sent, is no claim.
 */

/** What a turn's words are held against. */
export interface TurnRecord {
  /** What the person said. */
  readonly message: string;
  /** The calls of the turn that have closed, in order. */
  readonly closed: readonly ClosedCall[];
  /** Those of the turns before it. */
  readonly earlier: readonly ClosedCall[];
  /** The tools on offer. */
  readonly tools: readonly Pick<ToolDescriptor, "name" | "category">[];
}

/** How a sentence claims an act: "dinner.txt is deleted", or "I deleted dinner.txt". */
type Form = "passive" | "own";

const ACT_OF: ReadonlyMap<string, Act> = new Map(
  ACTS.flatMap(([act, { claims }]) => claims.map((claim) => [claim, act])),
);
const HELPERS: ReadonlySet<string> = new Set(vocabulary.claimHelpers);
const ADVERBS: ReadonlySet<string> = new Set(vocabulary.claimAdverbs);
const SUBJECTS: ReadonlySet<string> = new Set(vocabulary.claimSubjects);
const OPENINGS: ReadonlySet<string> = new Set(vocabulary.claimOpenings);
const PRONOUNS: ReadonlySet<string> = new Set(vocabulary.claimPronouns);
const COMPLETIONS: ReadonlySet<string> = new Set(vocabulary.completions);
const UNCLAIMED: ReadonlySet<string> = new Set([...vocabulary.negations, ...vocabulary.modals]);
/** Words that two sentences share by chance. */
const COMMON: ReadonlySet<string> = new Set([
  ...vocabulary.commonTerms,
  ...vocabulary.fillers,
  ...vocabulary.cues,
  ...ACTS.flatMap(([, { verbs }]) => verbs),
]);
/** Words of the message that no call was about. One may be a word for what the call was about. */
const BEYOND = 2;
const BLOCK = /^(`{3,})\n(.*?)\n\1$/gms;
const NUMBERED = /^[0-9]+: /;
const SENTENCE = /[^\n]+?(?:[.!?]+(?=\s|$)|(?=\n)|$)\s*|\s+/g;

/** The text without the sentences that claim what no call on record did. The same text where there is none. */
export function withoutFalseClaims(text: string, record: TurnRecord): string {
  const asked = askedActs(record.message);
  const kept: string[] = [];
  let end = 0;
  for (const { 0: block, 2: quoted = "", index } of text.matchAll(BLOCK)) {
    if (!isQuoted(quoted, record)) continue;
    kept.push(...keptOf(text.slice(end, index), asked, record), block);
    end = index + block.length;
  }
  kept.push(...keptOf(text.slice(end), asked, record));
  return kept.join("") === text ? text : kept.join("").trim();
}

function keptOf(text: string, asked: readonly AskedAct[], record: TurnRecord): string[] {
  return (text.match(SENTENCE) ?? []).filter((sentence) => !isFalse(sentence, asked, record));
}

/** Whether each line of a block stands in a result, as the loop itself shows it: what a file says is no claim of the agent's. */
function isQuoted(block: string, { closed }: TurnRecord): boolean {
  const contents = closed.map(({ result }) => result.content).join("\n");
  return block.split("\n").every((line) => contents.includes(line.replace(NUMBERED, "")) || contents.includes(line));
}

function isFalse(sentence: string, asked: readonly AskedAct[], record: TurnRecord): boolean {
  const words = wordsOf(sentence).map(({ bare }) => bare);
  if (sentence.trim().endsWith("?")) return false;
  if (goesBeyond(words, sentence, record)) return true;
  if (COMPLETIONS.has(words.join(" ")))
    return asked.some(({ things }) => things.length > 0) && !record.closed.some(isDone);
  return words.some((word, at) => {
    const act = ACT_OF.get(word);
    if (act === undefined) return false;
    return isClaim(act, words, at, sentence, asked, record) && !isRecorded(act, words, sentence, asked, record);
  });
}

/**
 * Whether a sentence takes over of several wishes what no call was about: "the timer and the lamp are set", where only the timer
 * was. Asked to tell of one call, a small model tells of the whole message.
 */
function goesBeyond(words: readonly string[], sentence: string, { message, closed, tools }: TurnRecord): boolean {
  const asked = new Set(wordsOf(message).map(({ bare }) => bare));
  const isList = /[,;]/.test(message) || vocabulary.cues.some((cue) => asked.has(cue));
  const done = closed.filter(isDone);
  const changes = ({ call }: ClosedCall) =>
    tools.some(({ name, category }) => name === call.name && category !== "read");
  const isTold = closed.some(({ result }) => result.content.includes(sentence.trim()));
  if (!isList || !done.some(changes) || isTold) return false;
  if (words.some((word) => UNCLAIMED.has(word) || /n['’]t$/.test(word))) return false;
  const covered = new Set(done.flatMap(wordsAbout).map(stem));
  const taken = words.filter((word) => asked.has(word) && !COMMON.has(word) && !covered.has(stem(word)));
  return new Set(taken).size >= BEYOND;
}

/** The words that a call and its result hold, and those for what it does. */
function wordsAbout({ call, result }: ClosedCall): string[] {
  const parts = partsOf(call.name);
  const acts = ACTS.filter(([, { calls }]) => calls.some((each) => parts.includes(each)));
  const told = `${JSON.stringify(call.arguments)} ${result.content}`.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...parts, ...told, ...acts.flatMap(([, { verbs, claims }]) => [...verbs, ...claims])];
}

/** Whether the word at this place claims its act: one that the message asks for, or an own one about a thing by its name. */
function isClaim(
  act: Act,
  words: readonly string[],
  at: number,
  sentence: string,
  asked: readonly AskedAct[],
  record: TurnRecord,
): boolean {
  const form = formOf(words, at);
  if (form === null) return false;
  if (asked.some((each) => each.act === act)) {
    const about = new Set(wordsOf(record.message).map(({ bare }) => bare));
    if (words.some((word) => PRONOUNS.has(word) || (about.has(word) && !COMMON.has(word)))) return true;
  } else if (form !== "own") return false;
  const isTold = record.closed.some(({ result }) => result.content.includes(sentence.trim()));
  return !isTold && sentence.split(/\s+/).some(isThing);
}

/** How a word claims its act, if it does: denied, wished for and possible is not done. */
function formOf(words: readonly string[], at: number): Form | null {
  const before = words.slice(0, at);
  if (before.some((word) => UNCLAIMED.has(word) || /n['’]t$/.test(word))) return null;
  while (ADVERBS.has(before.at(-1) ?? "")) before.pop();
  const last = before.at(-1);
  if (last === undefined || SUBJECTS.has(last) || before.every((word) => OPENINGS.has(word))) return "own";
  return HELPERS.has(last) ? "passive" : null;
}

function isRecorded(
  act: Act,
  words: readonly string[],
  sentence: string,
  asked: readonly AskedAct[],
  { closed, earlier, tools }: TurnRecord,
): boolean {
  const same = asked.filter((each) => each.act === act);
  const messages = same.length > 0 && !words.includes("already") ? closed : [...earlier, ...closed];
  const calls = messages.filter((each) => isDone(each) && does(act, each.call, tools)).map(({ call }) => call);
  if (calls.length === 0) return false;
  const things = new Set(sentence.split(/\s+/).map(bareThing));
  return !same.some((each) => missingThings(each, calls).some((thing) => things.has(thing)));
}

function isDone({ result }: ClosedCall): boolean {
  return result.outcome === "ok";
}
